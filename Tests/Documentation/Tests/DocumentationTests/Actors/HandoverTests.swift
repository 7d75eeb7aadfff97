import ActorRealm
import Testing

@Suite("Pass realm data across the actor boundary", .timeLimit(.minutes(1)))
struct HandoverTests {
    let file: TemporaryRealm

    init() throws {
        file = try TemporaryRealm()
    }

    @Test("A thread-safe reference is resolved on the actor that receives it")
    @MainActor
    func reference() async throws {
        let backgroundActor = BackgroundActor.shared
        let realm = try await Realm(configuration: file.configuration)
        try await realm.asyncWrite {
            realm.create(
                Todo.self,
                value: [
                    "_id": ObjectId.generate(),
                    "name": "Arrive safely in Bree",
                    "owner": "Merry",
                    "status": "In Progress",
                ]
            )
        }
        let todoCollection = realm.objects(Todo.self)
        let todo = todoCollection.where { $0.name == "Arrive safely in Bree" }.first!
        let threadSafeReferenceToTodo = ThreadSafeReference(to: todo)
        try await backgroundActor.deleteTodo(
            tsrToTodo: threadSafeReferenceToTodo,
            configuration: file.configuration
        )
        #expect(try await backgroundActor.todoCount(configuration: file.configuration) == 0)
        await realm.asyncRefresh()
        #expect(todo.isInvalidated)
        #expect(todoCollection.isEmpty)
    }

    @Test("A primary key finds the object on another actor")
    @MainActor
    func primaryKey() async throws {
        func createObject(in actor: isolated BackgroundActor, _ configuration: Realm.Configuration) async throws -> ObjectId {
            let realm = try await Realm(configuration: configuration, actor: actor)
            let newTodo = try await realm.asyncWrite {
                realm.create(
                    Todo.self,
                    value: [
                        "name": "Pledge fealty and service to Gondor",
                        "owner": "Pippin",
                        "status": "In Progress",
                    ]
                )
            }
            return newTodo._id
        }

        let newTodoId = try await createObject(in: BackgroundActor.shared, file.configuration)
        let realm = try await Realm(configuration: file.configuration)
        let todoOnMainActor = realm.object(ofType: Todo.self, forPrimaryKey: newTodoId)
        #expect(todoOnMainActor?.owner == "Pippin")
    }

    @Test("Values and structs cross freely")
    @MainActor
    func values() async throws {
        let actor = try await RealmActor(configuration: file.configuration)
        try await actor.createTodo(
            name: "Prepare fireworks for birthday party",
            owner: "Gandalf",
            status: "In Progress"
        )
        let todoOwner = await actor.getTodoOwner(forTodoNamed: "Prepare fireworks for birthday party")
        #expect(todoOwner == "Gandalf")
        let todoAsStruct = await actor.getTodoAsStruct(forTodoNamed: "Prepare fireworks for birthday party")
        #expect(todoAsStruct.status == "In Progress")
    }

    @Test("An object reference may be resolved any number of times, on any actor")
    @MainActor
    func objectReference() async throws {
        let realm = try await Realm(configuration: file.configuration)
        let todo = try await realm.asyncWrite {
            realm.create(Todo.self, value: ["name": "Light the beacons", "owner": "Pippin", "status": "Open"])
        }
        let reference = ObjectReference(to: todo)
        for status in ["In Progress", "Complete"] {
            try await setStatus(status, of: reference, file.configuration)
        }
        await realm.asyncRefresh()
        #expect(todo.status == "Complete")
        #expect(realm.resolve(reference)?.name == "Light the beacons")
    }

    @BackgroundActor
    private func setStatus(
        _ status: String,
        of reference: ObjectReference<Todo>,
        _ configuration: Realm.Configuration
    ) async throws {
        let realm = try await Realm(configuration: configuration, actor: BackgroundActor.shared)
        try await realm.asyncWrite {
            realm.resolve(reference)?.status = status
        }
    }

    @Test("A frozen collection crosses, is read anywhere, and is thawed on another actor's realm")
    @MainActor
    func frozen() async throws {
        let realm = try await Realm(configuration: file.configuration)
        try await realm.asyncWrite {
            for name in ["One", "Two", "Three"] {
                realm.create(Todo.self, value: ["name": name, "owner": "Sam", "status": "Open"])
            }
        }
        let frozen = realm.objects(Todo.self).frozen
        let names = await Task.detached { frozen.value.map(\.name) }.value
        #expect(names == ["One", "Two", "Three"])
        try await finishAll(frozen, file.configuration)
        #expect(frozen.value.allSatisfy { $0.status == "Open" })
        await realm.asyncRefresh()
        #expect(realm.objects(Todo.self).allSatisfy { $0.status == "Complete" })
    }

    @BackgroundActor
    private func finishAll(_ frozen: Frozen<Results<Todo>>, _ configuration: Realm.Configuration) async throws {
        let realm = try await Realm(configuration: configuration, actor: BackgroundActor.shared)
        let todos = realm.thaw(frozen)
        try await realm.asyncWrite {
            for todo in todos! { todo.status = "Complete" }
        }
    }
}
