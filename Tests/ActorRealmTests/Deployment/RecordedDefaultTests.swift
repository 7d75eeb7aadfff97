import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// What an older release gives objects in properties that a newer one has added.
@Suite("Defaults for those who do not know them", .timeLimit(.minutes(60)))
struct RecordedDefaultTests {
    enum Older {
        class Item: Object {
            override class func _realmObjectName() -> String? { "Item" }
            override class func shouldIncludeInDefaultSchema() -> Bool { false }
            @Persisted(primaryKey: true) var id: Int
            @Persisted var name: String = "older"
        }
    }

    enum Newer {
        class Item: Object {
            override class func _realmObjectName() -> String? { "Item" }
            override class func shouldIncludeInDefaultSchema() -> Bool { false }
            @Persisted(primaryKey: true) var id: Int
            @Persisted(indexed: true) var mood: Mood = .grumpy
            @Persisted var count: Int = 5
            @Persisted var weight: Double? = 2.5
            @Persisted var price: Decimal128 = 7
            @Persisted(indexed: true) var note: String = "new"
            @Persisted var plain: Int
            @Persisted var maybe: Int? = 0
            // Null may stand in any number of rows, the default in one.
            @Persisted(unique: true) var code: String? = "none"
            @Persisted var key: UUID
            @Persisted var tags: List<String>
            @Persisted var next: Item?
            @Persisted var name: String = "newer"
            // What is another one each time, or long, is not recorded.
            @Persisted var made: Date = Date()
            @Persisted var chosen: Int = Int.random(in: 1...Int.max)
            @Persisted var long: String = String(repeating: "long", count: 300)
        }
    }

    final class Other: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(primaryKey: true) var id: Int
    }

    enum Next {
        class Item: Object {
            override class func _realmObjectName() -> String? { "Item" }
            override class func shouldIncludeInDefaultSchema() -> Bool { false }
            @Persisted(primaryKey: true) var id: Int
        }
    }

    let directory = TemporaryDirectory()

    private static func configuration(_ path: String, _ type: ObjectBase.Type, version: UInt64) -> Realm.Configuration {
        OutdatedRealmTests.configuration(path, [type], version: version)
    }

    @Test(
        "Objects that an older release creates have the declared defaults of the newer one, in each form",
        arguments: [true, false]
    )
    func defaults(isNewFile: Bool) async throws {
        let path = directory.path("shared.realm")
        let program = try await Program(Self.configuration(path, Older.Item.self, version: 1))
        if !isNewFile { try await program.write { $0.create(Older.Item.self, value: ["id": 0]) } }
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(RecordedDefaultTests.configuration(path, Newer.Item.self, version: 2)) { realm in
                try realm.write { _ = realm.create(Newer.Item.self, value: ["id": 10, "count": 1, "code": "ten"]) }
            }
        }
        try await program.write { realm in
            let item = Older.Item()
            item.id = 1
            realm.add(item)
            realm.create(Older.Item.self, value: ["id": 2])
            try realm.insert(Older.Item.self, value: ["id": 3, "name": "three"])
            // What is there keeps what it has.
            realm.create(Older.Item.self, value: ["id": 10, "name": "ten"], update: .modified)
        }
        await #expect(processExitsWith: .success) { [path = path as String] in
            // Nor does a program whose classes are others.
            try withNewRealm(RecordedDefaultTests.configuration(path, Other.self, version: 2)) { realm in
                try realm.write { try realm.dynamicInsert("Item", value: ["id": 4]) }
            }
            try withNewRealm(RecordedDefaultTests.configuration(path, Newer.Item.self, version: 2)) { realm in
                let made = realm.objects(Newer.Item.self).where { $0.id > 0 && $0.id < 10 }
                #expect(made.count == 4)
                for item in made {
                    #expect(item.mood == .grumpy && item.count == 5 && item.weight == 2.5 && item.price == 7)
                    #expect(item.note == "new" && item.plain == 0 && item.tags.isEmpty && item.next == nil)
                    #expect(item.name == (item.id == 3 ? "three" : "older"))
                    #expect(item.maybe == 0 && item.code == nil)
                    #expect(item.made.timeIntervalSinceNow < -86_400 && item.chosen == 0 && item.long.isEmpty)
                }
                #expect(realm.objects(Newer.Item.self).where { $0.note == "new" && $0.mood == .grumpy }.count >= 4)
                let ten = realm.object(ofType: Newer.Item.self, forPrimaryKey: 10)
                #expect(ten?.count == 1 && ten?.name == "ten")
            }
        }
        await program.perform { $0.close() }
        try FileVerifier.verify(StorageFile.open(path: path, options: StorageOptions()).beginRead())
    }

    @Test("What a migration drops is lost where it is not the default that the file knows")
    func losses() throws {
        let path = directory.path("shared.realm")
        try withNewRealm(Self.configuration(path, Newer.Item.self, version: 1)) { realm in
            try realm.write {
                for id in 0..<5 {
                    realm.create(
                        Newer.Item.self,
                        value: ["id": id, "made": Date.distantPast, "chosen": 0, "long": "", "code": "\(id)"]
                    )
                }
                let items = realm.objects(Newer.Item.self)
                for item in items { item.name = "newer" }
                items[0].count = 0
                items[1].count = 6
                items[2].weight = nil
                items[3].weight = 0
                items[4].mood = .calm
                items[4].note = ""
            }
        }
        var configuration = Self.configuration(path, Next.Item.self, version: 2)
        configuration.migrationLossPolicy = .refuse
        let error = #expect(throws: Realm.Error.self) { try withNewRealm(configuration) { _ in } }
        let message = error?.message ?? ""
        func has(_ property: String, _ count: String) -> Bool {
            message.contains("'Item.\(property)' is removed, which has values in \(count)")
        }
        #expect(has("count", "2 objects") && has("weight", "1 object") && has("mood", "1 object"), "\(message)")
        #expect(has("note", "1 object") && has("made", "5 objects"), "\(message)")
        for property in ["price", "name", "plain", "chosen", "long"] {
            #expect(!message.contains("'Item.\(property)'"), "\(message)")
        }
    }
}
