import ActorRealm
import Testing

@Suite("Perform a background write", .timeLimit(.minutes(60)))
struct BackgroundWriteTests {
    let file: TemporaryRealm

    init() throws {
        file = try TemporaryRealm()
    }

    @Test("writeAsync runs its block and then its completion where the realm is")
    @MainActor
    func writeAsync() async throws {
        let realm = try await Realm(configuration: file.configuration)
        try await realm.asyncWrite { realm.add(Person(name: "Robin")) }
        let people = realm.objects(Person.self)
        let thisPerson = people.where { $0.name == "Robin" }.first
        let log = EventLog()
        realm.writeAsync {
            thisPerson?.dogs
                .append(objectsIn: [
                    Dog(value: ["name": "Bruno", "age": 13]),
                    Dog(value: ["name": "Pepper", "age": 9]),
                    Dog(value: ["name": "Kiwi", "age": 1]),
                ])
        } onComplete: { error in
            log.note(error == nil ? "complete" : "failed")
        }
        #expect(realm.isPerformingAsynchronousWriteOperations)
        #expect(await log.contains("complete"))
        #expect(thisPerson!.dogs.count == 3)
        let dogs = realm.objects(Dog.self)
        let brunos = dogs.where { $0.name == "Bruno" }
        #expect(brunos.count == 1)
        #expect(brunos.first?.owners.first?.name == "Robin")
        #expect(!realm.isPerformingAsynchronousWriteOperations)
    }

    @Test("A transaction that beginAsyncWrite opened is committed or cancelled by hand")
    @MainActor
    func beginAndCommit() async throws {
        let realm = try await Realm(configuration: file.configuration)
        let log = EventLog()
        realm.beginAsyncWrite {
            realm.add(Person(name: "Kept"))
            realm.commitAsyncWrite { error in
                log.note(error == nil ? "committed" : "failed")
            }
        }
        #expect(await log.contains("committed"))
        realm.beginAsyncWrite {
            realm.add(Person(name: "Dropped"))
            realm.cancelWrite()
            log.note("cancelled")
        }
        #expect(await log.contains("cancelled"))
        #expect(realm.objects(Person.self).map(\.name) == ["Kept"])
    }

    @Test("An asyncWrite that throws leaves nothing behind and throws on")
    @MainActor
    func throwingBlock() async throws {
        struct Refused: Error {}
        let realm = try await Realm(configuration: file.configuration)
        await #expect(throws: Refused.self) {
            try await realm.asyncWrite {
                realm.add(Person(name: "Nobody"))
                throw Refused()
            }
        }
        #expect(realm.objects(Person.self).isEmpty)
        #expect(!realm.isInWriteTransaction)
    }
}
