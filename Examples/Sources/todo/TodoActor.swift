import ActorRealm

/// The actor that the todos live on: its realm, and everything read from it, stays here.
actor TodoActor {
    // Implicitly unwrapped, because `self` can be given to the realm only when everything else is set.
    var realm: Realm!

    init(configuration: Realm.Configuration) async throws {
        realm = try await Realm(configuration: configuration, actor: self)
    }

    var count: Int {
        realm.objects(Todo.self).count
    }

    /// Stores a todo.
    ///
    /// The actor is free for others while the write waits for its turn and for the disk.
    @discardableResult
    func create(name: String, owner: String, status: TodoStatus = .open) async throws -> ObjectId {
        let todo = try await realm.asyncWrite {
            realm.create(Todo.self, value: ["name": name, "owner": owner, "status": status] as [String: Any])
        }
        return todo._id
    }

    /// One value of a todo.
    func owner(ofTodoNamed name: String) -> String? {
        realm.objects(Todo.self).where { $0.name == name }.first?.owner
    }

    /// A todo as a value.
    func todo(named name: String) -> TodoValue? {
        realm.objects(Todo.self).where { $0.name == name }.first.map(TodoValue.init)
    }

    /// A reference to a todo, for another actor to resolve.
    func reference(toTodoNamed name: String) -> ThreadSafeReference<Todo>? {
        realm.objects(Todo.self).where { $0.name == name }.first.map { ThreadSafeReference(to: $0) }
    }

    /// The names of what is open, whenever that changes, for whoever wants to know.
    func openNames() -> MappedChanges<CollectionChanges<Results<Todo>>, [String]> {
        realm.objects(Todo.self).where { $0.status == .open }.changes()
            .map { change in change.collection.map { $0.map(\.name) } ?? [] }
    }

    /// The versions of the file as they come.
    func versions() -> MappedChanges<RealmChanges, UInt64> {
        realm.changes.map(\.version)
    }

    func update(_ id: ObjectId, status: TodoStatus) async throws {
        try await realm.asyncWrite {
            _ = realm.create(Todo.self, value: ["_id": id, "status": status] as [String: Any], update: .modified)
        }
    }

    func delete(_ id: ObjectId) async throws {
        try await realm.asyncWrite {
            if let todo = realm.object(ofType: Todo.self, forPrimaryKey: id) { realm.delete(todo) }
        }
    }

    /// Lets go of the realm; the file closes with its last user.
    func close() {
        realm = nil
    }
}

/// A function on the actor uses its realm without waiting, as the actor's own methods do.
func startEverything(on todos: isolated TodoActor) throws -> Int {
    let open = todos.realm.objects(Todo.self).where { $0.status == .open }
    let count = open.count
    try todos.realm.write {
        for todo in open {
            todo.status = .started
        }
    }
    return count
}
