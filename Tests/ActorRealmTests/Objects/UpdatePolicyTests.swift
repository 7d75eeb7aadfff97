import ActorRealm
import Foundation
import Testing

/// What `create` and `add` accept, and what they write.
@Suite struct UpdatePolicyTests {
    private static var values: [String: Any] {
        [
            "id": 1, "name": "Ann", "age": 20, "height": 1.5, "nicknames": ["a"], "scores": [1, nil] as [Int?],
            "favourite": ["name": "Rex"], "toy": ["name": "ball", "price": 2] as [String: Any],
        ]
    }

    /// The names of the properties that a write reports as changed.
    @MainActor
    private func changes(_ write: @MainActor (Realm) -> Void) async throws -> [String] {
        let realm = try await Realm(
            configuration: Realm.Configuration(
                inMemoryIdentifier: UUID().uuidString,
                objectTypes: objectTestTypes
            )
        )
        let keeper = try realm.write { realm.create(Keeper.self, value: Self.values) }
        var changes = keeper.changes().makeAsyncIterator()
        try realm.write { write(realm) }
        // So that there is something to tell in any case.
        try realm.write { keeper.boss = nil }
        guard case .change(_, let properties)? = await changes.next(isolation: MainActor.shared) else { return [] }
        return properties.map(\.name).filter { $0 != "boss" }.sorted()
    }

    @Test func `modified writes what differs`() async throws {
        let names = try await changes { realm in
            var values = Self.values
            values["age"] = 21
            values["favourite"] = nil
            realm.create(Keeper.self, value: values, update: .modified)
        }
        #expect(names == ["age"])
        let lists = try await changes { realm in
            var values = Self.values
            values["age"] = 21
            values["favourite"] = nil
            values["nicknames"] = ["a", "b"]
            realm.create(Keeper.self, value: values, update: .modified)
        }
        #expect(lists == ["age", "nicknames"])
    }

    @Test func `what one addition was told does not hold for the next one`() throws {
        let realm = try memoryRealm()
        try realm.write {
            realm.add(Keeper(id: 1, name: "Ann"))
            realm.add(Keeper(id: 1, name: "Bea"), update: .modified)
            #expect(throws: Realm.Error.self) { try realm.insert(Keeper(id: 1, name: "Cy")) }
            let nested = Keeper(id: 2)
            nested.boss = Keeper(id: 3)
            nested.boss?.favourite = Puppy(value: ["name": "Rex"])
            realm.add(nested)
            realm.add(Keeper(id: 4, name: "Dee"))
            realm.add(Keeper(id: 1, name: "Eve"), update: .all)
        }
        #expect(realm.objects(Keeper.self).map(\.id) == [1, 2, 3, 4])
        #expect(realm.objects(Keeper.self).map(\.name) == ["Eve", "nobody", "nobody", "Dee"])
        #expect(realm.objects(Puppy.self).count == 1)
    }

    @Test func `all writes everything that is given`() async throws {
        let names = try await changes { realm in
            realm.create(
                Keeper.self,
                value: ["id": 1, "name": "Ann", "age": 20, "nicknames": ["a"]] as [String: Any],
                update: .all
            )
        }
        #expect(names == ["age", "name", "nicknames"])
    }

    @Test func `an added object is compared property by property`() async throws {
        let names = try await changes { realm in
            let keeper = Keeper(id: 1, name: "Ann", age: 20)
            keeper.height = 1.5
            keeper.nicknames.append("a")
            keeper.scores.append(objectsIn: [1, nil])
            keeper.toy = Toy(value: ["name": "ball", "price": 3] as [String: Any])
            keeper.favourite = realm.objects(Puppy.self).first
            realm.add(keeper, update: .modified)
            #expect(keeper.toy?.price == 3 && realm.objects(Keeper.self).count == 1)
        }
        #expect(names == [])
    }

    @Test func `an embedded object is updated in place`() throws {
        let realm = try memoryRealm()
        try realm.write { realm.create(Keeper.self, value: Self.values) }
        let toy = try #require(realm.objects(Keeper.self).first?.toy)
        try realm.write {
            realm.create(Keeper.self, value: ["id": 1, "toy": ["price": 9]] as [String: Any], update: .modified)
        }
        #expect(!toy.isInvalidated && toy.price == 9 && toy.name == "ball")
        try realm.write {
            realm.create(Keeper.self, value: ["id": 1, "toy": ["price": 1]] as [String: Any], update: .all)
        }
        #expect(!toy.isInvalidated && toy.price == 1 && toy.name == "")
    }

