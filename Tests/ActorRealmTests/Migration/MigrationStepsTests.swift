import ActorRealm
import Foundation
import RealmTestSupport
import Synchronization
import Testing

@Suite("Steps, progress and keys of migrations") struct MigrationStepsTests {
    private let directory = TemporaryDirectory()
    private let file: LossFile
    private let journal = MigrationJournal()

    init() throws { file = try LossFile(directory.path("steps.realm")) }

    /// Steps that note their version and the one that they were given.
    private func steps(_ versions: [UInt64], _ ran: Texts) -> [UInt64: ThrowingMigrationBlock] {
        Dictionary(
            uniqueKeysWithValues: versions.map { version in
                let step: ThrowingMigrationBlock = { _, old in ran.add("\(version) from \(old)") }
                return (version, step)
            }
        )
    }

    private final class Texts: Sendable {
        private let texts = Mutex<[String]>([])
        var all: [String] { texts.withLock { $0 } }
        func add(_ text: String) { texts.withLock { $0.append(text) } }
    }

    @Test func `the steps above the version of the file run in the order of their versions`() throws {
        let ran = Texts()
        var configuration = file.configuration(Losing.Before.self, version: 4, journal)
        configuration.migrationSteps = steps([5, 3, 1, 4, 2], ran)
        try withNewRealm(configuration) { _ in }
        #expect(ran.all == ["2 from 1", "3 from 1", "4 from 1"])
        #expect(journal.lines(.warn).map { $0.contains("migration.step: 5") } == [true])
        #expect(journal.lines(.detail).filter { $0.contains("A step of a migration is done.") }.count == 3)
        configuration.schemaVersion = 5
        try withNewRealm(configuration) { _ in }
        try withNewRealm(configuration) { _ in }
        #expect(ran.all.last == "5 from 4" && ran.all.count == 4)
    }

    @Test func `a step builds on what those before have written, all in one transaction`() throws {
        struct Failure: Error {}
        let fails = Atomic(true)
        var configuration = file.configuration(Losing.Before.self, version: 3)
        configuration.migrationSteps = [
            2: { migration, _ in
                migration.enumerateObjects(ofType: "Person") { old, new in
                    new?["age"] = (old?["age"] as? Int ?? 0) + 100
                }
            },
            3: { migration, _ in
                migration.enumerateObjects(ofType: "Person") { old, new in
                    #expect(new?["age"] as? Int == (old?["age"] as? Int ?? 0) + 100)
                    new?["age"] = (new?["age"] as? Int ?? 0) + 1_000
                }
                if fails.load(ordering: .relaxed) { throw Failure() }
            },
        ]
        #expect(throws: Failure.self) { try withNewRealm(configuration) { _ in } }
        #expect(try file.isUnchanged)
        fails.store(false, ordering: .relaxed)
        try withNewRealm(configuration) { realm in
            #expect(realm.objects(Losing.Before.self).map(\.age).last == 1_129)
        }
    }

    @Test func `a mistake in a step keeps the next one from running`() throws {
        let ran = Texts()
        var configuration = file.configuration(Losing.Before.self, version: 3)
        configuration.migrationSteps = steps([3], ran)
        configuration.migrationSteps[2] = { migration, _ in migration.create("Nobody") }
        #expect(file.failure(configuration)?.details?.className == "Nobody")
        #expect(ran.all.isEmpty)
        #expect(try file.isUnchanged)
    }

    @Test func `steps beside a block are an error`() throws {
        var configuration = file.configuration(Losing.Before.self, version: 1) { _, _ in }
        configuration.migrationSteps = steps([2], Texts())
        #expect(file.failure(configuration)?.code == .invalidInput)
        configuration.migrationBlock = nil
        configuration.throwingMigrationBlock = { _, _ in }
        #expect(file.failure(configuration)?.code == .invalidInput)
        configuration.throwingMigrationBlock = nil
        #expect(file.failure(configuration) == nil)
    }

    @Test func `progress comes with each thousandth object and at the end`() throws {
        try withNewRealm(file.configuration(Losing.Before.self, version: 1)) { realm in
            try realm.write { for id in 10..<2_500 { realm.create(Losing.Before.self, value: ["id": id]) } }
        }
        let seen = Mutex<[MigrationProgress]>([])
        var configuration = file.configuration(Losing.Before.self, version: 2, journal)
        configuration.throwingMigrationBlock = { migration, _ in
            migration.enumerateObjects(ofType: "Person") { progress in
                seen.withLock { $0.append(progress) }
            } _: { old, new in
                // One that is deleted before its turn is passed as well.
                if old?["id"] as? Int == 5 { migration.delete(migration.object(ofType: "Person", forPrimaryKey: 6)!) }
                #expect(old?["id"] as? Int != 6)
            }
            try migration.enumerateObjects(ofType: "Nobody") { _ in
                Issue.record("there is no such class")
            } _: { (_, _) throws in
                Issue.record("there is no such object")
            }
        }
        try withNewRealm(configuration) { _ in }
        #expect(seen.withLock { $0.map(\.visitedCount) } == [1_000, 2_000, 2_500])
        #expect(seen.withLock { $0.allSatisfy { $0.totalCount == 2_500 && $0.className == "Person" } })
        let line = journal.lines(.detail).first { $0.contains("A migration has gone through a class.") }
        #expect(line?.contains("migration.objects: 2500") == true && line?.contains("migration.visited: 2500") == true)
    }

