import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

@Suite struct MigrationTests {
    let directory = TemporaryDirectory()

    private var url: URL { URL(fileURLWithPath: directory.path("migrated.realm")) }

    private func configuration(
        _ types: [ObjectBase.Type],
        version: UInt64,
        _ block: MigrationBlock? = nil
    ) -> Realm.Configuration {
        Realm.Configuration(fileURL: url, schemaVersion: version, migrationBlock: block, objectTypes: types)
    }

    private func makeOldFile(people: Int = 3, scoring: Bool = true) throws {
        let realm = try Realm(configuration: configuration(oldTypes, version: 1))
        try realm.write {
            for number in 0..<people {
                let pet = OldPet(value: ["id": number, "name": "pet \(number)"])
                let person = OldPerson(value: ["firstName": "First\(number)", "lastName": "Last\(number)"])
                person.age = 20 + number
                person.pets.append(pet)
                person.best = pet
                if scoring { person.scores.append(objectsIn: [number, number + 1]) }
                realm.add(person)
                realm.add(OldNote(value: ["text": "note \(number)", "about": pet]))
            }
        }
    }

    /// Checks every page and every structure of the file.
    private func verify() throws {
        try FileVerifier.verify(StorageFile.open(path: url.path, options: StorageOptions()).beginRead())
    }

    private static let migrate: MigrationBlock = { migration, version in
        precondition(version == 1)
        migration.renameProperty(onType: "Person", from: "pets", to: "animals")
        migration.renameProperty(onType: "Person", from: "age", to: "years")
        migration.enumerateObjects(ofType: "Pet") { old, new in
            new!["id"] = "p\(old!["id"] as! Int)"
        }
        migration.enumerateObjects(ofType: "Person") { old, new in
            new!["fullName"] = "\(old!["firstName"]!) \(old!["lastName"]!)"
            new!["id"] = "\(old!["firstName"]!)"
            new!["mood"] = "calm"
            new!["scores"] = (old!["scores"] as! List<Int>).map { "\($0)" }
        }
        migration.enumerateObjects(ofType: "Note") { old, new in
            precondition(new == nil)
            migration.create("Tag", value: ["label": old!["text"] as! String])
        }
        migration.deleteData(forType: "Note")
    }

    @Test func `a block brings a file from one shape to another`() throws {
        try makeOldFile()
        let realm = try Realm(configuration: configuration(newTypes, version: 2, Self.migrate))
        let people = realm.objects(NewPerson.self).sorted(byKeyPath: "id")
        #expect(people.map(\.id) == ["First0", "First1", "First2"])
        #expect(people.map(\.fullName) == ["First0 Last0", "First1 Last1", "First2 Last2"])
        #expect(people.map(\.years) == [20, 21, 22])
        #expect(people.map(\.mood) == [.calm, .calm, .calm])
        #expect(people.map { $0.animals.map(\.id) } == [["p0"], ["p1"], ["p2"]])
        #expect(people.map { $0.best?.name } == ["pet 0", "pet 1", "pet 2"])
        #expect(people.map { Array($0.scores) } == [["0", "1"], ["1", "2"], ["2", "3"]])
        #expect(realm.objects(NewPerson.self).where { $0.years == 21 }.first?.id == "First1")
        #expect(realm.object(ofType: NewPet.self, forPrimaryKey: "p2")?.keepers.first?.id == "First2")
        #expect(realm.objects(NewTag.self).map(\.label).sorted() == ["note 0", "note 1", "note 2"])
        #expect(realm.objects(NewTag.self).map(\.weight) == [7, 7, 7])
        #expect(realm.core.model.schema["Note"] == nil)
        try verify()
    }

    @Test func `the schemas tell what was and what is to be`() throws {
        try makeOldFile(people: 1, scoring: false)
        let seen = Mutex<[String]>([])
        _ = try Realm(
            configuration: configuration(newTypes, version: 2) { migration, version in
                let old = migration.oldSchema["Person"]
                let new = migration.newSchema["Person"]
                seen.withLock {
                    $0 = [
                        "\(version)", "\(old?["age"]?.type ?? .any)", "\(old?["age"]?.isIndexed ?? false)",
                        "\(new?["years"]?.isOptional ?? false)", new?.primaryKeyProperty?.name ?? "none",
                        new?["fullName"]?.columnName ?? "none", "\(new?["age"] == nil)",
                        old?["best"]?.objectClassName ?? "none", "\(migration.oldSchema["Tag"] == nil)",
                    ]
                }
                migration.enumerateObjects(ofType: "Person") { $1!["id"] = $0!["firstName"] }
            }
        )
        #expect(seen.withLock { $0 } == ["1", "int", "true", "true", "id", "full_name", "true", "Pet", "true"])
    }

    @Test func `a file is migrated without a block`() throws {
        try makeOldFile(people: 1, scoring: false)
        let realm = try Realm(configuration: configuration(newTypes, version: 2))
        let person = try #require(realm.objects(NewPerson.self).first)
        #expect(person.id == "" && person.years == nil && person.mood == .grumpy && person.best?.name == "pet 0")
    }

