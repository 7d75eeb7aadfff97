import ActorRealm
import Foundation

enum Mood: String, PersistableEnum {
    case calm, cheerful, grumpy
}

enum Level: Int, PersistableEnum {
    case low = 1
    case high = 9
}

class AllTypes: Object {
    @Persisted var bool: Bool
    @Persisted var int: Int
    @Persisted var int8: Int8
    @Persisted var int16: Int16
    @Persisted var int32: Int32
    @Persisted var int64: Int64
    @Persisted var float: Float
    @Persisted var double: Double
    @Persisted var string: String
    @Persisted var data: Data
    @Persisted var date: Date
    @Persisted var objectId: ObjectId
    @Persisted var uuid: UUID
    @Persisted var mood: Mood
    @Persisted var level: Level
    @Persisted var optBool: Bool?
    @Persisted var optInt: Int?
    @Persisted var optInt8: Int8?
    @Persisted var optInt16: Int16?
    @Persisted var optInt32: Int32?
    @Persisted var optInt64: Int64?
    @Persisted var optFloat: Float?
    @Persisted var optDouble: Double?
    @Persisted var optString: String?
    @Persisted var optData: Data?
    @Persisted var optDate: Date?
    @Persisted var optObjectId: ObjectId?
    @Persisted var optUUID: UUID?
    @Persisted var optMood: Mood?
    @Persisted var optLevel: Level?
}

class Toy: EmbeddedObject {
    @Persisted var name = ""
    @Persisted var price = 0
    @Persisted var parts: List<Toy>
}

class Puppy: Object {
    @Persisted var name = ""
    @Persisted var age = 0
    @Persisted var weight: Double?
    @Persisted(originProperty: "puppies") var keepers: LinkingObjects<Keeper>
    @Persisted(originProperty: "favourite") var admirers: LinkingObjects<Keeper>
}

class Keeper: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: true) var name = "nobody"
    @Persisted var age = 30
    @Persisted var height: Double?
    @Persisted var mood = Mood.cheerful
    @Persisted var favourite: Puppy?
    @Persisted var boss: Keeper?
    @Persisted var toy: Toy?
    @Persisted var toys: List<Toy>
    @Persisted var puppies: List<Puppy>
    @Persisted var nicknames: List<String>
    @Persisted var scores: List<Int?>
    var scratch = 0

    convenience init(id: Int, name: String = "nobody", age: Int = 30) {
        self.init()
        self.id = id
        self.name = name
        self.age = age
    }
}

class StringKeyed: Object {
    @Persisted(primaryKey: true) var key: String
    @Persisted var value = 0
}

class IdKeyed: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var name: String
}

class UUIDKeyed: Object {
    @Persisted(primaryKey: true) var id: UUID
    @Persisted var name: String
}

class OptionalKeyed: Object {
    @Persisted(primaryKey: true) var key: String?
    @Persisted var value = 0
}

class Scalars: Object {
    @Persisted var ints: List<Int>
    @Persisted var strings: List<String?>
    @Persisted var doubles: List<Double>
    @Persisted var dates: List<Date>
    @Persisted var uuids: List<UUID>
    @Persisted var blobs: List<Data>
    @Persisted var moods: List<Mood>
    @Persisted var bools: List<Bool?>
}

let objectTestTypes: [ObjectBase.Type] = [
    AllTypes.self, Toy.self, Puppy.self, Keeper.self, StringKeyed.self, IdKeyed.self, UUIDKeyed.self,
    OptionalKeyed.self, Scalars.self,
]

/// A realm in memory with the models above, for one synchronous test.
func memoryRealm(_ types: [ObjectBase.Type] = objectTestTypes) throws -> Realm {
    try Realm(configuration: Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: types))
}
