import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

class OldHolder: Object {
    @Persisted var name = ""
    @Persisted var box: OldBox?
    @Persisted var former: BadgeRow?
    @Persisted var number = ""
    override class func _realmObjectName() -> String? { "Holder" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class OldBox: EmbeddedObject {
    @Persisted var size = 0
    override class func _realmObjectName() -> String? { "Box" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class NewHolder: Object {
    @Persisted var name = ""
    @Persisted var box: NewBox?
    @Persisted var badge: Badge
    @Persisted var spare: Badge?
    @Persisted var noted: Noted
    @Persisted var remark: Noted? = Noted(note: "declared")
    @Persisted var silent: Noted? = nil
    @Persisted var row: BadgeRow?
    @Persisted var badges: List<Badge>
    @Persisted var any: AnyRealmValue = .int(7)
    @Persisted var other: AnyRealmValue
    @Persisted var number: Badge
    @Persisted var bundle: Bundled
    override class func _realmObjectName() -> String? { "Holder" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class NewBox: EmbeddedObject {
    @Persisted var size = 0
    @Persisted var note = "of the class"
    @Persisted var badge: Badge
    override class func _realmObjectName() -> String? { "Box" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Stored as an embedded object of a class that has a property of such a type itself.
struct Bundled: CustomPersistable {
    typealias PersistedType = NewBox
    static let code = UUID()
    var note = "of the value"
    var badge: Badge?
    init(persistedValue: NewBox) {
        note = persistedValue.note
        badge = persistedValue.badge
    }
    var persistableValue: NewBox {
        let box = NewBox()
        box.note = note == "of the class" ? "of the value" : note
        if var badge {
            badge.code = Self.code
            box.badge = badge
        }
        return box
    }
}

/// The default of a property that is stored as an embedded object is written once when a migration adds the property.
@Suite struct AddedEmbeddedTests {
    let directory = TemporaryDirectory()

    private static let newTypes: [ObjectBase.Type] = [NewHolder.self, NewBox.self, BadgeRow.self]

    private func open(
        _ types: [ObjectBase.Type],
        version: UInt64,
        _ block: MigrationBlock? = nil
    ) throws -> Realm {
        let url = URL(fileURLWithPath: directory.path("holders.realm"))
        return try Realm(
            configuration: Realm.Configuration(
                fileURL: url,
                schemaVersion: version,
                migrationBlock: { migration, oldVersion in
                    // It becomes an embedded object, and what it was before is to go.
                    migration.discardValues(ofProperty: "number", onType: "Holder")
                    block?(migration, oldVersion)
                },
                objectTypes: types
            )
        )
    }

    private func makeFile(holders: Int = 5) throws {
        let realm = try open([OldHolder.self, OldBox.self, BadgeRow.self], version: 1)
        try realm.write {
            for number in 0..<holders {
                let holder = OldHolder(value: ["name": "n\(number)", "number": "\(number)"])
                if number % 2 == 0 { holder.box = OldBox(value: ["size": number]) }
                if number % 3 == 0 { holder.former = BadgeRow(value: ["note": "former \(number)"]) }
                realm.add(holder)
            }
        }
        realm.close()
    }

    /// Everything that holders hold of such types, as it is seen there.
    private func seen(in realm: Realm) -> [String: [Badge?]] {
        var all: [String: [Badge?]] = [:]
        for holder in realm.objects(NewHolder.self) {
            all[holder.name] = [holder.badge, holder.number, holder.bundle.badge, holder.box?.badge]
        }
        return all
    }

    @Test(arguments: [false, true])
    func `all who read the objects that were there see one default`(withBlock: Bool) throws {
        try makeFile()
        let block: MigrationBlock = { _, _ in }
        var realm = try open(Self.newTypes, version: 2, withBlock ? block : nil)
        let first = seen(in: realm)
        #expect(first.count == 5)
        #expect(seen(in: realm) == first)
        #expect(seen(in: realm.freeze()) == first)
        // Each object has its own.
        let badges: [Badge] = first.values.joined().compactMap { $0 }
        #expect(badges.count == 5 * 3 + 3)
        #expect(Set(badges.map { $0.id }).count == badges.count)
        let id = try #require(realm.objects(NewHolder.self).first).badge.id
        let found = realm.objects(NewHolder.self).where { $0.badge.persistableValue.id == id }
        #expect(found.map { $0.name } == ["n0"])
        try realm.verify()
        realm.close()
        realm = try open(Self.newTypes, version: 2)
        #expect(seen(in: realm) == first)
        #expect(seen(in: realm.freeze()) == first)
        realm.close()
    }

    @Test func `what is nil, empty or no value stays so`() throws {
        try makeFile()
        let realm = try open(Self.newTypes, version: 2)
        for holder in realm.objects(NewHolder.self) {
            #expect(holder.spare == nil && holder.silent == nil && holder.row == nil && holder.badges.isEmpty)
            #expect(holder.remark?.note == "declared")
            #expect(holder.any == .int(7) && holder.other == .none)
            if let box = holder.box { #expect("n\(box.size)" == holder.name) }
        }
        // One that is no value is not there, and missed by its reader only.
        let rows = realm.dynamicObjects("Holder")
        #expect(rows.count == 5)
        for row in rows { #expect(row["noted"] as? DynamicObject == nil && row["badge"] is DynamicObject) }
        try realm.verify()
    }

    @Test func `a property that is added to what a default makes keeps what the default says`() throws {
        try makeFile()
        let realm = try open(Self.newTypes, version: 2)
        for holder in realm.objects(NewHolder.self) {
            #expect(holder.bundle.note == "of the value" && holder.bundle.badge?.code == Bundled.code)
            #expect(holder.box?.note ?? "of the class" == "of the class")
        }
        // An owner for each, and a badge for each owner: three of their own, and one for each box.
        #expect(realm.dynamicObjects("BadgeRow").count == 5 * 4 + 3)
        #expect(realm.dynamicObjects("Box").count == 5 + 3)
        try realm.verify()
    }

    @Test func `a block sees the objects, and changes, deletes and renames over them`() throws {
        try makeFile()
        let kept = UUID()
        let realm = try open(Self.newTypes, version: 2) { migration, _ in
            migration.enumerateObjects(ofType: "Holder") { old, new in
                guard let new, let badge = new["badge"] as? DynamicObject else { return }
                badge["code"] = kept
                switch old?["name"] as? String {
                case "n1": migration.delete(new)
                case "n2": new["number"] = ["code": kept]
                default: break
                }
            }
            migration.renameProperty(onType: "Holder", from: "former", to: "badge")
        }
        #expect(realm.objects(NewHolder.self).map { $0.name } == ["n0", "n2", "n3", "n4"])
        let rows = realm.dynamicObjects("Holder")
        let notes: [String?] = rows.map { ($0["badge"] as? DynamicObject)?["note"] as? String }
        #expect(notes == ["former 0", nil, "former 3", nil])
        #expect(realm.objects(NewHolder.self).map { $0.number.code == kept } == [false, true, false, false])
        // What was replaced is gone with its place: one of its own left, two of boxes, and what was renamed.
        #expect(realm.dynamicObjects("BadgeRow").count == 4 * 3 + 3 + 2)
        try realm.verify()
    }

    @Test func `a large table gets its objects in one transaction`() throws {
        try makeFile(holders: 10_000)
        let realm = try open(Self.newTypes, version: 2)
        #expect(Set(realm.objects(NewHolder.self).map { $0.badge.id }).count == 10_000)
        #expect(realm.dynamicObjects("BadgeRow").count == 10_000 * 4 + 5_000)
        try realm.verify()
    }
}
