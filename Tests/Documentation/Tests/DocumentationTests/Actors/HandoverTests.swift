import ActorRealm
import Testing

@Suite("Pass realm data across the actor boundary", .timeLimit(.minutes(60)))
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
                    "name": "Book the ferry",
                    "owner": "Lena",
                    "status": "Started",
                ]
            )
        }
        let todoCollection = realm.objects(Todo.self)
        let todo = todoCollection.where { $0.name == "Book the ferry" }.first!
        let reference = ThreadSafeReference(to: todo)
        try await backgroundActor.removeTodo(
            reference: reference,
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
        func createObject(
            in actor: isolated BackgroundActor,
            _ configuration: Realm.Configuration
        ) async throws -> ObjectId {
            let realm = try await Realm(configuration: configuration, actor: actor)
            let added = try await realm.asyncWrite {
                realm.create(
                    Todo.self,
                    value: [
                        "name": "Answer the harbour master",
                        "owner": "Noor",
                        "status": "Started",
                    ]
                )
            }
            return added._id
        }

        let id = try await createObject(in: BackgroundActor.shared, file.configuration)
        let realm = try await Realm(configuration: file.configuration)
        let found = realm.object(ofType: Todo.self, forPrimaryKey: id)
        #expect(found?.owner == "Noor")
    }

    @Test("Values and structs cross freely")
    @MainActor
    func values() async throws {
        let actor = try await RealmActor(configuration: file.configuration)
        try await actor.addTodo(
            name: "Plan the summer party",
            owner: "Oskar",
            status: "Started"
        )
        let owner = await actor.owner(ofTodoNamed: "Plan the summer party")
        #expect(owner == "Oskar")
        let value = await actor.todo(named: "Plan the summer party")
        #expect(value.status == "Started")
    }

    @Test("An object reference may be resolved any number of times, on any actor")
    @MainActor
    func objectReference() async throws {
        let realm = try await Realm(configuration: file.configuration)
        let todo = try await realm.asyncWrite {
            realm.create(Todo.self, value: ["name": "Check the lamps", "owner": "Noor", "status": "Open"])
        }
        let reference = ObjectReference(to: todo)
        for status in ["Started", "Complete"] {
            try await setStatus(status, of: reference, file.configuration)
        }
        await realm.asyncRefresh()
        #expect(todo.status == "Complete")
        #expect(realm.resolve(reference)?.name == "Check the lamps")
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
                realm.create(Todo.self, value: ["name": name, "owner": "Malik", "status": "Open"])
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
