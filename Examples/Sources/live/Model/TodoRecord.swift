import ActorRealm
import Foundation

/// A todo as a value, which may go anywhere and is what clients get.
struct TodoRecord: Encodable, Sendable {
    var id: String
    var text: String
    var done: Bool
    var created: Date
    var changed: Date

    init(_ todo: Todo) {
        id = todo._id.stringValue
        text = todo.text
        done = todo.isDone
        created = todo.created
        changed = todo.changed
    }

    /// JSON as all clients get it: times are milliseconds since 1970, as in JavaScript.
    static func json(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .millisecondsSince1970
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        return try encoder.encode(value)
    }
}
