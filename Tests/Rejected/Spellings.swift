import ActorRealm
import Foundation

enum Kind: String, PersistableEnum, CaseIterable { case a, b }
enum Num: Int, PersistableEnum { case one = 1 }

class Address: EmbeddedObject {
    @Persisted var street: String?
    @Persisted var city: City?
    @Persisted(originProperty: "address") var persons: LinkingObjects<Person>
}
class City: Object { @Persisted(primaryKey: true) var name = "" }
class Dog: Object, ObjectKeyIdentifiable {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
    convenience init(name: String, age: Int) {
        self.init()
        self.name = name
        self.age = age
    }
}
class Person: Object, ObjectKeyIdentifiable {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted(indexed: true) var email = ""
    @Persisted var name: String = ""
    @Persisted var age: Int?
    @Persisted var i8: Int8
    @Persisted var i16: Int16 = 3
    @Persisted var i32: Int32?
    @Persisted var f: Float = 0
    @Persisted var d: Double?
    @Persisted var b = false
    @Persisted var data: Data
    @Persisted var date: Date = Date()
    @Persisted var uuid: UUID
    @Persisted var optUuid: UUID?
    @Persisted var dec: Decimal128 = 1
    @Persisted var decs: List<Decimal128>
    @Persisted var any: AnyRealmValue
    @Persisted var anys: List<AnyRealmValue>
    @Persisted var anySet: MutableSet<AnyRealmValue>
    @Persisted var anyMap: Map<String, AnyRealmValue>
    @Persisted var kind: Kind = .a
    @Persisted var optKind: Kind?
    @Persisted var kinds: List<Kind>
    @Persisted var kindSet: MutableSet<Kind>
    @Persisted var kindMap: Map<String, Kind>
    @Persisted var dogs: List<Dog>
    @Persisted var dogSet: MutableSet<Dog>
    @Persisted var dogMap: Map<String, Dog?>
    @Persisted var address: Address?
    @Persisted var addresses: List<Address>
    @Persisted var addressMap: Map<String, Address?>
    @Persisted var optInts: List<Int?>
    @Persisted var optStrings: MutableSet<String?>
    @Persisted var intMap: Map<String, Int>
    @Persisted var optIntMap: Map<String, Int?>
    @Persisted var friend: Person?
    @Persisted var implicit: String!
    var ignored = 0
    override class func propertiesMapping() -> [String: String] { ["name": "full_name"] }
}
class Legacy: Object {
    @Persisted var id = 0
    @Persisted var x = ""
    override static func primaryKey() -> String? { "id" }
    override static func indexedProperties() -> [String] { ["x"] }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
class PersonProjection: Projection<Person> {
    @Projected(\Person.name) var name
    @Projected(\Person.friend?.name) var friendName
    @Projected(\Person.dogs.projectTo.name) var dogNames: ProjectedCollection<String>
}

/// Writes, queries and observers, as code written for RealmSwift spells them.
func models() throws {
    var config = Realm.Configuration(
        fileURL: URL(fileURLWithPath: "/tmp/x.realm"),
        schemaVersion: 2,
        migrationBlock: { migration, old in
            migration.enumerateObjects(ofType: "Person") { oldObject, newObject in
                newObject?["name"] = oldObject?["first"] as? String ?? ""
                let n = newObject!.name as? String
                _ = n
            }
            migration.enumerateObjects(ofType: Person.className()) { oldObject, newObject in
                newObject!["age"] = (oldObject!["age"] as! Int) + 1
            }
            migration.renameProperty(onType: Person.className(), from: "a", to: "b")
            let made = migration.create(Dog.className(), value: ["name": "x"])
            migration.delete(made)
            _ = migration.deleteData(forType: "Old")
            _ = migration.oldSchema["Person"]?.properties.map(\.name)
            _ = migration.newSchema.objectSchema.map(\.className)
        },
        objectTypes: [Person.self, Dog.self, City.self, Address.self]
    )
    config.deleteRealmIfMigrationNeeded = true
    config.maximumNumberOfActiveVersions = 10
    config.shouldCompactOnLaunch = { total, used in total > 100 && Double(used) / Double(total) < 0.5 }
    Realm.Configuration.defaultConfiguration = config
    let realm = try Realm(configuration: config)
    let person = Person(value: ["name": "A", "dogs": [["name": "Rex", "age": 3]]])
    try realm.write {
        realm.add(person)
        realm.add([person], update: .modified)
        realm.add(person, update: .all)
        let d = realm.create(Dog.self, value: ["name": "B"], update: .all)
        person.dogs.append(d)
        person.dogs.insert(d, at: 0)
        person.dogs.remove(at: 0)
        person.dogs.move(from: 0, to: 0)
        person.dogs.append(objectsIn: realm.objects(Dog.self))
        person.dogs.removeAll()
        person.dogSet.insert(d)
        person.dogMap["k"] = d
        person.dogMap["k"]??.name = "z"
        person.any = .object(d)
        person.any = AnyRealmValue.fromDictionary(["a": .int(1), "b": .list(List<AnyRealmValue>())])
        person.any.dictionaryValue?["a"] = .string("x")
        person.dec += 1.5
        person.dec = Decimal128(string: "1.5")
        person.kind = .b
        person.setValue("q", forKey: "name")
        realm.delete(d)
        realm.delete(person.dogs)
        realm.delete(realm.objects(Dog.self).where { $0.age > 3 })
        realm.deleteAll()
    }
    let people = realm.objects(Person.self)
    _ = people.filter("name BEGINSWITH %@ AND age > %d", "A", 3)
    _ = people.where { $0.name == "A" && ($0.age > 3 || $0.b) && !$0.b }
    _ = people.where { $0.name.contains("a", options: [.caseInsensitive, .diacriticInsensitive]) }
    _ = people.where {
        $0.name.starts(with: "a") && $0.name.ends(with: "b") && $0.name.like("a*", caseInsensitive: true)
    }
    _ = people.where { $0.age.contains(1...3) && $0.age.contains(1..<3) }
    _ = people.where { $0.kind == .a && $0.optKind == nil && $0.kind.in([.a, .b]) }
    _ = people.where { $0.dogs.name == "Rex" && $0.dogs.count > 1 && $0.dogs.age.avg > 2 && $0.dogs.age.sum == 3 }
    _ = people.where { ($0.dogs.age > 3 && $0.dogs.name == "x").count > 1 }
    _ = people.where { $0.friend.name == "x" && $0.friend.friend.age == 3 && $0.friend == nil }
    _ = people.where { $0.address.street == "x" && $0.address.city.name == "y" }
    _ = people.where {
        $0.dogMap["k"].name == "x" && $0.dogMap.keys == "k" && $0.intMap.values > 3 && $0.intMap["a"] == 3
    }
    _ = people.where { $0.optInts.contains(3) && $0.optInts.containsAny(in: [3, nil]) }
    _ = people.where { $0.any == .int(3) && $0.any > .int(2) && $0.anys.contains(.string("x")) }
    _ = people.where { $0.dec > 3 && $0.dec == 1.5 && $0.uuid == UUID() && $0._id == ObjectId.generate() }
    _ = people.where { $0.kind.rawValue == "a" && $0.kinds.contains(.a) && $0.kindSet == .b && $0.kindMap == .a }
    _ = people.where { $0.date > Date() && $0.data == Data() && $0.f < 3 && $0.d >= 2 }
    _ = realm.objects(Dog.self).where { $0.owners.count == 0 && $0.owners.name == "x" }
    let sorted = people.sorted(byKeyPath: "name", ascending: false)
        .sorted(by: [SortDescriptor(keyPath: "age"), "name"])
    _ = people.sorted(by: \.name).distinct(by: [\Person.name]).distinct(by: ["age"])
    _ = sorted.first?.name
    _ = sorted.last
    _ = sorted[0]
    _ = sorted.count
    _ = sorted.isEmpty
    _ = Array(sorted.map(\.name))
    _ = sorted.index(of: person)
    _ = sorted.index(matching: "name == 'x'")
    _ = sorted.index(matching: { $0.name == "x" })
    _ = sorted.firstIndex(of: person)
    _ = sorted.firstIndex { $0.name == "x" }
    _ = sorted.first(where: { $0.b })
    let mx: Int? = people.max(ofProperty: "age")
    let sm: Int = people.sum(ofProperty: "age")
    let av: Double? = people.average(of: \.age)
    let mi = people.min(of: \.f)
    let su = people.sum(of: \.dec)
    let avd: Decimal128? = people.average(of: \.dec)
    _ = (mx, sm, av, mi, su, avd)
    let p = people.first!
    _ = p.objectSchema.properties.first?.type == .string
    _ = p.realm
    _ = p.isInvalidated
    _ = p.isFrozen
    _ = p.isSameObject(as: p)
    _ = p["name"]
    p["name"] = "x"
    _ = p.objectSchema.primaryKeyProperty?.name
    _ = p.objectSchema["name"]?.isOptional
    _ = p.id
    _ = Person.className()
    _ = realm.schema.objectSchema
    _ = realm.schema["Person"]
    _ = realm.object(ofType: Person.self, forPrimaryKey: ObjectId.generate())
    _ = realm.dynamicObjects("Person")
    _ = realm.dynamicCreate("Person", value: [:])
    let frozen = p.freeze()
    _ = frozen.thaw()
    _ = people.freeze().thaw()
    _ = realm.freeze().thaw()
    _ = p.dogs.freeze()
    _ = p.dogSet.freeze().thaw()
    _ = p.dogMap.freeze().thaw()
    let sec = people.sectioned(by: \.name)
    _ = sec[0].key
    _ = sec[0][0]
    _ = sec.allKeys
    for s in sec {
        for x in s { _ = x.name }
        _ = s.id
    }
    let sec2 = people.sectioned(
        by: { $0.name.first.map(String.init) ?? "" },
        sortDescriptors: [SortDescriptor(keyPath: "name")]
    )
    _ = sec2.count
    _ = people.sectioned(by: { $0.b }, ascending: true)
    _ = people.sectioned(by: \.kind, ascending: false)
    let projections = realm.objects(PersonProjection.self)
    _ = projections.first?.name
    _ = projections.where { $0.name == "x" }
    let pr = PersonProjection(projecting: p)
    _ = pr.rootObject
    pr.name = "y"
    _ = pr.dogNames.first
    _ = pr.friendName
    let t1 = people.observe { (change: RealmCollectionChange<Results<Person>>) in
        switch change {
        case .initial(let r): _ = r.count
        case .update(let r, let d, let i, let m): _ = (r, d, i, m)
        case .error(let e): _ = e
        }
    }
    let t2 = people.observe(keyPaths: ["name", "dogs.name"]) { _ in }
    let t3 = people.observe(keyPaths: [\Person.name, \Person.dogs], on: DispatchQueue(label: "x")) { _ in }
    let t4 = p.observe { (change: ObjectChange<Person>) in
        switch change {
        case .change(let o, let ps):
            _ = o.name
            for q in ps { _ = (q.name, q.oldValue, q.newValue) }
        case .deleted: break
        case .error(let e): _ = e
        }
    }
    let t5 = p.observe(keyPaths: [\Person.name]) { _ in }
    let t6 = realm.observe { notification, realm in if notification == .didChange { _ = realm.isEmpty } }
    let t7 = p.dogMap.observe { change in if case .update(_, let d, let i, let m) = change { _ = d + i + m } }
    let t8 = p.dogSet.observe { _ in }
    let t9 = sec.observe { _ in }
    let t10 = pr.observe(keyPaths: ["name"]) { _ in }
    let t11 = p.address?.observe { (_: ObjectChange<Address>) in }
    for t in [t1, t2, t3, t4, t5, t6, t7, t8, t9, t10] { t.invalidate() }
    t11?.invalidate()
    let any: AnyRealmCollection<Person> = AnyRealmCollection(people)
    _ = any.count
    _ = p.intMap.keys
    _ = p.intMap.values
    for (k, v) in p.intMap { _ = (k, v) }
    for e in p.intMap { _ = (e.key, e.value) }
    _ = p.intMap.map { $0.value }
    _ = p.intMap.filter { $0.value > 3 }
    _ = p.intMap.sorted(by: { $0.key < $1.key })
    _ = p.dogMap.filter("name == 'x'")
    _ = p.dogMap.where { $0.name == "x" }
    _ = p.dogMap.sorted(byKeyPath: "name")
    _ = p.dogSet.filter("name == 'x'")
    _ = p.dogSet.contains(Dog())
    _ = p.dogSet.first
    _ = p.dogSet.count
    _ = p.decs.max()
    _ = p.decs.sum()
    let dd: Decimal128? = p.decs.average()
    _ = dd
    do { _ = try Realm(fileURL: URL(fileURLWithPath: "/x")) } catch Realm.Error.fileNotFound {} catch let e
        as Realm.Error where e.code == .schemaMismatch
    { _ = e.localizedDescription } catch let e as Realm.Error { _ = e.code == Realm.Error.Code.fail }
    try realm.writeCopy(toFile: URL(fileURLWithPath: "/y"))
    _ = try schemaVersionAtURL(URL(fileURLWithPath: "/x"))
    _ = Realm.fileExists(for: config)
    _ = try Realm.deleteFiles(for: config)
    let o = try ObjectId(string: "507f1f77bcf86cd799439011")
    _ = o.timestamp
    _ = o.stringValue
    _ = ObjectId("507f1f77bcf86cd799439011") < o
    let ref = ThreadSafeReference(to: p)
    _ = realm.resolve(ref)
    let ref2 = ThreadSafeReference(to: p.dogMap)
    _ = realm.resolve(ref2)
    _ = try JSONEncoder().encode(people.map(\.name).first ?? "")
    _ = Decimal128(value: 3)
    _ = Decimal128(number: 3)
    let c = UpdatePolicy.self
    _ = c
    _ = person.description
    _ = people.description
    _ = person == person
    _ = person.hashValue
    var iterator = people.makeIterator()
    _ = iterator.next()
    for person in people { _ = person.name }
    _ = people.lazy.filter { $0.b }.map { $0.name }
    _ = people[0..<1]
    _ = people.prefix(2)
    _ = Set(people)
}
typealias UpdatePolicy = Realm.UpdatePolicy
