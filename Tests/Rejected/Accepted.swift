import ActorRealm
import Dispatch

// What may cross an isolation, beside the rejected: this file compiles.

private func sends<Value: Sendable>(_ type: Value.Type) {}

private func sendableTypes() {
    sends(Realm.Configuration.self)
    sends(Realm.Error.self)
    sends(MapIndex.self)
    sends(SingleMapEntry<String, Int>.self)
    sends(Realm.AsyncOpenTask.self)
    sends(Realm.Notification.self)
    sends(Realm.ActiveVersion.self)
    sends(Realm.UpdatePolicy.self)
    sends(ThreadSafeReference<Todo>.self)
    sends(ThreadSafeReference<Realm>.self)
    sends(ThreadSafe<Results<Todo>>.self)
    sends(Frozen<Results<Todo>>.self)
    sends(Frozen<Todo>.self)
    sends(ObjectReference<Todo>.self)
    sends(NotificationToken.self)
    sends(CollectionChanges<Results<Todo>>.self)
    sends(ObjectChanges<Todo>.self)
    sends(RealmChanges.self)
    sends(SectionChanges<SectionedResults<String, Todo>>.self)
    // Whatever the key's type.
    sends(SectionChanges<SectionedResults<Int, Todo>>.self)
    sends(SectionChanges<ResultsSection<String?, Todo>>.self)
    sends(MappedChanges<SectionChanges<SectionedResults<Int, Todo>>, Int>.self)
    sends(RealmChange.self)
    sends(ObjectId.self)
    sends(Schema.self)
    sends(ObjectSchema.self)
    sends(Property.self)
    sends(PropertyType.self)
    sends(SortDescriptor.self)
    sends(StringOptions.self)
    sends(RealmPredicate.self)
    sends(LogLevel.self)
    sends(Logger.self)
    sends((any RealmScheduler).self)
    sends(CompoundIndex.self)
    sends(Decimal128.self)
    sends(DeleteRule.self)
    sends(ObjectIdError.self)
    sends(MapChanges<String, Int>.self)
    sends(ProjectionChanges<TodoName>.self)
    sends(ProjectedChanges<String>.self)
    sends(MappedChanges<RealmChanges, Int>.self)
    sends(RealmCollectionMove.self)
    sends(RealmChange.ClassChange.self)
    sends(QueryExplanation.self)
    sends(Realm.Configuration.Durability.self)
    sends(Realm.Error.Code.self)
    sends(Realm.Error.Details.self)
    sends(Realm.WriteOptions.self)
    sends(Realm.VerificationReport.self)
    sends(Realm.Configuration.Verification.self)
    sends(Realm.Configuration.MigrationLossPolicy.self)
    sends(MigrationPlan.self)
    sends(MigrationPlan.Change.self)
    sends(MigrationPlan.Change.Kind.self)
    sends(MigrationProgress.self)
    sends(Realm.SalvageReport.self)
    sends(Realm.SalvageReport.ClassReport.self)
}

@MainActor
private func crosses(_ todo: Todo, _ todos: Results<Todo>, _ realm: Realm, to queue: DispatchQueue) async {
    let frozen = todo.frozen
    let reference = ThreadSafeReference(to: todo)
    let key = ObjectReference(to: todo)
    let results = todos.frozen
    let wrapper = ThreadSafe(wrappedValue: todo)
    let changes = todos.changes()
    Task.detached {
        print(frozen.name, results.value.count, key.key, reference.isInvalidated)
        for await change in changes { print(change.collection?.count ?? 0) }
    }
    queue.async { print(wrapper.wrappedValue?.name ?? "") }
    @ThreadSafe var variable: Todo? = todo
    queue.async { [$variable] in print($variable.wrappedValue?.name ?? "") }
}

extension Store {
    func make() -> sending Todo { Todo() }

    func add(_ name: String) async throws -> ObjectId {
        try await realm.asyncWrite { realm.create(Todo.self, value: ["name": name])._id }
    }
}

@MainActor
private func sendsAnUnmanagedObject(to store: Store) async {
    let todo = Todo()
    await store.take(todo)
    let other = await store.make()
    other.name = "mine now"
}
