import CRealmShims
import Glibc

extension StorageFile {
    /// Deletes the files of a realm: a copy that a kill has left unfinished, its log, its lock file, and the realm itself.
    ///
    /// - Returns: Whether there were any.
    /// - Throws: `permissionDenied` or `io` where one that holds data cannot be deleted.
    @discardableResult
    package static func removeFiles(ofRealmAt path: String) throws(StorageError) -> Bool {
        var removed = try removeUnfinished(at: path)
        // A kill must not leave the log without its realm, by which it is known: it would stay, and keep the next realm of that name from having
        // one. A realm without its log is refused, as it should be.
        if try removeLog(ofRealmAt: path) { removed = true }
        // Before the realm: whoever opens one that others make there at this moment has the same lock file as they. One that stays
        // does no harm, and whatever else stands at its name stays.
        if removeLockFile(ofRealmAt: path) { removed = true }
        if try remove(path, "Cannot delete the realm file") { removed = true }
        return removed
    }

    /// Deletes a file; false where none is, nor can be.
    static func remove(_ path: String, _ what: String) throws(StorageError) -> Bool {
        if unlink(path) == 0 { return true }
        let number = errno
        if isAbsence(number) { return false }
        // The reason may be the folder or its file system, which the system looks at before it looks for the file.
        var status = Glibc.stat()
        if lstat(path, &status) != 0, isAbsence(errno) { return false }
        throw SystemCall.error(number, what, path)
    }

    /// Whether the system's error says that there is no file of a name.
    private static func isAbsence(_ number: Int32) -> Bool {
        [ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP].contains(number)
    }
}
