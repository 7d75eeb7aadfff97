import ActorRealm

class Todo: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var name: String
    @Persisted var tags: List<String>
    @Persisted var place: Place?
    @Persisted var parent: Todo?
    @Persisted(originProperty: "parent") var children: LinkingObjects<Todo>
}

class Place: EmbeddedObject {
    @Persisted var street: String
}

class TodoName: Projection<Todo> {
    @Projected(\Todo.name) var name
}

actor Store {
    var realm: Realm!

    init() async throws { realm = try await Realm(actor: self) }

    func take(_ todo: Todo) {}
    func take(_ todos: Results<Todo>) {}
    func take(_ realm: Realm) {}
}
