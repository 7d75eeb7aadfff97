import ActorRealm
import Foundation

// Each declaration of models, collections and queries that code written for RealmSwift uses, once.

enum Mood: Int, PersistableEnum { case calm, wild }
enum Colour: String, PersistableEnum, Codable { case red, green }

struct Metres: CustomPersistable {
    typealias PersistedType = Double
    var value: Double
    init(persistedValue: Double) { value = persistedValue }
    var persistableValue: Double { value }
}
struct Even: FailableCustomPersistable {
    typealias PersistedType = Int
    var value: Int
    init?(persistedValue: Int) {
        if persistedValue % 2 != 0 { return nil }
        value = persistedValue
    }
    var persistableValue: Int { value }
}
struct Spot: CustomPersistable, Equatable {
    typealias PersistedType = SpotObject
    var x = 0.0
    init(x: Double) { self.x = x }
    init(persistedValue: SpotObject) { x = persistedValue.x }
    var persistableValue: SpotObject { SpotObject(value: ["x": x]) }
}
class SpotObject: EmbeddedObject { @Persisted var x = 0.0 }

class Leaf: EmbeddedObject, ObjectKeyIdentifiable {
    @Persisted var name = ""
    @Persisted var next: Leaf?
    @Persisted var leaves: List<Leaf>
    @Persisted(originProperty: "leaf") var roots: LinkingObjects<Root>
}

class Root: Object, ObjectKeyIdentifiable, Codable {
    @Persisted(primaryKey: true) var id = 0
    @Persisted(wrappedValue: "", indexed: true) var code: String
    @Persisted(indexed: true) var date: Date
    @Persisted(indexed: true) var optionalDate: Date?
    @Persisted(indexed: true) var colour: Colour
    @Persisted(indexed: true) var flag: Bool
    @Persisted(indexed: true) var oid: ObjectId
    @Persisted(indexed: true) var uuid: UUID?
    @Persisted var number: Double
}

class Everything: Object {
    @Persisted(primaryKey: true) var id: String?
    @Persisted var int = 0
    @Persisted var int64: Int64?
    @Persisted var string = ""
    @Persisted var optionalString: String?
    @Persisted var bool = false
    @Persisted var optionalBool: Bool?
    @Persisted var double = 0.0
    @Persisted var float: Float?
    @Persisted var data: Data
    @Persisted var optionalData: Data?
    @Persisted var date = Date()
    @Persisted var optionalDate: Date?
    @Persisted var decimal: Decimal128
    @Persisted var optionalDecimal: Decimal128?
    @Persisted var oid: ObjectId
    @Persisted var optionalOid: ObjectId?
    @Persisted var uuid: UUID
    @Persisted var optionalUuid: UUID?
    @Persisted var any: AnyRealmValue
    @Persisted var mood: Mood = .calm
    @Persisted var optionalMood: Mood?
    @Persisted var metres: Metres
    @Persisted var optionalMetres: Metres?
    @Persisted var even: Even?
    @Persisted var spot: Spot?
    @Persisted var metresList: List<Metres>
    @Persisted var metresSet: MutableSet<Metres>
    @Persisted var metresMap: Map<String, Metres>
    @Persisted var spots: List<Spot>
    @Persisted var link: Everything?
    @Persisted var leaf: Leaf?
    @Persisted var leaves: List<Leaf>
    @Persisted var leafMap: Map<String, Leaf?>
    @Persisted var list: List<Everything>
    @Persisted var set: MutableSet<Everything>
    @Persisted var map: Map<String, Everything?>
    @Persisted(originProperty: "list") var back: LinkingObjects<Everything>
    @Persisted var ints: List<Int>
    @Persisted var optionalInts: List<Int?>
    @Persisted var strings: List<String>
    @Persisted var optionalStrings: List<String?>
    @Persisted var bools: List<Bool>
    @Persisted var dates: List<Date>
    @Persisted var datas: List<Data>
    @Persisted var doubles: List<Double>
    @Persisted var floats: List<Float?>
    @Persisted var decimals: List<Decimal128?>
    @Persisted var oids: List<ObjectId>
    @Persisted var uuids: List<UUID?>
    @Persisted var anys: List<AnyRealmValue>
    @Persisted var moods: List<Mood>
    @Persisted var optionalMoods: List<Mood?>
    @Persisted var intSet: MutableSet<Int>
    @Persisted var stringSet: MutableSet<String>
    @Persisted var dateSet: MutableSet<Date>
    @Persisted var moodSet: MutableSet<Mood>
    @Persisted var anySet: MutableSet<AnyRealmValue>
    @Persisted var intMap: Map<String, Int>
    @Persisted var stringMap: Map<String, String>
    @Persisted var optionalStringMap: Map<String, String?>
    @Persisted var dateMap: Map<String, Date>
    @Persisted var dataMap: Map<String, Data?>
    @Persisted var moodMap: Map<String, Mood>
    @Persisted var anyMap: Map<String, AnyRealmValue>
    @Persisted var decimalMap: Map<String, Decimal128>

