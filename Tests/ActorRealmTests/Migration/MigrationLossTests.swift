import ActorRealm
import Foundation
import RealmTestSupport
import Synchronization
import Testing

@Suite("What a migration drops") struct MigrationLossTests {
    private let directory = TemporaryDirectory()
    private let file: LossFile
    private let journal = MigrationJournal()

    init() throws { file = try LossFile(directory.path("losing.realm")) }

    private func warnings() -> [String] {
        journal.lines(.warn)
            .compactMap { line in
                guard let start = line.range(of: "A migration has dropped values: "),
                    let end = line.range(of: ". [")
                else { return line }
                return String(line[start.upperBound..<end.lowerBound])
            }
    }

    private let allRemoved = [
        "'Person.fax' is removed, which has values in 4 objects",
        "'Person.nick' is removed, which has values in 3 objects",
        "'Person.marks' is removed, which has values in 5 objects",
        "'Person.price' is removed, which has values in 2 objects",
        "'Person.twin' is removed, which has values in 1 object",
    ]

    @Test func `removed properties go with a warning for each`() throws {
        try withNewRealm(file.configuration(Losing.Smaller.self, version: 2, journal)) { realm in
            #expect(realm.objects(Losing.Smaller.self).map(\.age) == [0] + (1..<10).map { 20 + $0 })
        }
        #expect(warnings() == allRemoved)
        let line = try #require(journal.lines(.warn).first)
        for text in ["migration.class: Person", "migration.property: fax", "migration.lost: 4", "realm.path: "] {
            #expect(line.contains(text))
        }
        #expect(try schemaVersionAtURL(file.url) == 2)
    }

    @Test func `a block that never looks at them changes nothing about that`() throws {
        let configuration = file.configuration(Losing.Smaller.self, version: 2, journal) { migration, _ in
            migration.enumerateObjects(ofType: "Person") { old, new in new?["name"] = "\(old?["name"] ?? "") 2" }
        }
        try withNewRealm(configuration) { _ in }
        #expect(warnings() == allRemoved)
    }

