import ActorRealm

/// The documentation's custom global actor.
@globalActor
actor BackgroundActor: GlobalActor {
    static let shared = BackgroundActor()

    /// Opens the realm synchronously, which inside an actor binds it to the actor.
    public func deleteTodo(tsrToTodo tsr: ThreadSafeReference<Todo>, configuration: Realm.Configuration) throws {
        let realm = try! Realm(configuration: configuration)
        try realm.write {
            let todoOnActor = realm.resolve(tsr)
            realm.delete(todoOnActor!)
        }
    }

    /// The number of todos, through a realm opened synchronously.
    func todoCount(configuration: Realm.Configuration) throws -> Int {
        let realm = try Realm(configuration: configuration)
        realm.refresh()
        return realm.objects(Todo.self).count
    }
}
