import Foundation
import RealmStorage
import RealmTestSupport
import Testing

/// Power cuts: every state of the disk that a workload can leave behind, with unflushed writes lost, reordered and torn in
/// sectors, headers within them, opens at the last acknowledged version or at one that was being committed, whole.
///
/// `REALM_CRASH_STATES` sets the number of states (default 1,000), `REALM_CRASH_SEED` the first seed.
@Suite struct CrashStateTests {
    let directory = TemporaryDirectory()

    private struct Workload {
        var operations: [RecordingDevice.Operation]
        /// The values of every version that was ever prepared.
        var history: [UInt64: [UInt64]]
    }

    /// Three sessions of random commits; with `shrinks` the file also grows by much and is made smaller in many steps.
    ///
    /// With `isFormer` each but the first begins with a file of the format before.
    private func run(seed: UInt64, shrinks: Bool, isFormer: Bool) throws -> Workload {
        var random = SplitMix64(seed: seed)
        let log = RecordingDevice.Log()
        let path = directory.path("workload-\(seed).realm")
        var history: [UInt64: [UInt64]] = [:]
        var model = [UInt64](repeating: 0, count: PageArray.count)
        _ = try StorageFile.open(path: path)
        log.append(.write(offset: 0, bytes: Array(try Data(contentsOf: URL(fileURLWithPath: path)))))
        log.append(.synchronize)
        log.append(.acknowledged(version: 1))
        var options = StorageOptions()
        options.makeDevice = { RecordingDevice($0, log: log) }
        for session in 0..<3 {
            if isFormer, session > 0 {
                // As a release with the format before had left it: the session carries it over.
                try FormerFile.make(path)
                log.append(.write(offset: 0, bytes: Array(try Data(contentsOf: URL(fileURLWithPath: path)))))
                log.append(.synchronize)
            }
            let file = try StorageFile.open(path: path, options: options)
            #expect(try file.tryLockForWriting())
            func publish(_ commit: PreparedCommit) throws {
                history[commit.version] = model
                try file.publish([commit])
                log.append(.acknowledged(version: commit.version))
            }
            for round in 0..<25 {
                var commits: [PreparedCommit] = []
                let spills = round % 5 == 3
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    let transaction = try file.beginWrite()
                    if session == 0, round == 0, commits.isEmpty { try PageArray.create(in: transaction) }
                    for _ in 0..<Int.random(in: 1...20, using: &random) {
                        let index = Int.random(in: 0..<PageArray.count, using: &random)
                        model[index] = random.next()
                        try PageArray.set(index, to: model[index], in: transaction)
                        // Large transactions write to the file before they commit.
                        if spills, Int.random(in: 0..<4, using: &random) == 0 { try transaction.spill() }
                    }
                    transaction.changes.recordModify(table: 1, key: Int64(round), column: 1)
                    commits.append(try PageArray.commit(transaction))
                    history[commits.last!.version] = model
                }
                try file.publish(commits)
                log.append(.acknowledged(version: commits.last!.version))
                guard shrinks else { continue }
                if round % 12 == 2 || round % 12 == 4 {
                    let transaction = try file.beginWrite()
                    try PageArray.setBallast(round % 12 == 2 ? 450 + round : 0, in: transaction)
                    try publish(try PageArray.commit(transaction))
                } else if let commit = try PageArray.shrink(file, budget: 16) {
                    try publish(commit)
                }
            }
            file.unlockForWriting()
        }
        return Workload(operations: log.state.withLock { $0.operations }, history: history)
    }

    @Test func `no power cut loses an acknowledged commit or leaves a file that does not open`() throws {
        let wanted = Int(ProcessInfo.processInfo.environment["REALM_CRASH_STATES"] ?? "") ?? 1000
        let firstSeed = UInt64(ProcessInfo.processInfo.environment["REALM_CRASH_SEED"] ?? "") ?? 1
        var checked = 0
        var cuts = 0
        var seed = firstSeed
        while checked < wanted {
            defer { seed += 1 }
            var random = SplitMix64(seed: seed &* 7919)
            let workload = try run(seed: seed, shrinks: seed % 2 == 0, isFormer: seed % 3 == 0)
            cuts += workload.operations.count { if case .setByteCount = $0 { true } else { false } }
            var durable: [UInt8] = []
            var pending: [Change] = []
            var acknowledged: UInt64 = 1
            // A part of each workload's states, so that a short run sees more than one workload.
            let bound = checked + 500
            for operation in workload.operations {
                switch operation {
                case .acknowledged(let version): acknowledged = version
                case .setByteCount(let count): pending.append(.cut(count))
                case .synchronize:
                    for change in pending { change.apply(to: &durable) }
                    pending = []
                case .write(let offset, let bytes): pending.append(.write(offset, bytes))
                }
                if acknowledged == 1 { continue }
                let variants = pending.isEmpty ? 1 : 5
                for variant in 0..<variants where checked < min(wanted, bound) {
                    if Int.random(in: 0..<4, using: &random) > 0 { continue }
                    let image = survivor(durable, pending, variant: variant, random: &random)
                    try check(image, acknowledged: acknowledged, history: workload.history, seed: seed, state: checked)
                    checked += 1
                    if checked % 8 == 0 {
                        checked += try checkRecovery(
                            of: image,
                            acknowledged: acknowledged,
                            history: workload.history,
                            seed: seed,
                            state: checked,
                            random: &random
                        )
                    }
                }
            }
        }
        print("crash states checked: \(checked), workloads: \(seed - firstSeed), cuts of the file: \(cuts)")
        #expect(seed - firstSeed < 2 || cuts > 0)
    }

    /// Power cuts while a crash state is being recovered and closed; returns the number of states.
    ///
    /// A version that somebody has seen is there for good.
    private func checkRecovery(
        of image: [UInt8],
        acknowledged: UInt64,
        history: [UInt64: [UInt64]],
        seed: UInt64,
        state: Int,
        random: inout SplitMix64
    ) throws -> Int {
        let path = directory.path("recovered.realm")
        try? FileManager.default.removeItem(atPath: path)
        try Data(image).write(to: URL(fileURLWithPath: path))
        let log = RecordingDevice.Log()
        var options = StorageOptions()
        options.makeDevice = { RecordingDevice($0, log: log) }
        log.append(.acknowledged(version: acknowledged))
        do {
            let file = try StorageFile.open(path: path, options: options)
            log.append(.acknowledged(version: file.newestVersion))
        }
        var durable = image
        var pending: [Change] = []
        var seen = acknowledged
        var count = 0
        for operation in log.state.withLock({ $0.operations }) {
            switch operation {
            case .acknowledged(let version): seen = version
            case .setByteCount(let count): pending.append(.cut(count))
            case .synchronize:
                for change in pending { change.apply(to: &durable) }
                pending = []
            case .write(let offset, let bytes): pending.append(.write(offset, bytes))
            }
            for variant in 0..<(pending.isEmpty ? 1 : 5) {
                let image = survivor(durable, pending, variant: variant, random: &random)
                try check(image, acknowledged: seen, history: history, seed: seed, state: state + count)
                count += 1
            }
        }
        return count
    }

    /// Something that was done to the file and not flushed.
    private enum Change {
        case write(Int, [UInt8])
        case cut(Int)

        func apply(to image: inout [UInt8]) {
            switch self {
            case .write(let offset, let bytes): Change.apply(bytes[...], at: offset, to: &image)
            case .cut(let count): if count < image.count { image.removeSubrange(count...) }
            }
        }

        /// Applies a random part of it: in sectors, or, of a header, in words.
        func applyTorn(to image: inout [UInt8], inWords isInWords: Bool, using random: inout SplitMix64) {
            guard case .write(let offset, let bytes) = self else {
                if Bool.random(using: &random) { apply(to: &image) }
                return
            }
            let step = isInWords && offset < 4 * 4096 ? 8 : 512
            for start in stride(from: 0, to: bytes.count, by: step) where Bool.random(using: &random) {
                Change.apply(bytes[start..<min(start + step, bytes.count)], at: offset + start, to: &image)
            }
        }

        private static func apply(_ bytes: ArraySlice<UInt8>, at offset: Int, to image: inout [UInt8]) {
            if image.count < offset + bytes.count {
                image.append(contentsOf: repeatElement(0, count: offset + bytes.count - image.count))
            }
            image.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
        }
    }

    /// What a power cut leaves of the unflushed changes.
    private func survivor(
        _ durable: [UInt8],
        _ pending: [Change],
        variant: Int,
        random: inout SplitMix64
    ) -> [UInt8] {
        var image = durable
        for (index, change) in pending.enumerated() {
            switch variant {
            case 0: break
            case 1 where index == pending.count - 1: change.apply(to: &image)
            case 2 where index != pending.count - 1: change.apply(to: &image)
            case 3, 4: change.applyTorn(to: &image, inWords: variant == 4, using: &random)
            default: break
            }
        }
        return image
    }

    private func check(
        _ image: [UInt8],
        acknowledged: UInt64,
        history: [UInt64: [UInt64]],
        seed: UInt64,
        state: Int
    ) throws {
        let path = directory.path("state.realm")
        try? FileManager.default.removeItem(atPath: path)
        try Data(image).write(to: URL(fileURLWithPath: path))
        do {
            let file = try StorageFile.open(path: path)
            let snapshot = try file.beginRead()
            #expect(snapshot.version >= acknowledged, "seed \(seed) state \(state)")
            let values = try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)
            #expect(values == history[snapshot.version], "seed \(seed) state \(state)")
            try PageArray.audit(snapshot)
            if state % 16 == 0 {
                // Recovery is followed by work.
                #expect(try file.tryLockForWriting())
                let transaction = try file.beginWrite()
                try PageArray.set(1, to: 42, in: transaction)
                try file.publish([try PageArray.commit(transaction)])
                try PageArray.audit(try file.beginRead())
            }
        } catch {
            Issue.record("seed \(seed) state \(state): \(error)")
        }
    }

    @Test func `each failed call loses nothing that was acknowledged and resurrects nothing`() throws {
        for failing in 0..<60 {
            let log = RecordingDevice.Log()
            let path = directory.path("failing-\(failing).realm")
            var options = StorageOptions()
            options.makeDevice = { RecordingDevice($0, log: log) }
            var model = [UInt64](repeating: 0, count: PageArray.count)
            var didFail = false
            do {
                let file = try StorageFile.open(path: path, options: options)
                #expect(try file.tryLockForWriting())
                var transaction = try file.beginWrite()
                try PageArray.create(in: transaction)
                try file.publish([try PageArray.commit(transaction)])
                log.fail(at: failing, forever: failing % 3 == 0)
                for round in 1...25 {
                    var next = model
                    do {
                        transaction = try file.beginWrite()
                        for index in 0..<8 {
                            let place = (round * 8 + index) % PageArray.count
                            next[place] = UInt64(round)
                            try PageArray.set(place, to: UInt64(round), in: transaction)
                        }
                        try file.publish([try PageArray.commit(transaction)])
                        model = next
                    } catch {
                        didFail = true
                    }
                    let snapshot = try file.beginRead()
                    #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view) == model)
                }
                log.fail(at: nil)
                file.unlockForWriting()
            }
            #expect(didFail || log.state.withLock { $0.wasMark })
            let snapshot = try StorageFile.open(path: path).beginRead()
            #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view) == model, "call \(failing)")
            try PageArray.audit(snapshot)
        }
    }
}
