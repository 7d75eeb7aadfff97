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

/// A type of the program's own need not have a value for the default of what it is stored as.
@Suite("Types without a value for the default", .timeLimit(.minutes(60)))
struct MissingDefaultTests {
    class Graded: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(primaryKey: true) var grade: Odd
        @Persisted var name: String
    }

    class Noting: Object, Encodable {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var level: Level
    }

    struct Level: FailableCustomPersistable, Codable {
        typealias PersistedType = Int
        let number: Int
        init?(persistedValue: Int) {
            if persistedValue == 0 { return nil }
            number = persistedValue
        }
        var persistableValue: Int { number }
    }

    private static func error(_ body: () throws -> Void) -> Realm.Error? {
        do { try body() } catch { return error as? Realm.Error }
        return nil
    }

    @Test("An insert that leaves out such a property is refused by an error that names the class and the property")
    func leftOut() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm([OddOnly.self, NotedOwner.self, BadgeRow.self, Graded.self])
            try realm.write {
                let errors = [
                    MissingDefaultTests.error { try realm.insert(OddOnly.self, json: Data("{}".utf8)) },
                    MissingDefaultTests.error { try realm.insert(OddOnly.self, value: [:] as [String: Any]) },
                    MissingDefaultTests.error { try realm.insert(OddOnly.self, value: OddOnly()) },
                    MissingDefaultTests.error { try realm.insert(OddOnly()) },
                ]
                let texts = errors.map { "\($0?.message ?? "nothing was thrown")" }
                #expect(texts.allSatisfy { $0.contains("'OddOnly.number'") }, "\(texts)")
                let noted = [
                    MissingDefaultTests.error { try realm.insert(NotedOwner.self, value: [:] as [String: Any]) },
                    MissingDefaultTests.error { try realm.insert(NotedOwner()) },
                    MissingDefaultTests.error { try realm.insert(Graded.self, value: ["name": "a"]) },
                    MissingDefaultTests.error { try realm.insert(Graded()) },
                ]
                #expect(noted.allSatisfy { $0?.code == .invalidInput })
                #expect(noted[0]?.details?.className == "NotedOwner" && noted[0]?.details?.propertyName == "noted")
                try realm.insert(OddOnly.self, value: ["number": 3])
            }
            let counts = [realm.objects(OddOnly.self).count, realm.objects(NotedOwner.self).count]
            #expect(counts == [1, 0])
            try realm.verify()
        }
    }

    @Test("A key path to such a property can be followed where an object has a value, or the declaration")
    func keyPaths() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm([OddOnly.self, Measured.self, Position.self])
            let (odd, measured) = try realm.write {
                (
                    try realm.insert(OddOnly.self, value: ["number": 3]),
                    try realm.insert(Measured.self, value: ["id": 1, "level": 4])
                )
            }
            let number = try odd.value(of: \.number).number
            #expect(number == 3)
            let level = try measured.value(of: \.level).number
            #expect(level == 4)
            let all = realm.objects(Measured.self)
            try all.requireReadable(\.level)
            let found = [all.where { $0.level == SeaState(4) }.count]
            #expect(found == [1])
            _ = MissingDefaultTests.error { try realm.objects(OddOnly.self).requireReadable(\.number) }
            let unset = MissingDefaultTests.error { _ = try OddOnly().value(of: \.number) }
            #expect(unset?.code == .invalidInput)
            let named = MissingDefaultTests.error { _ = try OddOnly().value(named: "number") }
            #expect(named?.code == .invalidInput && named?.details?.propertyName == "number")
            let encoded = try? JSONEncoder().encode(Noting())
            #expect(encoded == nil)
        }
    }
}
