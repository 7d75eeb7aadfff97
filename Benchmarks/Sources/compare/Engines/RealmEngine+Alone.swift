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
        case .tasks: try await commitsFromTasks(configuration(path), for: workload.commitDuration)
        case .blocked: try await blocked(path)
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

        func close() { realm = nil }
    }

    private static func commitsFromTasks(
        _ configuration: Realm.Configuration,
        for duration: Duration
    ) async throws -> Double {
        let inserter = try await Inserter(configuration)
        let start = ContinuousClock.now
        let commits = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<64 {
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
        await inserter.close()
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
                $0.add(Person(PersonData(1)))
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
    private static func blocked(_ path: String) async throws -> Double {
        let blocked = try await Blocked(configuration(path))
        let holder = try ChildProcess(["holds", RealmEngine.name, path])
        try holder.go()
        let gap = await blocked.longestGap()
        _ = try holder.result()
        await blocked.close()
        return gap / .milliseconds(1)
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