    override class func _realmObjectName() -> String? { "All" }
    override static func ignoredProperties() -> [String] { [] }
    override var description: String { super.description }
}

class Place: Object {
    @Persisted var everything: Everything?
}

class Mooring: Object {
    @Persisted(primaryKey: true) var id: Even? = nil
    @Persisted(indexed: true) var berth: Even? = nil
    @Persisted(indexed: true) var second: Even? = Even(persistedValue: 2)
    @Persisted(wrappedValue: nil, indexed: true) var third: Even?
    @Persisted(indexed: true) var fourth: Even?
    @Persisted(indexed: true) var fifth: Even = Even(persistedValue: 4)!
    // Beyond RealmSwift.
    @Persisted(unique: true) var number: Even?
    @Persisted(unique: true) var turn: Even? = nil
    @Persisted(indexed: true, unique: true) var watch: Even
    @Persisted(indexed: true, unique: true) var round: Even? = nil
}
class Twig: EmbeddedObject {
    @Persisted var name = ""
    @Persisted var length = 0
    override class func ignoredProperties() -> [String] { ["length"] }
    override class func indexedProperties() -> [String] { ["name"] }
}
class PlaceProjection: Projection<Place>, ObjectKeyIdentifiable {
    @Projected(\Place.everything?.string) var title
    @Projected(\Place.everything) var everything
    @Projected(\Place.everything?.list.projectTo.string) var titles: ProjectedCollection<String>?
}
class EverythingProjection: Projection<Everything> {
    @Projected(\Everything.int) var int
    @Projected(\Everything.ints) var ints
    @Projected(\Everything.list.projectTo.string) var names: ProjectedCollection<String>
    @Projected(\Everything.set.projectTo.int) var numbers: ProjectedCollection<Int>
    @Projected(\Everything.back.projectTo.int) var backNumbers: ProjectedCollection<Int>
}

// MARK: Objects

func objects(_ realm: Realm, _ object: Everything) throws {
    let unmanaged = Everything()
    let other = Everything(value: ["int": 3, "list": [["int": 1]], "map": ["a": ["int": 2]]] as [String: Any])
    _ = Everything(value: other)
    _ = Leaf(value: ["name": "x"])
    _ = object.realm === realm
    _ = object.realm == realm
    _ = object.objectSchema.className
    _ = object.isInvalidated
    _ = object.isFrozen
    _ = object.description
    _ = object.isSameObject(as: other)
    _ = object.isSameObject(as: nil)
    _ = object["int"] as? Int
    object["int"] = 4
    object["link"] = nil
    _ = object.value(forKey: "int")
    object.setValue(3, forKey: "int")
    _ = object.value(forKeyPath: "link.int")
    object.setValue(3, forKeyPath: "link.int")
    let dynamicList: List<DynamicObject> = object.dynamicList("list")
    let dynamicSet: MutableSet<DynamicObject> = object.dynamicMutableSet("set")
    let dynamicMap: Map<String, DynamicObject?> = object.dynamicMap("map")
    _ = (dynamicList.first?["int"], dynamicSet.first, dynamicMap["a"])
    _ = object.leaf?.realm
    _ = object.leaf?.objectSchema.isEmbedded
    _ = object.leaf?.isInvalidated
    _ = object.leaf?.freeze().thaw()
    _ = object.leaf?.dynamicList("leaves")
    _ = object.leaf?["name"]
    _ = object.leaf?.id
    _ = object.leaf == object.leaf
    _ = object.hashValue
    _ = unmanaged == other
    let frozen: Everything = object.freeze()
    let thawed: Everything? = frozen.thaw()
    _ = thawed
    _ = realm.freeze(object)
    _ = realm.thaw(frozen)
    let base: ObjectBase = object
    _ = base
    let type: Object.Type = Everything.self
    _ = type.className()
    _ = type.primaryKey()
    _ = Everything.shouldIncludeInDefaultSchema()
    _ = Everything.propertiesMapping()
    _ = Everything.indexedProperties()
    let confined: any ThreadConfined = object
    _ = (confined.realm, confined.isInvalidated, confined.isFrozen)
}

