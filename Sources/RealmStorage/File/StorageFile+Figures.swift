import CRealmShims
import Glibc
import Synchronization

/// What is known of a file without reading it.
extension StorageFile {
    /// Whether a commit counts as done when it was flushed.
    package var flushesCommits: Bool { options.durability == .flushed }

    /// Whether commits of this process may be made durable by their records.
    package var keepsLog: Bool { options.log != nil && flushesCommits && !data.isReadOnly }

    /// Whether writing has stopped after a failed flush, until the file is opened anew.
    package var hasStopped: Bool { state.withLock { $0.stopped != nil } }

    /// Why writing has stopped; nil while it has not.
    package var reasonOfStop: StorageError? { state.withLock { $0.stopped } }

    /// Whether the file is still to be found: nobody deleted it, or put another one into its place.
    package var isInPlace: Bool { (try? data.currentByteCount()) != nil }

    /// Whether a path leads to this file, by whatever name it was opened.
    package func isFile(at path: String) -> Bool {
        var other = Glibc.stat()
        var own = Glibc.stat()
        guard stat(path, &other) == 0, fstat(data.descriptor, &own) == 0 else { return false }
        return FileIdentity.of(other) == FileIdentity.of(own)
    }

    /// The size of the file in bytes.
    package var byteCount: Int {
        state.withLock { $0.byteCount }
    }

    /// Notes that the file has another size now.
    func note(byteCount: Int) {
        state.withLock { $0.byteCount = byteCount }
    }
}
