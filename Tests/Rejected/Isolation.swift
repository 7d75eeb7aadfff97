import ActorRealm

private func readsFromOutside(_ store: Store) -> Int {
    store.realm.objects(Todo.self).count  // error: 'realm' can not be referenced from a nonisolated context
}

private func opensWithoutAwait() async throws {
    _ = try Realm()  // error: not marked with 'await'
}

private func suspendsInBlock(_ realm: Realm) async throws {
    try await realm.asyncWrite { try await Task.sleep(for: .seconds(1)) }  // error: expecting synchronous
}

private func suspendsInSynchronousBlock(_ realm: Realm) async throws {
    try realm.write { try await Task.sleep(for: .seconds(1)) }  // error: expecting synchronous
}

private nonisolated(nonsending) func passesNoActor(_ realm: Realm) async throws {
    try await realm.asyncWrite(_isolation: nil) {}  // error: type 'any Actor'
}

private var shared: Todo?  // error: nonisolated global shared mutable state

private func mistypedObserver(_ todo: Todo, _ store: Store) async {
    _ = await todo.observe(on: store) {  // error: ObjectChange<Todo>) -> Void
        (store: isolated Store, change: ObjectChange<Place>) in
    }
}
