import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

/// Names of classes and properties from outside, with values from there: what throws where `dynamicCreate` and `setValue(_:forKey:)`
/// end the process.
@Suite("Objects are made and changed by names from outside", .timeLimit(.minutes(60)))
struct InsertByNameTests {
    private func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "nothing was thrown"
        } catch { return "\(error)" }
    }

    private func code(_ body: () throws -> Void) -> Realm.Error.Code? {
        do { try body() } catch { return (error as? Realm.Error)?.code }
        return nil
    }

    @Test("dynamicInsert makes what dynamicCreate makes, with the defaults of the program's class")
    func inserts() throws {
        let realm = try memoryRealm()
        try realm.write {
            let made = try realm.dynamicInsert(
                "Keeper",
                value: ["id": 5, "favourite": ["name": "Rex"], "puppies": [["name": "Bo"]]] as [String: Any]
            )
            #expect(made.name as? String == "nobody" && (made["favourite"] as? DynamicObject)?.name as? String == "Rex")
            try realm.dynamicInsert("Keeper", value: ["id": 6, "boss": made, "odd": 1], ignoringUnknownKeys: true)
        }
        #expect(realm.object(ofType: Keeper.self, forPrimaryKey: 6)?.boss?.puppies.first?.name == "Bo")
    }

    @Test("dynamicInsert throws for names and values that do not fit, and nothing has changed then")
    func refuses() throws {
        let realm = try memoryRealm()
        #expect(message { try realm.dynamicInsert("Puppy") }.contains("call `dynamicInsert` inside"))
        try realm.write {
            realm.create(Keeper.self, value: ["id": 1])
            let refused: [(String, Any, [String])] = [
                ("Stranger", [:], ["Object type 'Stranger' is not managed"]), ("", [:], ["is not managed"]),
                ("Toy", [:], ["Embedded objects"]), ("Keeper", 5, ["give a dictionary"]),
                (
                    "Keeper", ["id": "x", "age": "old", "favourite": ["age": 1.5], "odd": 1] as [String: Any],
                    ["id: 'x'", "age: 'old'", "favourite.age: 1.5", "odd: 'Keeper' has no such property"]
                ),
                ("Keeper", ["id": 1], ["existing primary key value 1 of 'Keeper.id'"]),
            ]
            for (name, value, words) in refused {
                let text = message { try realm.dynamicInsert(name, value: value) }
                for word in words { #expect(text.contains(word), "\(name), \(value): \(text)") }
            }
        }
        #expect(realm.objects(Keeper.self).count == 1 && realm.objects(Puppy.self).isEmpty)
        realm.close()
        #expect(code { try realm.dynamicInsert("Puppy") } == .closed)
    }

    @Test("Classes that only the file knows take and refuse values, too, down to what they link to")
    func unknownClasses() throws {
        let directory = TemporaryDirectory()
        let url = URL(fileURLWithPath: directory.path("dynamic.realm"))
        do { _ = try Realm(configuration: Realm.Configuration(fileURL: url, objectTypes: objectTestTypes)) }
        let realm = try Realm(configuration: Realm.Configuration(fileURL: url, objectTypes: [StringKeyed.self]))
        try realm.write {
            let boss = try realm.dynamicInsert(
                "Keeper",
                value: ["id": 1, "puppies": [["name": "Rex"]]] as [String: Any]
            )
            let second: [String: Any] = ["id": 2, "boss": boss, "toy": ["name": "ball"]]
            try realm.dynamicInsert("Keeper", value: second)
            let text = message {
                let value: [String: Any] = ["id": 3, "puppies": [["name": 7]], "boss": ["id": "z"], "toy": 5]
                try realm.dynamicInsert("Keeper", value: value)
            }
            for word in ["puppies[0].name: 7", "boss.id: 'z'", "toy: 5"] { #expect(text.contains(word), "\(text)") }
            #expect(message { try realm.dynamicInsert("Keeper") }.contains("Missing value for the primary key"))
        }
        #expect(realm.dynamicObjects("Keeper").count == 2 && realm.dynamicObjects("Puppy").count == 1)
        #expect(realm.dynamicObjects("Keeper").filter("toy.name == 'ball'").first?.id as? Int == 2)
    }

    @Test("setValues sets what a dictionary names, of typed and of dynamic objects")
    func sets() throws {
        let realm = try memoryRealm()
        let keeper = try realm.write { realm.create(Keeper.self, value: ["id": 1, "nicknames": ["a", "b"]]) }
        let values: [String: Any] = [
            "name": "Eve", "age": 7, "favourite": ["name": "Max"], "puppies": [["name": "New"]],
        ]
        try realm.write {
            try keeper.setValues(values)
            try keeper.setValues(["id": 1, "height": 1.5, "nicknames": keeper.nicknames])
        }
        #expect(keeper.name == "Eve" && keeper.age == 7 && keeper.favourite?.name == "Max" && keeper.height == 1.5)
        #expect(keeper.puppies.map(\.name) == ["New"] && Array(keeper.nicknames) == ["a", "b"])
        let dynamic = try #require(realm.dynamicObjects("Keeper").first)
        try realm.write {
            let changes: [String: Any?] = ["height": nil, "age": 8, "odd": 1, "puppies": []]
            try dynamic.setValues(changes, ignoringUnknownKeys: true)
        }
        #expect(keeper.height == nil && keeper.age == 8 && keeper.puppies.isEmpty && keeper.name == "Eve")
    }

    @Test("setValues throws for names and values that do not fit, and nothing has changed then")
    func refusesToSet() throws {
        let realm = try memoryRealm()
        let keeper = try realm.write { realm.create(Keeper.self, value: ["id": 1, "age": 30]) }
        let dynamic = try #require(realm.dynamicObjects("Keeper").first)
        #expect(message { try keeper.setValues(["age": 1]) }.contains("call `setValues` inside"))
        #expect(message { try Keeper().setValues(["age": 1]) }.contains("managed objects only"))
        #expect(code { try keeper.freeze().setValues(["age": 1]) } == .frozen)
        try realm.write {
            for object in [keeper, dynamic] as [Object] {
                let text = message {
                    try object.setValues(["age": 1, "name": 5, "odd": 1, "id": 2, "puppies": [["age": "x"]]])
                }
                for word in ["name: 5", "odd:", "id: the primary key", "puppies[0].age: 'x'"] {
                    #expect(text.contains(word), "\(text)")
                }
                #expect(keeper.age == 30 && realm.objects(Puppy.self).isEmpty)
            }
        }
        try realm.write { realm.delete(keeper) }
        try realm.write {
            #expect(code { try keeper.setValues(["age": 1]) } == .invalidatedObject)
        }
        realm.close()
        #expect(code { try keeper.setValues(["age": 1]) } == .closed)
    }

    @Test("Names and numbers from outside in what a parsed predicate asks for are thrown")
    func queries() throws {
        let realm = try memoryRealm()
        let keeper = try realm.write {
            let puppies: [[String: Any]] = [["name": "b", "age": 2], ["name": "a", "age": 1]]
            return realm.create(Keeper.self, value: ["id": 1, "puppies": puppies])
        }
        func names(_ text: String) throws -> [String] {
            let predicate = try RealmPredicate(parsing: text)
            return try keeper.puppies.filter(predicate).map(\.name)
        }
        #expect(try names("TRUEPREDICATE SORT(name ASC)") == ["a", "b"])
        #expect(try names("age > 0 SORT(age DESC) LIMIT(1)") == ["b"])
        for text in [
            "TRUEPREDICATE SORT(nose ASC)", "TRUEPREDICATE DISTINCT(nose)", "nose == 1", "SORT(", "age > 0 LIMIT(-1)",
        ] {
            #expect(code { _ = try names(text) } == .invalidInput, "\(text)")
        }
    }

    @Test("A parsed predicate filters a map, and throws where it does not fit")
    func maps() throws {
        let realm = try memoryRealm([Team.self, Player.self])
        let team = try realm.write {
            realm.create(Team.self, value: ["players": ["x": ["age": 3], "y": ["age": 5]]])
        }
        #expect(try team.players.filter(RealmPredicate(parsing: "age > 3")).map { $0?.age } == [5])
        #expect(try team.players.filter(RealmPredicate(parsing: "TRUEPREDICATE SORT(age DESC)")).first??.age == 5)
        for text in ["nose == 1", "TRUEPREDICATE SORT(nose ASC)"] {
            #expect(
                code {
                    _ = try team.players.filter(RealmPredicate(parsing: text))
                } == .invalidInput,
                "\(text)"
            )
        }
        #expect(
            code {
                _ = try Map<String, Player?>().filter(RealmPredicate(parsing: "age > 3"))
            } == .invalidInput
        )
        realm.close()
        #expect(try team.players.filter(RealmPredicate(parsing: "age > 3")).isEmpty)
    }

    class Team: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var players: Map<String, Player?>
    }

    class Player: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var age: Int
    }

    @Test("A value that another object has and that is to be unique is thrown by setValues, and by the commit")
    func unique() throws {
        let realm = try memoryRealm([HostileInputTests.Crate.self, HostileInputTests.Lid.self])
        let crate = try realm.write {
            realm.create(HostileInputTests.Crate.self, value: ["key": "a", "label": "one"])
            return realm.create(HostileInputTests.Crate.self, value: ["key": "b", "label": "two"])
        }
        #expect(code { try realm.write { try crate.setValues(["label": "one"]) } } == .duplicateValue)
        let kept = code {
            try realm.write {
                #expect(code { try crate.setValues(["label": "one"]) } == .duplicateValue)
            }
        }
        #expect(kept == .duplicateValue)
        #expect(crate.label == "two")
        try realm.write { try crate.setValues(["label": "three"]) }
        #expect(crate.label == "three")
    }

    @Test("What setValues cannot make of an input that fits is thrown by the commit, too, and nothing has changed")
    func refusedCommit() throws {
        let realm = try memoryRealm()
        let keeper = try realm.write {
            realm.create(Keeper.self, value: ["id": 1])
            return realm.create(Keeper.self, value: ["id": 2, "age": 3])
        }
        for names in [["age", "name", "boss"], ["boss"]] {
            let values: [String: Any] = ["age": 4, "name": "new", "boss": ["id": 1]]
            let kept = code {
                try realm.write {
                    let given = values.filter { names.contains($0.key) }
                    #expect(code { try keeper.setValues(given) } == .duplicatePrimaryKey)
                    realm.create(Keeper.self, value: ["id": 5])
                }
            }
            #expect(kept == .duplicatePrimaryKey)
        }
        #expect(keeper.age == 3 && keeper.name == "nobody" && keeper.boss == nil)
        #expect(realm.objects(Keeper.self).map(\.id) == [1, 2])
        try realm.verify()
    }
}
