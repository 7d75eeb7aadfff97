import ActorRealm
import Testing

@Suite("Define a custom realm actor", .timeLimit(.minutes(60)))
struct RealmActorTests {
    let file: TemporaryRealm

    init() throws {
        file = try TemporaryRealm()
    }

    @Test("An actor creates, reads, updates and deletes on its own realm")
    func lifeOfATodo() async throws {
        let actor = try await RealmActor(configuration: file.configuration)
        try await actor.addTodo(name: "Return the ladder", owner: "Ines", status: "Started")
        #expect(await actor.count == 1)
        #expect(await actor.owner(ofTodoNamed: "Return the ladder") == "Ines")

        let todo = await actor.todo(named: "Return the ladder")
        try await actor.changeTodo(_id: todo.id, name: todo.name, owner: "Jonas", status: "Done")
        let updated = await actor.todo(named: "Return the ladder")
        #expect(updated == TodoValue(id: todo.id, name: todo.name, owner: "Jonas", status: "Done"))

        try await actor.removeTodo(id: todo.id)
        #expect(await actor.count == 0)
        await actor.close()
    }

    @Test("A closed actor's data is there for the next one")
    func reopening() async throws {
        let first = try await RealmActor(configuration: file.configuration)
        try await first.addTodo(name: "Repair the pump", owner: "Malik", status: "Open")
        await first.close()
        let second = try await RealmActor(configuration: file.configuration)
        #expect(await second.count == 1)
    }

    @Test("A function isolated to the actor uses its realm synchronously")
    func isolatedFunction() async throws {
        func createObject(in actor: isolated RealmActor) async throws {
            // No `await` is needed: this runs on the actor.
            try actor.realm.write {
                actor.realm.create(
                    Todo.self,
                    value: [
                        "name": "Water the plants",
                        "owner": "Jonas",
                        "status": "Started",
                    ]
                )
            }
            let total = actor.count
            #expect(total == 1)
        }

        let actor = try await RealmActor(configuration: file.configuration)
        try await createObject(in: actor)
        #expect(await actor.owner(ofTodoNamed: "Water the plants") == "Jonas")
    }

    @Test("A function that is not isolated to the actor awaits it")
    func asyncFunction() async throws {
        let actor = try await RealmActor(configuration: file.configuration)

        func createObject() async throws {
            try await actor.addTodo(name: "Carry the boxes upstairs", owner: "Jonas", status: "Started")
            let total = await actor.count
            #expect(total == 1)
        }

        try await createObject()
    }

    @Test("Many tasks write through one actor, each in a transaction of its own")
    func manyTasks() async throws {
        let actor = try await RealmActor(configuration: file.configuration)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask {
                    try await actor.addTodo(name: "Todo \(number)", owner: "Noor", status: "Open")
                }
            }
            try await group.waitForAll()
        }
        #expect(await actor.count == 50)
    }

    @Test("A realm on a global actor stays usable after a suspension")
    func globalActor() async throws {
        @BackgroundActor
        func addInBackground(_ configuration: Realm.Configuration) async throws -> Int {
            let realm = try await Realm(configuration: configuration, actor: BackgroundActor.shared)
            try await realm.asyncWrite {
                _ = realm.create(
                    Todo.self,
                    value: [
                        "name": "Answer the harbour master",
                        "owner": "Noor",
                        "status": "Started",
                    ]
                )
            }
            // A realm confined to a thread would fail here, when the task goes on on another one.
            return realm.objects(Todo.self).count
        }

        #expect(try await addInBackground(file.configuration) == 1)
        let count = try await Task { @BackgroundActor in
            let realm = try await Realm(configuration: file.configuration, actor: BackgroundActor.shared)
            return realm.objects(Todo.self).count
        }
        .value
        #expect(count == 1)
    }
}
