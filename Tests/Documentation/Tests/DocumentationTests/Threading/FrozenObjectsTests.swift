import ActorRealm
import Testing

@Suite("Frozen objects", .timeLimit(.minutes(1)))
struct FrozenObjectsTests {
    let file: TemporaryRealm

    init() throws {
        file = try TemporaryRealm()
    }

    @MainActor
    private func openWithTimmy() async throws -> Realm {
        let realm = try await Realm(configuration: file.configuration)
        try await realm.asyncWrite {
            realm.add(Person(name: "Timmy"))
            realm.create(Dog.self, value: ["name": "Lassie", "age": 5] as [String: Any])
        }
        return realm
    }

    @Test("Realms, collections and objects freeze, and what is reached from them is frozen")
    @MainActor
    func freezing() async throws {
        let realm = try await openWithTimmy()
        let frozenRealm = realm.freeze()
        #expect(frozenRealm.isFrozen)
        let people = realm.objects(Person.self)
        let frozenPeople = people.freeze()
        #expect(frozenPeople.isFrozen)
        let frozenPeople2 = frozenRealm.objects(Person.self)
        #expect(frozenPeople2.isFrozen)
        let person = people.first!
        #expect(!person.realm!.isFrozen)
        let frozenPerson = person.freeze()
        #expect(frozenPerson.isFrozen)
        #expect(frozenPerson.realm!.isFrozen)
    }

    @Test("A frozen object keeps its values; thawed, it is the live one and can be modified")
    @MainActor
    func thawing() async throws {
        let realm = try await openWithTimmy()
        let frozenPeople = realm.freeze().objects(Person.self)
        let frozenPerson = frozenPeople.first!
        let thawedPerson = frozenPerson.thaw()
        #expect(thawedPerson?.isInvalidated == false)
        #expect(thawedPerson!.realm!.isFrozen == false)
        let thawedRealm = thawedPerson!.realm!
        try thawedRealm.write {
            thawedPerson!.name = "John Michael Kane"
        }
        #expect(frozenPerson.name == "Timmy")
        #expect(realm.objects(Person.self).first?.name == "John Michael Kane")
    }

    @Test("To append to a frozen object's list, both are thawed")
    @MainActor
    func appending() async throws {
        let realm = try await openWithTimmy()
        let frozenRealm = realm.freeze()
        let frozenTimmy = frozenRealm.objects(Person.self).where { $0.name == "Timmy" }.first!
        let frozenLassie = frozenRealm.objects(Dog.self).where { $0.name == "Lassie" }.first!
        let thawedTimmy = frozenTimmy.thaw()
        let thawedLassie = frozenLassie.thaw()
        try realm.write {
            thawedTimmy?.dogs.append(thawedLassie!)
        }
        #expect(thawedTimmy?.dogs.first?.name == "Lassie")
        #expect(frozenTimmy.dogs.isEmpty)
    }

    @Test("A write transaction on a frozen realm is refused")
    @MainActor
    func frozenWrite() async throws {
        let frozen = try await openWithTimmy().freeze()
        #expect(throws: (any Error).self) {
            try frozen.write {}
        }
    }
}
