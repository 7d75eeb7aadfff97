import ActorRealm

/// The documentation's custom global actor.
@globalActor
actor BackgroundActor: GlobalActor {
    static let shared = BackgroundActor()

    /// Opens the realm synchronously, which inside an actor binds it to the actor.
    public func removeTodo(reference: ThreadSafeReference<Todo>, configuration: Realm.Configuration) throws {
        let realm = try! Realm(configuration: configuration)
        try realm.write {
            let todo = realm.resolve(reference)
            realm.delete(todo!)
        }
    }

    /// The number of todos, through a realm opened synchronously.
    func todoCount(configuration: Realm.Configuration) throws -> Int {
        let realm = try Realm(configuration: configuration)
        realm.refresh()
        return realm.objects(Todo.self).count
    }
}
