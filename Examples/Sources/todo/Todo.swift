import ActorRealm

/// Something to do.
final class Todo: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var name: String
    @Persisted var owner: String
    @Persisted var status: TodoStatus
}

/// How far a todo is.
enum TodoStatus: String, PersistableEnum {
    case open
    case started
    case done
}

/// A todo as a value, which may go anywhere.
struct TodoValue: Sendable {
    var id: ObjectId
    var name: String
    var owner: String
    var status: TodoStatus

    init(_ todo: Todo) {
        id = todo._id
        name = todo.name
        owner = todo.owner
        status = todo.status
    }
}
