import ActorRealm
import Foundation
import RealmTestSupport
import Testing

@Suite("A property that a migration makes required has its declared default where it was nil", .timeLimit(.minutes(60)))
struct MadeRequiredTests {
    let directory = TemporaryDirectory()

    private func configuration(_ type: ObjectBase.Type, version: UInt64) -> Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: directory.path("required.realm")),
            schemaVersion: version,
            objectTypes: [type]
        )
        configuration.durability = .unflushed
        return configuration
    }

    private func check(_ block: MigrationBlock?) throws {
        func makeOld() throws {
            let realm = try Realm(configuration: configuration(OldShelf.self, version: 1))
            try realm.write {
                realm.create(OldShelf.self, value: ["id": 1])
                realm.create(
                    OldShelf.self,
                    value: ["id": 2, "name": "", "mood": "grumpy", "level": 1, "count": 0, "number": 3]
                        as [String: Any]
                )
            }
        }
        try makeOld()
        var migrating = configuration(NewShelf.self, version: 2)
        migrating.migrationBlock = block
        let realm = try Realm(configuration: migrating)
        let empty = try #require(realm.object(ofType: NewShelf.self, forPrimaryKey: 1))
        #expect(empty.name == "unnamed" && empty.count == 7 && empty.number == 0)
        // The getters would end the process where there is no case.
        #expect(try empty.value(of: \.mood) == .calm)
        #expect(try empty.value(of: \.level) == .high)
        let full = try #require(realm.object(ofType: NewShelf.self, forPrimaryKey: 2))
        #expect(full.name == "" && full.count == 0 && full.number == 3)
        #expect(try full.value(of: \.mood) == .grumpy)
        #expect(try full.value(of: \.level) == .low)
    }

    @Test("without a block")
    func alone() throws { try check(nil) }

    @Test("with a block")
    func withBlock() throws {
        try check { migration, _ in
            migration.enumerateObjects(ofType: "RequiredShelf") { _, new in _ = new?["name"] }
        }
    }
}

class OldShelf: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String?
    @Persisted var mood: Mood?
    @Persisted var level: Level?
    @Persisted var count: Int?
    @Persisted var number: Int?
    override class func _realmObjectName() -> String? { "RequiredShelf" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class NewShelf: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name = "unnamed"
    @Persisted var mood: Mood
    @Persisted var level = Level.high
    @Persisted var count = 7
    @Persisted var number: Int
    override class func _realmObjectName() -> String? { "RequiredShelf" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
