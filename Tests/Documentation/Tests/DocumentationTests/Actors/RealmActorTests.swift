import ActorRealm
import Testing

@Suite("Define a custom realm actor", .timeLimit(.minutes(1)))
struct RealmActorTests {
    let file: TemporaryRealm

    init() throws {
        file = try TemporaryRealm()
    }

    @Test("An actor creates, reads, updates and deletes on its own realm")
    func lifeOfATodo() async throws {
        let actor = try await RealmActor(configuration: file.configuration)
        try await actor.createTodo(name: "Leave the ring on the mantle", owner: "Bilbo", status: "In Progress")
        #expect(await actor.count == 1)
        #expect(await actor.getTodoOwner(forTodoNamed: "Leave the ring on the mantle") == "Bilbo")

        let todo = await actor.getTodoAsStruct(forTodoNamed: "Leave the ring on the mantle")
        try await actor.updateTodo(_id: todo.id, name: todo.name, owner: "Frodo", status: "Done")
        let updated = await actor.getTodoAsStruct(forTodoNamed: "Leave the ring on the mantle")
        #expect(updated == TodoStruct(id: todo.id, name: todo.name, owner: "Frodo", status: "Done"))

        try await actor.deleteTodo(id: todo.id)
        #expect(await actor.count == 0)
        await actor.close()
    }

    @Test("A closed actor's data is there for the next one")
    func reopening() async throws {
        let first = try await RealmActor(configuration: file.configuration)
        try await first.createTodo(name: "Mend the gate", owner: "Sam", status: "Open")
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
                        "name": "Keep it secret",
                        "owner": "Frodo",
                        "status": "In Progress",
                    ]
                )
            }
            let taskCount = actor.count
            #expect(taskCount == 1)
        }

        let actor = try await RealmActor(configuration: file.configuration)
        try await createObject(in: actor)
        #expect(await actor.getTodoOwner(forTodoNamed: "Keep it secret") == "Frodo")
    }

    @Test("A function that is not isolated to the actor awaits it")
    func asyncFunction() async throws {
        let actor = try await RealmActor(configuration: file.configuration)

        func createObject() async throws {
            try await actor.createTodo(name: "Take the ring to Mount Doom", owner: "Frodo", status: "In Progress")
            let taskCount = await actor.count
            #expect(taskCount == 1)
        }

        try await createObject()
    }

    @Test("Many tasks write through one actor, each in a transaction of its own")
    func manyTasks() async throws {
        let actor = try await RealmActor(configuration: file.configuration)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask {
                    try await actor.createTodo(name: "Todo \(number)", owner: "Pippin", status: "Open")
                }
            }
            try await group.waitForAll()
        }
        #expect(await actor.count == 50)
    }

    @Test("A realm on a global actor stays usable after a suspension")
    func globalActor() async throws {
        @BackgroundActor
        func backgroundThreadFunction(_ configuration: Realm.Configuration) async throws -> Int {
            let realm = try await Realm(configuration: configuration, actor: BackgroundActor.shared)
            try await realm.asyncWrite {
                _ = realm.create(
                    Todo.self,
                    value: [
                        "name": "Pledge fealty and service to Gondor",
                        "owner": "Pippin",
                        "status": "In Progress",
                    ]
                )
            }
            // A realm confined to a thread would fail here, when the task goes on on another one.
            return realm.objects(Todo.self).count
        }

        #expect(try await backgroundThreadFunction(file.configuration) == 1)
        let count = try await Task { @BackgroundActor in
            let realm = try await Realm(configuration: file.configuration, actor: BackgroundActor.shared)
            return realm.objects(Todo.self).count
        }.value
        #expect(count == 1)
    }
}
