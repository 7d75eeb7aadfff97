import ActorRealm
import Testing

@Suite("Frozen objects", .timeLimit(.minutes(60)))
struct FrozenObjectsTests {
    let file: TemporaryRealm

    init() throws {
        file = try TemporaryRealm()
    }

    @MainActor
    private func openWithTomas() async throws -> Realm {
        let realm = try await Realm(configuration: file.configuration)
        try await realm.asyncWrite {
            realm.add(Person(name: "Tomas"))
            realm.create(Dog.self, value: ["name": "Laika", "age": 5] as [String: Any])
        }
        return realm
    }

    @Test("Realms, collections and objects freeze, and what is reached from them is frozen")
    @MainActor
    func freezing() async throws {
        let realm = try await openWithTomas()
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
        let realm = try await openWithTomas()
        let frozenPeople = realm.freeze().objects(Person.self)
        let frozenPerson = frozenPeople.first!
        let thawedPerson = frozenPerson.thaw()
        #expect(thawedPerson?.isInvalidated == false)
        #expect(thawedPerson!.realm!.isFrozen == false)
        let thawedRealm = thawedPerson!.realm!
        try thawedRealm.write {
            thawedPerson!.name = "Tomas Weber"
        }
        #expect(frozenPerson.name == "Tomas")
        #expect(realm.objects(Person.self).first?.name == "Tomas Weber")
    }

    @Test("To append to a frozen object's list, both are thawed")
    @MainActor
    func appending() async throws {
        let realm = try await openWithTomas()
        let frozenRealm = realm.freeze()
        let frozenTomas = frozenRealm.objects(Person.self).where { $0.name == "Tomas" }.first!
        let frozenLaika = frozenRealm.objects(Dog.self).where { $0.name == "Laika" }.first!
        let thawedTomas = frozenTomas.thaw()
        let thawedLaika = frozenLaika.thaw()
        try realm.write {
            thawedTomas?.dogs.append(thawedLaika!)
        }
        #expect(thawedTomas?.dogs.first?.name == "Laika")
        #expect(frozenTomas.dogs.isEmpty)
    }

    @Test("A write transaction on a frozen realm is refused")
    @MainActor
    func frozenWrite() async throws {
        let frozen = try await openWithTomas().freeze()
        #expect(throws: (any Error).self) {
            try frozen.write {}
        }
    }
}
