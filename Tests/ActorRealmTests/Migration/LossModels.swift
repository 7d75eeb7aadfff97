import ActorRealm
import Foundation

/// One class before and after migrations that drop or change something.
enum Losing {
    class Before: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var name: String
        @Persisted var fax: String
        @Persisted var age: Int
        @Persisted var nick: String?
        @Persisted var marks: List<Int>
        @Persisted var price: Decimal128
        @Persisted var twin: Before?
        override class func _realmObjectName() -> String? { "Person" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    /// Without `fax`, `nick`, `marks`, `price` and `twin`.
    class Smaller: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var name: String
        @Persisted var age: Int
        override class func _realmObjectName() -> String? { "Person" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    /// With `age` as a text, and `marks` as texts.
    class Retyped: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var name: String
        @Persisted var fax: String
        @Persisted var age: String = "unknown"
        @Persisted var nick: String?
        @Persisted var marks: List<String>
        @Persisted var price: Decimal128
        @Persisted var twin: Retyped?
        override class func _realmObjectName() -> String? { "Person" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    /// With `fax` under another name, which another property had.
    class Renamed: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var name: String
        @Persisted var age: Int
        @Persisted var marks: List<Int>
        @Persisted var price: Decimal128
        @Persisted var twin: Renamed?
        override class func _realmObjectName() -> String? { "Person" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    /// With `name` under another name, which a property had that could not be nil.
    class Unnamed: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var fax: String?
        @Persisted var age: Int
        @Persisted var nick: String?
        @Persisted var marks: List<Int>
        @Persisted var price: Decimal128
        @Persisted var twin: Unnamed?
        override class func _realmObjectName() -> String? { "Person" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    /// With other keys, which have no index before the migration is done.
    class Keyed: Object {
        @Persisted(primaryKey: true) var name: String
        @Persisted var id: Int
        @Persisted var fax: String
        @Persisted var age: Int
        @Persisted var nick: String?
        @Persisted var marks: List<Int>
        @Persisted var price: Decimal128
        @Persisted var twin: Keyed?
        override class func _realmObjectName() -> String? { "Person" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    /// With such a key, and a link that is declared before it.
    class KeyedLast: Object {
        @Persisted var twin: KeyedLast?
        @Persisted var id: Int
        @Persisted var fax: String
        @Persisted var age: Int
        @Persisted var nick: String?
        @Persisted var marks: List<Int>
        @Persisted var price: Decimal128
        @Persisted(primaryKey: true) var name: String
        override class func _realmObjectName() -> String? { "Person" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    /// With a key that is a number.
    class KeyedByAge: Object {
        @Persisted var name: String
        @Persisted var id: Int
        @Persisted var fax: String
        @Persisted(primaryKey: true) var age: Int
        @Persisted var nick: String?
        @Persisted var marks: List<Int>
        @Persisted var price: Decimal128
        @Persisted var twin: KeyedByAge?
        override class func _realmObjectName() -> String? { "Person" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}

/// A file with ten people, of whom the first has defaults only.
struct LossFile {
    let url: URL

    init(_ path: String) throws {
        url = URL(fileURLWithPath: path)
        try withNewRealm(configuration(Losing.Before.self, version: 1)) { realm in
            try realm.write {
                for id in 0..<10 {
                    let person = realm.create(Losing.Before.self, value: ["id": id, "name": "name \(id)"])
                    if id == 0 { continue }
                    person.age = 20 + id
                    if id % 2 == 0 { person.fax = "fax \(id)" }
                    if id % 3 == 0 { person.nick = "" }
                    if id > 4 { person.marks.append(objectsIn: [id, 0]) }
                    if id > 7 { person.price = 7 } else if id > 5 { person.price = 0 }
                    if id == 9 { person.twin = person }
                }
            }
        }
    }

    func configuration(
        _ type: ObjectBase.Type,
        version: UInt64,
        _ journal: MigrationJournal? = nil,
        _ block: MigrationBlock? = nil
    ) -> Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: url,
            schemaVersion: version,
            migrationBlock: block,
            objectTypes: [type]
        )
        configuration.durability = .unflushed
        configuration.logger = journal?.logger
        return configuration
    }

    /// The error of an opening that must fail.
    func failure(_ configuration: Realm.Configuration) -> Realm.Error? {
        do {
            try withNewRealm(configuration) { _ in }
            return nil
        } catch {
            return error as? Realm.Error
        }
    }

    /// Whether the file is as it was made.
    var isUnchanged: Bool {
        get throws {
            try schemaVersionAtURL(url) == 1
                && withNewRealm(configuration(Losing.Before.self, version: 1)) { realm in
                    let people = realm.objects(Losing.Before.self)
                    return people.map(\.age) == [0] + (1..<10).map { 20 + $0 }
                        && people.map(\.name) == (0..<10).map { "name \($0)" }
                        && people.filter("fax != ''").count == 4 && people.map(\.marks.count).reduce(0, +) == 10
                }
        }
    }
}