    @Test func `nested objects with a primary key follow the policy, also behind those without`() throws {
        let realm = try memoryRealm([Shelf.self, Box.self, Label.self])
        try realm.write { realm.create(Label.self, value: ["key": "a", "text": "old", "extra": 5] as [String: Any]) }
        try realm.write {
            realm.create(
                Shelf.self,
                value: ["id": 1, "boxes": [["label": ["key": "a", "text": "new"]]]] as [String: Any],
                update: .modified
            )
        }
        #expect(realm.objects(Label.self).map(\.text) == ["new"] && realm.objects(Label.self).first?.extra == 5)
    }

    @Test func `an object of another class gives its properties by name`() throws {
        let realm = try memoryRealm()
        let puppy = Puppy(value: ["name": "Rex", "age": 4])
        let keeper = try realm.write { () -> Keeper in
            let source = StringKeyed(value: ["key": "k", "value": 3])
            let made = realm.create(OptionalKeyed.self, value: source)
            #expect(made.key == "k" && made.value == 3)
            return realm.create(Keeper.self, value: Keeper(value: [8, "Eve"]))
        }
        #expect(keeper.id == 8 && keeper.name == "Eve")
        let toy = Toy(value: puppy)
        #expect(toy.name == "Rex" && toy.price == 0)
    }

    @Test func `null and missing primary keys are found`() throws {
        let realm = try memoryRealm()
        try realm.write {
            realm.create(OptionalKeyed.self, value: ["value": 5])
            realm.create(OptionalKeyed.self, value: ["key": "x", "value": 6] as [String: Any])
            realm.create(OptionalKeyed.self, value: ["value": 7], update: .modified)
        }
        #expect(realm.object(ofType: OptionalKeyed.self, forPrimaryKey: nil as String?)?.value == 7)
        #expect(realm.objects(OptionalKeyed.self).count == 2)
    }

    private func message(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test func `values that do not fit trap`() async {
        let type = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            try realm.write { realm.create(Puppy.self, value: ["age": "three"]) }
        }
        #expect(message(type).contains("Invalid value 'three' of type 'String' for 'int' property 'Puppy.age'."))
        let many = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            try realm.write { realm.create(Puppy.self, value: ["a", 1, 2.0, 4]) }
        }
        #expect(message(many).contains("Invalid array input: more values (4) than properties (3)."))
        let range = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = AllTypes(value: ["int8": 300])
        }
        #expect(message(range).contains("Invalid value '300' of type 'Int' for 'int' property 'AllTypes.int8'."))
        let policy = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            try realm.write { realm.create(Puppy.self, value: ["age": 3], update: .modified) }
        }
        #expect(message(policy).contains("'Puppy' does not have a primary key and can not be updated"))
    }

    @Test func `objects that lead back to themselves are not copied, and the message says what to do`() async {
        let frozen = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            let keeper = Keeper(id: 1)
            keeper.boss = Keeper(id: 2)
            keeper.boss?.boss = keeper
            try realm.write { realm.add(keeper) }
            let frozen = keeper.freeze()
            try realm.write { _ = realm.create(Keeper.self, value: frozen, update: .modified) }
        }
        #expect(message(frozen).contains("leads back to itself"))
        let unmanaged = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            let keeper = Keeper(id: 1)
            keeper.boss = keeper
            try realm.write { _ = realm.create(Keeper.self, value: keeper) }
        }
        #expect(message(unmanaged).contains("leads back to itself"))
    }

    @Test func `what is reached twice is copied twice, and what leads back to itself is detached and added`() throws {
        let realm = try memoryRealm()
        let rex = Puppy(value: ["name": "Rex"])
        let keeper = Keeper(id: 1)
        keeper.favourite = rex
        keeper.puppies.append(objectsIn: [rex, rex])
        try realm.write { realm.add(keeper) }
        let other = try memoryRealm()
        let copy = try other.write { other.create(Keeper.self, value: keeper.freeze()) }
        #expect(copy.favourite?.name == "Rex" && copy.puppies.map(\.name) == ["Rex", "Rex"])
        #expect(other.objects(Puppy.self).count == 3)
        try realm.write { keeper.boss = keeper }
        let frozen = keeper.freeze()
        try realm.write {
            keeper.name = "changed"
            realm.add(frozen.detached(), update: .modified)
        }
        #expect(keeper.name == "nobody" && keeper.boss == keeper)
    }
}

class Shelf: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var boxes: List<Box>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Box: Object {
    @Persisted var label: Label?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Label: Object {
    @Persisted(primaryKey: true) var key: String
    @Persisted var text: String
    @Persisted var extra = 0
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
