import Foundation

/// An event of the kind that a browser's `EventSource` reads.
struct ServerSentEvent {
    var name: String
    var id: UInt64
    /// JSON: it has no line breaks, so that one line holds it.
    var data: Data

    /// A line that a client skips.
    ///
    /// Only writing tells a server that a client is gone.
    static let heartbeat = Array(": still here\n\n".utf8)

    /// How soon a client comes back when the connection is lost, in milliseconds.
    static let beginning = Array("retry: 500\n\n".utf8)

    /// The event as it is sent.
    var bytes: [UInt8] {
        Array("event: \(name)\nid: \(id)\ndata: ".utf8) + data + Array("\n\n".utf8)
    }
}
