import ActorRealm

/// An actor with a realm of its own, as the documentation defines it.
actor RealmActor {
    // Implicitly unwrapped, so that `self` can be passed to `Realm(actor:)` in `init`.
    var realm: Realm!

    init(configuration: Realm.Configuration) async throws {
        realm = try await Realm(configuration: configuration, actor: self)
    }

    var count: Int {
        realm.objects(Todo.self).count
    }

    func addTodo(name: String, owner: String, status: String) async throws {
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

    func owner(ofTodoNamed name: String) -> String {
        let todo = realm.objects(Todo.self)
            .where {
                $0.name == name
            }
            .first!
        return todo.owner
    }

    func todo(named name: String) -> TodoValue {
        let todo = realm.objects(Todo.self)
            .where {
                $0.name == name
            }
            .first!
        return TodoValue(id: todo._id, name: todo.name, owner: todo.owner, status: todo.status)
    }

    func changeTodo(_id: ObjectId, name: String, owner: String, status: String) async throws {
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

    func removeTodo(id: ObjectId) async throws {
        try await realm.asyncWrite {
            let todoToDelete = realm.object(ofType: Todo.self, forPrimaryKey: id)
            realm.delete(todoToDelete!)
        }
    }

    func close() {
        realm = nil
    }
}
