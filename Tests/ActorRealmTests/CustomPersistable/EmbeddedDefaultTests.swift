import ActorRealm
import Foundation
import Testing

class BadgeRow: EmbeddedObject {
    @Persisted var id = ObjectId.generate()
    @Persisted var code: UUID
    @Persisted var note = ""
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Stored as an embedded object whose default is another one each time.
struct Badge: CustomPersistable, Codable, Equatable {
    typealias PersistedType = BadgeRow
    var id: ObjectId
    var code: UUID
    init(persistedValue: BadgeRow) {
        id = persistedValue.id
        code = persistedValue.code
    }
    var persistableValue: BadgeRow { BadgeRow(value: ["id": id, "code": code] as [String: Any]) }
}

/// The default of what is stored is none of these.
struct Noted: FailableCustomPersistable {
    typealias PersistedType = BadgeRow
    var note: String
    init(note: String) { self.note = note }
    init?(persistedValue: BadgeRow) {
        if persistedValue.note.isEmpty { return nil }
        note = persistedValue.note
    }
    var persistableValue: BadgeRow { BadgeRow(value: ["note": note]) }
}

class BadgeOwner: Object, Codable {
    @Persisted var badge: Badge
    @Persisted var spare: Badge?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class NotedOwner: Object {
    @Persisted var noted: Noted
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// The default of a type of the program's own that is stored as an embedded object is one value for all who see it.
@Suite struct EmbeddedDefaultTests {
    private func encoded(_ owner: BadgeOwner) throws -> Badge {
        try JSONDecoder().decode(BadgeOwner.self, from: JSONEncoder().encode(owner)).badge
    }

    @Test func `whoever comes first, all see the same default`() throws {
        let coded = BadgeOwner()
        let first = try encoded(coded)
        #expect(try encoded(coded) == first && coded.badge == first && coded.spare == nil)
        let named = BadgeOwner()
        let value = try #require(named["badge"] as? Badge)
        #expect(try encoded(named) == value && named.badge == value)
        let described = BadgeOwner()
        #expect(described.description.contains(described.badge.code.uuidString))
        #expect(first != value && described.badge != value)
    }

    @Test func `it stays the same when the object is added, created from and read again`() throws {
        let realm = try memoryRealm([BadgeOwner.self, BadgeRow.self])
        let added = BadgeOwner()
        let before = try encoded(added)
        try realm.write { realm.add(added) }
        #expect(added.badge == before && added.badge == before)
        #expect(try encoded(added) == before)
        #expect(added.freeze().badge == before)
        #expect(added.detached().badge == before)
        #expect(realm.objects(BadgeOwner.self).where { $0.badge.persistableValue.id == before.id }.count == 1)
        let source = BadgeOwner()
        let seen = try encoded(source)
        let created = try realm.write { realm.create(BadgeOwner.self, value: source) }
        #expect(created.badge == seen && source.badge == seen)
        let copied = try realm.write { realm.create(BadgeOwner.self, value: added) }
        #expect(copied.badge == before && !copied.isSameObject(as: added))
        let made = try realm.write { realm.create(BadgeOwner.self) }
        let badge = made.badge
        #expect(made.badge == badge && realm.objects(BadgeOwner.self).last?.badge == badge && badge != seen)
        try realm.verify()
    }

    @Test func `a detached copy has the values of such types`() throws {
        let realm = try memoryRealm([Station.self, PlaceRow.self])
        let station = Station()
        station.tag = Tag("a")
        station.place = Place(1, 2)
        station.other = Place(3, 4)
        station.places.append(Place(5, 6))
        let early = station.detached()
        try realm.write { realm.add(station) }
        for copy in [early, station.detached(), station.freeze().detached(depth: 0)] {
            #expect(copy.realm == nil && copy.place == Place(1, 2) && copy.other == Place(3, 4))
            #expect(Array(copy.places) == [Place(5, 6)])
        }
    }

    @Test func `a default that is no value of the type is missed by its reader only`() throws {
        let realm = try memoryRealm([NotedOwner.self, BadgeRow.self])
        let owner = NotedOwner()
        owner.noted = Noted(note: "assigned")
        try realm.write { realm.add(owner) }
        #expect(realm.objects(NotedOwner.self).first?.noted.note == "assigned")
    }
}
