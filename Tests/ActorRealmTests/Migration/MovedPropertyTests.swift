import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

/// Collections that a migration's block holds while it renames properties before them.
@Suite("What a migration has read finds its property again behind every renaming")
struct MovedPropertyTests {
    class Before: Object {
        @Persisted var first: String
        @Persisted var second: String
        override class func _realmObjectName() -> String? { "Crate" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class After: Object {
        @Persisted var one: String
        @Persisted var two: String
        @Persisted var tags: List<Int>
        @Persisted var others: List<Int>
        override class func _realmObjectName() -> String? { "Crate" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    private let directory = TemporaryDirectory()

    private func configuration(_ type: Object.Type, _ version: UInt64, _ block: MigrationBlock? = nil)
        -> Realm.Configuration
    {
        Realm.Configuration(
            fileURL: URL(fileURLWithPath: directory.path("moved.realm")),
            schemaVersion: version,
            migrationBlock: block,
            objectTypes: [type]
        )
    }

    @Test("A list that was read before, one renaming after the other")
    func lists() throws {
        do {
            let realm = try Realm(configuration: configuration(Before.self, 1))
            try realm.write { realm.add(Before(value: ["first": "a", "second": "b"])) }
            realm.close()
        }
        let realm = try Realm(
            configuration: configuration(After.self, 2) { migration, _ in
                var tags: List<Int>?
                var others: List<Int>?
                migration.enumerateObjects(ofType: "Crate") { _, new in
                    tags = new?["tags"] as? List<Int>
                    others = new?["others"] as? List<Int>
                }
                tags?.append(objectsIn: [1, 2])
                others?.append(objectsIn: [30])
                #expect(tags.map { Array($0) } == [1, 2] && tags?.index(of: 2) == 1)
                for (old, new) in [("first", "one"), ("second", "two")] {
                    migration.renameProperty(onType: "Crate", from: old, to: new)
                    #expect(tags.map { Array($0) } == [1, 2], "behind \(new)")
                    #expect(tags?.index(of: 2) == 1 && tags?.sum() == 3, "behind \(new)")
                    #expect(others.map { Array($0) } == [30], "behind \(new)")
                }
                tags?.append(3)
                #expect(tags.map { Array($0) } == [1, 2, 3])
            }
        )
        let crate = try #require(realm.objects(After.self).first)
        #expect(crate.one == "a" && crate.two == "b" && Array(crate.tags) == [1, 2, 3] && Array(crate.others) == [30])
        realm.close()
    }
}
