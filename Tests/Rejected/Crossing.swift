import ActorRealm

@MainActor
private func passesObject(_ todo: Todo, to store: Store) async {
    await store.take(todo)  // error: sending 'todo' risks causing data races
}

@MainActor
private func passesResults(_ realm: Realm, to store: Store) async {
    await store.take(realm.objects(Todo.self))  // error: sending 'realm.objects' risks causing data races
}

@MainActor
private func passesRealm(_ realm: Realm, to store: Store) async {
    await store.take(realm)  // error: sending 'realm' risks causing data races
}

@MainActor
private func passesFrozenObject(_ todo: Todo, to store: Store) async {
    await store.take(todo.freeze())  // error: sending 'todo.freeze' risks causing data races
}

@MainActor
private func capturesInDetachedTask(_ todo: Todo) {
    Task.detached { print(todo.name) }  // error: risks causing data races between main actor-isolated code
}

@MainActor
private func capturesInChildTask(_ todo: Todo) async {
    async let name = todo.name  // error: sending 'todo' risks causing data races
    _ = await name
}

@MainActor
private func capturesInTaskGroup(_ realm: Realm) async {
    await withTaskGroup(of: Int.self) { group in
        group.addTask { realm.objects(Todo.self).count }  // error: risks causing data races between
    }
}

@MainActor
private func yields(_ todo: Todo, to continuation: AsyncStream<Todo>.Continuation) {
    continuation.yield(todo)  // error: sending 'todo' risks causing data races
}

extension Store {
    func first() -> Todo? { realm.objects(Todo.self).first }
}

@MainActor
private func receives(from store: Store) async {
    _ = await store.first()  // error: non-Sendable 'Todo?'-typed result can not be returned
}

@MainActor
private func leavesTheActor(_ realm: Realm) async {
    await counts(realm)  // error: sending 'realm' risks causing data races
}

@concurrent
private func counts(_ realm: Realm) async {}