    @Test func `objects are found by their keys, old and new`() throws {
        let configuration = file.configuration(Losing.Before.self, version: 2) { migration, _ in
            #expect(migration.object(ofType: "Person", forPrimaryKey: 7)?["name"] as? String == "name 7")
            #expect(migration.object(ofType: "Person", forPrimaryKey: 70) == nil)
            migration.object(ofType: "Person", forPrimaryKey: 7)?["name"] = "changed"
            #expect(migration.oldObject(ofType: "Person", forPrimaryKey: 7)?["name"] as? String == "name 7")
            #expect(migration.oldObject(ofType: "Person", forPrimaryKey: 70) == nil)
            migration.create("Person", value: ["id": 7, "fax": "new"], update: .modified)
            migration.create("Person", value: ["id": 70, "name": "made"], update: .all)
            #expect(migration.object(ofType: "Person", forPrimaryKey: 70)?["name"] as? String == "made")
        }
        try withNewRealm(configuration) { realm in
            #expect(realm.objects(Losing.Before.self).count == 11)
            let person = realm.object(ofType: Losing.Before.self, forPrimaryKey: 7)
            #expect(person?.name == "changed" && person?.fax == "new" && person?.age == 27)
        }
    }

    @Test func `objects are found by keys that are being made`() throws {
        let configuration = file.configuration(Losing.Keyed.self, version: 2) { migration, _ in
            func find(_ key: String) -> Int? { migration.object(ofType: "Person", forPrimaryKey: key)?["id"] as? Int }
            #expect(find("name 4") == 4 && find("name 10") == nil)
            migration.enumerateObjects(ofType: "Person") { old, new in
                let id = old?["id"] as? Int ?? 0
                new?["name"] = "key \(id)"
                #expect(find("key \(id)") == id && find("name \(id)") == nil)
            }
            // All are the same for a while.
            migration.enumerateObjects(ofType: "Person") { _, new in new?["name"] = "same" }
            #expect(find("same") != nil && find("key 4") == nil)
            migration.enumerateObjects(ofType: "Person") { old, new in new?["name"] = old?["name"] }
            migration.create("Person", value: ["name": "name 4", "age": 444], update: .modified)
            migration.create("Person", value: ["name": "name 10", "id": 10], update: .modified)
            #expect(find("name 10") == 10)
            migration.create("Person", value: ["name": "name 10", "age": 1_000], update: .all)
            migration.delete(migration.object(ofType: "Person", forPrimaryKey: "name 9")!)
            #expect(find("name 9") == nil)
            // Also those that others link to.
            let links: [String: Any] = ["name": "name 5", "twin": ["name": "name 6", "age": 666] as [String: Any]]
            migration.create("Person", value: links, update: .modified)
        }
        try withNewRealm(configuration) { realm in
            let people = realm.objects(Losing.Keyed.self)
            #expect(people.map(\.name) == (0..<9).map { "name \($0)" } + ["name 10"])
            #expect(people.map(\.age) == [0, 21, 22, 23, 444, 25, 666, 27, 28, 1_000])
            #expect(realm.object(ofType: Losing.Keyed.self, forPrimaryKey: "name 5")?.twin?.id == 6)
        }
    }

    @Test func `an object is found whose key was written behind a link to one that was made with it`() throws {
        let configuration = file.configuration(Losing.KeyedLast.self, version: 2) { migration, _ in
            func find(_ key: String) -> Int? { migration.object(ofType: "Person", forPrimaryKey: key)?["id"] as? Int }
            let inner: [String: Any] = ["name": "inner", "id": 101]
            let outer: [String: Any] = ["name": "outer", "id": 100, "twin": inner]
            migration.create("Person", value: outer, update: .modified)
            #expect(find("outer") == 100 && find("inner") == 101)
            migration.create("Person", value: ["name": "outer", "age": 5], update: .modified)
        }
        try withNewRealm(configuration) { realm in
            #expect(realm.objects(Losing.KeyedLast.self).count == 12)
            let outer = realm.object(ofType: Losing.KeyedLast.self, forPrimaryKey: "outer")
            #expect(outer?.id == 100 && outer?.age == 5 && outer?.twin?.name == "inner")
        }
    }
}
