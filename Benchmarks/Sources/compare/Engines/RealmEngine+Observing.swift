import ActorRealm
import Figures
import Foundation
import People
import Synchronization

/// The rows that are about observers.
extension RealmEngine {
    @MainActor
    static func measureObserving(
        _ row: RowIdentifier,
        at path: String,
        _ note: (Double, RowIdentifier) -> Void
    ) async throws -> Double? {
        switch row {
        case .notify:
            let waits = try await notify(path, rows: Workload.observedCount, changes: 1_000, note: { _ in })
            note(waits.percentile(0.99), .notifyTail)
            return waits.percentile(0.5)
        case .notifyLarge:
            let waits = try await notify(path, rows: 10_000_000, changes: 1_000) {
                note($0 / 1_048_576, .observerMemoryLarge)
            }
            note(waits.percentile(0.99), .notifyLargeTail)
            return waits.percentile(0.5)
        case .notifyOneOf100: return try await oneOfMany(path, observers: 100, changes: 300)
        case .notifyOneOf10k: return try await oneOfMany(path, observers: 10_000, changes: 100)
        case .notifyAll100: return try await allOfMany(path, observers: 100, changes: 200)
        case .observerMemory:
            let child = try ChildProcess(["observes", RealmEngine.name, path, "10000"])
            try child.go()
            return Double(try child.result())
        case .writeBesideOne: return try await writer(path, observers: 1)
        case .writeBeside100: return try await writer(path, observers: 100)
        case .writeBesideObservers: return try await writer(path, observers: 1_000)
        case .writeBeside10k: return try await writer(path, observers: 10_000)
        case .notifyProcess:
            let waits = try await process(path)
            note(waits.percentile(0.99), .notifyProcessTail)
            return waits.percentile(0.5)
        default: return nil
        }
    }

    /// An actor that observes all persons below an age.
    private actor Observer {
        private var realm: Realm!
        let deliveries = Deliveries()

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func observe() async {
            for await change in realm.objects(Person.self).where({ $0.age < 50 }).changes() {
                deliveries.note()
                consume(change)
            }
        }

        /// Calls a function with each age of the first person.
        func observeFirst(_ body: @Sendable (Int) -> Void) async {
            for await change in realm.objects(Person.self).where({ $0.id == 0 }).changes() {
                body(change.collection?.first?.age ?? 0)
            }
        }

        func close() { realm = nil }
    }

    @MainActor
    private static func fill(_ path: String, _ count: Int) async throws -> Realm {
        let realm = try await Realm(configuration: configuration(path))
        for start in stride(from: 0, to: count, by: 1_000_000) {
            try realm.write {
                for id in start..<min(start + 1_000_000, count) { realm.add(Person(PersonData(id))) }
            }
        }
        return realm
    }

    /// Moves one random person after the other over the limit of age, and waits until that was delivered.
    @MainActor
    private static func waits(
        _ realm: Realm,
        rows: Int,
        changes: Int,
        delivered: (_ key: Int) async -> ContinuousClock.Instant
    ) async throws -> [Double] {
        var waits: [Double] = []
        for number in 0..<changes {
            let key = PersonData.randomKey(number, below: rows)
            guard let person = realm.object(ofType: Person.self, forPrimaryKey: key) else { continue }
            let age = person.age
            // Not with an asynchronous write, whose caller hears of its commit after a change of executor only.
            try realm.write { person.age = age < 50 ? 75 : 25 }
            let returned = ContinuousClock.now
            waits.append(max(.zero, await delivered(key) - returned) / .microseconds(1))
        }
        return waits
    }

    @MainActor
    private static func notify(
        _ path: String,
        rows: Int,
        changes: Int,
        note: (Double) -> Void
    ) async throws -> [Double] {
        let realm = try await fill(path, rows)
        let observer = try await Observer(configuration(path))
        let deliveries = observer.deliveries
        let before = residentByteCount()
        let observing = Task { await observer.observe() }
        _ = await deliveries.wait(for: 1)
        note(residentByteCount() - before)
        var count = 1
        let waits = try await waits(realm, rows: rows, changes: changes) { _ in
            count += 1
            return await deliveries.wait(for: count)
        }
        observing.cancel()
        await observing.value
        await observer.close()
        return waits
    }

    /// Observers outside every actor, each of its own stretch of the persons.
    @MainActor
    private static func slices(_ realm: Realm, _ count: Int) -> (tasks: [Task<Void, Never>], deliveries: [Deliveries]) {
        let length = Workload.observedCount / count
        let deliveries = (0..<count).map { _ in Deliveries() }
        let tasks = deliveries.enumerated()
            .map { number, deliveries in
                let range = number * length..<(number + 1) * length
                let changes = realm.objects(Person.self)
                    .where { $0.id >= range.lowerBound && $0.id < range.upperBound && $0.age < 50 }
                    .changes()
                return Task.detached {
                    for await change in changes {
                        deliveries.note()
                        consume(change)
                    }
                }
            }
        return (tasks, deliveries)
    }

