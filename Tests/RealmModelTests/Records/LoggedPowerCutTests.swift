import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

/// Power cuts of databases whose commits are records: any part of what was not flushed of the realm and of its log is there.
///
/// `REALM_CRASH_STATES` sets the number of states (default 160, and 120 where commits owe their pages), `REALM_CRASH_SEED` the first seed.
@Suite("No power cut loses a commit of rows that its record made durable")
struct LoggedPowerCutTests {
    let folder = TemporaryDirectory()

    struct Workload {
        var first: [UInt8]
        var operations: [RecordedFiles.Operation] = []
        /// What the database held at each version.
        var history: [UInt64: UInt64] = [:]
    }

    static let ringByteCount = 12 * 4096

    /// Two lives of a file, with commits alone, in groups, and as pages.
    private func run(seed: UInt64) throws -> Workload {
        let folder = TemporaryDirectory()
        let recorder = RecordedFiles.Recorder()
        _ = try StorageFile.open(path: folder.path("test.realm"))
        let image = try Data(contentsOf: URL(fileURLWithPath: folder.path("test.realm")))
        var workload = Workload(first: Array(image))
        var operations = WideOperations(random: SplitMix64(seed: seed))
        for _ in 0..<2 {
            // Checkpoints in the way of the commits, or beside them.
            let isStepping = seed % 2 == 0
            let options = LoggedDatabase.options(
                ringByteCount: Self.ringByteCount,
                recorder: recorder,
                stepping: isStepping
            )
            let database = try LoggedDatabase(WideOperations.classes, options: options, in: folder)
            func note() throws {
                workload.history[database.model.version] = try database.model.digest()
                recorder.append(.acknowledged(version: database.model.version))
            }
            try note()
            for round in 0..<14 {
                if round % 4 == 3 {
                    try database.file.lockForWriting()
                    defer { database.file.unlockForWriting() }
                    for _ in 0..<3 {
                        try database.begin(joining: true)
                        for _ in 0..<operations.random.below(8) { try operations.runOne(in: database.model) }
                        try database.model.keepRecord(RecordHeading())
                        // A part of a group of which nobody was told may be there.
                        workload.history[database.model.version] = try database.model.digest()
                        try database.model.join()
                    }
                    if let prepared = try database.file.sealGroup() { try database.file.publish([prepared]) }
                    try database.model.advance(to: database.file.beginRead())
                } else {
                    try database.write { model in
                        for _ in 0..<1 + operations.random.below(round == 6 ? 200 : 12) {
                            try operations.runOne(in: model)
                        }
                    }
                }
                try note()
                if isStepping { for _ in 0..<operations.random.below(3) { _ = database.file.takeCheckpointStep() } }
            }
        }
        workload.operations = recorder.operations
        return workload
    }

    @Test("In commits, checkpoints, closing and recoveries")
    func powerCuts() throws {
        let environment = ProcessInfo.processInfo.environment
        let wanted = environment["REALM_CRASH_STATES"].flatMap { Int($0) } ?? 160
        let firstSeed = environment["REALM_CRASH_SEED"].flatMap { UInt64($0) } ?? 1
        var seed = firstSeed
        var (checked, replayed) = (0, 0)
        while checked < wanted {
            defer { seed += 1 }
            var random = SplitMix64(seed: seed &* 7919)
            let workload = try run(seed: seed)
            var disk = PowerCutDisk(realm: workload.first)
            let bound = min(wanted, checked + 160)
            for operation in workload.operations {
                disk.perform(operation)
                if disk.acknowledged == 0 { continue }
                for variant in 0..<disk.variantCount where checked < bound && random.below(9) == 0 {
                    let state = disk.survivor(variant: variant, using: &random)
                    let when = "seed \(seed) state \(checked)"
                    let opening = try check(state, disk.acknowledged, workload, when, records: checked % 10 == 0)
                    checked += 1
                    if state.log != nil { replayed += 1 }
                    guard checked % 10 == 1 else { continue }
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
        }
        print("crash states of rows checked: \(checked), workloads: \(seed - firstSeed), with a log: \(replayed)")
        #expect(replayed > 0)
    }

    /// Opens a state, looks at what is there, and goes on with it.
    @discardableResult
    func check(
        _ state: (realm: [UInt8], log: [UInt8]?),
        _ acknowledged: UInt64,
        _ workload: Workload,
        _ when: String,
        records: Bool = false
    ) throws -> [RecordedFiles.Operation] {
        let path = folder.path("test.realm")
        for suffix in ["", ".log", ".lock"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        try Data(state.realm).write(to: URL(fileURLWithPath: path))
        if let log = state.log { try Data(log).write(to: URL(fileURLWithPath: path + ".log")) }
        let recorder = RecordedFiles.Recorder()
        do {
            let options = LoggedDatabase.options(
                ringByteCount: Self.ringByteCount,
                recorder: records ? recorder : nil
            )
            let database = try LoggedDatabase(WideOperations.classes, options: options, in: folder)
            let version = database.model.version
            #expect(version >= acknowledged, "\(when): a commit is lost")
            let held = try #require(workload.history[version], "\(when): version \(version) never was")
            #expect(try database.model.digest() == held, "\(when): version \(version) is another one")
            #expect(!FileManager.default.fileExists(atPath: path + ".log"), "\(when)")
            try ModelVerifier.verify(database.model)
            recorder.append(.acknowledged(version: version))
            if !records, version % 3 == 0 {
                var operations = WideOperations(random: SplitMix64(seed: version))
                // Numbers that no shelf has yet.
                operations.count = 1_000_000
                try database.write { model in for _ in 0..<5 { try operations.runOne(in: model) } }
                try FileVerifier.verify(database.model.snapshot)
            }
        } catch {
            Issue.record("\(when): \(error)")
        }
        return recorder.operations
    }
}
