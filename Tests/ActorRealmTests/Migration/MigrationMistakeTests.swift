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

    @Test func `keys that are equal in the end are an error with class and property`() throws {
        let error = file.failure(
            file.configuration(Losing.Keyed.self, version: 2) { migration, _ in
                migration.enumerateObjects(ofType: "Person") { _, new in new?["name"] = "same" }
            }
        )
        #expect(error?.code == .duplicatePrimaryKey)
        #expect(error?.details == Realm.Error.Details(className: "Person", propertyName: "name"))
        #expect(try file.isUnchanged)
    }
}