    @MainActor
    private static func oneOfMany(_ path: String, observers: Int, changes: Int) async throws -> Double {
        let realm = try await fill(path, Workload.observedCount)
        let (tasks, deliveries) = slices(realm, observers)
        for observer in deliveries { _ = await observer.wait(for: 1) }
        let length = Workload.observedCount / observers
        var counts = [Int](repeating: 1, count: observers)
        let waits = try await waits(realm, rows: Workload.observedCount, changes: changes) { key in
            counts[key / length] += 1
            return await deliveries[key / length].wait(for: counts[key / length])
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        return waits.percentile(0.5)
    }

    @MainActor
    private static func allOfMany(_ path: String, observers: Int, changes: Int) async throws -> Double {
        let realm = try await fill(path, Workload.observedCount)
        var actors: [Observer] = []
        for _ in 0..<observers { actors.append(try await Observer(configuration(path))) }
        let tasks = actors.map { observer in Task { await observer.observe() } }
        let deliveries = actors.map(\.deliveries)
        var count = 1
        for observer in deliveries { _ = await observer.wait(for: count) }
        let waits = try await waits(realm, rows: Workload.observedCount, changes: changes) { _ in
            count += 1
            var last = ContinuousClock.now
            for observer in deliveries { last = max(last, await observer.wait(for: count)) }
            return last
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        for observer in actors { await observer.close() }
        return waits.percentile(0.5)
    }

    /// What an observer takes of memory, in bytes.
    @MainActor
    static func memory(_ path: String, observers: Int) async throws -> Double {
        let realm = try await fill(path, Workload.observedCount)
        // What is allocated once is not an observer's.
        let (first, settled) = slices(realm, 10)
        for observer in settled { _ = await observer.wait(for: 1) }
        let before = residentByteCount()
        let (tasks, deliveries) = slices(realm, observers)
        for observer in deliveries { _ = await observer.wait(for: 1) }
        let used = residentByteCount() - before
        for task in first + tasks { task.cancel() }
        for task in first + tasks { await task.value }
        return used / Double(observers)
    }

    @MainActor
    private static func writer(_ path: String, observers: Int) async throws -> Double {
        _ = try await fill(path, Workload.observedCount)
        let realm = try await Realm(configuration: configuration(path, isDurable: false))
        func commits() throws -> Double {
            try CommitLoop(first: 0)
                .run(for: .seconds(1)) { number in
                    let key = PersonData.randomKey(number, below: Workload.observedCount)
                    let person = realm.object(ofType: Person.self, forPrimaryKey: key)
                    try realm.write { person?.age = number % 100 }
                }
        }
        let alone = try commits()
        let (tasks, deliveries) = slices(realm, observers)
        for observer in deliveries { _ = await observer.wait(for: 1) }
        let beside = try commits()
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        return beside / alone * 100
    }

    /// Durable commits one after the other while an actor observes all persons below an age.
    @MainActor
    static func commitsBesideObserver(_ path: String, _ workload: Workload) async throws -> Double {
        let realm = try await fill(path, workload.commitBase)
        let observer = try await Observer(configuration(path))
        let observing = Task { await observer.observe() }
        _ = await observer.deliveries.wait(for: 1)
        func commit(_ id: Int) throws {
            try realm.write { realm.add(Person(PersonData(id))) }
        }
        let rate = try CommitLoop(first: workload.commitBase).run(for: workload.commitDuration, commit)
        observing.cancel()
        await observing.value
        await observer.close()
        return rate
    }

    /// From the return of another process's commit to its delivery here.
    @MainActor
    private static func process(_ path: String) async throws -> [Double] {
        _ = try await fill(path, Workload.observedCount)
        let observer = try await Observer(configuration(path))
        let began = Deliveries()
        let box = DeliveryTimes()
        let observing = Task {
            await observer.observeFirst { number in
                box.note(number)
                began.note()
            }
        }
        _ = await began.wait(for: 1)
        let child = try ChildProcess(["ticks", RealmEngine.name, path])
        try child.go()
        // The main actor is not the observer's: it may wait here.
        let text = try child.result()
        let returned = text.split(separator: " ").compactMap { UInt64($0) }
        try await Task.sleep(for: .milliseconds(50))
        observing.cancel()
        await observing.value
        await observer.close()
        return returned.enumerated()
            .compactMap { number, returned in
                box[number + 1].map { max(0, Double($0) - Double(returned)) / 1_000 }
            }
    }
}

/// When which number was delivered.
private final class DeliveryTimes: Sendable {
    private let times = Mutex<[Int: UInt64]>([:])

    func note(_ number: Int) { times.withLock { $0[number] = monotonicNanoseconds() } }

    subscript(number: Int) -> UInt64? { times.withLock { $0[number] } }
}
