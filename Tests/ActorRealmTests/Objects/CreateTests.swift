import Foundation
import Testing

@testable import ActorRealm

@Suite struct CreateTests {
    @Test func `a dictionary with nested values makes the graph`() throws {
        let realm = try memoryRealm()
        let keeper = try realm.write {
            realm.create(
                Keeper.self,
                value: [
                    "id": 1, "name": "Ann", "height": 1.75, "mood": "grumpy", "unknown": 12,
                    "favourite": ["name": "Rex", "age": 2],
                    "puppies": [["name": "Bo"], ["Cy", 4]],
                    "toy": ["name": "ball"],
                    "scores": [1, nil, 3] as [Int?],
                ] as [String: Any]
            )
        }
        #expect(keeper.mood == .grumpy && keeper.height == 1.75 && keeper.age == 30)
        #expect(keeper.favourite?.name == "Rex" && keeper.favourite?.age == 2)
        #expect(keeper.puppies.map(\.name) == ["Bo", "Cy"] && keeper.puppies[1].age == 4)
        #expect(keeper.toy?.name == "ball")
        #expect(Array(keeper.scores) == [1, nil, 3])
        #expect(realm.objects(Puppy.self).count == 3)
    }

    @Test func `an array gives the properties in order`() throws {
        let realm = try memoryRealm()
        let keeper = try realm.write { realm.create(Keeper.self, value: [4, "Dee", 20]) }
        #expect(keeper.id == 4 && keeper.name == "Dee" && keeper.age == 20 && keeper.height == nil)
    }

    @Test func `an object is copied`() throws {
        let realm = try memoryRealm()
        let source = Puppy(value: ["name": "Rex", "age": 2])
        let copy = try realm.write { realm.create(Puppy.self, value: source) }
        #expect(source.realm == nil && copy.name == "Rex")
        let second = try realm.write { realm.create(Puppy.self, value: copy) }
        #expect(!second.isSameObject(as: copy) && second.age == 2)
    }

    @Test func `an update writes what is given and leaves the rest`() throws {
        let realm = try memoryRealm()
        try realm.write { realm.create(Keeper.self, value: ["id": 1, "name": "Ann", "age": 20, "nicknames": ["a"]]) }
        for policy in [Realm.UpdatePolicy.modified, .all] {
            let keeper = try realm.write { realm.create(Keeper.self, value: ["id": 1, "age": 21], update: policy) }
            #expect(keeper.name == "Ann" && keeper.age == 21 && Array(keeper.nicknames) == ["a"])
        }
        #expect(realm.objects(Keeper.self).count == 1)
        let replacement = Keeper(id: 1, name: "Eve")
        replacement.puppies.append(Puppy(value: ["name": "New"]))
        try realm.write { realm.add(replacement, update: .modified) }
        #expect(replacement.realm === realm && replacement.age == 30)
        #expect(realm.object(ofType: Keeper.self, forPrimaryKey: 1)?.name == "Eve")
        #expect(realm.object(ofType: Keeper.self, forPrimaryKey: 1)?.nicknames.isEmpty == true)
        #expect(realm.objects(Puppy.self).count == 1)
    }

    @Test func `inserting a second object with a primary key throws`() throws {
        let realm = try memoryRealm()
        try realm.write { try realm.insert(Keeper(id: 1)) }
        let second = Keeper(id: 1, name: "other")
        #expect(throws: Realm.Error.self) { try realm.write { try realm.insert(second) } }
        #expect(second.realm == nil && second.name == "other")
        #expect(realm.objects(Keeper.self).count == 1)
        #expect(realm.objects(Keeper.self).first?.name == "nobody")
    }

    @Test func `a generated primary key is kept`() throws {
        let realm = try memoryRealm()
        let object = IdKeyed()
        try realm.write { realm.add(object) }
        let created = try realm.write { realm.create(IdKeyed.self, value: ["name": "x"]) }
        #expect(object._id != created._id)
        #expect(realm.object(ofType: IdKeyed.self, forPrimaryKey: object._id) == object)
    }
}
