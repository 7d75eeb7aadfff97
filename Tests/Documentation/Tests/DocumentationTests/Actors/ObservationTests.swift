import ActorRealm
import Testing

@Suite("Observe notifications on a different actor", .timeLimit(.minutes(60)))
struct ObservationTests {
    let file: TemporaryRealm

    init() throws {
        file = try TemporaryRealm()
    }

    @Test("A collection's listener runs on the actor that it was given")
    @MainActor
    func collectionListener() async throws {
        let log = EventLog()
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
        let token = await todoCollection.observe(
            on: backgroundActor,
            { actor, changes in
                actor.assertIsolated()
                switch changes {
                case .initial(let todos):
                    log.note("initial \(todos.count)")
                case .update(_, let deletions, let insertions, let modifications):
                    if !deletions.isEmpty {
                        log.note("deleted")
                    } else if !insertions.isEmpty {
                        log.note("inserted")
                    } else if !modifications.isEmpty {
                        log.note("modified")
                    }
                case .error(let error):
                    log.note("error \(error.localizedDescription)")
                }
            }
        )
        #expect(await log.contains("initial 1"))

        let todo = todoCollection.where { $0.name == "Book the ferry" }.first!
        try await realm.asyncWrite { todo.status = "Complete" }
        #expect(await log.contains("modified"))

        let reference = ThreadSafeReference(to: todo)
        try await backgroundActor.removeTodo(
            reference: reference,
            configuration: file.configuration
        )
        #expect(await log.contains("deleted"))
        token.invalidate()
    }

    @Test("An object's listener is told the properties that changed, and of the deletion")
    @MainActor
    func objectListener() async throws {
        let log = EventLog()
        let backgroundActor = BackgroundActor.shared
        let realm = try await Realm(configuration: file.configuration)
        let sweepTheYard = try await realm.asyncWrite {
            realm.create(
                Todo.self,
                value: [
                    "_id": ObjectId.generate(),
                    "name": "Sweep the yard",
                    "owner": "Lena",
                    "status": "Started",
                ]
            )
        }
        let token = await sweepTheYard.observe(
            on: backgroundActor,
            { (_, change: ObjectChange<Todo>) in
                switch change {
                case .change(let object, let properties):
                    for property in properties {
                        log.note("\(object.name): \(property.name) became \(property.newValue!)")
                    }
                case .error(let error):
                    log.note("error \(error)")
                case .deleted:
                    log.note("deleted")
                }
            }
        )
        try await realm.asyncWrite {
            sweepTheYard.status = "Complete"
        }
        #expect(await log.contains("Sweep the yard: status became Complete"))
        try await realm.asyncWrite {
            realm.delete(sweepTheYard)
        }
        #expect(await log.contains("deleted"))
        token.invalidate()
    }

    @Test("A change sequence delivers live objects of the iterating actor's realm")
    @MainActor
    func changeSequence() async throws {
        let realm = try await Realm(configuration: file.configuration)
        let unfinished = realm.objects(Todo.self).where { $0.status != "Complete" }
        let actor = try await RealmActor(configuration: file.configuration)
        var sizes: [Int] = []
        var iterator = unfinished.changes().makeAsyncIterator()
        if case .initial(let todos)? = await iterator.next() { sizes.append(todos.count) }
        try await actor.addTodo(name: "Call the plumber", owner: "Noor", status: "Open")
        if case .update(let todos, let deletions, let insertions, let modifications)? = await iterator.next() {
            sizes.append(todos.count)
            #expect((deletions, insertions, modifications) == ([], [0], []))
            #expect(todos[0].name == "Call the plumber")
            #expect(!todos[0].isFrozen)
        }
        #expect(sizes == [0, 1])
    }

    @Test("A loop over changes ends with its task")
    func cancellation() async throws {
        let log = EventLog()
        let configuration = file.configuration
        let following = Task { @BackgroundActor in
            let realm = try await Realm(configuration: configuration, actor: BackgroundActor.shared)
            for await change in realm.objects(Todo.self).changes() {
                if case .initial = change { log.note("following") }
            }
            log.note("ended")
        }
        #expect(await log.contains("following"))
        following.cancel()
        #expect(await log.contains("ended"))
        try await following.value
    }

    @Test("An object's changes end with its deletion")
    func objectSequence() async throws {
        let actor = try await RealmActor(configuration: file.configuration)
        try await actor.addTodo(name: "Lock the shed", owner: "Ada", status: "Open")
        let id = await actor.todo(named: "Lock the shed").id
        let log = EventLog()
        let configuration = file.configuration
        let following = Task { @BackgroundActor in
            let realm = try await Realm(configuration: configuration, actor: BackgroundActor.shared)
            let todo = realm.object(ofType: Todo.self, forPrimaryKey: id)!
            let changes = todo.changes()
            var iterator = changes.makeAsyncIterator()
            log.note("following")
            while let change = await iterator.next(isolation: BackgroundActor.shared) {
                switch change {
                case .change(let todo, let properties):
                    log.note(properties.map(\.name).joined(separator: ",") + " " + todo.status)
                case .deleted: log.note("deleted")
                case .error(let error): log.note("\(error)")
                }
            }
            log.note("ended")
        }
        #expect(await log.contains("following"))
        try await actor.changeTodo(_id: id, name: "Lock the shed", owner: "Ada", status: "Complete")
        #expect(await log.contains("status Complete"))
        try await actor.removeTodo(id: id)
        #expect(await log.contains("deleted"))
        #expect(await log.contains("ended"))
        try await following.value
    }
}
