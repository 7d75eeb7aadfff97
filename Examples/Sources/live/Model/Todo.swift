import ActorRealm
import Foundation

/// Something to do.
final class Todo: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var text: String
    @Persisted var isDone: Bool
    @Persisted var created: Date
    /// When the last write to it was made, inside its transaction: what is measured from there is what a reader waited.
    @Persisted var changed: Date

    /// The list that everybody sees: what is to do comes first, each part in the order in which it was added.
    static func list(in realm: Realm) -> Results<Todo> {
        realm.objects(Todo.self).sorted(by: ["isDone", "created"])
    }
}
