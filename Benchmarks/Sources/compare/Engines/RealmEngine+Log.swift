@_spi(Tools) import ActorRealm
import Figures
import Foundation
import People

/// The rows that are about a log; without one there is nothing to measure.
extension RealmEngine {
    /// How realms keep commits in this run.
    static func logSetting() throws -> LogSetting { try LogSetting(word: Realm.logMode()) }

    /// What all but one of a thousand durable commits take at most where no checkpoint is made beside them, in microseconds.
    ///
    /// The log is so long that none falls due: so many commits fill less than half of it.
    @MainActor
    static func tailWithoutCheckpoints(_ path: String, _ workload: Workload) throws -> Double? {
        guard try logSetting() != .off else { return nil }
        var configuration = Self.configuration(path)
        configuration.beginLogAtOnce(ringByteCount: 1 << 30)
        let engine = try RealmEngine(configuration, isolation: MainActor.shared)
        // As many at once are kept as pages; the one behind them waits for the space of the log.
        try engine.insert(0..<workload.commitBase)
        try engine.insert(workload.commitBase..<workload.commitBase + 1)
        guard FileManager.default.fileExists(atPath: path + ".log") else {
            throw Options.Failure(description: "There is no log of 1 GiB, for which the device needs 4 GiB of space.")
        }
        let times = try CommitLoop(first: workload.commitBase + 1)
            .times(for: workload.tailDuration, atMost: 120_000) { try engine.insert($0..<$0 + 1) }
        let ids = 0..<workload.commitBase + 1 + times.count
        try Answers.require(engine.holdings(ids), is: Holdings(of: ids), of: name, in: .tailWithoutCheckpoints)
        return times.percentile(0.999)
    }

    /// How long it takes to open a file whose process was killed when its log was full, and to read an object, in milliseconds.
    @MainActor
    static func openKilled(_ path: String, _ workload: Workload) throws -> Double? {
        guard try logSetting() != .off else { return nil }
        let child = try ChildProcess(["fills-log", name, path, "\(workload.commitBase)"])
        try child.go()
        let line = try child.killBehindLine()
        guard let count = Int(line) else {
            throw Options.Failure(description: "A child that fills its log said \"\(line)\".")
        }
        let start = ContinuousClock.now
        let engine = try RealmEngine(configuration(path), isolation: MainActor.shared)
        consume(engine.lookUp([count - 1]))
        let duration = ContinuousClock.now - start
        try Answers.require(engine.holdings(0..<count), is: Holdings(of: 0..<count), of: name, in: .openKilled)
        return duration / .milliseconds(1)
    }

    /// A new file whose log is filled with as many objects as it takes, without a checkpoint; and how many objects there are.
    @MainActor
    static func withFullLog(at path: String, behind base: Int) throws -> (engine: RealmEngine, count: Int) {
        var configuration = Self.configuration(path)
        configuration.beginLogAtOnce(makingCheckpoints: false)
        let engine = try RealmEngine(configuration, isolation: MainActor.shared)
        try engine.insert(0..<base)
        var count = base
        repeat {
            // Records of more than 64 KiB would be kept as pages.
            try engine.insert(count..<count + 100)
            count += 100
        } while try !isFull(path + ".log")
        return (engine, count)
    }

    /// Whether a log has something just before its end: in its first round that was zeros.
    private static func isFull(_ path: String) throws -> Bool {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw Options.Failure(description: "No log is begun at \(path).")
        }
        let (distance, length) = (UInt64(128 << 10), 64 << 10)
        let end = try file.seekToEnd()
        guard end > distance else { throw Options.Failure(description: "The log at \(path) is short.") }
        try file.seek(toOffset: end - distance)
        return try file.read(upToCount: length)?.contains { $0 != 0 } ?? false
    }
}
