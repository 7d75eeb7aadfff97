/// How the server is doing.
struct ServerStatus: Encodable, Sendable {
    /// The newest version of the file.
    var version: UInt64
    /// The connections whose observer runs.
    var observers: Int
    /// The actors behind connections that exist: the same number, unless one outlives its connection.
    var viewers: Int
    /// The connections that followed the list so far.
    var admitted: Int
    /// The server's process.
    var process: Int32
    /// The versions that readers of all processes stand at, and who they are.
    var activeVersions: [String]
}
