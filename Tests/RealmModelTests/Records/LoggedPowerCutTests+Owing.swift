import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

/// The same while commits owe their pages.
extension LoggedPowerCutTests {
    /// Three lives of a file in which most commits owe their pages for a while; in the first and the last one the process is killed while some do.
    private func runOwing(seed: UInt64) throws -> Workload {
        var folder = TemporaryDirectory()
        _ = try StorageFile.open(path: folder.path("test.realm"))
        let image = try Data(contentsOf: URL(fileURLWithPath: folder.path("test.realm")))
        var workload = Workload(first: Array(image))
        var operations = WideOperations(random: SplitMix64(seed: seed))
        for life in 0..<3 {
            let recorder = RecordedFiles.Recorder()
            if life == 1 {
                try live(in: folder, recorder, &operations, &workload)
                // With what the close did.
                workload.operations += recorder.operations
            } else {
                folder = try liveUntilKilled(in: folder, recorder, &operations, &workload)
            }
        }
        return workload
    }

    /// A life that ends by a kill, while pages are owed.
    ///
    /// - Returns: Where the files are as it leaves them: what it closes itself in this process is none of them.
    private func liveUntilKilled(
        in folder: TemporaryDirectory,
        _ recorder: RecordedFiles.Recorder,
        _ operations: inout WideOperations,
        _ workload: inout Workload
    ) throws -> TemporaryDirectory {
        let life = try OwingLife(in: folder, recorder, &operations)
        try life.run(&operations, &workload)
        try life.acknowledge(&operations, &workload)
        workload.operations += recorder.operations
        let next = TemporaryDirectory()
        for suffix in ["", ".log"] where FileManager.default.fileExists(atPath: life.database.path + suffix) {
            try FileManager.default.copyItem(
                atPath: life.database.path + suffix,
                toPath: next.path("test.realm" + suffix)
            )
        }
        return next
    }

    /// A life that makes all pages in the end, and closes the file.
    private func live(
        in folder: TemporaryDirectory,
        _ recorder: RecordedFiles.Recorder,
        _ operations: inout WideOperations,
        _ workload: inout Workload
    ) throws {
        let life = try OwingLife(in: folder, recorder, &operations)
        try life.run(&operations, &workload)
        try life.makePages()
    }

    /// One life of the file, in which this process has the write lock until it ends.
    private final class OwingLife {
        let database: LoggedDatabase
        let recorder: RecordedFiles.Recorder
        /// Checkpoints in the way of the commits, or beside them.
        let isStepping: Bool
        private var hasLock = false

        deinit { if hasLock { database.file.unlockForWriting() } }

        init(
            in folder: TemporaryDirectory,
            _ recorder: RecordedFiles.Recorder,
            _ operations: inout WideOperations
        ) throws {
            self.recorder = recorder
            isStepping = operations.random.chance(50)
            var options = LoggedDatabase.options(
                ringByteCount: LoggedPowerCutTests.ringByteCount,
                recorder: recorder,
                stepping: isStepping
            )
            options.log?.pagesOnDemand = true
            database = try LoggedDatabase(WideOperations.classes, options: options, in: folder)
        }

        func run(_ operations: inout WideOperations, _ workload: inout Workload) throws {
            let found = try database.model.digest()
            if let held = workload.history[database.model.version] {
                #expect(found == held, "an opening loses what was acknowledged")
            } else {
                #expect(workload.history.isEmpty, "version \(database.model.version) never was")
                workload.history[database.model.version] = found
            }
            recorder.append(.acknowledged(version: database.model.version))
            try database.file.lockForWriting()
            hasLock = true
            for _ in 0..<10 {
                switch operations.random.below(8) {
                case 0...2: try acknowledge(&operations, &workload)
                case 3...5: try acknowledgeTogether(&operations, &workload)
                case 6:
                    // What has no record is kept as pages, with all before it.
                    let isRecorded = operations.random.chance(50)
                    _ = try begin(&operations, &workload, recorded: isRecorded)
                    try publish()
                default: try makePages()
                }
                if isStepping { for _ in 0..<operations.random.below(3) { _ = database.file.takeCheckpointStep() } }
            }
        }

