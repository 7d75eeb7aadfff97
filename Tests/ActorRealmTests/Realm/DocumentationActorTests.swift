import ActorRealm
import Foundation
import Testing

/// The examples of the documentation page "Use Realm with Actors", with their configuration injected.
@Suite("The documentation's examples with actors do what the page says", .serialized, .timeLimit(.minutes(60)))
struct DocumentationActorTests {
    let file = TestFile()

    actor RealmActor {
        // An implicitly-unwrapped optional is used here to let us pass `self` to `Realm(actor:)` within `init`
        var realm: Realm!
        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        var count: Int { realm.objects(Todo.self).count }

        func createTodo(name: String, owner: String, status: String) async throws {
            try await realm.asyncWrite {
                realm.create(
                    Todo.self,
                    value: [
                        "_id": ObjectId.generate(),
                        "name": name,
                        "owner": owner,
                        "status": status,
                    ]
                )
            }
        }

        func getTodoOwner(forTodoNamed name: String) -> String {
            let todo = realm.objects(Todo.self).where { $0.name == name }.first!
            return todo.owner
        }

        struct TodoStruct {
            var id: ObjectId
            var name, owner, status: String
        }

        func getTodoAsStruct(forTodoNamed name: String) -> TodoStruct {
            let todo = realm.objects(Todo.self).where { $0.name == name }.first!
            return TodoStruct(id: todo._id, name: todo.name, owner: todo.owner, status: todo.status)
        }

        func updateTodo(_id: ObjectId, name: String, owner: String, status: String) async throws {
            try await realm.asyncWrite {
                realm.create(
                    Todo.self,
                    value: [
                        "_id": _id,
                        "name": name,
                        "owner": owner,
                        "status": status,
                    ],
                    update: .modified
                )
            }
        }

        func deleteTodo(id: ObjectId) async throws {
            try await realm.asyncWrite {
                let todoToDelete = realm.object(ofType: Todo.self, forPrimaryKey: id)
                realm.delete(todoToDelete!)
            }
        }

        func close() {
            realm = nil
        }
    }

    @globalActor
    actor BackgroundActor: GlobalActor {
        static let shared = BackgroundActor()
    }

    @Test("A realm actor creates, reads, updates, deletes and closes")
    func realmActor() async throws {
        let actor = try await RealmActor(file.configuration)
        try await actor.createTodo(name: "Leave the ring on the mantle", owner: "Bilbo", status: "In Progress")
        #expect(await actor.count == 1)
        #expect(await actor.getTodoOwner(forTodoNamed: "Leave the ring on the mantle") == "Bilbo")
        let todo = await actor.getTodoAsStruct(forTodoNamed: "Leave the ring on the mantle")
        try await actor.updateTodo(_id: todo.id, name: todo.name, owner: "Frodo", status: todo.status)
        #expect(await actor.getTodoAsStruct(forTodoNamed: todo.name).owner == "Frodo")
        try await actor.deleteTodo(id: todo.id)
        #expect(await actor.count == 0)
        await actor.close()
    }

    private func createObject(in actor: isolated RealmActor) async throws -> Int {
        // Because this function is isolated to this actor, you can use
        // realm synchronously in this context without async/await keywords
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
        return actor.count
    }

    @Test("A function isolated to the actor uses its realm synchronously")
    func isolatedFunction() async throws {
        let actor = try await RealmActor(file.fast)
        #expect(try await createObject(in: actor) == 1)
    }

    @BackgroundActor
    private func backgroundThreadFunction(_ configuration: Realm.Configuration) async throws -> Int {
        // Explicitly specifying the actor is required for anything that is not MainActor
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
        // Thread-confined Realms would sometimes throw an exception here, as we
        // may end up on a different thread after an `await`
        return realm.objects(Todo.self).count
    }

    @MainActor
    private func mainThreadFunction(_ configuration: Realm.Configuration) async throws -> Int {
        try await backgroundThreadFunction(configuration)
    }

    @Test("A global actor has a realm of its own")
    func globalActor() async throws {
        #expect(try await mainThreadFunction(file.fast) == 1)
    }

    @MainActor
    private func openTwice(_ configuration: Realm.Configuration) async throws -> Bool {
        // These are identical: the async init produces a
        // MainActor-isolated Realm if no actor is supplied
        let realm1 = try await Realm(configuration: configuration)
        let realm2 = try await Realm(configuration: configuration, actor: MainActor.shared)
        return realm1 === realm2
    }

    @Test("The main actor's realm is one instance")
    func mainActor() async throws {
        #expect(try await openTwice(file.fast))
    }

    @MainActor
    private func passPrimaryKey(_ configuration: Realm.Configuration) async throws -> String? {
        // Execute code on a specific actor - in this case, the @MainActor
        func createObject(in actor: isolated BackgroundActor) async throws -> ObjectId {
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
            // Share the todo's primary key so we can easily query for it on another actor
            return newTodo._id
        }
        let actor = BackgroundActor()
        let newTodoId = try await createObject(in: actor)
        let realm = try await Realm(configuration: configuration)
        let todoOnMainActor = realm.object(ofType: Todo.self, forPrimaryKey: newTodoId)
        return todoOnMainActor?.owner
    }

    @Test("A primary key leads to the object on another actor")
    func primaryKeys() async throws {
        #expect(try await passPrimaryKey(file.fast) == "Pippin")
    }

    actor SynchronousActor {
        func deleteAll(_ configuration: Realm.Configuration) throws -> Int {
            let realm = try! Realm(configuration: configuration)
            try realm.write { realm.delete(realm.objects(Todo.self)) }
            return realm.objects(Todo.self).count
        }
    }

    @Test("A realm opened synchronously inside an actor's method is that actor's")
    func synchronousInMethod() async throws {
        _ = try await backgroundThreadFunction(file.fast)
        #expect(try await SynchronousActor().deleteAll(file.fast) == 0)
    }
}
