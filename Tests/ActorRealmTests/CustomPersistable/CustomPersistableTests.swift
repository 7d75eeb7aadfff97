import ActorRealm
import Foundation
import RealmTestSupport
import Testing

struct Celsius: CustomPersistable {
    var degrees: Double
    init(_ degrees: Double) { self.degrees = degrees }
    init(persistedValue: Double) { degrees = persistedValue }
    var persistableValue: Double { degrees }
}

/// Declared Hashable by itself, and stored as a string.
struct Tag: Hashable, CustomPersistable {
    typealias PersistedType = String
    let text: String
    init(_ text: String) { self.text = text }
    init(persistedValue: String) { text = String(persistedValue.dropFirst()) }
    var persistableValue: String { "#" + text }
}

/// Only even numbers.
struct Even: FailableCustomPersistable {
    typealias PersistedType = Int
    let number: Int
    init?(persistedValue: Int) {
        guard persistedValue.isMultiple(of: 2) else { return nil }
        number = persistedValue
    }
    var persistableValue: Int { number }
}

struct Moment: CustomPersistable {
    var date: Date
    init(persistedValue: Date) { date = persistedValue }
    var persistableValue: Date { date }
}

struct Grade: CustomPersistable {
    var level: Level
    init(persistedValue: Level) { level = persistedValue }
    var persistableValue: Level { level }
}

class PlaceRow: EmbeddedObject {
    @Persisted var latitude: Double
    @Persisted var longitude: Double
}

struct Place: CustomPersistable {
    typealias PersistedType = PlaceRow
    var latitude: Double
    var longitude: Double
    init(_ latitude: Double, _ longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
    init(persistedValue: PlaceRow) { self.init(persistedValue.latitude, persistedValue.longitude) }
    var persistableValue: PlaceRow { PlaceRow(value: ["latitude": latitude, "longitude": longitude]) }
}

class TaggedSlot: Object {
    @Persisted(primaryKey: true) var tag: Tag? = nil
    @Persisted(indexed: true) var kind: Tag? = Tag("a")
    @Persisted(unique: true) var even: Even? = nil
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Station: Object {
    @Persisted(primaryKey: true) var tag: Tag
    @Persisted(indexed: true) var kind: Tag?
    @Persisted var temperature: Celsius = Celsius(20)
    @Persisted var optional: Celsius?
    @Persisted var even: Even?
    @Persisted var moment: Moment
    @Persisted var grade: Grade
    @Persisted var place: Place
    @Persisted var other: Place?
    @Persisted var places: List<Place>
    @Persisted var temperatures: List<Celsius>
    @Persisted var evens: List<Even?>
}

/// The same file with the number in the open.
class OddStation: Object {
    @Persisted var even: Int?
    @Persisted var evens: List<Int?>
    override class func _realmObjectName() -> String? { "EvenStation" }
}

class EvenStation: Object {
    @Persisted var even: Even?
    @Persisted var evens: List<Even?>
}

@Suite struct CustomPersistableTests {
    private func realm() throws -> Realm { try memoryRealm([Station.self, PlaceRow.self]) }

    @Test func `elements of a collection are compared as a whole`() throws {
        let realm = try realm()
        try realm.write {
            for (tag, places) in [
                ("both", [Place(1, 2), Place(3, 4)]), ("crossed", [Place(1, 4), Place(3, 2)]), ("none", []),
                ("one", [Place(1, 2)]),
            ] as [(String, [Place])] {
                let station = Station()
                station.tag = Tag(tag)
                station.place = places.first ?? Place(9, 9)
                station.places.append(objectsIn: places)
                realm.add(station)
            }
        }
        func tags(_ condition: (Query<Station>) -> Query<Bool>) -> [String] {
            realm.objects(Station.self).where(condition).map(\.tag.text).sorted()
        }
        #expect(tags { $0.places.contains(Place(1, 2)) } == ["both", "one"])
        #expect(tags { $0.places.containsAny(in: [Place(1, 4), Place(3, 4)]) } == ["both", "crossed"])
        #expect(tags { $0.places.containsAny(in: []) }.isEmpty)
        #expect(tags { $0.places.containsAll(in: [Place(1, 2), Place(3, 4)]) } == ["both"])
        #expect(tags { $0.places != Place(1, 2) } == ["both", "crossed"])
        #expect(tags { $0.places.none == Place(1, 2) } == ["crossed", "none"])
        #expect(tags { $0.places.all == Place(1, 2) } == ["none", "one"])
        #expect(tags { $0.place.in([Place(1, 2), Place(1, 4)]) } == ["both", "crossed", "one"])
        #expect(tags { $0.other.in([nil, Place(1, 2)]) } == ["both", "crossed", "none", "one"])
    }

