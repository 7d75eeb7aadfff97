import Foundation
import Testing

@testable import ActorRealm

@Suite struct ObjectTests {
    @Test func `an unmanaged object starts at the defaults`() {
        let object = AllTypes()
        #expect(object.bool == false && object.int == 0 && object.string.isEmpty && object.data.isEmpty)
        #expect(abs(object.date.timeIntervalSinceNow) < 5)
        #expect(object.objectId == object.objectId)
        #expect(object.uuid == object.uuid)
        #expect(object.mood == .calm && object.level == .low)
        #expect(object.optInt == nil && object.optMood == nil)
        #expect(object.realm == nil && !object.isInvalidated && !object.isFrozen)
        #expect(Keeper().name == "nobody")
    }

    @Test func `every type comes back as it was written, at its boundaries`() throws {
        let realm = try memoryRealm()
        let dates = [
            Date(timeIntervalSinceReferenceDate: 0), .distantPast, .distantFuture, Date(timeIntervalSince1970: 0.25),
        ]
        let strings = ["", "a", "æøå 🎉 \u{0} z", String(repeating: "x", count: 5000)]
        let blobs = [Data(), Data([0, 255]), Data(repeating: 7, count: 70_000)]
        var expected: [AllTypes] = []
        for round in 0..<4 {
            let object = AllTypes()
            object.bool = round % 2 == 1
            object.int = [0, -1, Int.min, Int.max][round]
            object.int8 = [0, -1, .min, .max][round]
            object.int16 = [0, -1, .min, .max][round]
            object.int32 = [0, -1, .min, .max][round]
            object.int64 = [0, -1, .min, .max][round]
            object.float = [0, -0.5, -.infinity, .greatestFiniteMagnitude][round]
            object.double = [0, 0.1, .infinity, -.leastNonzeroMagnitude][round]
            object.string = strings[round]
            object.data = blobs[round % 3]
            object.date = dates[round]
            object.mood = Mood.allCases[round % 3]
            object.level = round % 2 == 0 ? .low : .high
            if round > 0 {
                object.optBool = object.bool
                object.optInt = object.int
                object.optInt8 = object.int8
                object.optInt16 = object.int16
                object.optInt32 = object.int32
                object.optInt64 = object.int64
                object.optFloat = object.float
                object.optDouble = object.double
                object.optString = object.string
                object.optData = object.data
                object.optDate = object.date
                object.optObjectId = object.objectId
                object.optUUID = object.uuid
                object.optMood = object.mood
                object.optLevel = object.level
            }
            let copy = AllTypes(value: object)
            #expect(copy.objectId == object.objectId)
            expected.append(copy)
            try realm.write { realm.add(object) }
        }
        let found = realm.objects(AllTypes.self)
        #expect(found.count == 4)
        for (object, copy) in zip(found, expected) {
            for property in ModelClass.of(AllTypes.self).properties {
                let left = property.value(in: object) as? AnyHashable
                let right = property.value(in: copy) as? AnyHashable
                #expect(left == right, "\(property.name)")
            }
        }
    }

    @Test func `properties can be set to values and to nil in a write`() throws {
        let realm = try memoryRealm()
        let object = try realm.write { realm.create(AllTypes.self) }
        try realm.write {
            object.int = 5
            object.optInt = -7
            object.string = "text"
            object.optString = "more"
            object.optMood = .grumpy
            object.optUUID = UUID()
            object.optData = Data([1])
            object.date = Date(timeIntervalSinceReferenceDate: 17)
            #expect(object.int == 5 && object.optInt == -7)
            object.int += 1
        }
        #expect(object.int == 6 && object.optInt == -7 && object.string == "text" && object.optString == "more")
        #expect(object.optMood == .grumpy && object.optUUID != nil && object.optData == Data([1]))
        #expect(object.date == Date(timeIntervalSinceReferenceDate: 17))
        try realm.write {
            object.optInt = nil
            object.optString = nil
            object.optMood = nil
            object.optUUID = nil
            object.optData = nil
        }
        #expect(object.optInt == nil && object.optString == nil && object.optMood == nil)
        #expect(object.optUUID == nil && object.optData == nil)
    }

