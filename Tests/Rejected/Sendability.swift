import ActorRealm

private func sends<Value: Sendable>(_ type: Value.Type) {}

private func liveTypes() {
    sends(Realm.self)  // error: open one there, or send a frozen copy or a ThreadSafeReference
    sends(Realm.AsyncTransaction.self)  // error: belongs to its realm's isolation
    sends(Todo.self)  // error: Send a ThreadSafeReference, an ObjectReference or a frozen copy
    sends(Place.self)  // error: Send a ThreadSafeReference, an ObjectReference or a frozen copy
    sends(Results<Todo>.self)  // error: Send a ThreadSafeReference or frozen results
    sends(List<String>.self)  // error: Send a ThreadSafeReference or a frozen copy
    sends(LinkingObjects<Todo>.self)  // error: Send a ThreadSafeReference or a frozen copy
    sends(Migration.self)  // error: only inside its block
    sends(RealmCollectionChange<Results<Todo>>.self)  // error: Send frozen values
    sends(ObjectChange<Todo>.self)  // error: Send frozen values
    sends(PropertyChange.self)  // error: Send frozen values
    sends(RealmIterator<Todo>.self)  // error: send the collection
    sends(Query<Todo>.self)  // error: send the results, frozen
    sends(CollectionChanges<Results<Todo>>.Iterator.self)  // error: send the sequence
    sends(ObjectChanges<Todo>.Iterator.self)  // error: send the sequence
    sends(RealmChanges.Iterator.self)  // error: send the sequence
    sends(SectionChanges<SectionedResults<String, Todo>>.Iterator.self)  // error: send the sequence
    sends(DynamicObject.self)  // error: Send a ThreadSafeReference, an ObjectReference or a frozen copy
    sends(TodoName.self)  // error: Send a ThreadSafeReference or a frozen copy
    sends(ProjectedCollection<String>.self)  // error: Send a frozen copy
    sends(SectionedResults<String, Todo>.self)  // error: Send a ThreadSafeReference or a frozen copy
    sends(ResultsSection<String, Todo>.self)  // error: Send a ThreadSafeReference or a frozen copy
    sends(SectionedResultsChange<SectionedResults<String, Todo>>.self)  // error: Send frozen values
    sends(ObjectBase.self)  // error: Send a ThreadSafeReference, an ObjectReference or a frozen copy
    sends(Object.self)  // error: Send a ThreadSafeReference, an ObjectReference or a frozen copy
    sends(EmbeddedObject.self)  // error: Send a ThreadSafeReference, an ObjectReference or a frozen copy
    sends(Projection<Todo>.self)  // error: Send a ThreadSafeReference or a frozen copy
    sends(MutableSet<String>.self)  // error: Send a ThreadSafeReference or a frozen copy
    sends(Map<String, Int>.self)  // error: Send a ThreadSafeReference or a frozen copy
    sends(AnyRealmCollection<Todo>.self)  // error: Send a ThreadSafeReference or a frozen copy
    sends(AnyRealmValue.self)  // error: Send what it holds, or a ThreadSafeReference
    sends(RealmMapChange<Map<String, Int>>.self)  // error: Send frozen values
    sends(MapChanges<String, Int>.Iterator.self)  // error: send the sequence
    sends(ProjectionChanges<TodoName>.Iterator.self)  // error: send the sequence
    sends(ProjectedChanges<String>.Iterator.self)  // error: send the sequence
    sends(MappedChanges<RealmChanges, Int>.Iterator.self)  // error: send the sequence
    sends(ResultsSection<String, Todo>.Iterator.self)  // error: send the section, frozen
    sends(CollectionElementMapper<List<Todo>>.self)  // error: Send that as a ThreadSafeReference
    sends(Persisted<Int>.self)  // error: send its value
    sends(Projected<Todo, String>.self)  // error: send its value
}
