import ActorRealm
import Foundation
import People

/// The rows that are about actors and observers.
extension RealmEngine {
    @MainActor
    static func measureAlone(_ row: RowIdentifier, in workload: Workload) async throws -> Double? {
        let path = workload.path("alone", of: RealmEngine.self)
        removeFiles(at: path)
        defer { removeFiles(at: path) }
        return switch row {
        case .tasks: try await commitsFromTasks(configuration(path), for: workload.commitDuration)
        case .notify: try await notify(configuration(path))
        case .blocked: try await blocked(path)
        case .read: try read(configuration(path))
        default: nil
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

    private actor Observer {
        private var realm: Realm!
        private(set) var deliveries = 0
        private(set) var lastDelivery = ContinuousClock.now

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func observe() async {
            for await change in realm.objects(Person.self).where({ $0.age < 50 }).changes() {
                lastDelivery = ContinuousClock.now
                deliveries += 1
                consume(change)
            }
        }

        func close() { realm = nil }
    }

    @MainActor
    private static func notify(_ configuration: Realm.Configuration) async throws -> Double {
        let realm = try await Realm(configuration: configuration)
        try realm.write {
            for id in 0..<Workload.observedCount { realm.add(Person(PersonData(id))) }
        }
        let observer = try await Observer(configuration)
        let observing = Task { await observer.observe() }
        while await observer.deliveries == 0 { try await Task.sleep(for: .milliseconds(1)) }
        var waits: [Duration] = []
        for number in 0..<200 {
            let key = PersonData.randomKey(number, below: Workload.observedCount)
            guard let person = realm.object(ofType: Person.self, forPrimaryKey: key) else { continue }
            let age = person.age
            try await realm.asyncWrite { person.age = age < 50 ? 75 : 25 }
            let returned = ContinuousClock.now
            while await observer.deliveries < waits.count + 2 { await Task.yield() }
            waits.append(max(.zero, await observer.lastDelivery - returned))
        }
        observing.cancel()
        await observing.value
        await observer.close()
        return waits.sorted()[waits.count / 2] / .microseconds(1)
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
