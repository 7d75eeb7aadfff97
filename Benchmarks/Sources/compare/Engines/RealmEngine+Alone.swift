import ActorRealm
import Figures
import Foundation
import People

/// The rows that are about actors.
extension RealmEngine {
    @MainActor private static var aloneCount = 0

    @MainActor
    static func measureAlone(
        _ row: RowIdentifier,
        in workload: Workload,
        note: (Double, RowIdentifier) -> Void
    ) async throws -> Double? {
        // Observers that were let go of may still have the file of the row before open for a moment.
        aloneCount += 1
        let path = workload.path("alone-\(aloneCount)", of: RealmEngine.self)
        removeFiles(at: path)
        defer { removeFiles(at: path) }
        return switch row {
        case .tasks: try await commitsFromTasks(64, configuration(path), row, for: workload.commitDuration)
        case .serialAsync: try await commitsFromTasks(1, configuration(path), row, for: workload.commitDuration)
        case .noSyncAsync:
            try await commitsFromTasks(1, configuration(path, isDurable: false), row, for: workload.commitDuration)
        case .attached: try commitsBesideProcess(path, workload)
        case .observed: try await commitsBesideObserver(path, workload)
        case .tailWithoutCheckpoints: try tailWithoutCheckpoints(path, workload)
        case .openKilled: try openKilled(path, workload)
        case .blocked: try await blocked(path, note)
        case .read: try read(configuration(path))
        default: try await measureObserving(row, at: path, note)
        }
    }

    private actor Inserter {
        private var realm: Realm!
        private var nextID = 0

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func insertNext() async throws {
            let data = PersonData(nextID)
            nextID += 1
            try await realm.asyncWrite { $0.add(Person(data)) }
        }

        /// Closes the realm; returns how many persons there were.
        func close() -> Int {
            defer { realm = nil }
            return realm.objects(Person.self).count
        }
    }

    private static func commitsFromTasks(
        _ tasks: Int,
        _ configuration: Realm.Configuration,
        _ row: RowIdentifier,
        for duration: Duration
    ) async throws -> Double {
        let inserter = try await Inserter(configuration)
        let start = ContinuousClock.now
        let commits = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<tasks {
                group.addTask {
                    var commits = 0
                    while ContinuousClock.now - start < duration {
                        try await inserter.insertNext()
                        commits += 1
                    }
                    return commits
                }
            }
            return try await group.reduce(0, +)
        }
        let elapsed = ContinuousClock.now - start
        try Answers.require(await inserter.close(), is: commits, of: name, in: row)
        return Double(commits) / (elapsed / .seconds(1))
    }

    /// An actor that writes, and that a heartbeat shows to be free.
    private actor Blocked {
        private var realm: Realm!
        private var isDone = false
        /// Changes whenever a part of the write runs on the actor.
        private var parts = 0

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func write() async throws {
            parts += 1
            try await realm.asyncWrite {
                parts += 1
                $0.add(Person(PersonData(parts)))
            }
            parts += 1
            isDone = true
        }

        /// The longest time between two turns of the actor with a part of the write in between: its call up to its waiting,
        /// its block and what follows up to the flush, its return.
        ///
        /// Between those the actor has nothing to do but the heartbeat, and what holds that up is the machine: without any
        /// write the same heartbeat misses some milliseconds now and then.
        func longestGap() async -> Duration {
            isDone = false
            let writing = Task { try await write() }
            var longest = Duration.zero
            var last = ContinuousClock.now
            var seen = parts
            while !isDone {
                await Task.yield()
                let now = ContinuousClock.now
                if parts != seen { longest = max(longest, now - last) }
                seen = parts
                last = now
            }
            _ = await writing.result
            return longest
        }

        func close() { realm = nil }
    }

    @MainActor
    private static func blocked(_ path: String, _ note: (Double, RowIdentifier) -> Void) async throws -> Double {
        let blocked = try await Blocked(configuration(path))
        let holder = try ChildProcess(["holds", RealmEngine.name, path])
        try holder.go()
        var gaps: [Double] = []
        for _ in 0..<100 { gaps.append(await blocked.longestGap() / .milliseconds(1)) }
        _ = try holder.result()
        await blocked.close()
        note(gaps.percentile(0.5), .blockedMedian)
        return gaps.max() ?? 0
    }

    /// Durable commits one after the other beside a process that has the file open and refreshes.
    @MainActor
    private static func commitsBesideProcess(_ path: String, _ workload: Workload) throws -> Double {
        let engine = try RealmEngine(path: path, isDurable: true, isBrief: false, isolation: MainActor.shared)
        try engine.insert(0..<workload.commitBase)
        let seconds = workload.commitDuration / .seconds(1)
        let other = try ChildProcess(["refreshes", name, path, "\(seconds + 0.2)"])
        try other.go()
        let rate = try CommitLoop(first: workload.commitBase)
            .run(for: workload.commitDuration) { try engine.insert($0..<$0 + 1) }
        _ = try other.result()
        return rate
    }

    @MainActor
    private static func read(_ configuration: Realm.Configuration) throws -> Double? {
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.add(Person(PersonData(1))) }
        guard let person = realm.objects(Person.self).first else { return nil }
        let count = 10_000_000
        var sum = 0
        let elapsed = repeated(3) {
            for _ in 0..<count { sum &+= person.age }
        }
        consume(sum)
        return elapsed / .nanoseconds(count)
    }
}