    @Test func `a cancelled write leaves the object as it was`() throws {
        let realm = try memoryRealm()
        let object = try realm.write { realm.create(Puppy.self, value: ["name": "Rex", "age": 3]) }
        realm.beginWrite()
        object.age = 9
        #expect(object.age == 9)
        realm.cancelWrite()
        #expect(object.age == 3)
    }

    @Test func `adding makes the object itself managed, with all it links to`() throws {
        let realm = try memoryRealm()
        let keeper = Keeper(id: 1, name: "Ann")
        let puppy = Puppy(value: ["name": "Rex"])
        keeper.favourite = puppy
        keeper.puppies.append(puppy)
        keeper.puppies.append(Puppy(value: ["name": "Bo"]))
        let list = keeper.puppies
        keeper.boss = keeper
        keeper.scratch = 12
        try realm.write { realm.add(keeper) }
        #expect(keeper.realm === realm && puppy.realm === realm)
        #expect(keeper.scratch == 12)
        #expect(keeper.boss?.isSameObject(as: keeper) == true)
        #expect(list.realm === realm && list.map(\.name) == ["Rex", "Bo"])
        #expect(realm.objects(Puppy.self).count == 2)
        #expect(keeper.favourite?.isSameObject(as: puppy) == true)
        #expect(puppy.keepers.count == 1 && puppy.admirers.first?.id == 1)
        try realm.write { realm.add(keeper) }
        #expect(realm.objects(Keeper.self).count == 1)
    }

    @Test func `a long chain of links is added without recursion`() throws {
        let realm = try memoryRealm()
        let first = Keeper(id: 0)
        var last = first
        for id in 1..<20_000 {
            let next = Keeper(id: id)
            last.boss = next
            last = next
        }
        try realm.write { realm.add(first) }
        #expect(realm.objects(Keeper.self).count == 20_000)
        #expect(realm.object(ofType: Keeper.self, forPrimaryKey: 19_998)?.boss?.id == 19_999)
        // Let go of the chain step by step: releasing it as a whole would recurse.
    }

    @Test func `objects are found by primary keys of every kind`() throws {
        let realm = try memoryRealm()
        let id = ObjectId.generate()
        let uuid = UUID()
        try realm.write {
            realm.create(Keeper.self, value: ["id": 7, "name": "seven"])
            realm.create(StringKeyed.self, value: ["key": "k", "value": 1])
            realm.create(IdKeyed.self, value: ["_id": id, "name": "i"])
            realm.create(UUIDKeyed.self, value: ["id": uuid, "name": "u"])
            realm.create(OptionalKeyed.self, value: ["value": 3])
            realm.create(OptionalKeyed.self, value: ["key": "x", "value": 4])
        }
        #expect(realm.object(ofType: Keeper.self, forPrimaryKey: 7)?.name == "seven")
        #expect(realm.object(ofType: Keeper.self, forPrimaryKey: 8) == nil)
        #expect(realm.object(ofType: StringKeyed.self, forPrimaryKey: "k")?.value == 1)
        #expect(realm.object(ofType: IdKeyed.self, forPrimaryKey: id)?.name == "i")
        #expect(realm.object(ofType: UUIDKeyed.self, forPrimaryKey: uuid)?.name == "u")
        #expect(realm.object(ofType: OptionalKeyed.self, forPrimaryKey: "x")?.value == 4)
        #expect(realm.object(ofType: OptionalKeyed.self, forPrimaryKey: String?.none)?.value == 3)
    }