    @Test func `duplicate primary keys are an error that leaves the file as it was`() throws {
        try makeOldFile()
        do {
            _ = try Realm(
                configuration: configuration(newTypes, version: 2) { migration, _ in
                    migration.discardValues(ofProperty: "scores", onType: "Person")
                    migration.discardValues(ofProperty: "id", onType: "Pet")
                }
            )
            Issue.record("two people have the same primary key")
        } catch let error as Realm.Error {
            #expect(error.code == .duplicatePrimaryKey)
            #expect(
                error.message
                    == "Primary key property 'Person.id' has duplicate values after migration: several objects have ''."
            )
        }
        #expect(try schemaVersionAtURL(url) == 1)
        let realm = try Realm(configuration: configuration(oldTypes, version: 1))
        #expect(realm.objects(OldPerson.self).sorted(byKeyPath: "age").map(\.age) == [20, 21, 22])
        try verify()
    }

    @Test func `a property becomes unique when the block has made its values different`() throws {
        func members(_ version: UInt64, _ types: [ObjectBase.Type], _ block: MigrationBlock? = nil) throws -> Realm {
            try Realm(configuration: configuration(types, version: version, block))
        }
        do {
            let realm = try members(1, [PlainMember.self])
            try realm.write {
                for number in 0..<6 {
                    realm.add(PlainMember(value: ["email": "m\(number / 2)", "city": "x", "rank": number % 3]))
                }
            }
        }
        // Without a block, and without a higher version, the values are named that stand in the way.
        for version in [1, 2] as [UInt64] {
            do {
                _ = try members(version, [RuledMember.self])
                Issue.record("two members have the same address")
            } catch let error as Realm.Error {
                #expect(error.code == .duplicateValue)
                #expect(error.message.contains("Unique property 'Member.email' has duplicate values"))
                #expect(error.message.contains("'m0'"))
            }
        }
        let realm = try members(2, [RuledMember.self]) { migration, _ in
            var number = 0
            migration.enumerateObjects(ofType: "Member") { _, new in
                // All are the same for a while.
                new!["email"] = "same"
                new!["rank"] = 7
            }
            migration.enumerateObjects(ofType: "Member") { _, new in
                new!["email"] = "m\(number)"
                new!["rank"] = number
                number += 1
            }
        }
        #expect(realm.objects(RuledMember.self).map(\.email) == (0..<6).map { "m\($0)" })
        #expect(throws: Realm.Error.self) {
            try realm.write { try realm.insert(RuledMember(value: ["email": "m3", "rank": 9])) }
        }
        #expect(realm.objects(RuledMember.self).where { $0.city == "x" && $0.rank > 3 }.map(\.rank) == [4, 5])
        try verify()
    }

    struct Failure: Error {}

    @Test func `what a throwing block throws, opening throws, and nothing is changed`() throws {
        try makeOldFile()
        var configuration = configuration(newTypes, version: 2)
        configuration.throwingMigrationBlock = { migration, _ in
            migration.renameProperty(onType: "Person", from: "pets", to: "animals")
            migration.enumerateObjects(ofType: "Person") { old, new in new!["id"] = old!["firstName"] }
            migration.deleteData(forType: "Note")
            try migration.enumerateObjects(ofType: "Pet") { old, new in
                new!["id"] = "x"
                throw Failure()
            }
        }
        #expect(throws: Failure.self) { _ = try Realm(configuration: configuration) }
        #expect(try schemaVersionAtURL(url) == 1)
        do {
            let realm = try Realm(configuration: self.configuration(oldTypes, version: 1))
            #expect(realm.objects(OldPerson.self).map { $0.pets.count } == [1, 1, 1])
            #expect(realm.objects(OldNote.self).count == 3)
        }
        try verify()
        _ = try Realm(configuration: self.configuration(newTypes, version: 2, Self.migrate))
        try verify()
    }

    @Test func `a cancelled opening rolls the migration back`() async throws {
        try makeOldFile(people: 50)
        let visited = Mutex(0)
        let task = Mutex<Task<Void, any Error>?>(nil)
        let configuration = configuration(newTypes, version: 2) { migration, _ in
            migration.enumerateObjects(ofType: "Person") { old, new in
                let count = visited.withLock {
                    $0 += 1
                    return $0
                }
                new!["id"] = "\(count)"
                if count == 5 {
                    while task.withLock({ $0?.cancel() }) == nil {}
                }
            }
        }
        let opening = Task { @MainActor in _ = try await Realm(configuration: configuration) }
        task.withLock { $0 = opening }
        await #expect(throws: CancellationError.self) { try await opening.value }
        #expect(visited.withLock { $0 } == 5)
        #expect(try schemaVersionAtURL(url) == 1)
    }

    @Test func `objects can be deleted and made while others are visited`() throws {
        try makeOldFile(people: 20, scoring: false)
        let visited = Mutex(0)
        let realm = try Realm(
            configuration: configuration(newTypes, version: 2) { migration, _ in
                migration.enumerateObjects(ofType: "Pet") { $1!["id"] = "p\($0!["id"]!)" }
                migration.enumerateObjects(ofType: "Person") { old, new in
                    visited.withLock { $0 += 1 }
                    new!["id"] = old!["firstName"]
                    if (old!["age"] as! Int) % 2 == 0 {
                        migration.delete(new!)
                    } else {
                        let made = migration.create("Person", value: ["id": "copy of \(old!["firstName"]!)"])
                        made["best"] = new!["best"]
                    }
                }
            }
        )
        #expect(visited.withLock { $0 } == 20)
        #expect(realm.objects(NewPerson.self).count == 20)
        #expect(realm.object(ofType: NewPerson.self, forPrimaryKey: "copy of First3")?.best?.id == "p3")
        try verify()
    }

    @Test func `a block runs for a raised version only, and a lower one is refused`() throws {
        try makeOldFile(people: 1)
        let runs = Mutex(0)
        let block: MigrationBlock = { _, _ in runs.withLock { $0 += 1 } }
        _ = try Realm(configuration: configuration(oldTypes, version: 1, block))
        #expect(runs.withLock { $0 } == 0)
        _ = try Realm(configuration: configuration(oldTypes, version: 5, block))
        _ = try Realm(configuration: configuration(oldTypes, version: 5, block))
        #expect(runs.withLock { $0 } == 1)
        #expect(try schemaVersionAtURL(url) == 5)
        #expect(throws: Realm.Error.self) { _ = try Realm(configuration: configuration(oldTypes, version: 4)) }
        do {
            _ = try Realm(configuration: configuration(newTypes, version: 5))
            Issue.record("the classes do not fit the file")
        } catch let error as Realm.Error {
            #expect(error.code == .schemaMismatch)
            for text in [
                "Migration is required due to the following errors:", "- Property 'Person.age' has been removed.",
                "- Property 'Person.full_name' has been added.",
                "- Property 'Pet.id' has been changed from 'int' to 'string'.",
                "- Property 'Pet.name' has been made optional.",
                "- Primary Key for class 'Person' has been added: 'id'.",
            ] { #expect(error.message.contains(text), "\(error.message)") }
            // The details are those of the first difference.
            let first = error.message.split(separator: "\n")[1]
            let details = try #require(error.details)
            for name in [details.className, details.propertyName] {
                #expect(try first.contains(#require(name)), "\(details) for \(first)")
            }
        }
    }

    @Test func `a file is made anew where the configuration says so`() throws {
        try makeOldFile()
        var configuration = configuration(newTypes, version: 1)
        configuration.deleteRealmIfMigrationNeeded = true
        #expect(try Realm(configuration: configuration).objects(NewPerson.self).isEmpty)
        try Realm.deleteFiles(for: configuration)
        try makeOldFile()
        // Another version is enough.
        configuration = self.configuration(oldTypes, version: 2)
        configuration.deleteRealmIfMigrationNeeded = true
        #expect(try Realm(configuration: configuration).objects(OldPerson.self).isEmpty)
    }

    @Test func `a realm that is open is not migrated`() throws {
        try makeOldFile()
        let old = configuration(oldTypes, version: 1)
        let realm = try Realm(configuration: old)
        withExtendedLifetime(realm) {
            #expect(throws: Realm.Error(.alreadyOpen, fileURL: url)) {
                try Realm.performMigration(for: configuration(newTypes, version: 2, Self.migrate))
            }
            #expect(throws: Realm.Error(.incompatibleSession, fileURL: url)) {
                _ = try Realm(configuration: configuration(newTypes, version: 2, Self.migrate))
            }
        }
        realm.close()
        try Realm.performMigration(for: configuration(newTypes, version: 2, Self.migrate))
        #expect(try schemaVersionAtURL(url) == 2)
    }

    @Test func `the schema version of a file without a schema is an error`() throws {
        let missing = #expect(throws: Realm.Error.self) { try schemaVersionAtURL(url) }
        #expect(missing?.code == .invalidDatabase && missing?.fileURL == url)
        try Data("not a realm".utf8).write(to: url)
        do {
            _ = try schemaVersionAtURL(url)
            Issue.record("the file is no realm")
        } catch Realm.Error.invalidDatabase {
        }
    }

    @Test func `a large table is migrated`() throws {
        do {
            let realm = try Realm(configuration: configuration(oldTypes, version: 1))
            try realm.write {
                for number in 0..<20_000 {
                    realm.create(OldPet.self, value: ["id": number, "name": "pet \(number)"])
                }
            }
        }
        let realm = try Realm(
            configuration: configuration(newTypes, version: 2) { migration, _ in
                migration.enumerateObjects(ofType: "Pet") { old, new in new!["id"] = "p\(old!["id"]!)" }
            }
        )
        #expect(realm.objects(NewPet.self).count == 20_000)
        #expect(realm.object(ofType: NewPet.self, forPrimaryKey: "p19999")?.name == "pet 19999")
        try verify()
    }
}
