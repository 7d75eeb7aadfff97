import ActorRealm
import Foundation

/// ActorRealm through its public API, as a program would use it.
@MainActor
final class Ours: Contestant {
    static let name = "actorrealm"

    private let workload: Workload
    private var populated: Realm?
    private var bytesPerObject: Double?
    private var bytesPerCommit: Double?

    init(_ workload: Workload) {
        self.workload = workload
    }

    func measure(_ row: RowIdentifier) async throws -> Double? {
        switch row {
        case .insert: try insertAll()
        case .insertBytes: try size()
        case .serial: try serialCommits()
        case .tasks: try await commitsFromTasks()
        case .commitBytes: try writtenBytes()
        case .lookup: try lookUp()
        case .sumObjects: try sumOverObjects()
        case .sumEngine: try sumByEngine()
        case .notify: try await notify()
        case .read: try read()
        }
    }

    private func configuration(_ name: String) -> Realm.Configuration {
        Realm.Configuration(
            fileURL: URL(fileURLWithPath: workload.folder + "/\(name).realm"),
            objectTypes: [Person.self]
        )
    }

    private func removeFile(_ name: String) throws {
        _ = try Realm.deleteFiles(for: configuration(name))
    }

    private func populate(_ realm: Realm, count: Int) throws {
        try realm.write {
            for id in 0..<count { realm.add(Person(PersonData(id))) }
        }
    }

    private func standard() throws -> Realm {
        if let populated { return populated }
        let realm = try Realm(configuration: configuration("standard"))
        try populate(realm, count: workload.objectCount)
        populated = realm
        return realm
    }

    // W1: the objects are made inside the measured time, as a program makes them.
    private func insertAll() throws -> Double {
        defer { try? removeFile("insert") }
        let configuration = configuration("insert")
        let elapsed = try { () throws -> Duration in
            let realm = try Realm(configuration: configuration)
            let start = ContinuousClock.now
            try populate(realm, count: workload.objectCount)
            return ContinuousClock.now - start
        }()
        bytesPerObject = try byteCount(of: configuration) / Double(workload.objectCount)
        return Double(workload.objectCount) / (elapsed / .seconds(1))
    }

    private func size() throws -> Double? {
        if bytesPerObject == nil { _ = try insertAll() }
        return bytesPerObject
    }

    private func byteCount(of configuration: Realm.Configuration) throws -> Double {
        let attributes = try FileManager.default.attributesOfItem(atPath: configuration.fileURL?.path ?? "")
        return (attributes[.size] as? NSNumber)?.doubleValue ?? 0
    }

    // W2
    private func serialCommits() throws -> Double {
        defer { try? removeFile("serial") }
        let realm = try Realm(configuration: configuration("serial"))
        try populate(realm, count: 1_000)
        let counter = WrittenBytes()
        let start = ContinuousClock.now
        var commits = 0
        while ContinuousClock.now - start < workload.commitDuration {
            let data = PersonData(1_000 + commits)
            try realm.write { realm.add(Person(data)) }
            commits += 1
        }
        let elapsed = ContinuousClock.now - start
        bytesPerCommit = counter.sinceStart / Double(commits)
        return Double(commits) / (elapsed / .seconds(1))
    }

    private func writtenBytes() throws -> Double? {
        if bytesPerCommit == nil { _ = try serialCommits() }
        return bytesPerCommit
    }

    private func commitsFromTasks() async throws -> Double {
        defer { try? removeFile("tasks") }
        let inserter = try await Inserter(configuration: configuration("tasks"))
        let duration = workload.commitDuration
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
            var commits = 0
            for try await count in group { commits += count }
            return commits
        }
        let elapsed = ContinuousClock.now - start
        await inserter.close()
        return Double(commits) / (elapsed / .seconds(1))
    }

    private actor Inserter {
        private var realm: Realm!
        private var nextID = 0

        init(configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func insertNext() async throws {
            let data = PersonData(nextID)
            nextID += 1
            try await realm.asyncWrite { $0.add(Person(data)) }
        }

        func close() { realm = nil }
    }

    // W3
    private func lookUp() throws -> Double {
        let realm = try standard()
        let count = 100_000
        var sum = 0
        let elapsed = repeated(3) {
            for number in 0..<count {
                let key = PersonData.randomKey(number, below: workload.objectCount)
                guard let person = realm.object(ofType: Person.self, forPrimaryKey: key) else { continue }
                sum &+= person.age &+ person.name.utf8.count
            }
        }
        consume(sum)
        return elapsed / .nanoseconds(count)
    }

    // W4
    private func sumOverObjects() throws -> Double {
        let people = try standard().objects(Person.self)
        var sum = 0
        let elapsed = repeated(3) {
            for person in people { sum &+= person.age }
        }
        consume(sum)
        return elapsed / .nanoseconds(workload.objectCount)
    }

    private func sumByEngine() throws -> Double {
        let people = try standard().objects(Person.self)
        let elapsed = repeated(20) {
            consume(people.sum(of: \.age) as Int)
        }
        return elapsed / .milliseconds(1)
    }

    // W12
    private func notify() async throws -> Double {
        defer { try? removeFile("notify") }
        let realm = try await Realm(configuration: configuration("notify"))
        try populate(realm, count: 100_000)
        let observer = try await Observer(configuration: configuration("notify"))
        let observing = Task { await observer.observe() }
        while await observer.deliveries == 0 { try await Task.sleep(for: .milliseconds(1)) }
        var waits: [Duration] = []
        for number in 0..<200 {
            let key = PersonData.randomKey(number, below: 100_000)
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

    private actor Observer {
        private var realm: Realm!
        private(set) var deliveries = 0
        private(set) var lastDelivery = ContinuousClock.now

        init(configuration: Realm.Configuration) async throws {
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

    // W16
    private func read() throws -> Double? {
        guard let person = try standard().objects(Person.self).first else { return nil }
        let count = 10_000_000
        var sum = 0
        let elapsed = repeated(3) {
            for _ in 0..<count { sum &+= person.age }
        }
        consume(sum)
        return elapsed / .nanoseconds(count)
    }
}