func realms(_ realm: Realm, _ object: Everything) throws {
    let created = realm.create(Everything.self)
    realm.create(Everything.self, value: ["id": "a"], update: .modified)
    realm.create(Everything.self, value: ["a", 1] as [Any], update: .all)
    realm.create(Everything.self, value: object, update: Realm.UpdatePolicy.error)
    _ = Realm.UpdatePolicy(rawValue: 1)
    realm.add(created)
    realm.add([created], update: .modified)
    realm.add(AnySequence([created]))
    realm.delete(created)
    realm.delete([created])
    realm.delete(object.list)
    realm.delete(object.map)
    realm.delete(object.leaf!)
    realm.delete(realm.objects(Everything.self))
    realm.deleteAll()
    _ = realm.object(ofType: Everything.self, forPrimaryKey: "a")
    _ = realm.object(ofType: Everything.self, forPrimaryKey: nil as String?)
    _ = realm.dynamicObject(ofType: "All", forPrimaryKey: "a")
    let dynamic: Results<DynamicObject> = realm.dynamicObjects("All")
    let first = dynamic.first
    _ = first?.int
    first?.int = 3
    _ = first?["int"]
    let made: DynamicObject = realm.dynamicCreate("All", value: ["id": "x"], update: .all)
    realm.delete(made)
    _ = realm.isEmpty
    _ = realm.configuration.fileURL
    _ = realm.schema.objectSchema.first
    let schema: ObjectSchema = realm.schema["All"]!
    _ = schema.className
    _ = schema.properties.map(\.name)
    _ = schema.primaryKeyProperty
    _ = schema.objectClass
    _ = schema.isEmbedded
    _ = schema.description
    _ = schema == schema
    _ = realm.schema.description
    _ = realm.schema == realm.schema
    let property: Property = schema["int"]!
    _ = property.name
    _ = property.columnName
    _ = property.type == PropertyType.int
    _ = property.isArray
    _ = property.isSet
    _ = property.isMap
    _ = property.isIndexed
    _ = property.isOptional
    _ = property.objectClassName
    _ = property.description
    _ = property == property
    let types: [PropertyType] = [
        .int, .bool, .string, .data, .date, .float, .double, .object, .linkingObjects, .any, .objectId, .decimal128,
        .UUID,
    ]
    _ = types.map(\.rawValue)
}

// MARK: Collections

func lists(_ object: Everything) {
    let list = object.ints
    let unmanaged = List<Int>()
    list.append(1)
    list.append(objectsIn: [1, 2])
    list.append(objectsIn: unmanaged)
    list.insert(3, at: 0)
    list.insert(contentsOf: [1, 2], at: 0)
    list.remove(at: 0)
    list.removeFirst()
    list.removeFirst(2)
    list.removeLast()
    list.removeLast(1)
    list.removeSubrange(0..<1)
    list.removeSubrange(0...1)
    list.remove(atOffsets: IndexSet(integer: 0))
    list.move(fromOffsets: IndexSet(integer: 0), toOffset: 1)
    list.replace(index: 0, object: 3)
    list.replaceSubrange(0..<1, with: [1, 2])
    list.replaceSubrange(0...1, with: [1, 2])
    list.move(from: 0, to: 1)
    list.swapAt(0, 1)
    list.removeAll()
    list[0] = 4
    list[0] += 1
    _ = list[0..<1]
    _ = list.count
    _ = list.isEmpty
    _ = list.first
    _ = list.last
    _ = list.index(of: 3)
    _ = list.firstIndex(of: 3)
    _ = list.contains(3)
    _ = list.realm
    _ = list.isInvalidated
    _ = list.description
    _ = list.min()
    _ = list.max()
    _ = list.sum()
    let average: Double? = list.average()
    _ = average
    _ = list.sorted(ascending: false)
    _ = list.distinct()
    _ = list.objects(at: IndexSet([0, 1]))
    _ = list.freeze().thaw()
    _ = list.isFrozen
    _ = list == unmanaged
    _ = Array(list)
    _ = list.map { $0 + 1 }
    _ = list.filter { $0 > 1 }
    _ = list.lazy.map { $0 }
    _ = list.startIndex
    _ = list.endIndex
    _ = list.index(after: 0)
    _ = list.reversed()
    _ = list.enumerated()
    _ = list.value(forKey: "self")
    object.ints = unmanaged
    let people = object.list
    _ = people.index(matching: "int == 3")
    _ = people.index(matching: "int == %@", 3)
    _ = people.index(matching: { $0.int == 3 })
    _ = people.filter("int > %@", 3)
    _ = people.where { $0.int > 3 }
    _ = people.sorted(byKeyPath: "int")
    _ = people.sorted(byKeyPath: "int", ascending: false)
    _ = people.sorted(by: \.int)
    _ = people.sorted(by: \.int, ascending: false)
    _ = people.sorted(by: [SortDescriptor(keyPath: "int")])
    _ = people.sorted(by: { $0.int < $1.int })
    _ = people.distinct(by: ["int"])
    _ = people.distinct(by: [\Everything.int])
    _ = people.value(forKey: "int")
    _ = people.value(forKeyPath: "link.int")
    people.setValue(3, forKey: "int")
    let minimum: Int? = people.min(ofProperty: "int")
    let maximum: Date? = people.max(ofProperty: "date")
    let sum: Double = people.sum(ofProperty: "double")
    let mean: Double? = people.average(ofProperty: "int")
    _ = (minimum, maximum, sum, mean)
    _ = people.min(of: \.int)
    _ = people.max(of: \.date)
    _ = people.sum(of: \.double)
    let other: Double? = people.average(of: \.int)
    let float: Float? = people.max(of: \.float)
    _ = (other, float)
    _ = people.sectioned(by: \.string)
    let back = object.back
    _ = (back.count, back.first, back[0], back.filter("int == 1").count, back.sorted(by: \.int), back.isInvalidated)
    _ = back.where { $0.int == 1 }
    _ = back.index(of: object)
    for index in 0..<list.count { _ = list[index] }
    for (index, element) in list.enumerated() { _ = (index, element) }
    _ = object.moods.contains(.calm)
    _ = object.optionalMoods.first ?? nil
    _ = object.strings.sorted()
    _ = object.strings.joined(separator: ",")
    _ = object.optionalStrings.compactMap { $0 }
    let greatest: Decimal128? = object.decimals.max()
    let meanFloat: Float? = object.floats.average()
    _ = (greatest, meanFloat, object.optionalInts.min(), object.optionalInts.sum())
    _ = object.dates.max()
    _ = object.floats.sum()
    let metres: List<Metres> = object.metresList
    metres.append(Metres(persistedValue: 3))
    _ = metres.map(\.value)
    func generic<C: RealmCollection>(_ collection: C) -> Int where C.Element: RealmCollectionValue {
        collection.count + (collection.realm == nil ? 0 : 1)
    }
    _ = generic(list) + generic(people) + generic(back) + generic(people.filter("int == 1"))
    let any = AnyRealmCollection(people)
    _ = (any.first, any.filter("int == 1").first, any.sorted(by: \.int).first, any.freeze())
}

