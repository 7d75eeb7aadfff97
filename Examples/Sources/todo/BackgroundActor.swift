import ActorRealm

/// Where work happens that is nobody's in particular.
@globalActor
actor BackgroundActor: GlobalActor {
    static let shared = BackgroundActor()

    /// Deletes a todo that another actor refers to, and returns its name.
    ///
    /// It is resolved inside the transaction, which stands at the newest version, and is nil when someone else was faster.
    func delete(_ reference: ThreadSafeReference<Todo>, configuration: Realm.Configuration) throws -> String? {
        let realm = try Realm(configuration: configuration)
        return try realm.write {
            guard let todo = realm.resolve(reference) else { return nil }
            let name = todo.name
            realm.delete(todo)
            return name
        }
    }
}

/// Finishes the first todo of an owner.
@BackgroundActor
func finishFirstTodo(of owner: String, configuration: Realm.Configuration) async throws -> ObjectId? {
    let realm = try await Realm(configuration: configuration, actor: BackgroundActor.shared)
    let todo = realm.objects(Todo.self).where { $0.owner == owner && $0.status != .done }.first
    guard let todo else { return nil }
    try await realm.asyncWrite {
        todo.status = .done
    }
    // After the suspension this is still the realm's actor, whatever thread it runs on.
    return todo._id
}
