import ActorRealm
import Foundation
import People

/// ActorRealm through its public API, as a program would use it.
final class RealmEngine: Engine {
    static let name = "actorrealm"
    static let fileSuffixes = ["", ".lock", ".log"]

    private let realm: Realm

    init(path: String, isDurable: Bool, isBrief: Bool, isolation: isolated (any Actor)?) throws {
        realm = try Realm(configuration: Self.configuration(path, isDurable: isDurable), isolation: isolation)
    }

    /// Opens a file as a row needs it that is about our own engine.
    init(_ configuration: Realm.Configuration, isolation: isolated (any Actor)?) throws {
        realm = try Realm(configuration: configuration, isolation: isolation)
    }

    static func configuration(
        _ path: String,
        isDurable: Bool = true,
        objectTypes: [ObjectBase.Type] = [Person.self]
    ) -> Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: path),
            objectTypes: objectTypes
        )
        configuration.durability = isDurable ? .flushed : .unflushed
        return configuration
    }

    static func makeKennel(at path: String, isolation: isolated (any Actor)?) throws -> (any Kennel)? {
        try RealmKennel(path: path, isolation: isolation)
    }

    static func makeLibrary(at path: String, isDurable: Bool, isolation: isolated (any Actor)?) throws -> any Library {
        try RealmLibrary(path: path, isDurable: isDurable, isolation: isolation)
    }

    // The objects are made inside the measured time, as a program makes them.
    func insert(_ ids: some RandomAccessCollection<Int>) throws {
        try realm.write {
            for id in ids { realm.add(Person(PersonData(id))) }
        }
    }

    func update(_ ids: [Int], age: Int) throws {
        try realm.write {
            for id in ids { realm.object(ofType: Person.self, forPrimaryKey: id)?.age = age }
        }
    }

    func delete(_ ids: [Int]) throws {
        try realm.write {
            for id in ids {
                if let person = realm.object(ofType: Person.self, forPrimaryKey: id) { realm.delete(person) }
            }
        }
    }

    func deleteAll(youngerThan age: Int) throws {
        try realm.write { realm.delete(realm.objects(Person.self).where { $0.age < age }) }
    }

    func lookUp(_ ids: [Int]) -> Int {
        realm.refresh()
        var sum = 0
        for id in ids {
            guard let person = realm.object(ofType: Person.self, forPrimaryKey: id) else { continue }
            sum &+= person.age &+ person.name.utf8.count
        }
        return sum
    }

    func countOfRows() -> Int { realm.objects(Person.self).count }

    func sumOfRows() -> Int {
        var sum = 0
        for person in realm.objects(Person.self) { sum &+= person.age }
        return sum
    }

    func sumByEngine() -> Int? {
        realm.objects(Person.self).sum(of: \.age)
    }

    func count(_ condition: Condition) -> Int {
        realm.objects(Person.self)
            .where {
                switch condition {
                case .agedThirtiesAndScored: $0.age >= 30 && $0.age < 40 && $0.score > 0.5
                case .aged33: $0.age == 33
                case .named(let name): $0.name == name
                case .namePrefix(let prefix): $0.name.starts(with: prefix)
                case .nameContains(let part): $0.name.contains(part)
                }
            }
            .count
    }

    func find(emails: [String]) -> Int {
        let people = realm.objects(Person.self)
        return emails.reduce(0) { sum, email in sum &+ (people.where { $0.email == email }.first?.age ?? 0) }
    }

    func sumOfSorted(first count: Int, isLimited: Bool) -> Int? {
        let sorted = realm.objects(Person.self)
            .sorted(by: [SortDescriptor(keyPath: "age"), SortDescriptor(keyPath: "score")])
        if isLimited { return sorted.limit(count).reduce(0) { $0 &+ $1.id } }
        return sorted.prefix(count).reduce(0) { $0 &+ $1.id }
    }

    func readNewestVersion(_ id: Int) -> Int {
        realm.freeze().object(ofType: Person.self, forPrimaryKey: id)?.age ?? 0
    }
}
