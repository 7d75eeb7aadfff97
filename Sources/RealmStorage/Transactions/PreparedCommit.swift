/// A sealed write transaction, ready to be written and flushed by the file's I/O thread.
package final class PreparedCommit: @unchecked Sendable {
    package let version: UInt64

    init(version: UInt64) {
        self.version = version
    }
}
