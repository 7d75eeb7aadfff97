import ActorRealm
import Foundation

/// A mail of a mailbox.
final class Mail: Object {
    @Persisted(primaryKey: true) var identifier: String
    @Persisted var sender: String
    @Persisted var subject: String
    @Persisted(indexed: true) var date: Date
    @Persisted var text: String
    @Persisted var read: Bool
    @Persisted var flagged: Bool

    convenience init(_ message: Message) {
        self.init()
        identifier = message.identifier
        sender = message.sender
        subject = message.subject
        date = message.date
        text = message.text
    }
}

/// A mail as it stands in an mbox file.
struct Message: Sendable {
    var identifier = ""
    var sender = ""
    var subject = ""
    var date = Date(timeIntervalSince1970: 0)
    var text = ""
}