func sets(_ object: Everything) {
    let set = object.intSet
    let other = MutableSet<Int>()
    set.insert(3)
    set.insert(objectsIn: [1, 2])
    set.insert(objectsIn: object.ints)
    set.remove(3)
    _ = set.contains(3)
    _ = set.isSubset(of: other)
    _ = set.intersects(other)
    set.formIntersection(other)
    set.formUnion(other)
    set.subtract(other)
    set.removeAll()
    _ = (set.count, set.isEmpty, set.first, set[0], set.min(), set.max(), set.sum(), set.realm, set.isInvalidated)
    let average: Double? = set.average()
    _ = average
    _ = set.sorted(ascending: true)
    _ = set.freeze().thaw()
    _ = Array(set)
    _ = Set(set)
    for element in set { _ = element }
    object.intSet = other
    _ = object.set.filter("int == 1")
    _ = object.set.where { $0.int == 1 }
    _ = object.set.sorted(by: \.int)
    _ = object.set.sum(of: \.int)
    object.set.setValue(3, forKey: "int")
    _ = object.moodSet.contains(.wild)
    _ = set == other
}

func maps(_ object: Everything) {
    let map = object.intMap
    let other = Map<String, Int>()
    map["a"] = 1
    map["a"] = nil
    map["a"]? += 1
    map.updateValue(3, forKey: "b")
    map.merge(other) { first, _ in first }
    map.merge(["a": 1], uniquingKeysWith: { _, second in second })
    map.removeObject(for: "a")
    map.removeAll()
    let keys: [String] = map.keys
    let values: [Int] = map.values
    _ = (keys, values, map.count, map.isInvalidated, map.realm, map.isFrozen, map.description)
    _ = map.contains { key, value in key == "a" && value > 1 }
    _ = map.contains(where: { $0.value > 1 })
    _ = map.contains(where: { $0 == "a" && $1 > 1 })
    _ = (map.min(), map.max(), map.sum())
    let average: Double? = map.average()
    _ = average
    let sorted: Results<Int> = map.sorted(ascending: true)
    _ = sorted
    _ = map.distinct()
    _ = map.freeze().thaw()
    _ = map.value(forKey: "a")
    map.setValue(3, forKey: "a")
    _ = map.makeIterator()
    for entry in map { _ = entry.key + String(entry.value) }
    for (key, value) in map { _ = key + String(value) }
    _ = map.asKeyValueSequence().map { key, value in "\(key)\(value)" }
    _ = map == other
    object.intMap = other
    _ = object.map["a"]??.int
    object.map["a"] = object
    object.map["a"] = .some(nil)
    _ = object.map.filter("int == 3")
    _ = object.map.filter("int == %@", 3)
    _ = object.map.sorted(byKeyPath: "int", ascending: true)
    _ = object.map.sorted(by: [SortDescriptor(keyPath: "int")])
    _ = object.map.where { $0.int == 3 }
    let minimum: Int? = object.map.min(ofProperty: "int")
    let maximum: Int? = object.map.max(ofProperty: "int")
    let sum: Int = object.map.sum(ofProperty: "int")
    let mean: Double? = object.map.average(ofProperty: "int")
    _ = (minimum, maximum, sum, mean)
    _ = object.map.min(of: \.int)
    _ = object.map.sum(of: \.int)
    _ = object.leafMap["a"]??.name
    object.leafMap["a"] = Leaf()
    func keyed<M: RealmKeyedCollection>(_ map: M) -> Int where M.Key == String {
        _ = (map.keys, map.values, map["a"], map.value(forKey: "a"), map.realm, map.isFrozen, map.freeze())
        _ = (map.filter("TRUEPREDICATE"), map.sorted(byKeyPath: "int", ascending: true), map.sorted(ascending: false))
        map.removeObject(for: "a")
        map.removeAll()
        let maximum: Int? = map.max(ofProperty: "int")
        return map.count + (maximum ?? 0)
    }
    _ = keyed(map)
}

