import ActorRealm
import Foundation
import Testing

enum Half: Double, PersistableEnum {
    case none = 0
    case half = 0.5
}

class ListsOfAll: Object {
    @Persisted var bools: List<Bool>
    @Persisted var ints: List<Int>
    @Persisted var int8s: List<Int8>
    @Persisted var int16s: List<Int16>
    @Persisted var int32s: List<Int32>
    @Persisted var int64s: List<Int64>
    @Persisted var floats: List<Float>
    @Persisted var doubles: List<Double>
    @Persisted var strings: List<String>
    @Persisted var datas: List<Data>
    @Persisted var dates: List<Date>
    @Persisted var decimals: List<Decimal128>
    @Persisted var objectIds: List<ObjectId>
    @Persisted var uuids: List<UUID>
    @Persisted var anys: List<AnyRealmValue>
    @Persisted var moods: List<Mood>
    @Persisted var halves: List<Half>
    @Persisted var tags: List<Tag>
    @Persisted var optBools: List<Bool?>
    @Persisted var optInts: List<Int?>
    @Persisted var optInt8s: List<Int8?>
    @Persisted var optFloats: List<Float?>
    @Persisted var optDoubles: List<Double?>
    @Persisted var optStrings: List<String?>
    @Persisted var optDatas: List<Data?>
    @Persisted var optDates: List<Date?>
    @Persisted var optDecimals: List<Decimal128?>
    @Persisted var optObjectIds: List<ObjectId?>
    @Persisted var optUUIDs: List<UUID?>
    @Persisted var optMoods: List<Mood?>
    @Persisted var optTags: List<Tag?>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class SetsOfAll: Object {
    @Persisted var bools: MutableSet<Bool>
    @Persisted var int8s: MutableSet<Int8>
    @Persisted var int64s: MutableSet<Int64>
    @Persisted var floats: MutableSet<Float>
    @Persisted var doubles: MutableSet<Double>
    @Persisted var strings: MutableSet<String>
    @Persisted var datas: MutableSet<Data>
    @Persisted var dates: MutableSet<Date>
    @Persisted var decimals: MutableSet<Decimal128>
    @Persisted var objectIds: MutableSet<ObjectId>
    @Persisted var uuids: MutableSet<UUID>
    @Persisted var anys: MutableSet<AnyRealmValue>
    @Persisted var moods: MutableSet<Mood>
    @Persisted var tags: MutableSet<Tag>
    @Persisted var optBools: MutableSet<Bool?>
    @Persisted var optDoubles: MutableSet<Double?>
    @Persisted var optStrings: MutableSet<String?>
    @Persisted var optDates: MutableSet<Date?>
    @Persisted var optUUIDs: MutableSet<UUID?>
    @Persisted var optMoods: MutableSet<Mood?>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class MapsOfAll: Object {
    @Persisted var bools: Map<String, Bool>
    @Persisted var int8s: Map<String, Int8>
    @Persisted var int64s: Map<String, Int64>
    @Persisted var floats: Map<String, Float>
    @Persisted var doubles: Map<String, Double>
    @Persisted var strings: Map<String, String>
    @Persisted var datas: Map<String, Data>
    @Persisted var dates: Map<String, Date>
    @Persisted var decimals: Map<String, Decimal128>
    @Persisted var objectIds: Map<String, ObjectId>
    @Persisted var uuids: Map<String, UUID>
    @Persisted var anys: Map<String, AnyRealmValue>
    @Persisted var moods: Map<String, Mood>
    @Persisted var tags: Map<String, Tag>
    @Persisted var optBools: Map<String, Bool?>
    @Persisted var optInt8s: Map<String, Int8?>
    @Persisted var optDoubles: Map<String, Double?>
    @Persisted var optStrings: Map<String, String?>
    @Persisted var optDatas: Map<String, Data?>
    @Persisted var optDates: Map<String, Date?>
    @Persisted var optDecimals: Map<String, Decimal128?>
    @Persisted var optUUIDs: Map<String, UUID?>
    @Persisted var optMoods: Map<String, Mood?>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class DefaultsOfAll: Object {
    @Persisted var float: Float
    @Persisted var double: Double
    @Persisted var int8: Int8
    @Persisted var string: String
    @Persisted var data: Data
    @Persisted var date: Date
    @Persisted var decimal: Decimal128
    @Persisted var objectId: ObjectId
    @Persisted var uuid: UUID
    @Persisted var half: Half
    @Persisted var any: AnyRealmValue
    @Persisted var optDecimal: Decimal128?
    @Persisted var link: DefaultsOfAll?
    @Persisted var list: List<Int>
    @Persisted var set: MutableSet<Int>
    @Persisted var map: Map<String, Int>
    @Persisted var forced: String!
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class IndexedOfAll: Object {
    @Persisted(indexed: true) var bool: Bool
    @Persisted(indexed: true) var int: Int
    @Persisted(indexed: true) var int8: Int8
    @Persisted(indexed: true) var int16: Int16
    @Persisted(indexed: true) var int32: Int32
    @Persisted(indexed: true) var int64: Int64
    @Persisted(indexed: true) var string: String
    @Persisted(indexed: true) var date: Date
    @Persisted(indexed: true) var objectId: ObjectId
    @Persisted(indexed: true) var uuid: UUID
    @Persisted(indexed: true) var mood: Mood
    @Persisted(indexed: true) var tag: Tag
    @Persisted(indexed: true) var optInt: Int?
    @Persisted(indexed: true) var optString: String?
    @Persisted(indexed: true) var optMood: Mood?
    @Persisted var plain: Int
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class SmallKeyed: Object {
    @Persisted(primaryKey: true) var key: Int8
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class MoodKeyed: Object {
    @Persisted(primaryKey: true) var key: Mood?
    @Persisted var value: Int
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class OptionalIntKeyed: Object {
    @Persisted(primaryKey: true) var key: Int64?
    @Persisted var value: Int
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class BoolKeyed: Object {
    @Persisted(primaryKey: true) var key: Bool
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// `link` leads to objects of the superclass.
class Misled: Object {
    @Persisted(originProperty: "link") var linked: LinkingObjects<DefaultsOfAll>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite struct PropertyTypeTests {
    private let date = Date(timeIntervalSince1970: -12.75)
    private let uuid = UUID()
    private let id = ObjectId.generate()

    @Test func `lists hold every type, at its boundaries, and nil where it may be`() throws {
        let realm = try memoryRealm([ListsOfAll.self])
        func fill(_ object: ListsOfAll) {
            object.bools.append(objectsIn: [true, false])
            object.ints.append(objectsIn: [.min, .max])
            object.int8s.append(objectsIn: [.min, .max])
            object.int16s.append(objectsIn: [.min, .max])
            object.int32s.append(objectsIn: [.min, .max])
            object.int64s.append(objectsIn: [.min, .max])
            object.floats.append(objectsIn: [-.infinity, .leastNonzeroMagnitude])
            object.doubles.append(objectsIn: [-.infinity, .leastNonzeroMagnitude])
            object.strings.append(objectsIn: ["", "\u{0}é"])
            object.datas.append(objectsIn: [Data(), Data([0, 255])])
            object.dates.append(objectsIn: [.distantPast, date])
            object.decimals.append(objectsIn: ["-1.50", "9E+6000"])
            object.objectIds.append(id)
            object.uuids.append(uuid)
            object.anys.append(objectsIn: [.none, .int(1), .string("x")])
            object.moods.append(objectsIn: [.grumpy, .calm])
            object.halves.append(objectsIn: [.half, .none])
            object.tags.append(objectsIn: [Tag("a"), Tag("")])
            object.optBools.append(objectsIn: [nil, false])
            object.optInts.append(objectsIn: [nil, 0])
            object.optInt8s.append(objectsIn: [nil, 0])
            object.optFloats.append(objectsIn: [nil, 0])
            object.optDoubles.append(objectsIn: [nil, 0])
            object.optStrings.append(objectsIn: [nil, ""])
            object.optDatas.append(objectsIn: [nil, Data()])
            object.optDates.append(objectsIn: [nil, date])
            object.optDecimals.append(objectsIn: [nil, 0])
            object.optObjectIds.append(objectsIn: [nil, id])
            object.optUUIDs.append(objectsIn: [nil, uuid])
            object.optMoods.append(objectsIn: [nil, .calm])
            object.optTags.append(objectsIn: [nil, Tag("t")])
        }
        let model = ListsOfAll()
        fill(model)
        let object = ListsOfAll()
        fill(object)
        try realm.write { realm.add(object) }
        let found = try #require(realm.objects(ListsOfAll.self).first)
        for one in [object, found, found.freeze()] {
            #expect(Array(one.bools) == Array(model.bools) && Array(one.ints) == Array(model.ints))
            #expect(Array(one.int8s) == Array(model.int8s) && Array(one.int16s) == Array(model.int16s))
            #expect(Array(one.int32s) == Array(model.int32s) && Array(one.int64s) == Array(model.int64s))
            #expect(Array(one.floats) == Array(model.floats) && Array(one.doubles) == Array(model.doubles))
            #expect(Array(one.strings) == Array(model.strings) && Array(one.datas) == Array(model.datas))
            #expect(Array(one.dates) == Array(model.dates))
            #expect(one.decimals.map(\.stringValue) == model.decimals.map(\.stringValue))
            #expect(Array(one.objectIds) == [id] && Array(one.uuids) == [uuid])
            #expect(Array(one.anys) == Array(model.anys) && Array(one.moods) == [.grumpy, .calm])
            #expect(Array(one.halves) == [.half, .none] && Array(one.tags) == [Tag("a"), Tag("")])
            #expect(Array(one.optBools) == [nil, false] && Array(one.optInts) == [nil, 0])
            #expect(Array(one.optInt8s) == [nil, 0] && Array(one.optFloats) == [nil, 0])
            #expect(Array(one.optDoubles) == [nil, 0] && Array(one.optStrings) == [nil, ""])
            #expect(Array(one.optDatas) == [nil, Data()] && Array(one.optDates) == [nil, date])
            #expect(Array(one.optDecimals) == [nil, 0] && Array(one.optObjectIds) == [nil, id])
            #expect(Array(one.optUUIDs) == [nil, uuid] && Array(one.optMoods) == [nil, .calm])
            #expect(Array(one.optTags) == [nil, Tag("t")])
        }
        try realm.verify()
    }

    @Test func `sets hold every type once, and nil where it may be`() throws {
        let realm = try memoryRealm([SetsOfAll.self])
        let object = SetsOfAll()
        try realm.write { realm.add(object) }
        try realm.write {
            for _ in 0..<2 {
                object.bools.insert(objectsIn: [true, false])
                object.int8s.insert(objectsIn: [.min, .max])
                object.int64s.insert(objectsIn: [.min, .max])
                object.floats.insert(objectsIn: [-1.5, .infinity])
                object.doubles.insert(objectsIn: [-1.5, .infinity])
                object.strings.insert(objectsIn: ["", "é"])
                object.datas.insert(objectsIn: [Data(), Data([255])])
                object.dates.insert(objectsIn: [.distantPast, date])
                object.decimals.insert(objectsIn: ["1.0", "-2"])
                object.objectIds.insert(id)
                object.uuids.insert(uuid)
                object.anys.insert(objectsIn: [.none, .int(1)])
                object.moods.insert(objectsIn: [.grumpy, .calm])
                object.tags.insert(objectsIn: [Tag("a"), Tag("b")])
                object.optBools.insert(objectsIn: [nil, true])
                object.optDoubles.insert(objectsIn: [nil, 0])
                object.optStrings.insert(objectsIn: [nil, ""])
                object.optDates.insert(objectsIn: [nil, date])
                object.optUUIDs.insert(objectsIn: [nil, uuid])
                object.optMoods.insert(objectsIn: [nil, .calm])
            }
        }
        let one = try #require(realm.objects(SetsOfAll.self).first).freeze()
        #expect(Set(one.bools) == [true, false] && Set(one.int8s) == [.min, .max] && Set(one.int64s) == [.min, .max])
        #expect(Set(one.floats) == [-1.5, .infinity] && Set(one.doubles) == [-1.5, .infinity])
        #expect(Set(one.strings) == ["", "é"] && Set(one.datas) == [Data(), Data([255])])
        #expect(Set(one.dates) == [.distantPast, date] && Set(one.decimals) == [1, -2])
        #expect(Set(one.objectIds) == [id] && Set(one.uuids) == [uuid] && Set(one.anys) == [.none, .int(1)])
        #expect(Set(one.moods) == [.grumpy, .calm] && Set(one.tags) == [Tag("a"), Tag("b")])
        #expect(
            Set(one.optBools) == [nil, true] && Set(one.optDoubles) == [nil, 0] && Set(one.optStrings) == [nil, ""]
        )
        #expect(Set(one.optDates) == [nil, date] && Set(one.optUUIDs) == [nil, uuid])
        #expect(Set(one.optMoods) == [nil, .calm])
        #expect(one.bools.count == 2 && one.optMoods.count == 2 && one.anys.count == 2)
        try realm.verify()
    }

    @Test func `maps hold every type, and nil where it may be`() throws {
        let realm = try memoryRealm([MapsOfAll.self])
        let object = MapsOfAll()
        try realm.write { realm.add(object) }
        try realm.write {
            object.bools["k"] = true
            object.int8s["k"] = .min
            object.int64s["k"] = .max
            object.floats["k"] = -1.5
            object.doubles["k"] = .infinity
            object.strings["k"] = "é"
            object.datas["k"] = Data([255])
            object.dates["k"] = date
            object.decimals["k"] = "1.50"
            object.objectIds["k"] = id
            object.uuids["k"] = uuid
            object.anys["k"] = .bool(true)
            object.moods["k"] = .grumpy
            object.tags["k"] = Tag("t")
            object.optBools["k"] = .some(nil)
            object.optInt8s["k"] = .some(nil)
            object.optDoubles["k"] = .some(nil)
            object.optStrings["k"] = .some(nil)
            object.optDatas["k"] = .some(nil)
            object.optDates["k"] = .some(nil)
            object.optDecimals["k"] = .some(nil)
            object.optUUIDs["k"] = .some(nil)
            object.optMoods["k"] = .some(nil)
            object.optInt8s["v"] = 3
            object.optMoods["v"] = .calm
        }
        let one = try #require(realm.objects(MapsOfAll.self).first).freeze()
        #expect(one.bools["k"] == true && one.int8s["k"] == .min && one.int64s["k"] == .max)
        #expect(one.floats["k"] == -1.5 && one.doubles["k"] == .infinity && one.strings["k"] == "é")
        #expect(one.datas["k"] == Data([255]) && one.dates["k"] == date && one.decimals["k"]?.stringValue == "1.50")
        #expect(one.objectIds["k"] == id && one.uuids["k"] == uuid && one.anys["k"] == .bool(true))
        #expect(one.moods["k"] == .grumpy && one.tags["k"] == Tag("t"))
        #expect(one.optBools["k"] == .some(nil) && one.optInt8s["k"] == .some(nil) && one.optInt8s["v"] == 3)
        #expect(one.optDoubles["k"] == .some(nil) && one.optStrings["k"] == .some(nil))
        #expect(one.optDatas["k"] == .some(nil) && one.optDates["k"] == .some(nil))
        #expect(one.optDecimals["k"] == .some(nil) && one.optUUIDs["k"] == .some(nil))
        #expect(one.optMoods["k"] == .some(nil) && one.optMoods["v"] == .calm && one.optMoods["none"] == nil)
        try realm.verify()
    }

    @Test func `every type has its default, identifiers a new one for each object`() throws {
        let realm = try memoryRealm([DefaultsOfAll.self])
        let created = try realm.write { realm.create(DefaultsOfAll.self) }
        for object in [DefaultsOfAll(), created] {
            #expect(object.float == 0 && object.double == 0 && object.int8 == 0 && object.string.isEmpty)
            #expect(object.data.isEmpty && abs(object.date.timeIntervalSinceNow) < 600 && object.decimal == 0)
            #expect(object.half == .none && object.any == .none && object.optDecimal == nil && object.link == nil)
            #expect(object.list.isEmpty && object.set.isEmpty && object.map.isEmpty && object.forced == nil)
        }
        #expect(DefaultsOfAll().objectId != DefaultsOfAll().objectId && DefaultsOfAll().uuid != DefaultsOfAll().uuid)
        try realm.write { created.forced = "set" }
        #expect(created.forced == "set" && realm.schema["DefaultsOfAll"]?["forced"]?.isOptional == true)
    }

    @Test func `what the table calls indexable has an index, and nothing else`() throws {
        let realm = try memoryRealm([IndexedOfAll.self])
        let schema = try #require(realm.schema["IndexedOfAll"])
        for property in schema.properties { #expect(property.isIndexed == (property.name != "plain"), "\(property)") }
        try realm.write {
            for number in 0..<40 {
                let object = IndexedOfAll()
                object.bool = number % 2 == 0
                object.int16 = Int16(number)
                object.date = Date(timeIntervalSince1970: Double(number))
                object.mood = Mood.allCases[number % 3]
                object.tag = Tag("t\(number % 4)")
                object.optMood = number == 7 ? .calm : nil
                realm.add(object)
            }
        }
        let all = realm.objects(IndexedOfAll.self)
        for (found, count) in [
            (all.where { $0.int16 == 5 }, 1), (all.where { $0.mood == .grumpy }, 13),
            (all.where { $0.tag == Tag("t1") }, 10),
            (all.where { $0.optMood == .calm }, 1), (all.where { $0.date > Date(timeIntervalSince1970: 36) }, 3),
        ] {
            #expect(found.count == count && found.explain().usesIndex, "\(found.explain())")
        }
    }

    @Test func `integers of every width, enums and optionals are primary keys`() throws {
        let realm = try memoryRealm([SmallKeyed.self, MoodKeyed.self, OptionalIntKeyed.self])
        try realm.write {
            realm.create(SmallKeyed.self, value: ["key": Int8.min])
            realm.create(MoodKeyed.self, value: ["key": Mood.grumpy, "value": 1] as [String: Any])
            realm.create(MoodKeyed.self, value: ["value": 2])
            realm.create(OptionalIntKeyed.self, value: ["key": 5, "value": 3])
            realm.create(OptionalIntKeyed.self, value: ["value": 4])
        }
        #expect(realm.object(ofType: SmallKeyed.self, forPrimaryKey: Int8.min) != nil)
        #expect(realm.object(ofType: MoodKeyed.self, forPrimaryKey: Mood.grumpy)?.value == 1)
        #expect(realm.object(ofType: MoodKeyed.self, forPrimaryKey: Mood?.none)?.value == 2)
        #expect(realm.object(ofType: OptionalIntKeyed.self, forPrimaryKey: 5)?.value == 3)
        #expect(realm.object(ofType: OptionalIntKeyed.self, forPrimaryKey: Int64?.none)?.value == 4)
    }

    @Test func `a boolean primary key is refused with the schema`() {
        do {
            _ = try memoryRealm([BoolKeyed.self])
            Issue.record("a boolean became a primary key")
        } catch {
            #expect("\(error)".contains("'BoolKeyed.key' cannot be made the primary key of 'BoolKeyed'"), "\(error)")
        }
    }

    @Test func `linking objects need a forward link of their type`() {
        do {
            _ = try memoryRealm([Misled.self, DefaultsOfAll.self])
            Issue.record("a link to another class was taken for an origin")
        } catch {
            #expect("\(error)".contains("does not link to type 'Misled'"), "\(error)")
        }
    }

    @Test func `a number that is none is equal to nothing`() throws {
        let realm = try memoryRealm([DefaultsOfAll.self])
        try realm.write {
            for number in [Double.nan, 1] {
                realm.create(DefaultsOfAll.self, value: ["double": number, "float": Float(number)] as [String: Any])
            }
        }
        let all = realm.objects(DefaultsOfAll.self)
        #expect(all.first?.double.isNaN == true && all.first?.float.isNaN == true)
        #expect(all.where { $0.double == .nan }.isEmpty && all.where { $0.float == .nan }.isEmpty)
        #expect(all.where { $0.double != .nan }.count == 2 && all.where { $0.double > 0 }.count == 1)
        #expect(all.where { !($0.double > 0) }.count == 1)
    }
}

class PartSets: Object {
    @Persisted var slips: MutableSet<Slip>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite struct EmbeddedSetTests {
    @Test func `a set of embedded objects is refused`() {
        do {
            _ = try memoryRealm([PartSets.self, Slip.self])
            Issue.record("a set took embedded objects")
        } catch {
            #expect("\(error)".contains("is a set of embedded objects"), "\(error)")
        }
    }
}