    @Test func `a deleted object is invalidated, leaves lists and links`() throws {
        let realm = try memoryRealm()
        let keeper = Keeper(id: 1)
        let puppy = Puppy()
        keeper.favourite = puppy
        keeper.puppies.append(objectsIn: [puppy, Puppy(), puppy])
        try realm.write { realm.add(keeper) }
        let other = realm.objects(Puppy.self)[0]
        #expect(!puppy.isInvalidated)
        try realm.write { realm.delete(puppy) }
        #expect(puppy.isInvalidated && other.isInvalidated)
        #expect(keeper.favourite == nil && keeper.puppies.count == 1)
        let list = keeper.puppies
        try realm.write { realm.delete(keeper) }
        #expect(list.isInvalidated)
        #expect(realm.objects(Keeper.self).isEmpty && realm.objects(Puppy.self).count == 1)
        try realm.write { realm.deleteAll() }
        #expect(realm.objects(Puppy.self).isEmpty)
    }

    @Test func `embedded objects live and die with their owner`() throws {
        let realm = try memoryRealm()
        let keeper = Keeper(id: 1)
        keeper.toy = Toy(value: ["name": "ball", "price": 3, "parts": [["name": "skin"], ["name": "air"]]])
        keeper.toys.append(Toy(value: ["name": "rope"]))
        try realm.write { realm.add(keeper) }
        #expect(keeper.toy?.parts.map(\.name) == ["skin", "air"])
        #expect(keeper.toys.first?.name == "rope")
        let ball = try #require(keeper.toy)
        try realm.write { keeper.toy = Toy(value: ["name": "stick"]) }
        #expect(ball.isInvalidated && keeper.toy?.name == "stick")
        let stick = try #require(keeper.toy)
        try realm.write { realm.delete(keeper) }
        #expect(stick.isInvalidated)
    }

    @Test func `objects with primary keys are equal by row, others by identity`() throws {
        let realm = try memoryRealm()
        try realm.write {
            realm.create(Keeper.self, value: ["id": 1])
            realm.create(Keeper.self, value: ["id": 2])
            realm.create(Puppy.self)
            realm.create(Puppy.self)
        }
        let one = realm.objects(Keeper.self)[0]
        let two = realm.objects(Keeper.self)[0]
        let other = realm.objects(Keeper.self)[1]
        #expect(one !== two && one == two && one.hashValue == two.hashValue)
        #expect(one != other && Set([one, two, other]).count == 2)
        let three = realm.objects(Puppy.self)[0]
        let four = realm.objects(Puppy.self)[0]
        #expect(three != four && three.isSameObject(as: four))
        #expect(!three.isSameObject(as: realm.objects(Puppy.self)[1]))
        #expect(three.freeze() == four.freeze() && three.freeze().hashValue == four.freeze().hashValue)
        #expect(three.freeze() != realm.objects(Puppy.self)[1].freeze())
    }

    @Test func `a frozen object keeps what it saw`() throws {
        let realm = try memoryRealm()
        let keeper = try realm.write {
            realm.create(Keeper.self, value: ["id": 1, "name": "Ann", "nicknames": ["A", "B"]])
        }
        let frozen = keeper.freeze()
        let results = realm.objects(Keeper.self).freeze()
        try realm.write {
            keeper.name = "Bob"
            keeper.nicknames.removeAll()
            realm.create(Keeper.self, value: ["id": 2])
        }
        #expect(frozen.isFrozen && frozen.name == "Ann" && Array(frozen.nicknames) == ["A", "B"])
        #expect(results.count == 1 && results.first?.name == "Ann" && results.isFrozen)
        #expect(keeper.name == "Bob")
        #expect(frozen.thaw()?.name == "Bob")
        #expect(results.thaw()?.count == 2)
    }

    @Test func `dynamic access goes by property name`() throws {
        let realm = try memoryRealm()
        let keeper = try realm.write { realm.create(Keeper.self, value: ["id": 1, "name": "Ann"]) }
        #expect(keeper["name"] as? String == "Ann")
        try realm.write { keeper["age"] = 55 }
        #expect(keeper.age == 55)
        let unmanaged = Keeper()
        unmanaged["name"] = "Zoe"
        unmanaged["nicknames"] = ["z"]
        #expect(unmanaged.name == "Zoe" && Array(unmanaged.nicknames) == ["z"])
        #expect(keeper.description.contains("name = Ann;"))
    }
}