func anyValues(_ object: Everything) {
    let values: [AnyRealmValue] = [
        .none, .int(1), .bool(true), .float(1), .double(1), .string("a"), .data(Data()), .date(Date()), .object(object),
        .objectId(ObjectId.generate()), .decimal128(1), .uuid(UUID()), .dictionary(Map<String, AnyRealmValue>()),
        .list(List<AnyRealmValue>()), AnyRealmValue(),
    ]
    _ = Set(values)
    let any = object.any
    _ = (any.intValue, any.boolValue, any.floatValue, any.doubleValue, any.stringValue, any.dataValue)
    _ = (any.dateValue, any.objectIdValue, any.decimal128Value, any.uuidValue, any.dictionaryValue, any.listValue)
    _ = any.object(Everything.self)?.int
    _ = any.dynamicObject?["int"]
    object.any = AnyRealmValue.fromArray([.int(1), .string("a"), .fromDictionary(["a": .none])])
    object.any = .fromDictionary(["a": .fromArray([.int(1)])])
    object.any.listValue?[0] = .int(3)
    object.any.listValue?.append(.bool(true))
    object.any.dictionaryValue?["a"]?.listValue?[0] = .none
    object.any.dictionaryValue?["b"] = .string("x")
    switch object.any {
    case .int(let value): _ = value
    case .object(let value): _ = value
    case .list(let list): _ = list.count
    case .dictionary(let map): _ = map.keys
    case .none, .bool, .float, .double, .string, .data, .date, .objectId, .decimal128, .uuid: break
    }
    _ = any == .int(3)
    object.anyMap["a"] = .int(3)
    object.anys.append(.string("a"))
    object.anySet.insert(.none)
    _ = object.anys.max()
    _ = object.anys.sum()
}

// MARK: Values

func values() throws {
    let id = ObjectId()
    let parsed = try ObjectId(string: "507f1f77bcf86cd799439011")
    let literal = ObjectId("507f1f77bcf86cd799439011")
    _ = ObjectId(timestamp: Date(), machineId: 1, processId: 2)
    _ = (id < parsed, id == literal, id.hashValue, id.timestamp, id.stringValue, id.description, "\(id)")
    _ = [id, parsed].sorted() + [literal, ObjectId.generate()]
    _ = try JSONDecoder().decode([ObjectId].self, from: JSONEncoder().encode([id]))
    var decimal: Decimal128 = 1
    decimal = 1.5
    decimal = "1.5"
    decimal = Decimal128(value: 3)
    decimal = Decimal128(value: "3.1")
    decimal = Decimal128(number: 3)
    decimal = Decimal128(string: "1e100")
    decimal = Decimal128(floatLiteral: 1.5)
    decimal = Decimal128(integerLiteral: 2)
    _ = Decimal128(exactly: 3)
    decimal = decimal + 1 - 2 * decimal / 3
    decimal += 1
    decimal -= 1
    decimal *= 2
    decimal /= 2
    decimal.negate()
    _ = (-decimal, decimal.magnitude, decimal.isNaN, decimal.isSignaling, decimal.isSignalingNaN, decimal.doubleValue)
    _ = (decimal.decimalValue, decimal.stringValue, decimal.description, decimal < 3, decimal == 3, decimal.hashValue)
    _ = (Decimal128.min, Decimal128.max, Decimal128.zero)
    _ = decimal.decimalNumberByAdding(1).decimalNumberBySubtracting(1).decimalNumberByMultiplying(by: 2)
    _ = decimal.decimalNumberByDividing(by: 2)
    _ = decimal.isGreaterThan(1) || decimal.isGreaterThanOrEqual(to: 1) || decimal.isLessThan(1)
    _ = decimal.isLessThanOrEqual(to: 1)
    _ = [decimal].reduce(0, +)
    _ = try JSONDecoder().decode([Decimal128].self, from: JSONEncoder().encode([decimal]))
    _ = Mood.allCases.sorted() + [Mood(rawValue: 1)!]
    _ = Mood.calm < .wild
}

func coding(_ realm: Realm, _ root: Root, _ object: Everything) throws {
    let encoder = JSONEncoder()
    _ = try encoder.encode(root)
    _ = try JSONDecoder().decode(Root.self, from: Data())
    _ = try encoder.encode(realm.objects(Root.self))
    _ = try encoder.encode(object.ints)
    _ = try encoder.encode(object.intSet)
    _ = try encoder.encode(object.intMap)
    _ = try JSONDecoder().decode(List<Int>.self, from: Data())
    _ = try JSONDecoder().decode(MutableSet<String>.self, from: Data())
    _ = try JSONDecoder().decode(Map<String, Int>.self, from: Data())
    _ = try encoder.encode(AnyRealmCollection(realm.objects(Root.self)))
}

