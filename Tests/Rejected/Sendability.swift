import ActorRealm

private func sends<Value: Sendable>(_ type: Value.Type) {}

private func liveTypes() {
    sends(Realm.self)  // error: open one there, or send `realm.frozen`
    sends(Realm.AsyncTransaction.self)  // error: belongs to its realm's isolation
    sends(Todo.self)  // error: Send `object.frozen`, `ObjectReference(to: object)`
    sends(Place.self)  // error: Send `object.frozen`, `ObjectReference(to: object)`
    sends(Results<Todo>.self)  // error: Send `results.frozen` or
    sends(List<String>.self)  // error: Send `list.frozen`
    sends(LinkingObjects<Todo>.self)  // error: Send `owners.frozen`
    sends(Migration.self)  // error: only inside its block
    sends(RealmCollectionChange<Results<Todo>>.self)  // error: Send frozen values
    sends(ObjectChange<Todo>.self)  // error: Send frozen values
    sends(PropertyChange.self)  // error: Send frozen values
    sends(RealmIterator<Todo>.self)  // error: send `results.frozen`
    sends(Query<Todo>.self)  // error: send `results.frozen`
    sends(CollectionChanges<Results<Todo>>.Iterator.self)  // error: send the sequence
    sends(ObjectChanges<Todo>.Iterator.self)  // error: send the sequence
    sends(RealmChanges.Iterator.self)  // error: send the sequence
    sends(SectionChanges<SectionedResults<String, Todo>>.Iterator.self)  // error: send the sequence
    sends(DynamicObject.self)  // error: Send `object.frozen`, `ObjectReference(to: object)`
    sends(TodoName.self)  // error: Send `projection.frozen`
    sends(ProjectedCollection<String>.self)  // error: Send `projection.frozen`
    sends(SectionedResults<String, Todo>.self)  // error: Send `sections.frozen`
    sends(ResultsSection<String, Todo>.self)  // error: Send `section.frozen`
    sends(SectionedResultsChange<SectionedResults<String, Todo>>.self)  // error: Send frozen values
    sends(ObjectBase.self)  // error: Send `object.frozen`, `ObjectReference(to: object)`
    sends(Object.self)  // error: Send `object.frozen`, `ObjectReference(to: object)`
    sends(EmbeddedObject.self)  // error: Send `object.frozen`, `ObjectReference(to: object)`
    sends(Projection<Todo>.self)  // error: Send `projection.frozen`
    sends(MutableSet<String>.self)  // error: Send `set.frozen`
    sends(Map<String, Int>.self)  // error: Send `map.frozen`
    sends(AnyRealmCollection<Todo>.self)  // error: Send `collection.frozen`
    sends(AnyRealmValue.self)  // error: Send what it holds, or `ThreadSafeReference(to: object)`
    sends(RealmMapChange<Map<String, Int>>.self)  // error: Send frozen values
    sends(MapChanges<String, Int>.Iterator.self)  // error: send the sequence
    sends(ProjectionChanges<TodoName>.Iterator.self)  // error: send the sequence
    sends(ProjectedChanges<String>.Iterator.self)  // error: send the sequence
    sends(MappedChanges<RealmChanges, Int>.Iterator.self)  // error: send the sequence
    sends(SectionIterator<Todo>.self)  // error: send `section.frozen`
    sends(CollectionElementMapper<List<Todo>>.self)  // error: Send `list.frozen`
    sends(Persisted<Int>.self)  // error: send its value
    sends(Projected<Todo, String>.self)  // error: send its value
}
