import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm
@testable import RealmModel
@testable import RealmStorage

/// Files in which an index, a link or a backlink names a row that is not there, with every checksum right: no call that can throw, or
/// that waits for the commit, ends the process.
@Suite("Rows that something names and that are not there") struct ForgedRowTests {
    final class Owner: Object {
        override class func _realmObjectName() -> String? { "ForgedOwner" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(primaryKey: true) var id: String
        @Persisted var name: String
        @Persisted(unique: true) var mail: String
        @Persisted var part: Part?
        @Persisted var parts: List<Part>
        @Persisted var named: Map<String, Part?>
        @Persisted var friend: Owner?
        @Persisted var numbers: List<Int>

        convenience init(id: String, name: String = "") {
            self.init()
            self.id = id
            self.name = name
            mail = id
        }
    }

    final class Part: EmbeddedObject {
        override class func _realmObjectName() -> String? { "ForgedPart" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var text: String
    }

    final class Counted: Object {
        override class func _realmObjectName() -> String? { "ForgedCounted" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(primaryKey: true) var id: Int
        @Persisted var name: String
    }

    private static let types: [ObjectBase.Type] = [Owner.self, Part.self, Counted.self]

    /// Takes a row away and leaves what leads to it; of another row, the entries of indexes go, so that their number is right.
    private static func forge(_ realm: Realm, _ className: String, missing key: Int64, unnamed other: Int64?) throws {
        try realm.write {
            let table = try #require(try realm.core.model.table(named: className))
            let writer = try table.openWriter()
            let transaction = try table.openTransaction
            try table.catchUpAll()
            for source in table.layout.sources where !source.slots[0].isLink {
                guard let other else { continue }
                if source.hasKeyRuns {
                    guard case .int(let value) = try table.value(source.ordinals[0], key: other) else { continue }
                    try KeyRuns.remove(value, from: &writer.trees[source.tree].tree, in: transaction.storage)
                    continue
                }
                let buffer = transaction.keyBuffer
                let length = try table.encode(source, at: table.row(of: other), to: buffer)
                let count = IndexKey.append(rowKey: other, to: buffer, at: length)
                let entry = UnsafeRawBufferPointer(start: buffer, count: count)
                #expect(try writer.trees[source.tree].tree.remove(entry, in: transaction.storage))
            }
            let isRemoved = try writer.rows.delete(key: key) { _ in }
            #expect(isRemoved)
        }
    }

    /// Owners a to d, of which the third is not there, and objects with the numbers 1 to 4 likewise.
    private func realm() throws -> Realm {
        let realm = try memoryRealm(Self.types)
        try realm.write {
            for id in ["a", "b", "c", "d"] { realm.add(Owner(id: id, name: "name \(id)")) }
            for id in 1...4 { realm.create(Counted.self, value: ["id": id, "name": "\(id)"]) }
        }
        try Self.forge(realm, "ForgedOwner", missing: 2, unnamed: 3)
        try Self.forge(realm, "ForgedCounted", missing: 2, unnamed: 3)
        return realm
    }

    /// What a write of a damaged file ends with.
    private func expectDamage(
        _ realm: Realm,
        _ what: String,
        location: SourceLocation = #_sourceLocation,
        _ body: () throws -> Void
    ) {
        let error = #expect(throws: Realm.Error.self, "\(what)", sourceLocation: location) { try realm.write(body) }
        #expect(error?.code == .invalidDatabase, "\(what): \(String(describing: error))", sourceLocation: location)
        #expect(!realm.isInWriteTransaction, sourceLocation: location)
    }

    @Test func `adding and creating what updates it`() throws {
        let realm = try realm()
        for policy in [Realm.UpdatePolicy.modified, .all] {
            expectDamage(realm, "add") { realm.add(Owner(id: "c"), update: policy) }
            expectDamage(realm, "add") { realm.add(Counted(value: ["id": 3]), update: policy) }
            expectDamage(realm, "create") { realm.create(Owner.self, value: ["id": "c", "name": "x"], update: policy) }
            expectDamage(realm, "create") { realm.create(Counted.self, value: ["id": 3, "name": "x"], update: policy) }
            expectDamage(realm, "within") {
                realm.create(Owner.self, value: ["id": "a", "friend": ["id": "c"]], update: policy)
            }
            expectDamage(realm, "within") {
                let owner = Owner(id: "a")
                owner.friend = Owner(id: "c")
                realm.add(owner, update: policy)
            }
        }
        expectDamage(realm, "insert") { try realm.insert(Owner.self, value: ["id": "c", "mail": "new"]) }
        expectDamage(realm, "insert") { try realm.insert(Owner(id: "c")) }
        expectDamage(realm, "insert") { try realm.insert(Counted.self, value: ["id": 3]) }
        expectDamage(realm, "unique") { try realm.insert(Owner.self, value: ["id": "new", "mail": "c"]) }
        // What is sound can be written.
        try realm.write { realm.add(Owner(id: "a", name: "other"), update: .modified) }
        #expect(realm.object(ofType: Owner.self, forPrimaryKey: "a")?.name == "other")
    }

