import ActorRealm
import Foundation

/// A change of the list as clients get it.
///
/// The first one that a connection gets, also after it was lost and made anew, is the whole list. Every other one leads
/// exactly from the list before to the next: remove the deletions (places in the list before), insert the insertions
/// (places in the list after), and write the modifications (places in the list before).
enum ListEvent {
    /// The whole list.
    struct Initial: Encodable {
        var version: UInt64
        var tasks: [TodoRecord]
    }

    /// What changed from one list to the next.
    struct Update: Encodable {
        /// A todo and where it is.
        struct Entry: Encodable {
            var index: Int
            var task: TodoRecord
        }

        var version: UInt64
        var deletions: [Int]
        var insertions: [Entry]
        var modifications: [Entry]
    }

    /// The event for a change, in bytes: what is read is read now, while the list stands at the version of the change.
    static func bytes(for change: RealmCollectionChange<Results<Todo>>) throws -> [UInt8] {
        switch change {
        case .initial(let todos):
            let version = todos.frozen.version
            return ServerSentEvent(
                name: "initial",
                id: version,
                data: try TodoRecord.json(Initial(version: version, tasks: todos.map { TodoRecord($0) }))
            )
            .bytes
        case .update(let todos, let deletions, let insertions, let modifications):
            let version = todos.frozen.version
            let update = Update(
                version: version,
                deletions: deletions,
                insertions: insertions.map { .init(index: $0, task: TodoRecord(todos[$0])) },
                modifications: zip(modifications, change.modificationsNew)
                    .map { .init(index: $0, task: TodoRecord(todos[$1])) }
            )
            return ServerSentEvent(name: "update", id: version, data: try TodoRecord.json(update)).bytes
        case .error(let error):
            throw error
        }
    }
}