    @Test func `values of every kind survive`() throws {
        let realm = try realm()
        let station = Station()
        station.tag = Tag("north")
        station.even = Even(persistedValue: 4)
        station.place = Place(1, 2)
        station.places.append(Place(3, 4))
        station.temperatures.append(objectsIn: [Celsius(1), Celsius(2)])
        station.evens.append(objectsIn: [Even(persistedValue: 2), nil])
        station.grade = Grade(persistedValue: .high)
        #expect(station.temperature.degrees == 20 && station.optional == nil && station.place.latitude == 1)
        try realm.write { realm.add(station) }
        let found = try #require(realm.object(ofType: Station.self, forPrimaryKey: Tag("north")))
        #expect(found.tag == Tag("north") && found.kind == nil)
        #expect(found.temperature.degrees == 20 && found.optional == nil && found.even?.number == 4)
        #expect(found.place.longitude == 2 && found.other == nil)
        #expect(found.places.map(\.latitude) == [3] && found.temperatures.map(\.degrees) == [1, 2])
        #expect(found.evens.map { $0?.number } == [2, nil])
        #expect(found.grade.level == .high && found.moment == Moment(persistedValue: found.moment.date))
        try realm.write {
            found.place = Place(5, 6)
            found.other = Place(7, 8)
            found.kind = Tag("k")
            found.optional = Celsius(-3)
            found.places[0] = Place(9, 9)
            found.places.append(Place(10, 10))
        }
        #expect(found.place == Place(5, 6) && found.other == Place(7, 8) && found.optional == Celsius(-3))
        #expect(found.places.map(\.longitude) == [9, 10] && found.kind?.text == "k")
        try realm.write { found.other = nil }
        #expect(found.other == nil)
    }

    @Test func `create takes the type and what is stored`() throws {
        let realm = try realm()
        try realm.write {
            realm.create(Station.self, value: ["tag": Tag("a"), "temperature": Celsius(5), "place": Place(1, 1)])
            realm.create(
                Station.self,
                value: [
                    "tag": "#b", "temperature": 6.5, "place": ["latitude": 2.0, "longitude": 3.0],
                    "temperatures": [1.0, 2.0], "even": 8,
                ]
            )
        }
        #expect(realm.objects(Station.self).map(\.tag.text) == ["a", "b"])
        #expect(realm.objects(Station.self).map(\.temperature.degrees) == [5, 6.5])
        #expect(realm.objects(Station.self).map(\.place.latitude) == [1, 2])
        #expect(realm.objects(Station.self).last?.temperatures.count == 2)
        #expect(realm.objects(Station.self).last?.even?.number == 8)
    }

    @Test func `what cannot be converted reads as nil`() throws {
        let directory = TemporaryDirectory()
        var configuration = Realm.Configuration(fileURL: directory.url.appendingPathComponent("even.realm"))
        configuration.objectTypes = [OddStation.self]
        try {
            let plain = try Realm(configuration: configuration)
            try plain.write {
                plain.create(OddStation.self, value: ["even": 3, "evens": [2, 3, nil] as [Int?]])
            }
            plain.close()
        }()
        configuration.objectTypes = [EvenStation.self]
        let realm = try Realm(configuration: configuration)
        let found = try #require(realm.objects(EvenStation.self).first)
        #expect(found.even == nil && found.evens.map { $0?.number } == [2, nil, nil])
        #expect(realm.objects(EvenStation.self).where { $0.even.persistableValue == 3 }.count == 1)
    }