    @Test func `what the block has read is not lost, and neither is what it discards or renames`() throws {
        let configuration = file.configuration(Losing.Smaller.self, version: 2, journal) { migration, _ in
            migration.enumerateObjects(ofType: "Person") { old, new in
                // A query and a description are no looks.
                _ = "\(old!)"
                _ = old?["fax"]
                _ = old?.value(forKey: "twin")
            }
            migration.discardValues(ofProperty: "marks", onType: "Person")
        }
        try withNewRealm(configuration) { _ in }
        #expect(
            warnings() == [
                "'Person.nick' is removed, which has values in 3 objects",
                "'Person.price' is removed, which has values in 2 objects",
            ]
        )
    }

    final class Befriended: Object {
        override class func _realmObjectName() -> String? { "LossFriend" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var name: String
        @Persisted var friends: List<Befriended>
    }

    final class Alone: Object {
        override class func _realmObjectName() -> String? { "LossFriend" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var name: String
    }

    @Test func `a list of objects is looked at by its name`() throws {
        let path = directory.path("friends.realm")
        try withNewRealm(OutdatedRealmTests.configuration(path, [Befriended.self], version: 1)) { realm in
            try realm.write {
                let first = realm.create(Befriended.self, value: ["name": "Ann"])
                first.friends.append(realm.create(Befriended.self, value: ["name": "Bo"]))
            }
        }
        func configuration(_ look: @escaping @Sendable (MigrationObject) -> Void) -> Realm.Configuration {
            var configuration = OutdatedRealmTests.configuration(path, [Alone.self], version: 2) { migration, _ in
                migration.enumerateObjects(ofType: "LossFriend") { old, _ in old.map(look) }
            }
            configuration.migrationLossPolicy = .refuse
            return configuration
        }
        let error = #expect(throws: Realm.Error.self) { try withNewRealm(configuration { _ = $0["name"] }) { _ in } }
        #expect(error?.code == .lossyMigration)
        try withNewRealm(configuration { _ = $0.dynamicList("friends").count }) { realm in
            #expect(realm.objects(Alone.self).map(\.name) == ["Ann", "Bo"])
        }
    }

    private static let unread = "of which the block has not read it"

    @Test func `a read is one of its object only`() throws {
        let configuration = file.configuration(Losing.Smaller.self, version: 2, journal) { migration, _ in
            migration.enumerateObjects(ofType: "Person") { old, _ in
                if old?["id"] as? Int == 4 { migration.create("Person", value: ["id": 100, "name": old?.fax ?? ""]) }
            }
        }
        try withNewRealm(configuration) { realm in
            #expect(realm.object(ofType: Losing.Smaller.self, forPrimaryKey: 100)?.name == "fax 4")
        }
        let rest = "'Person.fax' is removed, which has values in 3 objects \(Self.unread)"
        #expect(warnings() == [rest] + allRemoved.dropFirst())
    }

    @Test func `copying an old object looks at what it copies`() throws {
        let configuration = file.configuration(Losing.Renamed.self, version: 2, journal) { migration, _ in
            migration.renameProperty(onType: "Person", from: "fax", to: "name")
            migration.discardValues(ofProperty: "nick", onType: "Person")
            if let old = migration.oldObject(ofType: "Person", forPrimaryKey: 4) {
                migration.create("Person", value: old, update: .modified)
            }
        }
        try withNewRealm(configuration) { realm in
            #expect(realm.objects(Losing.Renamed.self)[4].name == "name 4")
        }
        #expect(warnings() == ["'Person.name' is removed, which has values in 9 objects \(Self.unread)"])
    }

    @Test func `a block that reads in one branch only loses the rest, unless it discards that`() throws {
        let isDiscarding = Mutex(false)
        var configuration = file.configuration(Losing.Smaller.self, version: 2, journal) { migration, _ in
            for name in ["nick", "marks", "price", "twin"] {
                migration.discardValues(ofProperty: name, onType: "Person")
            }
            migration.enumerateObjects(ofType: "Person") { old, new in
                if old?["id"] as? Int ?? 0 > 6 { new?["name"] = old?["fax"] }
            }
            if isDiscarding.withLock({ $0 }) { migration.discardValues(ofProperty: "fax", onType: "Person") }
        }
        configuration.migrationLossPolicy = .refuse
        let error = try #require(file.failure(configuration))
        #expect(error.code == .lossyMigration)
        #expect(error.details == Realm.Error.Details(className: "Person", propertyName: "fax", count: 3))
        #expect(error.message.contains("which has values in 3 objects \(Self.unread)"), "\(error.message)")
        #expect(try file.isUnchanged)
        isDiscarding.withLock { $0 = true }
        try withNewRealm(configuration) { realm in
            #expect(realm.objects(Losing.Smaller.self)[8].name == "fax 8")
        }
    }

    @Test func `with refuse nothing is lost where each object is read, in any order`() throws {
        var configuration = file.configuration(Losing.Smaller.self, version: 2, journal) { migration, _ in
            for id in (0..<10).reversed() {
                let old = migration.oldObject(ofType: "Person", forPrimaryKey: id)
                for name in ["fax", "nick", "marks", "price", "twin"] { _ = old?[name] }
            }
        }
        configuration.migrationLossPolicy = .refuse
        try withNewRealm(configuration) { realm in #expect(realm.objects(Losing.Smaller.self).count == 10) }
        #expect(warnings().isEmpty)
    }

    @Test func `what a rename takes the place of is lost where it is neither read nor deleted`() throws {
        let configuration = file.configuration(Losing.Renamed.self, version: 2, journal) { migration, _ in
            migration.renameProperty(onType: "Person", from: "fax", to: "name")
            migration.discardValues(ofProperty: "nick", onType: "Person")
            migration.enumerateObjects(ofType: "Person") { old, new in
                let id = old?["id"] as? Int ?? 0
                if id < 3 { _ = old?["name"] }
                if id > 7 { migration.delete(new!) }
            }
        }
        try withNewRealm(configuration) { realm in #expect(realm.objects(Losing.Renamed.self).count == 8) }
        #expect(warnings() == ["'Person.name' is removed, which has values in 5 objects \(Self.unread)"])
    }

    @Test func `objects that the block has made before a rename lose nothing`() throws {
        var configuration = file.configuration(Losing.Renamed.self, version: 2, journal) { migration, _ in
            migration.enumerateObjects(ofType: "Person") { old, _ in _ = (old?["name"], old?["nick"]) }
            migration.create("Person", value: ["id": 100, "name": "made"])
            migration.renameProperty(onType: "Person", from: "fax", to: "name")
        }
        configuration.migrationLossPolicy = .refuse
        try withNewRealm(configuration) { realm in
            let people = realm.objects(Losing.Renamed.self)
            #expect(people.count == 11 && people.filter("name != ''").count == 4)
        }
        #expect(warnings().isEmpty)
    }

    @Test func `what a rename takes the place of counts as the file had it`() throws {
        let configuration = file.configuration(Losing.Unnamed.self, version: 2, journal) { migration, _ in
            // Neither what the block writes before is the file's, nor what is empty in a property that may be nil now.
            migration.object(ofType: "Person", forPrimaryKey: 1)?["fax"] = "written"
            migration.renameProperty(onType: "Person", from: "name", to: "fax")
        }
        try withNewRealm(configuration) { realm in
            let isRenamed = realm.objects(Losing.Unnamed.self).allSatisfy { $0.fax == "name \($0.id)" }
            #expect(isRenamed)
        }
        #expect(warnings() == ["'Person.fax' is removed, which has values in 4 objects"])
    }

    @Test func `objects that the block deletes lose nothing`() throws {
        let configuration = file.configuration(Losing.Smaller.self, version: 2, journal) { migration, _ in
            migration.enumerateObjects(ofType: "Person") { old, new in
                if (old?["id"] as? Int ?? 0) > 4 { migration.delete(new!) }
            }
        }
        try withNewRealm(configuration) { _ in }
        #expect(
            warnings() == [
                "'Person.fax' is removed, which has values in 2 objects",
                "'Person.nick' is removed, which has values in 1 object",
            ]
        )
    }

    @Test func `with refuse every loss is an error, and the file stays`() throws {
        var configuration = file.configuration(Losing.Smaller.self, version: 2, journal)
        configuration.migrationLossPolicy = .refuse
        let error = try #require(file.failure(configuration))
        #expect(error.code == .lossyMigration && error.code.rawValue == 113)
        #expect(error.details == Realm.Error.Details(className: "Person", propertyName: "fax", count: 4))
        for text in allRemoved + ["migration.discardValues(ofProperty: \"fax\", onType: \"Person\")"] {
            #expect(error.message.contains(text), "\(error.message)")
        }
        #expect(error.fileURL == file.url)
        #expect(try file.isUnchanged)
        #expect(journal.lines(.warn).map { $0.contains("A migration was rolled back.") } == [true])
        // With all said, it goes on.
        configuration.migrationBlock = { migration, _ in
            for name in ["fax", "nick", "marks", "price", "twin"] {
                migration.discardValues(ofProperty: name, onType: "Person")
            }
        }
        try withNewRealm(configuration) { realm in #expect(realm.objects(Losing.Smaller.self).count == 10) }
    }

    @Test func `a change of type without a block is an error`() throws {
        let error = try #require(file.failure(file.configuration(Losing.Retyped.self, version: 2)))
        #expect(error.code == .lossyMigration)
        #expect(error.details == Realm.Error.Details(className: "Person", propertyName: "age", count: 9))
        for text in [
            "'Person.age' changes from 'int' to 'string', and the block writes nothing for the values of 9 objects",
            "'Person.marks' changes from 'array<int>' to 'array<string>', and the block writes nothing for the values of 5",
        ] { #expect(error.message.contains(text), "\(error.message)") }
        #expect(try file.isUnchanged)
    }

    @Test func `a change of type is no loss where each value is written for`() throws {
        let configuration = file.configuration(Losing.Retyped.self, version: 2, journal) { migration, _ in
            // Backwards, so that no order of writing is relied on.
            for id in (0..<10).reversed() {
                let old = migration.oldObject(ofType: "Person", forPrimaryKey: id)
                let new = migration.object(ofType: "Person", forPrimaryKey: id)
                // What had no value need not be written.
                if let age = old?["age"] as? Int, age > 0 { new?["age"] = "\(age)" }
                if let marks = old?["marks"] as? List<Int> {
                    (new?["marks"] as? List<String>)?.append(objectsIn: marks.map { "\($0)" })
                }
            }
        }
        try withNewRealm(configuration) { realm in
            let people = realm.objects(Losing.Retyped.self)
            #expect(people.map(\.age) == ["unknown"] + (1..<10).map { "\(20 + $0)" })
            #expect(people.last.map { Array($0.marks) } == ["9", "0"])
        }
        #expect(warnings().isEmpty)
    }

    @Test func `a change of type that leaves objects out is an error`() throws {
        let error = file.failure(
            file.configuration(Losing.Retyped.self, version: 2) { migration, _ in
                migration.discardValues(ofProperty: "marks", onType: "Person")
                migration.enumerateObjects(ofType: "Person") { old, new in
                    let age = old?["age"] as? Int ?? 0
                    if age > 25 { new?["age"] = "\(age)" }
                }
            }
        )
        #expect(error?.code == .lossyMigration)
        #expect(error?.details == Realm.Error.Details(className: "Person", propertyName: "age", count: 5))
        #expect(try file.isUnchanged)
    }

    @Test func `a change of type that is said to discard values goes on in silence`() throws {
        let configuration = file.configuration(Losing.Retyped.self, version: 2, journal) { migration, _ in
            migration.discardValues(ofProperty: "age", onType: "Person")
            migration.discardValues(ofProperty: "marks", onType: "Person")
        }
        try withNewRealm(configuration) { realm in
            #expect(Set(realm.objects(Losing.Retyped.self).map(\.age)) == ["unknown"])
        }
        #expect(warnings().isEmpty)
    }

    @Test func `a rename in the place of another property loses what that had`() throws {
        let configuration = file.configuration(Losing.Renamed.self, version: 2, journal) { migration, _ in
            migration.renameProperty(onType: "Person", from: "fax", to: "name")
            migration.renameProperty(onType: "Person", from: "nick", to: "name")
        }
        try withNewRealm(configuration) { realm in
            #expect(Set(realm.objects(Losing.Renamed.self).map(\.name)) == [""])
        }
        #expect(
            warnings() == [
                "'Person.name' is removed, which has values in 10 objects",
                "'Person.fax' is removed, which has values in 4 objects",
            ]
        )
    }

    @Test func `a schema version that rises alone loses nothing`() throws {
        var configuration = file.configuration(Losing.Before.self, version: 2, journal)
        configuration.migrationLossPolicy = .refuse
        try withNewRealm(configuration) { _ in }
        #expect(warnings().isEmpty)
        #expect(journal.lines(.detail).map { $0.contains("A migration begins.") } == [true, false])
        #expect(journal.lines(.detail).map { $0.contains("A migration is done.") } == [false, true])
    }
}
