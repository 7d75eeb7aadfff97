import ActorRealm
import Foundation
import RealmTestSupport
import Synchronization
import Testing

@Suite("What a migration block does wrong") struct MigrationMistakeTests {
    private let directory = TemporaryDirectory()
    private let file: LossFile

    init() throws { file = try LossFile(directory.path("mistaken.realm")) }

    /// A block that makes a mistake, with what the opening then throws.
    struct Mistake: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: Realm.Error.Code
        let className: String?
        let propertyName: String?
        let texts: [String]
        let block: @Sendable (Migration) -> Void

        init(
            _ description: String,
            as code: Realm.Error.Code = .invalidInput,
            className: String? = "Person",
            property propertyName: String?,
            _ texts: [String],
            _ block: @escaping @Sendable (Migration) -> Void
        ) {
            testDescription = description
            self.code = code
            self.className = className
            self.propertyName = propertyName
            self.texts = texts
            self.block = block
        }
    }

    static let mistakes: [Mistake] = [
        Mistake(
            "a value of another type",
            property: "age",
            ["Invalid value 'old' of type 'String' for 'int' property 'Person.age'"]
        ) {
            $0.enumerateObjects(ofType: "Person") { _, new in new?["age"] = "old" }
        },
        Mistake(
            "a date far away, and one in an array",
            property: "age",
            ["Invalid value '[", "of type 'Array<Any>' for 'int' property 'Person.age'"]
        ) {
            let far = Date(timeIntervalSinceReferenceDate: 1e300)
            $0.enumerateObjects(ofType: "Person") { _, new in new?["age"] = [far, ["far": far]] as [Any] }
            $0.enumerateObjects(ofType: "Person") { _, new in new?["age"] = far }
        },
        Mistake(
            "a date far away as a key",
            property: "id",
            ["Invalid value '", "of type 'Date' for 'int' property 'Person.id'"]
        ) {
            $0.create("Person", value: ["id": Date(timeIntervalSinceReferenceDate: -1e300)])
        },
        Mistake(
            "an element of another type",
            property: "marks",
            ["Invalid value", "for 'array<int>' property 'Person.marks'"]
        ) {
            $0.enumerateObjects(ofType: "Person") { _, new in new?["marks"] = [1, "two"] }
        },
        Mistake(
            "a misspelt property, written",
            property: "agee",
            ["property 'agee' not found in object of type 'Person'"]
        ) {
            $0.enumerateObjects(ofType: "Person") { _, new in new?.agee = 3 }
        },
        Mistake("a misspelt property, read", property: "agee", ["property 'agee' not found in object of type 'Person'"])
        {
            $0.enumerateObjects(ofType: "Person") { old, _ in #expect(old?["agee"] == nil) }
        },
        Mistake("a misspelt list", property: "pets", ["property 'pets' not found in object of type 'Person'"]) {
            $0.enumerateObjects(ofType: "Person") { old, new in
                #expect(old!.dynamicList("pets").isEmpty)
                new!.dynamicList("pets").append(new!)
            }
        },
        Mistake("a list of no objects", property: "marks", ["Property 'Person.marks' is not a list of objects"]) {
            $0.enumerateObjects(ofType: "Person") { _, new in #expect(new!.dynamicList("marks").isEmpty) }
        },
        Mistake(
            "an existing key",
            as: .duplicatePrimaryKey,
            property: "id",
            ["existing primary key value 3 of 'Person.id'"]
        ) {
            $0.create("Person", value: ["id": 3])
        },
        Mistake(
            "a created object with a value of another type",
            property: "name",
            ["Invalid value '7' of type 'Int'", "'Person.name'"]
        ) {
            $0.create("Person", value: ["id": 100, "name": 7])
        },
        Mistake("a created object with a key of another type", property: "id", ["Invalid value 'x'", "'Person.id'"]) {
            $0.create("Person", value: ["id": "x"], update: .modified)
        },
        Mistake("a nested object with a value of another type", property: "age", ["Invalid value 'x'", "'Person.age'"])
        {
            $0.create("Person", value: ["id": 100, "twin": ["id": 101, "age": "x"] as [String: Any]])
        },
        Mistake(
            "what no object can be made of",
            property: nil,
            ["Invalid value '5' of type 'Int' to initialize object of type 'Person'"]
        ) {
            $0.create("Person", value: 5)
        },
        Mistake(
            "a misspelt class",
            className: "Persn",
            property: nil,
            ["Object type 'Persn' is not managed by the Realm"]
        ) {
            $0.create("Persn", value: ["id": 100])
        },
        Mistake("an old object, written", property: "age", ["Attempting to modify an old object", "'Person.age'"]) {
            $0.enumerateObjects(ofType: "Person") { old, _ in old?["age"] = 3 }
        },
        Mistake(
            "an old object, deleted",
            className: nil,
            property: nil,
            ["Can only delete an object from the Realm it belongs to"]
        ) { migration in
            migration.enumerateObjects(ofType: "Person") { old, _ in migration.delete(old!) }
        },
        Mistake("a deleted object, written", property: "age", ["has been deleted or invalidated"]) { migration in
            let person = migration.object(ofType: "Person", forPrimaryKey: 3)!
            migration.delete(person)
            person["age"] = 4
        },
        Mistake("a deleted object, read", property: "name", ["has been deleted or invalidated"]) { migration in
            let person = migration.object(ofType: "Person", forPrimaryKey: 3)!
            migration.delete(migration.object(ofType: "Person", forPrimaryKey: 3)!)
            #expect(person["name"] == nil)
        },
        Mistake("a deleted object, deleted", property: nil, ["it cannot be deleted again"]) { migration in
            let person = migration.object(ofType: "Person", forPrimaryKey: 3)!
            migration.delete(person)
            migration.delete(person)
        },
        Mistake(
            "a rename of what is declared",
            property: "name",
            ["Cannot rename property 'Person.name' to 'fax'", "still exists"]
        ) {
            $0.renameProperty(onType: "Person", from: "name", to: "fax")
        },
        Mistake(
            "a rename of what is not there",
            property: "nme",
            ["Cannot rename property 'Person.nme' because it does not exist"]
        ) {
            $0.renameProperty(onType: "Person", from: "nme", to: "name")
        },
        Mistake("a key to find of another type", property: "id", ["Invalid value 'three'", "'Person.id'"]) {
            #expect($0.object(ofType: "Person", forPrimaryKey: "three") == nil)
        },
    ]

    @Test(arguments: mistakes) func `opening throws it, and the file is as it was`(_ mistake: Mistake) throws {
        let error = try #require(
            file.failure(
                file.configuration(Losing.Before.self, version: 2) { migration, _ in
                    migration.enumerateObjects(ofType: "Person") { _, new in new?["age"] = 1 }
                    mistake.block(migration)
                }
            )
        )
        #expect(error.code == mistake.code)
        #expect(error.details?.className == mistake.className)
        #expect(error.details?.propertyName == mistake.propertyName)
        for text in mistake.texts { #expect(error.message.contains(text), "\(error.message)") }
        #expect(error.fileURL == file.url)
        #expect(try file.isUnchanged)
    }

    @Test func `later calls do nothing, and what was created belongs to nothing`() throws {
        let visited = Mutex(0)
        let configuration = file.configuration(Losing.Before.self, version: 2) { migration, _ in
            let person = migration.object(ofType: "Person", forPrimaryKey: 3)!
            person["age"] = "the first mistake"
            // All of these would be mistakes as well, or would end the process.
            person["nme"] = "the second mistake"
            let made = migration.create("Person", value: ["id": 3])
            made["age"] = 7
            made["nothing"] = "at all"
            #expect(made.realm == nil && made["age"] == nil && made.nothing == nil)
            #expect(made.dynamicList("marks").isEmpty)
            person["twin"] = made
            #expect(person["age"] as? Int == 23)
            migration.delete(made)
            migration.renameProperty(onType: "Nobody", from: "a", to: "b")
            #expect(!migration.deleteData(forType: "Person"))
            #expect(migration.object(ofType: "Person", forPrimaryKey: 4) == nil)
            migration.enumerateObjects(ofType: "Person") { _, _ in visited.withLock { $0 += 1 } }
        }
        let error = try #require(file.failure(configuration))
        #expect(error.message.contains("the first mistake"))
        #expect(visited.withLock { $0 } == 0)
        #expect(try file.isUnchanged)
    }

    @Test func `an enumeration ends with the mistake, and a throwing one throws it`() throws {
        let visited = Mutex(0)
        let thrown = Mutex<(any Error)?>(nil)
        var configuration = file.configuration(Losing.Before.self, version: 2)
        configuration.throwingMigrationBlock = { migration, _ in
            do {
                try migration.enumerateObjects(ofType: "Person") { (_, new) throws in
                    let count = visited.withLock {
                        $0 += 1
                        return $0
                    }
                    if count == 4 { new?["age"] = Date.distantPast }
                }
            } catch {
                // Whoever swallows it gets it again from the opening.
                thrown.withLock { $0 = error }
            }
        }
        let error = try #require(file.failure(configuration))
        #expect(visited.withLock { $0 } == 4)
        #expect((thrown.withLock { $0 } as? Realm.Error)?.message == error.message)
        #expect(error.details == Realm.Error.Details(className: "Person", propertyName: "age"))
        #expect(try file.isUnchanged)
    }

    @Test func `a rename to another type is an error`() throws {
        let error = file.failure(
            file.configuration(Losing.Smaller.self, version: 2) { migration, _ in
                migration.renameProperty(onType: "Person", from: "fax", to: "age")
            }
        )
        #expect(error?.message.contains("because it would change from type 'string' to 'int'") == true)
        #expect(error?.details == Realm.Error.Details(className: "Person", propertyName: "fax"))
        #expect(try file.isUnchanged)
    }

    @Test func `an object of another class in a list is an error`() throws {
        let url = URL(fileURLWithPath: directory.path("lists.realm"))
        var configuration = Realm.Configuration(fileURL: url, schemaVersion: 1, objectTypes: oldTypes)
        try withNewRealm(configuration) { realm in
            try realm.write { realm.add(OldPerson(value: ["firstName": "Ann", "pets": [["id": 1] as [String: Any]]])) }
        }
        configuration.schemaVersion = 2
        configuration.migrationBlock = { migration, _ in
            migration.enumerateObjects(ofType: "Person") { old, new in
                #expect(old?.dynamicList("pets").count == 1)
                new?.dynamicList("pets").append(new!)
                // Nothing is made of what comes later.
                new?.dynamicList("pets").append(migration.create("Pet", value: ["id": 2]))
            }
        }
        let error = try #require(file.failure(configuration))
        #expect(error.code == .invalidInput)
        #expect(
            error.message.contains("Object of type 'Person' does not match the type 'Pet' of property 'Person.pets'")
        )
        #expect(error.details == Realm.Error.Details(className: "Person", propertyName: "pets"))
        configuration.schemaVersion = 1
        try withNewRealm(configuration) { realm in #expect(realm.objects(OldPet.self).map(\.id) == [1]) }
    }

    @Test func `what an older file does not have is no mistake to discard, to look for or to delete`() throws {
        let configuration = file.configuration(Losing.Before.self, version: 2) { migration, _ in
            migration.discardValues(ofProperty: "fox", onType: "Person")
            migration.discardValues(ofProperty: "fox", onType: "Nobody")
            #expect(migration.oldObject(ofType: "Nobody", forPrimaryKey: 1) == nil)
            #expect(!migration.deleteData(forType: "Nobody"))
            migration.enumerateObjects(ofType: "Nobody") { _, _ in Issue.record("there is nobody") }
        }
        #expect(file.failure(configuration) == nil)
    }

    /// A mistake with a collection, with a part of what the opening then throws.
    struct CollectionMistake: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        /// What the error's details say, where that is looked at.
        let details: Realm.Error.Details?
        let block: @Sendable (_ old: MigrationObject, _ new: MigrationObject, _ migration: Migration) -> Void

        init(
            _ description: String,
            _ text: String,
            of property: String? = nil,
            value: String? = nil,
            _ block: @escaping @Sendable (MigrationObject, MigrationObject, Migration) -> Void
        ) {
            testDescription = description
            self.text = text
            details = property.map { Realm.Error.Details(className: "Keeper", propertyName: $0, value: value) }
            self.block = block
        }
    }

    private static func pets(_ object: MigrationObject) -> List<DynamicObject> { object.dynamicList("pets") }
    private static func marks(_ object: MigrationObject) -> List<Int> { object["marks"] as! List<Int> }
    private static func kinds(_ object: MigrationObject) -> MutableSet<String> {
        object["kinds"] as! MutableSet<String>
    }
    private static func notes(_ object: MigrationObject) -> Map<String, String> {
        object["notes"] as! Map<String, String>
    }
    private static func any(_ object: MigrationObject) -> List<AnyRealmValue> {
        object["anything"] as! List<AnyRealmValue>
    }

    private static func anyList(_ values: [AnyRealmValue]) -> AnyRealmValue {
        let list = List<AnyRealmValue>()
        list.append(objectsIn: values)
        return .list(list)
    }

    static let collectionMistakes: [CollectionMistake] = [
        CollectionMistake("a position behind the end, read", "Index 7 is out of bounds", of: "pets") { _, new, _ in
            #expect(pets(new)[7]["id"] == nil && marks(new)[0] == 1)
        },
        CollectionMistake("a position of values, read", "Index 9 is out of bounds", of: "marks") { _, new, _ in
            #expect(marks(new)[9] == 0)
        },
        CollectionMistake("a negative position", "negative value for 'index': -1", of: "marks") { old, _, _ in
            #expect(marks(old)[-1] == 0)
        },
        CollectionMistake("a position of a set", "Index 5 is out of bounds", of: "kinds") { _, new, _ in
            #expect(kinds(new)[5] == "")
        },
        CollectionMistake("an insertion behind the end", "Index 8 is out of bounds", of: "marks") { _, new, _ in
            marks(new).insert(1, at: 8)
        },
        CollectionMistake("a removal behind the end", "Index 8 is out of bounds", of: "marks") { _, new, _ in
            marks(new).remove(at: 8)
        },
        CollectionMistake("a replacement behind the end", "Index 8 is out of bounds", of: "marks") { _, new, _ in
            marks(new)[8] = 1
        },
        CollectionMistake("a move", "Index 3 is out of bounds", of: "marks") { _, new, _ in
            marks(new).move(from: 0, to: 3)
        },
        CollectionMistake("an exchange", "Index 4 is out of bounds", of: "marks") { _, new, _ in marks(new).swapAt(4, 0)
        },
        CollectionMistake("a removal of too many", "not possible to remove more objects (5)", of: "marks") {
            _,
            new,
            _ in
            marks(new).removeFirst(5)
        },
        CollectionMistake("a removal of fewer than none", "negative number of objects", of: "marks") { _, new, _ in
            marks(new).removeLast(-1)
        },
        CollectionMistake("a range", "Index 9 is out of bounds", of: "marks") { _, new, _ in
            marks(new).removeSubrange(1..<9)
        },
        CollectionMistake("a range, replaced", "Index 9 is out of bounds", of: "marks") { _, new, _ in
            marks(new).replaceSubrange(1..<9, with: [1])
        },
        CollectionMistake("a slice", "Index 9 is out of bounds", of: "marks") { _, new, _ in
            #expect(Array(marks(new)[1..<9] as Slice<List<Int>>).isEmpty)
        },
        CollectionMistake("offsets", "Index 8 is out of bounds", of: "marks") { _, new, _ in
            marks(new).move(fromOffsets: [0], toOffset: 8)
        },
        CollectionMistake("a list of an old object, written", "Attempting to modify an old object") { old, _, _ in
            marks(old).append(4)
        },
        CollectionMistake("objects of an old object, written", "Attempting to modify an old object") { old, new, _ in
            pets(old).append(pets(new)[0])
        },
        CollectionMistake("a set of an old object, written", "Attempting to modify an old object") { old, _, _ in
            kinds(old).insert("x")
        },
        CollectionMistake("a map of an old object, written", "Attempting to modify an old object") { old, _, _ in
            notes(old)["x"] = "y"
        },
        CollectionMistake("an old object in a list of new ones", "already managed by another Realm") { old, new, _ in
            pets(new).append(pets(old)[0])
        },
        CollectionMistake("a name that no path can spell", "Invalid key 'a.b' for Map", of: "notes") { _, new, _ in
            notes(new)["a.b"] = "x"
        },
        CollectionMistake("a name that is too long", "A key of a Map has at most", of: "notes") { _, new, _ in
            notes(new)[String(repeating: "k", count: 70_000)] = "x"
        },
        CollectionMistake("a value of a map that does not fit", "Invalid value '7' of type 'Int' for Map", of: "notes")
        {
            _,
            new,
            _ in
            notes(new).setValue(7, forKey: "x")
        },
        CollectionMistake("a list of a deleted object", "no longer valid") { _, new, migration in
            let list = marks(new)
            migration.delete(new)
            list.append(1)
            #expect(list.isEmpty)
        },
        CollectionMistake("a list of a deleted object, read", "no longer valid") { _, new, migration in
            let list = pets(new)
            migration.delete(new)
            #expect(list[0]["id"] == nil)
        },
        CollectionMistake("a query that does not parse", "Unable to parse the predicate") { old, _, _ in
            #expect(pets(old).filter("id !! 3").isEmpty)
        },
        CollectionMistake("a query of a misspelt property", "nme") { old, _, _ in
            _ = pets(old).filter("nme == 'x'").count
        },
        CollectionMistake("an order by a misspelt property", "nme") { old, _, _ in
            _ = pets(old).sorted(byKeyPath: "nme").count
        },
        CollectionMistake("distinct by a misspelt property", "nme") { old, _, _ in
            _ = pets(old).distinct(by: ["nme"]).count
        },
        CollectionMistake("a limit below zero", "cannot be negative") { old, _, _ in _ = pets(old).limit(-1).count },
        CollectionMistake("a sum of a misspelt property", "nme") { old, _, _ in
            #expect(pets(old).sum(ofProperty: "nme") as Int == 0)
        },
        CollectionMistake("a misspelt property of a list's objects", "property 'nme' not found") { old, _, _ in
            _ = pets(old).value(forKey: "nme")
        },
        CollectionMistake("an operator that is none", "Unsupported collection operation '@most'") { old, _, _ in
            #expect(pets(old).value(forKeyPath: "@most.id") == nil)
        },
        CollectionMistake("a property of values", "only possible for collections of objects", of: "marks") {
            old,
            _,
            _ in
            _ = marks(old).value(forKey: "id")
        },
        CollectionMistake("a misspelt path", "property 'nme' not found") { old, _, _ in
            #expect(old.value(forKeyPath: "best.nme") == nil)
        },
        CollectionMistake("a misspelt path, written", "property 'nme' not found") { _, new, _ in
            new.setValue(1, forKeyPath: "best.nme")
        },
        CollectionMistake("what does not fit, at the end of a path", "Invalid value 'x'") { _, new, _ in
            new.setValue("x", forKeyPath: "best.id")
        },
        CollectionMistake("an old object, linked to", "existing primary key value 2") { old, new, _ in
            new["best"] = old["best"]
        },
        CollectionMistake("a list in a set", "'Keeper.anySet'", of: "anySet") { _, new, _ in
            (new["anySet"] as! MutableSet<AnyRealmValue>).insert(anyList([.int(1)]))
        },
        CollectionMistake("an old object in a value", "already managed by another Realm") { old, new, _ in
            any(new).append(.object(pets(old)[0]))
        },
        CollectionMistake("a deleted object in a value", "it cannot be linked to") { _, new, migration in
            let pet = pets(new)[0]
            migration.delete(pet)
            any(new).append(.object(pet))
        },
        CollectionMistake("a position in a list in a list", "Index 6 is out of bounds", of: "anything") { _, new, _ in
            any(new).append(anyList([.int(1)]))
            guard case .list(let inner)? = any(new).last else { return }
            #expect(inner[6] == .none)
        },
        CollectionMistake("a list that grows deeper than it may", "100") { _, new, _ in
            func nested() -> AnyRealmValue {
                var value = anyList([.int(1)])
                for _ in 0..<98 { value = anyList([value]) }
                return value
            }
            any(new).append(nested())
            guard case .list(let inner)? = any(new).last else { return }
            inner.append(anyList([nested()]))
        },
    ]

    class Keeper: Object {
        @Persisted var marks: List<Int>
        @Persisted var kinds: MutableSet<String>
        @Persisted var notes: Map<String, String>
        @Persisted var pets: List<Kept>
        @Persisted var best: Kept?
        @Persisted var anything: List<AnyRealmValue>
        @Persisted var anySet: MutableSet<AnyRealmValue>
        override class func _realmObjectName() -> String? { "Keeper" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Kept: Object {
        @Persisted(primaryKey: true) var id: Int
        override class func _realmObjectName() -> String? { "Kept" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    @Test(arguments: collectionMistakes)
    func `what a block does wrong with a collection is thrown by the opening, and the file is as it was`(
        _ mistake: CollectionMistake
    ) throws {
        var configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: directory.path("collections.realm")),
            schemaVersion: 1,
            objectTypes: [Keeper.self, Kept.self]
        )
        try withNewRealm(configuration) { realm in
            try realm.write {
                realm.create(
                    Keeper.self,
                    value: [
                        "marks": [1, 2], "kinds": ["a"], "notes": ["n": "x"], "pets": [["id": 1]], "best": ["id": 2],
                        "anything": [1],
                    ]
                )
            }
        }
        let calls = Mutex(0)
        configuration.schemaVersion = 2
        configuration.migrationBlock = { migration, _ in
            migration.enumerateObjects(ofType: "Keeper") { old, new in
                calls.withLock { $0 += 1 }
                mistake.block(old!, new!, migration)
            }
            // Later calls do nothing.
            migration.enumerateObjects(ofType: "Keeper") { _, _ in calls.withLock { $0 += 1 } }
        }
        let error = try #require(file.failure(configuration))
        #expect(
            [.invalidInput, .duplicatePrimaryKey].contains(error.code) && error.message.contains(mistake.text),
            "\(error)"
        )
        if let details = mistake.details { #expect(error.details == details) }
        #expect(calls.withLock { $0 } == 1)
        configuration.schemaVersion = 1
        try withNewRealm(configuration) { realm in
            let keeper = try #require(realm.objects(Keeper.self).first)
            #expect(Array(keeper.marks) == [1, 2] && Array(keeper.kinds) == ["a"] && keeper.notes.keys == ["n"])
            #expect(keeper.pets.map(\.id) == [1] && keeper.best?.id == 2 && keeper.anything.count == 1)
        }
    }

    @Test func `a query, a sum and a description of old objects are no look at the property that goes`() throws {
        func losses(_ block: @escaping @Sendable (MigrationObject) -> Void) -> [String] {
            let journal = MigrationJournal()
            var configuration = file.configuration(Losing.Smaller.self, version: 2, journal) { migration, _ in
                migration.enumerateObjects(ofType: "Person") { old, _ in block(old!) }
            }
            configuration.migrationLossPolicy = .refuse
            let error = file.failure(configuration)
            return (error?.message ?? "").matches(of: /Person\.([a-z]+)/).map { String($0.1) }
        }
        let all = losses { _ in }
        #expect(all.contains("fax") && all.contains("twin"))
        let printed = losses { _ = $0.description }
        let searched = losses { old in
            let found = old.realm?.dynamicObjects("Person").filter("fax != ''").count
            #expect(found != nil)
        }
        #expect(printed == all && searched == all)
        let summed = losses { old in
            let sum: Decimal128? = old.realm?.dynamicObjects("Person").sum(ofProperty: "price")
            #expect(sum != nil)
        }
        #expect(summed == all)
        let read = losses { _ = $0["fax"] }
        #expect(!read.contains("fax") && read.contains("twin"))
        let followed = losses { _ = $0.value(forKeyPath: "twin.fax") }
        #expect(!followed.contains("twin"))
    }

    @Test func `a position that results do not have is an error with their class`() throws {
        let error = file.failure(
            file.configuration(Losing.Smaller.self, version: 2) { migration, _ in
                migration.enumerateObjects(ofType: "Person") { old, _ in
                    guard let people = old?.realm?.dynamicObjects("Person") else { return }
                    _ = people[99]
                }
            }
        )
        #expect(error?.message.contains("Index 99 is out of bounds") == true, "\(String(describing: error))")
        #expect(error?.details == Realm.Error.Details(className: "Person"))
        #expect(try file.isUnchanged)
    }

    @Test func `keys that are equal in the end are an error with class, property and value`() throws {
        func failure(_ name: String) -> Realm.Error? {
            file.failure(
                file.configuration(Losing.Keyed.self, version: 2) { migration, _ in
                    migration.enumerateObjects(ofType: "Person") { _, new in new?["name"] = name }
                }
            )
        }
        let error = failure("same")
        #expect(error?.code == .duplicatePrimaryKey)
        #expect(error?.details == Realm.Error.Details(className: "Person", propertyName: "name", value: "'same'"))
        #expect(
            error?.message.contains("'Person.name' has duplicate values after migration: several objects have 'same'.")
                == true
        )
        // The beginning says enough of what is long.
        let long = failure(String(repeating: "long ", count: 10_000))
        #expect(long?.code == .duplicatePrimaryKey && long?.details?.propertyName == "name")
        #expect(long?.details?.value == "'" + String(repeating: "long ", count: 20) + "…'")
        #expect((long?.message.count ?? .max) < 400)
        #expect(try file.isUnchanged)
    }

    @Test func `numbers that are equal in the end are named as keys as well`() throws {
        let error = file.failure(
            file.configuration(Losing.KeyedByAge.self, version: 2) { migration, _ in
                migration.enumerateObjects(ofType: "Person") { old, new in
                    // Only the last two of ten are equal.
                    new?["age"] = min(old?["id"] as? Int ?? 0, 8)
                }
            }
        )
        #expect(error?.code == .duplicatePrimaryKey)
        #expect(error?.details == Realm.Error.Details(className: "Person", propertyName: "age", value: "8"))
        #expect(error?.message.contains("several objects have 8.") == true, "\(String(describing: error))")
        #expect(try file.isUnchanged)
    }
}