// MARK: Queries

func queries(_ everything: Results<Everything>, _ object: Everything) {
    func check(_ condition: (Query<Everything>) -> Query<Bool>) { _ = everything.where(condition) }
    check { $0.bool }
    check { !$0.bool && $0.int > 3 || $0.string == "a" }
    check { $0.bool == true && $0.optionalBool == nil && $0.optionalBool != false }
    check { $0.int == 3 && $0.int != 4 && $0.int < 3 && $0.int <= 3 && $0.int >= 3 }
    check { $0.int == $0.int && $0.int > $0.int && $0.string == $0.string && $0.double >= $0.double }
    check { $0.int.in([1, 2]) && !$0.string.in(["a"]) && $0.optionalString.in(["a", nil]) && $0.mood.in([.calm]) }
    check { $0.int.contains(1..<3) && $0.int.contains(1...3) && $0.double.contains(1.0...3.0) }
    check { $0.date.contains(Date()...Date()) && $0.float.contains(1..<3) && $0.decimal.contains(1...3) }
    check { $0.int64 == 3 && $0.int64 > 3 && $0.int64 == nil && $0.float < 3 && $0.optionalDecimal >= 3 }
    check { $0.string > "a" && $0.string <= "a" && $0.optionalString >= "a" && $0.string < $0.string }
    check { $0.string.like("a*") && $0.string.like("a?", caseInsensitive: true) && $0.optionalString.like("*") }
    check { $0.string.like($0.string) && $0.string.like($0.string, caseInsensitive: true) }
    check { $0.string.contains("a") && $0.string.starts(with: "a") && $0.string.ends(with: "a") }
    check { $0.string.contains("a", options: .caseInsensitive) && $0.string.contains($0.string, options: []) }
    check { $0.string.starts(with: "a", options: [.caseInsensitive]) && $0.string.starts(with: $0.string) }
    check { $0.string.ends(with: "a", options: [.diacriticInsensitive]) && $0.string.ends(with: $0.string) }
    check { $0.string.equals("a", options: [.caseInsensitive, .diacriticInsensitive]) && $0.string.equals($0.string) }
    check { $0.string.notEquals("a", options: .caseInsensitive) && $0.string.notEquals($0.string, options: []) }
    check { $0.optionalString.contains("a", options: .caseInsensitive) && $0.optionalString.equals(nil) }
    check { $0.optionalString.starts(with: "a") && $0.optionalString.ends(with: nil) && $0.optionalString == nil }
    check { $0.data == Data() && $0.data.contains(Data()) && $0.data.starts(with: Data()) && $0.data > Data() }
    check { $0.optionalData.ends(with: Data()) && $0.data.equals(Data()) && $0.data.notEquals($0.data) }
    check { $0.date > Date() && $0.optionalDate <= Date() && $0.optionalDate != nil && $0.decimal > 1.5 }
    check { $0.oid == ObjectId.generate() && $0.optionalOid == nil && $0.uuid != UUID() && $0.optionalUuid == nil }
    check { $0.mood == .calm && $0.mood > .calm && $0.optionalMood == nil && $0.mood.rawValue == 1 }
    check {
        $0.mood.contains(.calm ... .wild) && $0.mood.contains(Mood.calm..<Mood.wild) && $0.optionalMood.rawValue > 3
            && $0.optionalMood.in([.calm, nil])
    }
    check { $0.metres == Metres(persistedValue: 1) && $0.metres > Metres(persistedValue: 1) }
    check { $0.metres.persistableValue > 3 && $0.optionalMetres == nil && $0.optionalMetres.persistableValue < 3 }
    check { $0.even == nil && $0.even.persistableValue == 2 && $0.spot == Spot(x: 1) && $0.spot.persistableValue.x > 1 }
    check { $0.metresList.contains(Metres(persistedValue: 1)) && $0.metresList.persistableValue > 3 }
    check { $0.metresMap.persistableValue > 3 && $0.metresSet.persistableValue == 3 }
    check { $0.link == object && $0.link != nil && $0.link == nil && $0.link.in([object]) && $0.link.int == 3 }
    check { $0.link.link.link.string == "a" && $0.link.list.int > 3 && $0.link.list.count > 1 && $0.link.bool }
    check { $0.leaf.name == "a" && $0.leaf.next.name == "b" && $0.leaf.leaves.name == "b" && $0.leaf == nil }
    check {
        $0.list.contains(object) && $0.list.containsAny(in: [object]) && $0.list.count == 3 && !$0.list.contains(object)
    }
    check { $0.list.int > 3 && $0.list.string.contains("a") && $0.list.list.int == 4 && $0.list.link == object }
    check { $0.list.int.min > 3 && $0.list.int.max < 3 && $0.list.int.sum == 3 && $0.list.int.avg > 3 }
    check { $0.list.date.max > Date() && $0.list.decimal.sum > 3 && $0.list.float.avg > 3 && $0.list.int64.min == nil }
    check { ($0.list.int > 3).count > 1 && ($0.list.int > 3 && $0.list.string == "a").count == 0 }
    check { $0.list.link.int == 3 && $0.list.leaf.name == "a" && $0.list.bool == true && $0.list.optionalString == nil }
    check { $0.set.contains(object) && $0.set.int > 3 && $0.set.count == 0 && $0.set.int.sum > 3 }
    check { $0.back.count > 0 && $0.back.int == 3 && $0.back.contains(object) && ($0.back.int > 3).count > 1 }
    check { $0.leaves.name == "a" && $0.leaves.count > 1 && $0.leaves.leaves.name == "b" }
    check {
        $0.ints.contains(3) && $0.ints.containsAny(in: [1, 2]) && $0.ints.count > 3 && $0.ints == 3 && $0.ints > 3
    }
    check { $0.ints != 3 && $0.ints <= 3 && $0.ints.contains(1...3) && $0.ints.contains(1..<3) }
    check { $0.ints.min == 3 && $0.ints.max >= 3 && $0.ints.sum > 3 && $0.ints.avg > 3 }
    check {
        $0.optionalInts.contains(nil) && $0.optionalInts == nil && $0.optionalInts.max > 3 && $0.optionalInts.sum == 3
    }
    check {
        $0.strings.contains("a") && $0.strings == "a" && $0.strings.containsAny(in: ["a"]) && $0.strings.count == 1
    }
    check {
        $0.dates.contains(Date()) && $0.dates > Date() && $0.dates.min < Date() && $0.dates.contains(Date()...Date())
    }
    check { $0.bools.contains(true) && $0.bools == true && $0.datas.contains(Data()) && $0.oids.contains(ObjectId()) }
    check { $0.uuids.contains(nil) && $0.doubles.avg > 3 && $0.floats.max > 3 && $0.decimals.sum > 3 }
    check {
        $0.moods.contains(.calm) && $0.moods == .calm && $0.moods.rawValue == 1 && $0.moods.containsAny(in: [.calm])
    }
    check { $0.optionalMoods.contains(nil) && $0.moodSet == .calm && $0.moodMap == .calm && $0.moodMap.rawValue > 1 }
    check { $0.intSet.contains(3) && $0.intSet.sum > 3 && $0.stringSet.contains("a") && $0.dateSet.max > Date() }
    check { $0.intMap["a"] == 3 && $0.intMap["a"] > 3 && $0.intMap == 3 && $0.intMap > 3 && $0.intMap.contains(3) }
    check { $0.intMap.keys == "a" && $0.intMap.keys.contains("a") && $0.intMap.keys.starts(with: "a") }
    check {
        $0.intMap.keys.like("a*") && $0.intMap.keys != "b" && $0.intMap.keys.ends(with: "b", options: .caseInsensitive)
    }
    check {
        $0.intMap.values > 3 && $0.intMap.values == 3 && $0.intMap.containsAny(in: [3]) && $0.intMap.contains(1...3)
    }
    check { $0.intMap.count > 3 && $0.intMap.min > 3 && $0.intMap.max > 3 && $0.intMap.sum > 3 && $0.intMap.avg > 3 }
    check {
        $0.intMap.contains(1..<3) && $0.intMap != 3 && $0.intMap["a"].in([1, 2]) && $0.intMap["a"].contains(1...3)
    }
    check { $0.stringMap["a"].contains("b") && $0.stringMap["a"] == "b" && $0.stringMap.values.contains("a") }
    check { $0.stringMap["a"].like("b*") && $0.optionalStringMap["a"] == nil && $0.stringMap.contains("a") }
    check { $0.dateMap["a"] > Date() && $0.dataMap["a"] == nil && $0.decimalMap.sum > 3 && $0.moodMap["a"] == .calm }
    check { $0.map["a"].int == 3 && $0.map["a"] == nil && $0.map.values.int > 3 && $0.map.count > 0 }
    check { $0.map.contains(object) && $0.map["a"] == object && $0.map.keys == "a" && $0.leafMap["a"].name == "b" }
    check {
        $0.any == .int(3) && $0.any != .none && $0.any > .int(3) && $0.any <= .double(3) && $0.any == .object(object)
    }
    check { $0.any["a"] == .int(3) && $0.any[0] == .int(3) && $0.any.any == .int(3) && $0.any["a"][0]["b"] > .int(3) }
    check { $0.any.any["a"].any == .none && $0.any.any.any == .string("x") }
    check { $0.any.contains("a") && $0.any.starts(with: "a") && $0.any.ends(with: "a") && $0.any.like("a*") }
    check { $0.any.in([.int(3), .none]) && $0.any.equals("a", options: .caseInsensitive) }
    check {
        $0.anys.contains(.int(3)) && $0.anys == .int(3) && $0.anys.containsAny(in: [.none]) && $0.anys.sum > .int(3)
    }
    check {
        $0.anySet.contains(.int(3)) && $0.anyMap["a"] == .int(3) && $0.anyMap.values == .int(3) && $0.anyMap.keys == "a"
    }
    check { $0.link.any["a"] == .int(3) && $0.list.any == .int(3) && $0.anyMap["a"][0] == .int(1) }
    check { $0.list.all.int > 3 && $0.list.none.int > 3 && $0.list.containsAll(in: [object]) && $0.ints.all > 3 }
    let predicate: (Query<Everything>) -> Query<Bool> = { $0.int > 3 }
    let both = { (query: Query<Everything>) in predicate(query) && query.bool }
    check(both)
    _ = everything.filter("TRUEPREDICATE")
    _ = everything.filter("ANY list.int > 3 AND NONE list.string = 'a' OR SUBQUERY(list, $x, $x.int > 1).@count > 1")
    _ = everything.filter("intMap['a'] == 3 && ANY intMap.@allKeys == 'a' && ANY intMap.@allValues > 3")
    _ = everything.filter("any['a'][0] == 3 || any[*] == 3 || any[#any] == 3")
    _ = everything.filter(
        "int BETWEEN {1, 3} && string IN {'a', 'b'} && string LIKE[c] 'a*' && string BEGINSWITH[cd] 'a'"
    )
    _ = everything.filter("%K == %@ && link == %@ && int IN %@ && double > %f", "int", 3, object, [1, 2], 1.5)
    _ = everything.filter("date > %@ && oid == %@ && uuid == %@ && data == %@", Date(), ObjectId(), UUID(), Data())
}

