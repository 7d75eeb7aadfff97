import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite struct DynamicObjectTests {
    @Test func `objects are read and changed by the names of their properties`() throws {
        let realm = try memoryRealm()
        try realm.write {
            let keeper = realm.create(
                Keeper.self,
                value: ["id": 1, "name": "Ann", "mood": "grumpy", "scores": [1, nil] as [Int?]] as [String: Any]
            )
            keeper.favourite = Puppy(value: ["name": "Rex", "age": 2])
            keeper.puppies.append(Puppy(value: ["name": "Bo"]))
            keeper.toy = Toy(value: ["name": "ball"])
        }
        let keepers = realm.dynamicObjects("Keeper")
        #expect(keepers.count == 1)
        let keeper = try #require(keepers.first)
        #expect(keeper["name"] as? String == "Ann" && keeper.age as? Int == 30)
        #expect(keeper.mood as? String == "grumpy" && keeper.height == nil)
        #expect((keeper.favourite as? DynamicObject)?.name as? String == "Rex")
        #expect(keeper.dynamicList("puppies").map { $0.name as? String } == ["Bo"])
        #expect((keeper["scores"] as? List<Int?>).map { Array($0) } == [1, nil])
        #expect(keeper.objectSchema.className == "Keeper" && keeper.objectSchema.primaryKeyProperty?.name == "id")
        try realm.write {
            keeper.name = "Eve"
            keeper["height"] = 1.5
            keeper["favourite"] = ["name": "Max"]
            keeper["toy"] = ["name": "rope", "price": 3] as [String: Any]
            keeper["puppies"] = [keeper["favourite"], ["name": "New"]] as [Any?]
            keeper["nicknames"] = ["a", "b"]
            keeper.dynamicList("puppies").append(keepers[0]["favourite"] as! DynamicObject)
        }
        let typed = try #require(realm.object(ofType: Keeper.self, forPrimaryKey: 1))
        #expect(typed.name == "Eve" && typed.height == 1.5 && typed.favourite?.name == "Max")
        #expect(typed.toy?.name == "rope" && typed.puppies.map(\.name) == ["Max", "New", "Max"])
        #expect(Array(typed.nicknames) == ["a", "b"])
        #expect(realm.core.model.schema["Toy"] != nil && realm.dynamicObjects("Toy").count == 1)
        #expect(typed.isSameObject(as: keeper) && typed == keeper && keeper.isSameObject(as: typed))
        #expect(typed.dynamicList("puppies").count == 3)
        #expect(keeper.description.hasPrefix("Keeper {\n\tid = 1;\n\tname = Eve;"))
    }

    @Test func `results of dynamic objects are filtered, sorted and counted`() throws {
        let realm = try memoryRealm()
        try realm.write {
            for age in 0..<10 { realm.create(Puppy.self, value: ["name": "p\(age)", "age": age]) }
        }
        let found = realm.dynamicObjects("Puppy").filter("age > %@", 6).sorted(byKeyPath: "age", ascending: false)
        #expect(found.map { $0.age as? Int } == [9, 8, 7])
        let sum: Int = found.sum(ofProperty: "age")
        #expect(sum == 24)
        #expect(found.freeze().map { $0.age as? Int } == [9, 8, 7])
        #expect(found.freeze().thaw()?.count == 3)
        let object = try #require(found.last)
        #expect(found.index(of: object) == 2)
        let frozen = object.freeze()
        #expect(frozen.age as? Int == 7 && frozen.thaw()?.isSameObject(as: object) == true)
        try realm.write { realm.delete(found) }
        #expect(realm.objects(Puppy.self).count == 7)
    }

    @Test func `objects are created and found by the name of their class`() throws {
        let realm = try memoryRealm()
        try realm.write {
            let made = realm.dynamicCreate("Keeper", value: ["id": 5, "favourite": ["name": "Rex"]] as [String: Any])
            #expect(made.name as? String == "nobody" && made.age as? Int == 30)
            realm.dynamicCreate("Keeper", value: ["id": 5, "age": 31], update: .modified)
            realm.dynamicCreate("Puppy")
            realm.create(Keeper.self, value: ["id": 6, "boss": made, "favourite": made["favourite"] as Any])
        }
        let found = try #require(realm.dynamicObject(ofType: "Keeper", forPrimaryKey: 5))
        #expect(found.age as? Int == 31 && found.name as? String == "nobody")
        #expect(realm.dynamicObject(ofType: "Keeper", forPrimaryKey: 7) == nil)
        let typed = try #require(realm.object(ofType: Keeper.self, forPrimaryKey: 6))
        #expect(typed.boss?.id == 5 && typed.favourite?.name == "Rex" && realm.objects(Puppy.self).count == 2)
        #expect((found["favourite"] as? DynamicObject)?["admirers"] is LinkingObjects<DynamicObject>)
        let admirers = (found["favourite"] as? DynamicObject)?["admirers"] as? LinkingObjects<DynamicObject>
        #expect(admirers?.map { $0.id as? Int } == [5, 6])
    }

    @Test func `classes that only the file knows are there`() throws {
        let directory = TemporaryDirectory()
        let url = URL(fileURLWithPath: directory.path("dynamic.realm"))
        do {
            let realm = try Realm(configuration: Realm.Configuration(fileURL: url, objectTypes: objectTestTypes))
            try realm.write {
                realm.create(Keeper.self, value: ["id": 1, "puppies": [["name": "Rex"]]] as [String: Any])
            }
        }
        let realm = try Realm(configuration: Realm.Configuration(fileURL: url, objectTypes: [StringKeyed.self]))
        #expect(realm.schema.objectSchema.map(\.className) == ["StringKeyed"])
        let keeper = try #require(realm.dynamicObject(ofType: "Keeper", forPrimaryKey: 1))
        #expect(keeper.dynamicList("puppies").first?.name as? String == "Rex")
        try realm.write {
            keeper.age = 99
            let values: [String: Any] = ["id": 2, "boss": keeper, "toys": [["name": "ball"]]]
            realm.dynamicCreate("Keeper", value: values)
        }
        #expect(realm.dynamicObjects("Keeper").filter("boss.age == 99").first?.id as? Int == 2)
        #expect(realm.dynamicObjects("Toy").count == 1)
    }

    @Test func `dynamic results are observed`() async throws {
        let name = UUID().uuidString
        try await Task { @MainActor in
            let realm = try await Realm(
                configuration: Realm.Configuration(inMemoryIdentifier: name, objectTypes: objectTestTypes)
            )
            var seen: [[String?]] = []
            for await change in realm.dynamicObjects("Puppy").changes() {
                switch change {
                case .initial(let puppies): seen.append(puppies.map { $0.name as? String })
                case .update(let puppies, _, let insertions, _):
                    seen.append(puppies.map { $0.name as? String })
                    #expect(insertions == [0])
                case .error(let error): throw error
                }
                if seen.count == 2 { break }
                try await realm.asyncWrite { _ = realm.dynamicCreate("Puppy", value: ["name": "Rex"]) }
            }
            #expect(seen == [[], ["Rex"]])
        }
        .value
    }

    @Test func `an unknown class traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().dynamicObjects("Nobody")
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Object type 'Nobody' is not managed by the Realm. If using a custom"))
    }

    @Test func `an unknown property traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            let puppy = try realm.write { realm.dynamicCreate("Puppy") }
            _ = puppy.shoeSize
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("property 'shoeSize' not found in object of type 'Puppy'"))
    }

    @Test func `an object of another class cannot be linked to`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            try realm.write {
                let keeper = realm.dynamicCreate("Keeper", value: ["id": 1])
                keeper.dynamicList("puppies").append(keeper)
            }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Object of type 'Keeper' does not match the type 'Puppy' of property 'Keeper.puppies'"))
    }
}
