@_spi(Tools) import ActorRealm
import Foundation
import People

/// The operations whose instructions are counted, as a program calls them.
@MainActor
struct HotPaths {
    private static let objectCount = 20_000

    private let folder: String
    private let counter: Counter

    init(folder: String, counter: Counter) {
        self.folder = folder
        self.counter = counter
    }

    /// A commit that is to stand in a log, and has none.
    private struct MissingLog: Error, CustomStringConvertible {
        var description: String
    }

    private func path(_ name: String) -> String { "\(folder)/\(name).realm" }

    private func makeConfiguration(_ name: String, isDurable: Bool) -> Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: path(name)),
            objectTypes: [Person.self, Dog.self, Owner.self]
        )
        configuration.durability = isDurable ? .flushed : .unflushed
        return configuration
    }

    private func openUnflushed(_ name: String) throws -> Realm {
        try Realm(configuration: makeConfiguration(name, isDurable: false))
    }

    /// Runs everything; the counter is told of each operation by name.
    func run() throws {
        var pagesOnly = makeConfiguration("commit.durable", isDurable: true)
        pagesOnly.keepNoLog()
        try commits("commit.durable", Realm(configuration: pagesOnly))
        try commits("commit.unflushed", openUnflushed("commit.unflushed"))
        try loggedCommits("commit.logged", pagesOnDemand: false)
        try loggedCommits("commit.owed", pagesOnDemand: true)
        let realm = try openUnflushed("people")
        let data = (0..<Self.objectCount).map { PersonData($0) }
        try counter.count("insert", operations: data.count) {
            try realm.write {
                for data in data { realm.add(Person(data)) }
            }
        }
        try creations()
        let ids = (0..<5_000).map { PersonData.randomKey($0, below: Self.objectCount) }
        try repeated("lookup", operations: ids.count) {
            for id in ids { keep((realm.object(ofType: Person.self, forPrimaryKey: id)?.age ?? 0)) }
        }
        try repeated("read.scan", operations: Self.objectCount) {
            var sum = 0
            for person in realm.objects(Person.self) { sum &+= person.age }
            keep(sum)
        }
        let people = realm.objects(Person.self)
        try repeated("read.filter", operations: Self.objectCount) {
            var count = 0
            for person in people.filter({ $0.age > 33 && $0.score < 0.5 }) { count &+= person.id & 1 }
            keep(count)
        }
        let adultCount = people.where { $0.age > 33 }.count
        try repeated("read.results", operations: adultCount) {
            var sum = 0
            for person in people.where({ $0.age > 33 }) { sum &+= person.age }
            keep(sum)
        }
        try repeated("read.strings", operations: Self.objectCount) {
            var sum = 0
            for person in people { sum &+= person.name.utf8.count }
            keep(sum)
        }
        try repeated("sum", operations: Self.objectCount) { keep(people.sum(of: \.age) as Int) }
        let emails = ids.prefix(1_000).map { PersonData($0).email }
        try repeated("query.index", operations: emails.count) {
            for email in emails { keep(people.where { $0.email == email }.first) }
        }
        try repeated("query.string", operations: emails.count) {
            for email in emails { keep(people.filter("email == %@", email).first) }
        }
        try repeated("query.key", operations: ids.count) {
            for id in ids { keep(people.where { $0.id == id }.first) }
        }
        try repeated("query.count", operations: 10 * Self.objectCount) {
            for _ in 0..<10 { keep(people.where { $0.age == 33 }.count) }
        }
        try freezes(realm)
        try counter.count("update", operations: ids.count) {
            try realm.write {
                for id in ids { realm.object(ofType: Person.self, forPrimaryKey: id)?.age = 33 }
            }
        }
        // Last, for what it leaves in memory does not change what the others cost.
        try links(realm)
        try deletions()
    }

    /// A new version each time, and one property read from it.
    private func freezes(_ realm: Realm) throws {
        func commit(_ number: Int) throws {
            try realm.write { realm.object(ofType: Person.self, forPrimaryKey: number)?.age = 50 + number % 50 }
        }
        func freeze(_ number: Int) {
            let key = PersonData.randomKey(number, below: Self.objectCount)
            keep(realm.freeze().object(ofType: Person.self, forPrimaryKey: key)?.age ?? 0)
        }
        try commit(0)
        freeze(0)
        try counter.count("freeze", operations: 200, before: { try commit($0 + 1) }, freeze)
    }

    /// Objects made from dynamically typed values.
    private func creations() throws {
        let realm = try openUnflushed("created")
        let data = (0..<2 * Self.objectCount / 10).map { PersonData($0) }
        func create(_ data: ArraySlice<PersonData>, value: (PersonData) -> Any) throws {
            try realm.write {
                for data in data { realm.create(Person.self, value: value(data)) }
            }
        }
        func date(_ data: PersonData) -> Date { Date(timeIntervalSinceReferenceDate: data.createdAt) }
        let (first, second) = (data[..<(data.count / 2)], data[(data.count / 2)...])
        try counter.count("create.dictionary", operations: first.count) {
            try create(first) { data in
                [
                    "id": data.id, "name": data.name, "age": data.age, "score": data.score, "email": data.email,
                    "createdAt": date(data),
                ] as [String: Any]
            }
        }
        try counter.count("create.array", operations: second.count) {
            try create(second) { data in
                [data.id, data.name, data.age, data.score, data.email, date(data)] as [Any]
            }
        }
    }

    /// A tenth of all objects one by one, in any order, and then what a query finds.
    private func deletions() throws {
        let realm = try openUnflushed("deleted")
        try realm.write {
            for id in 0..<Self.objectCount { realm.add(Person(PersonData(id))) }
        }
        let ids = Set((0..<Self.objectCount / 10).map { PersonData.randomKey($0, below: Self.objectCount) })
            .sorted {
                PersonData($0).email < PersonData($1).email
            }
        try counter.count("delete", operations: ids.count) {
            try realm.write {
                for id in ids {
                    if let person = realm.object(ofType: Person.self, forPrimaryKey: id) { realm.delete(person) }
                }
            }
        }
        let young = realm.objects(Person.self).where { $0.age < 10 }
        let count = young.count
        try counter.count("delete.query", operations: count) { try realm.write { realm.delete(young) } }
    }

    /// Three dogs for each owner, in turns.
    private func links(_ realm: Realm) throws {
        let owners = (0..<5_000).map { _ in Owner() }
        let dogCount = 3 * owners.count
        try realm.write {
            realm.add(owners)
            for number in 0..<dogCount {
                let dog = Dog()
                dog.age = number % 20
                dog.owner = owners[number % owners.count]
                realm.add(dog)
            }
        }
        try repeated("link.forward", operations: dogCount) {
            var sum = 0
            for dog in realm.objects(Dog.self) { sum &+= dog.owner?.age ?? 0 }
            keep(sum)
        }
        try repeated("link.back", operations: dogCount) {
            var sum = 0
            for owner in realm.objects(Owner.self) {
                for dog in owner.dogs { sum &+= dog.age }
            }
            keep(sum)
        }
    }

    /// What is done for the first time does more: it is done once without counting.
    private func repeated(_ name: String, operations: Int, _ body: () throws -> Void) throws {
        try body()
        try counter.count(name, operations: operations, body)
    }

    /// Commits that their records make durable, with pages in each of them, or left to be made later.
    private func loggedCommits(_ name: String, pagesOnDemand isOnDemand: Bool) throws {
        var configuration = makeConfiguration(name, isDurable: true)
        configuration.keepLog(pagesOnDemand: isOnDemand)
        configuration.beginLogAtOnce()
        // Pages are left only where writes follow each other soon, and counting makes them slow.
        configuration.stopClock()
        let realm = try Realm(configuration: configuration)
        try commits(name, realm)
        guard FileManager.default.fileExists(atPath: path(name) + ".log") else {
            throw MissingLog(description: "\(name) has no log.")
        }
        withExtendedLifetime(realm) {}
    }

    private func commits(_ name: String, _ realm: Realm) throws {
        func commit(_ ids: Range<Int>) throws {
            for id in ids {
                let data = PersonData(id)
                try realm.write { realm.add(Person(data)) }
            }
        }
        try commit(0..<200)
        try counter.count(name, operations: 200) { try commit(200..<400) }
    }
}

/// Keeps the optimizer from dropping a result.
@inline(never)
private func keep<Value>(_ value: Value) {
    withExtendedLifetime(value) {}
}
