import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Power cuts of a realm with a log: any part of what was not flushed of each file is there, in sectors, and of headers in words.
///
/// `REALM_CRASH_STATES` sets the number of states (default 1,000, and 600 where commits owe their pages), `REALM_CRASH_SEED` the first seed.
@Suite("No power cut loses a commit that a log made durable")
struct LogCrashTests {
    let folder = TemporaryDirectory()

    typealias Operation = LoggedFile.Operation

    private struct Workload {
        var first: [UInt8]
        var operations: [Operation]
        var history: [UInt64: [UInt64]]
    }

    private static let blocks = 6

    /// Sessions of commits with records and without, spilled ones, groups, and steps that make the file smaller.
    private func run(seed: UInt64) throws -> Workload {
        var random = SplitMix64(seed: seed)
        let recorder = LoggedFile.Recorder()
        let path = folder.path("workload-\(seed).realm")
        _ = try StorageFile.open(path: path)
        let first = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        var model = [UInt64](repeating: 0, count: PageArray.count)
        var history: [UInt64: [UInt64]] = [:]
        for session in 0..<3 {
            // Checkpoints in the way of the commits, or beside them.
            let isStepping = seed % 3 != 0
            let options = LoggedFile.options(blocks: Self.blocks, recorder: recorder, stepping: isStepping)
            let file = try StorageFile.open(path: path, options: options)
            try file.lockForWriting()
            for round in 0..<20 {
                var commits: [PreparedCommit] = []
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    var change = LoggedFile.Change(creates: session == 0 && round == 0 && commits.isEmpty)
                    for _ in 0..<Int.random(in: 1...12, using: &random) {
                        change.values.append((Int.random(in: 0..<PageArray.count, using: &random), random.next()))
                    }
                    let isRecorded = Int.random(in: 0..<8, using: &random) > 0
                    let transaction = try file.beginWrite()
                    try change.apply(to: transaction)
                    if Int.random(in: 0..<10, using: &random) == 0 { try transaction.spill() }
                    transaction.changes.recordModify(table: 1, key: Int64(round), column: 1)
                    if isRecorded { transaction.record = .init(kind: .changes, content: change.content) }
                    commits.append(try PageArray.commit(transaction))
                    change.apply(to: &model)
                    history[commits[commits.count - 1].version] = model
                }
                try file.publish(commits)
                recorder.append(.acknowledged(version: commits[commits.count - 1].version))
                // Nobody has committed for a while.
                if Int.random(in: 0..<3, using: &random) == 0 { file.noteDurableOffset() }
                if isStepping {
                    for _ in 0..<Int.random(in: 0...2, using: &random) { _ = file.takeCheckpointStep() }
                }
                if seed % 2 == 0, round % 6 == 2 || round % 6 == 4 {
                    let transaction = try file.beginWrite()
                    try PageArray.setBallast(round % 6 == 2 ? 450 + round : 0, in: transaction)
                    let commit = try PageArray.commit(transaction)
                    history[commit.version] = model
                    try file.publish([commit])
                    recorder.append(.acknowledged(version: commit.version))
                } else if seed % 2 == 0, let commit = try PageArray.shrink(file, budget: 16) {
                    history[commit.version] = model
                    try file.publish([commit])
                    recorder.append(.acknowledged(version: commit.version))
                }
            }
            file.unlockForWriting()
        }
        return Workload(first: first, operations: recorder.operations, history: history)
    }

    @Test("In appends, checkpoints, page commits, opening and closing, and in a recovery itself")
    func powerCuts() throws {
        let wanted = Int(ProcessInfo.processInfo.environment["REALM_CRASH_STATES"] ?? "") ?? 1000
        let firstSeed = UInt64(ProcessInfo.processInfo.environment["REALM_CRASH_SEED"] ?? "") ?? 1
        var (checked, replayed) = (0, 0)
        var seed = firstSeed
        while checked < wanted {
            defer { seed += 1 }
            var random = SplitMix64(seed: seed &* 6151)
            let workload = try run(seed: seed)
            var disk = PowerCutDisk(realm: workload.first)
            let bound = checked + 500
            for operation in workload.operations {
                disk.perform(operation)
                if disk.acknowledged == 0 { continue }
                for variant in 0..<disk.variantCount where checked < min(wanted, bound) {
                    if Int.random(in: 0..<6, using: &random) > 0 { continue }
                    let state = disk.survivor(variant: variant, using: &random)
                    let what = "seed \(seed) state \(checked)"
                    let recovers = checked % 8 == 0
                    let did = try check(state, disk.acknowledged, workload.history, what, records: recovers)
                    checked += 1
                    if did.replayed { replayed += 1 }
                    if recovers {
                        checked += try checkRecovery(
                            of: state,
                            did.operations,
                            did.version,
                            disk.acknowledged,
                            workload.history,
                            what,
                            &random
                        )
                    }
                }
            }
        }
        print(
            "crash states with a log checked: \(checked), workloads: \(seed - firstSeed), with a log to replay: \(replayed)"
        )
        #expect(replayed > 0)
    }

    /// Opens a state, and looks at what is there; returns what opening and closing did.
    @discardableResult func check(
        _ state: (realm: [UInt8], log: [UInt8]?),
        _ acknowledged: UInt64,
        _ history: [UInt64: [UInt64]],
        _ what: String,
        records: Bool = false
    ) throws -> (operations: [Operation], version: UInt64, replayed: Bool) {
        let path = folder.path("state.realm")
        for suffix in ["", ".log", ".lock"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        try Data(state.realm).write(to: URL(fileURLWithPath: path))
        if let log = state.log { try Data(log).write(to: URL(fileURLWithPath: path + ".log")) }
        let recorder = LoggedFile.Recorder()
        var version: UInt64 = 0
        do {
            let options = LoggedFile.options(blocks: Self.blocks, recorder: records ? recorder : nil)
            let file = try StorageFile.open(path: path, options: options)
            let found = try LoggedFile.values(of: file)
            version = found.version
            #expect(found.version >= acknowledged, "\(what): a commit is lost")
            #expect(found.values == history[found.version], "\(what)")
            #expect(!FileManager.default.fileExists(atPath: path + ".log"), "\(what)")
            recorder.append(.acknowledged(version: version))
            if !records, version % 4 == 0 {
                // Recovery is followed by work.
                try file.lockForWriting()
                defer { file.unlockForWriting() }
                try file.publish([LoggedFile.prepare(LoggedFile.Change(values: [(1, 42)]), in: file)])
                #expect(try LoggedFile.values(of: file).values[1] == 42)
            }
        } catch {
            Issue.record("\(what): \(error)")
        }
        return (recorder.operations, version, state.log != nil)
    }

    /// Power cuts while a state is opened and closed; what somebody has seen is there for good.
    func checkRecovery(
        of state: (realm: [UInt8], log: [UInt8]?),
        _ operations: [Operation],
        _ version: UInt64,
        _ acknowledged: UInt64,
        _ history: [UInt64: [UInt64]],
        _ what: String,
        _ random: inout SplitMix64
    ) throws -> Int {
        var disk = PowerCutDisk(realm: state.realm, log: state.log, acknowledged: acknowledged)
        var count = 0
        for operation in operations {
            disk.perform(operation)
            for variant in 0..<disk.variantCount where variant == 0 || Bool.random(using: &random) {
                let state = disk.survivor(variant: variant, using: &random)
                try check(state, disk.acknowledged, history, "\(what), recovery \(count)")
                count += 1
            }
        }
        return count
    }
}
