/// One open realm file: at most one per process and inode, shared by everything that reads or writes it.
package final class StorageFile: Sendable {
    package let path: String

    init(path: String) {
        self.path = path
    }

    /// Opens or creates a file. Opening the same file again in a process returns the same instance.
    package static func open(path: String, options: StorageOptions = StorageOptions()) throws(StorageError)
        -> StorageFile
    {
        preconditionFailure("stub")
    }

    /// Pins the newest durable version.
    package func beginRead() throws(StorageError) -> Snapshot {
        preconditionFailure("stub")
    }

    /// The newest durable version, other processes' commits included. One atomic load.
    package var newestVersion: UInt64 {
        preconditionFailure("stub")
    }

    /// Takes the inter-process write lock if nobody else has it. Not recursive; belongs to the process, not to a thread.
    package func tryLockForWriting() throws(StorageError) -> Bool {
        preconditionFailure("stub")
    }

    /// Takes the inter-process write lock, blocking the calling thread: only for dedicated threads and synchronous writes.
    package func lockForWriting() throws(StorageError) {
        preconditionFailure("stub")
    }

    /// Gives the inter-process write lock back; every prepared commit must have been published or abandoned.
    package func unlockForWriting() {
        preconditionFailure("stub")
    }

    /// Begins a write on top of the newest prepared version. The caller holds the write lock.
    package func beginWrite() throws(StorageError) -> WriteTransaction {
        preconditionFailure("stub")
    }

    /// Writes and flushes prepared commits, oldest first, with one flush; publishes the newest and wakes observers.
    ///
    /// Blocks in the device: call it on the file's I/O thread, or on the thread of a synchronous write.
    /// - Throws: the failure of the flush; then none of the commits is there, and writing stops until the file is reopened.
    package func publish(_ commits: [PreparedCommit]) throws(StorageError) {
        preconditionFailure("stub")
    }

    /// Everything that changed after one version up to another, merged; nil when that stretch is no longer kept.
    package func changes(after first: UInt64, through last: UInt64) throws(StorageError) -> ChangeSet? {
        preconditionFailure("stub")
    }

    /// Blocks the calling (dedicated) thread until a version newer than `version` is published by any process, until
    /// `interruptWaiters()` is called, or the timeout passes; returns the newest version.
    package func waitForVersion(after version: UInt64, timeoutNanoseconds: Int64 = -1) -> UInt64 {
        preconditionFailure("stub")
    }

    /// Lets every `waitForVersion` of this process return.
    package func interruptWaiters() {
        preconditionFailure("stub")
    }

    /// The size of the file in bytes.
    package var byteCount: Int {
        preconditionFailure("stub")
    }
}
