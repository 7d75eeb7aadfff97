import ActorRealm
import Foundation

enum Mood: String, PersistableEnum, Codable {
    case calm
    case busy
}

enum Rank: Int, PersistableEnum {
    case low
    case high
}

struct Temperature: CustomPersistable {
    var degrees: Double
    init(persistedValue: Double) { degrees = persistedValue }
    var persistableValue: Double { degrees }
}

struct Harbor: FailableCustomPersistable {
    var name: String
    init?(persistedValue: String) {
        if persistedValue.isEmpty { return nil }
        name = persistedValue
    }
    var persistableValue: String { name }
}

class Address: EmbeddedObject {
    @Persisted var street: String
    @Persisted var city: String?
    @Persisted var resident: Person?

    override class func ignoredProperties() -> [String] { [] }
}

class Dog: Object, ObjectKeyIdentifiable {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted(indexed: true) var name: String
    @Persisted var age: Int
    @Persisted(originProperty: "dogs") var owners: LinkingObjects<Owner>
}

class Person: Object, Codable {
    @Persisted(primaryKey: true) var id = UUID()
    @Persisted var name = ""
    @Persisted var isMember = false
    @Persisted var small: Int8
    @Persisted var shorter: Int16
    @Persisted var short: Int32?
    @Persisted var long: Int64
    @Persisted var height: Float
    @Persisted var weight: Double?
    @Persisted var picture: Data
    @Persisted var born: Date
    @Persisted var balance: Decimal128
    @Persisted var badge: ObjectId?
    @Persisted(indexed: true) var mood: Mood
    @Persisted var former: Mood?
    @Persisted var lucky: List<Int>
    @Persisted var nicknames: List<String?>
    @Persisted var tags: MutableSet<String>
    @Persisted var scores: Map<String, Int>

    convenience init(name: String) {
        self.init()
        self.name = name
    }
}

class Owner: Object {
    @Persisted var address: Address?
    @Persisted var addresses: List<Address>
    @Persisted var best: Dog?
    @Persisted var dogs: List<Dog>
    @Persisted var pack: MutableSet<Dog>
    @Persisted var named: Map<String, Dog?>
    @Persisted var homes: Map<String, Address?>
    @Persisted var anything: AnyRealmValue
    @Persisted var things: List<AnyRealmValue>
    @Persisted var warmth: Temperature
    @Persisted var warmths: List<Temperature>
    @Persisted var port: Harbor?
    @Persisted var forced: Int!
    @Persisted var born: Date
    @Persisted var balance: Decimal128
    @Persisted var weights: List<Double>
    @Persisted var moods: List<Mood>
    @Persisted var rank: Rank
    @Persisted var note: String?
    @Persisted var data: Data
    @Persisted var count: Int
    @Persisted var scores: Map<String, Int>

    override class func primaryKey() -> String? { nil }
    override class func indexedProperties() -> [String] { ["count"] }
    override class func ignoredProperties() -> [String] { [] }
    override class func propertiesMapping() -> [String: String] { ["note": "remark"] }
    override class func shouldIncludeInDefaultSchema() -> Bool { true }
    override class func _realmObjectName() -> String? { "Keeper" }
}

class PersonProjection: Projection<Owner> {
    @Projected(\Owner.note) var note
    @Projected(\Owner.best?.name) var dog
    @Projected(\Owner.dogs.projectTo.name) var dogs: ProjectedCollection<String>
}

@globalActor actor Background: GlobalActor {
    static let shared = Background()
}
