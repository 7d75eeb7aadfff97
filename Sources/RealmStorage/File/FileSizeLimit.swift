import CRealmShims
import Glibc
import Synchronization

/// The length up to which this process may write files: `RLIMIT_FSIZE`, which `ulimit -f` and systemd's `LimitFSIZE` set.
///
/// The system ends a process by a signal that writes beyond it, unless the program ignores that signal. So nothing is written there:
/// that is an error of a full disk here. What the limit is is known from the last time that a file was opened or made longer. Where it was
/// lowered since, below the length of an open file, a write to what the file has there still ends the process.
enum FileSizeLimit {
    private static let known = Atomic<Int>(.max)

    /// The limit as it is known.
    static var most: Int { known.load(ordering: .relaxed) }

    /// Asks the system for the limit.
    static func ask() { known.store(Int(crealm_file_size_limit()), ordering: .relaxed) }

    /// Whether a file may be written to up to an offset.
    static func allows(_ end: Int) -> Bool {
        if end <= known.load(ordering: .relaxed) { return true }
        // It may have been raised.
        ask()
        return end <= known.load(ordering: .relaxed)
    }

    /// Looks whether a file may be written to up to an offset.
    ///
    /// - Parameters:
    ///   - end: The offset behind the last byte.
    ///   - what: What cannot be done otherwise, as messages say it.
    ///   - path: The path of the file.
    /// - Throws: `StorageError` with the code `.full` when it may not.
    static func require(_ end: Int, _ what: @autoclosure () -> String, _ path: String) throws(StorageError) {
        if allows(end) { return }
        throw refusal(what(), path)
    }

    /// The error for what the limit does not allow.
    static func refusal(_ what: String, _ path: String) -> StorageError {
        StorageError(
            .full,
            "\(what): a limit of this process allows no file of more than \(most) bytes "
                + "(RLIMIT_FSIZE). Raise it, as by ulimit -f or LimitFSIZE",
            path: path,
            errorNumber: EFBIG
        )
    }
}
