import ActorRealm
import People

/// A row of a kilobyte.
final class Document: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var views: Int
    @Persisted var text: String

    convenience init(_ data: DocumentData) {
        self.init()
        id = data.id
        views = data.views
        text = data.text
    }
}