        /// Begins a transaction that joins those that are not sealed, has it do something, and leaves it to be ended.
        ///
        /// - Returns: Its version.
        private func begin(
            _ operations: inout WideOperations,
            _ workload: inout Workload,
            recorded isRecorded: Bool = true
        ) throws -> UInt64 {
            try database.begin(joining: true)
            let limit = operations.random.chance(10) ? 120 : 8
            for _ in 0..<1 + operations.random.below(limit) { try operations.runOne(in: database.model) }
            try database.model.checkUniqueness()
            if isRecorded { try database.model.keepRecord(RecordHeading()) }
            workload.history[database.model.version] = try database.model.digest()
            return database.model.version
        }

        /// Acknowledges some commits one by one.
        func acknowledge(_ operations: inout WideOperations, _ workload: inout Workload) throws {
            for _ in 0..<1 + operations.random.below(3) {
                let version = try begin(&operations, &workload)
                guard let commit = database.model.loggedCommit, commit.mayOwePages else {
                    try publish()
                    continue
                }
                let isDurable = try database.model.acknowledge(commit).isDurable
                #expect(isDurable)
                recorder.append(.acknowledged(version: version))
            }
        }

        /// Acknowledges some with one flush; some groups are sealed before that.
        private func acknowledgeTogether(_ operations: inout WideOperations, _ workload: inout Workload) throws {
            var records: [OwingRecord] = []
            var (group, last) = (UInt64(0), UInt64(0))
            for _ in 0..<1 + operations.random.below(3) {
                last = try begin(&operations, &workload)
                // With those before it.
                guard let commit = database.model.loggedCommit, commit.mayJoinOwing else { return try publish() }
                let joined = try database.model.joinOwing(commit)
                group = joined.group
                records.append(joined.record)
            }
            var isSealed = operations.random.chance(20)
            if !isSealed { isSealed = try !database.file.acknowledge(records, of: group) }
            if isSealed { try makePages() } else { recorder.append(.acknowledged(version: last)) }
        }

        /// Seals and publishes the open transaction, and with it all on which it stands.
        private func publish() throws {
            let prepared = try database.model.prepareCommit()
            try database.file.publish([prepared])
            try database.model.endTransaction(advancingTo: database.file.beginRead())
            recorder.append(.acknowledged(version: prepared.version))
        }

        /// Makes the pages that are owed.
        func makePages() throws {
            guard let prepared = try database.file.sealGroup() else { return }
            try database.file.publish([prepared])
            try database.model.advance(to: database.file.beginRead())
            recorder.append(.acknowledged(version: prepared.version))
        }
    }

    @Test("In commits that owe their pages: these are made later, within the cut, or by whoever opens the file")
    func powerCutsWhileOwing() throws {
        let environment = ProcessInfo.processInfo.environment
        let wanted = environment["REALM_CRASH_STATES"].flatMap { Int($0) } ?? 120
        let firstSeed = environment["REALM_CRASH_SEED"].flatMap { UInt64($0) } ?? 1
        var seed = firstSeed
        var (checked, replayed) = (0, 0)
        while checked < wanted {
            defer { seed += 1 }
            var random = SplitMix64(seed: seed &* 7919)
            let workload = try runOwing(seed: seed)
            var disk = PowerCutDisk(realm: workload.first)
            // From the first life to the last.
            let pace = max(1, workload.operations.count / 60)
            for operation in workload.operations {
                disk.perform(operation)
                if disk.acknowledged == 0 || random.below(pace) > 0 { continue }
                let variant = random.below(disk.variantCount + 2)
                let state =
                    variant < disk.variantCount
                    ? disk.survivor(variant: variant, using: &random) : disk.survivorOfWholeWrites(using: &random)
                let when = "owed pages, seed \(seed) state \(checked)"
                let opening = try check(state, disk.acknowledged, workload, when, records: checked % 12 == 0)
                checked += 1
                if state.log != nil { replayed += 1 }
                guard checked % 12 == 1 else { continue }
                // Power cuts within the recovery.
                var second = PowerCutDisk(realm: state.realm, log: state.log, acknowledged: disk.acknowledged)
                for operation in opening {
                    second.perform(operation)
                    let state = second.survivor(variant: random.below(second.variantCount), using: &random)
                    try check(state, second.acknowledged, workload, "\(when), in the recovery")
                    checked += 1
                }
            }
        }
        print(
            "crash states of rows with owed pages checked: \(checked), workloads: \(seed - firstSeed), "
                + "with a log: \(replayed)"
        )
        #expect(replayed > 0)
    }
}