    @Test func `an object that was found by its primary key`() throws {
        let realm = try realm()
        let owner = try #require(realm.object(ofType: Owner.self, forPrimaryKey: "c"))
        let counted = try #require(realm.object(ofType: Counted.self, forPrimaryKey: 3))
        let friend = try #require(realm.object(ofType: Owner.self, forPrimaryKey: "a"))
        expectDamage(realm, "set") { owner.name = "x" }
        expectDamage(realm, "set") { counted.name = "x" }
        expectDamage(realm, "set behind other writes") {
            friend.name = "y"
            realm.create(Counted.self, value: ["id": 9])
            counted.name = "x"
            owner.name = "x"
        }
        expectDamage(realm, "delete") { realm.delete(owner) }
        expectDamage(realm, "delete") { realm.delete(counted) }
        expectDamage(realm, "link") { friend.friend = owner }
        expectDamage(realm, "list") { owner.numbers.append(1) }
        expectDamage(realm, "map") { owner.named["x"] = Part() }
        for read in [{ try owner.requireReadable() }, { _ = try counted.value(of: \.name) }] {
            #expect(throws: Realm.Error.self) { try read() }
        }
    }

    @Test func `an object that was there and is gone was deleted: no index is looked through for it`() throws {
        let realm = try realm()
        let owner = try #require(realm.object(ofType: Owner.self, forPrimaryKey: "a"))
        let list = owner.numbers
        #expect(owner.name == "name a")
        let other = try #require(realm.object(ofType: Owner.self, forPrimaryKey: "a"))
        // The indexes name it still.
        try Self.forge(realm, "ForgedOwner", missing: 0, unnamed: nil)
        func code(_ body: () throws -> Void) -> Realm.Error.Code? {
            #expect(throws: Realm.Error.self) { try body() }?.code
        }
        #expect(code { try owner.requireReadable() } == .invalidatedObject)
        #expect(code { _ = try owner.value(of: \.name) } == .invalidatedObject)
        #expect(code { try list.requireReadable() } == .invalidatedObject)
        let insertion = code {
            try realm.write { _ = try realm.insert(Owner.self, value: ["id": "new", "friend": owner]) }
        }
        #expect(insertion == .invalidInput)
        #expect(code { try other.requireReadable() } == .invalidDatabase)
    }

    @Test func `an embedded object that a link owns`() throws {
        let realm = try memoryRealm(Self.types)
        let owner = try realm.write {
            let owner = Owner(id: "a")
            owner.part = Part(value: ["text": "1"])
            owner.parts.append(Part(value: ["text": "2"]))
            owner.named["n"] = Part(value: ["text": "3"])
            realm.add(owner)
            return owner
        }
        for key in 0..<3 as Range<Int64> { try Self.forge(realm, "ForgedPart", missing: key, unnamed: nil) }
        let part = try #require(owner.part)
        expectDamage(realm, "nil") { owner.part = nil }
        expectDamage(realm, "another one") { owner.part = Part() }
        expectDamage(realm, "set") { part.text = "x" }
        expectDamage(realm, "delete") { realm.delete(part) }
        for policy in [Realm.UpdatePolicy.modified, .all] {
            for value in [["part": ["text": "x"]], ["parts": [["text": "x"]]], ["named": ["n": ["text": "x"]]]] {
                expectDamage(realm, "\(value)") {
                    realm.create(Owner.self, value: value.merging(["id": "a"]) { $1 } as [String: Any], update: policy)
                }
            }
            expectDamage(realm, "add") {
                let other = Owner(id: "a")
                other.part = Part(value: ["text": "x"])
                realm.add(other, update: policy)
            }
        }
        #expect(throws: Realm.Error.self) { try part.requireReadable() }
    }

    @Test func `a missing row is damage where something names it, whichever step meets it`() throws {
        let realm = try realm()
        let named = realm.core.cause(of: ModelError.noSuchRow(className: "ForgedOwner", key: 2))
        #expect((named as? StorageError)?.code == .corrupt)
        #expect(realm.core.cause(of: ModelError.noSuchRow(className: "ForgedOwner", key: 99)) is ModelError)
    }

    @Test func `old and new objects of a migration`() throws {
        let directory = TemporaryDirectory()
        let url = URL(fileURLWithPath: directory.path("forged.realm"))
        func configuration(_ version: UInt64, _ block: MigrationBlock? = nil) -> Realm.Configuration {
            Realm.Configuration(fileURL: url, schemaVersion: version, migrationBlock: block, objectTypes: Self.types)
        }
        do {
            let realm = try Realm(configuration: configuration(1))
            try realm.write { for id in 1...4 { realm.create(Counted.self, value: ["id": id, "name": "\(id)"]) } }
            try Self.forge(realm, "ForgedCounted", missing: 2, unnamed: 3)
            realm.close()
        }
        let uses: [MigrationBlock] = [
            { migration, _ in _ = migration.oldObject(ofType: "ForgedCounted", forPrimaryKey: 3) },
            { migration, _ in _ = migration.oldObject(ofType: "ForgedCounted", forPrimaryKey: 3)?["name"] },
            { migration, _ in migration.object(ofType: "ForgedCounted", forPrimaryKey: 3)?["name"] = "x" },
            { migration, _ in migration.create("ForgedCounted", value: ["id": 3, "name": "x"], update: .modified) },
        ]
        for use in uses {
            let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration(2, use)) }
            #expect(error?.code == .invalidDatabase)
        }
        let realm = try Realm(configuration: configuration(2) { _, _ in })
        #expect(realm.object(ofType: Counted.self, forPrimaryKey: 2)?.name == "2")
    }
}