    @Test func `queries take the type and what is stored`() throws {
        let realm = try realm()
        try realm.write {
            for index in 0..<10 {
                realm.create(
                    Station.self,
                    value: [
                        "tag": Tag("t\(index)"), "kind": index % 2 == 0 ? Tag("even") as Any : NSNull(),
                        "temperature": Double(index), "optional": index < 3 ? Celsius(Double(index)) as Any : NSNull(),
                        "place": Place(Double(index), 0), "other": index == 4 ? Place(4, 4) as Any : NSNull(),
                        "temperatures": [Celsius(Double(index)), Celsius(100)],
                        "grade": index < 5 ? Level.low : Level.high,
                    ]
                )
            }
        }
        let all = realm.objects(Station.self)
        func tags(_ query: (Query<Station>) -> Query<Bool>) -> [String] { all.where(query).map(\.tag.text) }
        #expect(tags { $0.tag == Tag("t3") } == ["t3"])
        #expect(tags { $0.temperature > Celsius(7) } == ["t8", "t9"])
        #expect(tags { $0.temperature.persistableValue <= 1 } == ["t0", "t1"])
        #expect(tags { $0.optional == Celsius(2) } == ["t2"])
        #expect(tags { $0.optional >= Celsius(1) } == ["t1", "t2"])
        #expect(tags { $0.optional == nil && $0.temperature < Celsius(5) } == ["t3", "t4"])
        #expect(tags { $0.kind.persistableValue.starts(with: "#ev") }.count == 5)
        #expect(tags { $0.temperature.in([Celsius(1), Celsius(9)]) } == ["t1", "t9"])
        #expect(tags { $0.place == Place(6, 0) } == ["t6"])
        #expect(tags { $0.place != Place(6, 0) }.count == 9)
        #expect(tags { $0.place.persistableValue.latitude > 7 } == ["t8", "t9"])
        #expect(tags { $0.other == Place(4, 4) } == ["t4"])
        #expect(tags { $0.other == nil }.count == 9)
        #expect(tags { $0.other.persistableValue.longitude == 4 } == ["t4"])
        #expect(tags { $0.temperatures.contains(Celsius(3)) } == ["t3"])
        #expect(tags { $0.temperatures.persistableValue.min >= 8 } == ["t8", "t9"])
        #expect(tags { $0.grade.persistableValue == .high }.count == 5)
        #expect(all.filter("tag == %@", Tag("t5")).count == 1)
        #expect(all.sorted(by: \.temperature, ascending: false).first?.tag.text == "t9")
        #expect(all.max(of: \.temperature) == Celsius(9) && all.sum(of: \.temperature).degrees == 45)
        #expect(all.sectioned(by: \.kind).allKeys.map { $0?.text } == [nil, "even"])
    }

    @Test func `an optional one with a default is a key, indexed or unique as one without`() throws {
        let realm = try memoryRealm([TaggedSlot.self])
        let schema = try #require(realm.schema["TaggedSlot"])
        #expect(schema.primaryKeyProperty?.name == "tag" && schema["kind"]?.isIndexed == true)
        #expect(schema["even"]?.isUnique == true && schema["even"]?.isOptional == true)
        func slot(_ tag: String, _ number: Int) -> TaggedSlot {
            let slot = TaggedSlot()
            slot.tag = Tag(tag)
            slot.even = Even(persistedValue: number)
            return slot
        }
        try realm.write {
            try realm.insert(TaggedSlot())
            try realm.insert(slot("x", 2))
            #expect(throws: Realm.Error.self) { try realm.insert(slot("y", 2)) }
            #expect(throws: Realm.Error.self) { try realm.insert(slot("x", 4)) }
        }
        let all = realm.objects(TaggedSlot.self)
        #expect(all.count == 2 && all.filter("kind == %@", Tag("a")).count == 2)
        #expect(all.filter("even == %@", Even(persistedValue: 2) as Any).first?.tag == Tag("x"))
    }

    @Test func `a type without equality of its own has that of what is stored`() {
        #expect(Celsius(1) == Celsius(1) && Celsius(1) != Celsius(2))
        #expect(Set([Place(1, 2), Place(1, 2), Place(2, 1)]).count == 2)
        #expect(Tag("a").hashValue == Tag("a").hashValue)
    }
}

@Suite struct EnumQueryTests {
    @Test func `enums are compared by their raw values`() throws {
        let realm = try memoryRealm()
        try realm.write {
            realm.create(AllTypes.self, value: ["level": Level.low, "optLevel": Level.high, "mood": Mood.grumpy])
            realm.create(AllTypes.self, value: ["level": Level.high, "mood": Mood.calm])
            realm.create(Scalars.self, value: ["moods": [Mood.calm, .grumpy]])
        }
        let all = realm.objects(AllTypes.self)
        #expect(all.where { $0.level > .low }.count == 1)
        #expect(all.where { $0.optLevel >= .high }.count == 1)
        #expect(all.where { $0.level.rawValue == 1 }.count == 1)
        #expect(all.where { $0.optLevel.rawValue == 9 }.count == 1)
        #expect(all.where { $0.mood.rawValue.contains("um") }.count == 1)
        #expect(all.where { $0.mood.in([.calm, .cheerful]) }.count == 1)
        #expect(realm.objects(Scalars.self).where { $0.moods.rawValue.contains("grumpy") }.count == 1)
        #expect(realm.objects(Scalars.self).where { $0.moods.contains(.cheerful) }.isEmpty)
    }
}