func results(_ results: Results<Everything>, _ object: Everything) {
    let sort: [ActorRealm.SortDescriptor] = ["int", SortDescriptor(keyPath: "string", ascending: false).reversed()]
    _ = results.sorted(by: sort)
    _ = results.sorted(by: [SortDescriptor(keyPath: \Everything.int, ascending: true)])
    _ = (sort[0].keyPath, sort[0].ascending, sort[0] == sort[1], sort[0].description)
    _ = results.sorted(byKeyPath: "link.int").distinct(by: ["int", "link.string"]).filter("int > 1").first
    _ = results.sorted(by: \.string, ascending: true).sorted(by: \.optionalDate)
    _ = (results.count, results.isEmpty, results.first, results.last, results[0], results.index(of: object))
    _ = (results.realm, results.isInvalidated, results.isFrozen, results.description, results == results)
    _ = results.objects(at: [0, 1])
    _ = results.value(forKey: "int")
    _ = results.value(forKeyPath: "link.int")
    results.setValue(3, forKey: "int")
    let maximum: Int? = results.max(ofProperty: "int")
    let total: Int64 = results.sum(ofProperty: "int64")
    let mean: Decimal128? = results.average(ofProperty: "decimal")
    _ = (maximum, total, mean, results.min(of: \.double), results.max(of: \.optionalDate), results.sum(of: \.int))
    let average: Double? = results.average(of: \.int)
    _ = average
    let strings: Results<String> = object.strings.sorted(ascending: true)
    _ = (strings.first, strings.distinct().count)
    let numbers: Results<Int> = object.ints.sorted(ascending: true)
    _ = (numbers.min(), numbers.max(), numbers.sum(), numbers.average() as Double?)
    let sections = results.sectioned(by: \.string)
    _ = results.sectioned(by: \.int, ascending: false)
    _ = results.sectioned(by: \.string, sortDescriptors: [SortDescriptor(keyPath: "string")])
    _ = results.sectioned(by: { String($0.string.prefix(1)) }, sortDescriptors: ["string"])
    _ = object.strings.sectioned(by: { String($0.prefix(1)) }, ascending: false)
    let section: ResultsSection<String, Everything> = sections[0]
    _ = (section.key, section.id, section.count, section[0], section.first, section.isInvalidated, sections.allKeys)
    _ = (
        sections.count, sections[IndexPath(indexes: [0, 0])], sections.isFrozen, sections.freeze().thaw(),
        sections.realm
    )
    let typed: SectionedResults<String, Everything> = sections
    _ = typed
    let slice = results[0..<2]
    _ = slice.map(\.int)
    let projections: Results<EverythingProjection> = results.realm!.objects(EverythingProjection.self)
    _ = projections.filter("int > 3").sorted(byKeyPath: "int").first?.names.first
    _ = projections.where { $0.int > 3 }
    _ = projections.first?.rootObject.int
    _ = projections.first?.realm
    _ = projections.first == projections.last
    _ = projections.first?.freeze().thaw()
    _ = projections.first?.numbers.count
    _ = PlaceProjection(projecting: Place()).title
}
