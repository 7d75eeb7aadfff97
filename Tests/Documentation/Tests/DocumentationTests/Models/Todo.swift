import ActorRealm

class Todo: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var name: String
    @Persisted var owner: String
    @Persisted var status: String
}

/// What a todo holds, as a value that may cross to any actor.
struct TodoValue: Sendable, Equatable {
    var id: ObjectId
    var name, owner, status: String
}
