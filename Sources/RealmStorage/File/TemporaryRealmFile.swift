import CRealmShims
import Glibc

/// The files of a realm that vanishes with its last user, made in a folder that others may write to.
///
/// Nobody had anything at their names before, nobody but this user can read them, and nobody removes them but the process that made them.
package struct TemporaryRealmFile: Sendable {
    /// Where the realm file is.
    package let path: String
    private let realm: FileIdentity
    private let lock: FileIdentity
    private let forkGeneration: UInt64

    /// Makes a realm without content, and its lock file.
    ///
    /// - Parameter path: The name of the realm file.
    /// - Returns: The files; nil when one of the names is taken.
    /// - Throws: `StorageError` when they cannot be made.
    package static func make(at path: String) throws(StorageError) -> TemporaryRealmFile? {
        let lockPath = path + ".lock"
        guard let lock = try makeEmpty(lockPath) else { return nil }
        do throws(StorageError) {
            var isMade = false
            try StorageFile.withNewFileContent(StorageOptions()) { (content) throws(StorageError) in
                isMade = try DataFile.create(path: path, content: content)
            }
            if isMade, let realm = ownIdentity(path) {
                return TemporaryRealmFile(
                    path: path,
                    realm: realm,
                    lock: lock,
                    forkGeneration: ForkDetector.generation
                )
            }
            if isMade { unlink(path) }
            unlink(lockPath)
            return nil
        } catch {
            unlink(lockPath)
            throw error
        }
    }

    private static func makeEmpty(_ path: String) throws(StorageError) -> FileIdentity? {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let descriptor: Int32
        do throws(StorageError) {
            descriptor = Int32(
                try SystemCall.retrying(path, "Cannot create the lock file") { Int(crealm_open(path, flags, 0o600)) }
            )
        } catch {
            if error.code == .exists { return nil }
            throw error
        }
        defer { close(descriptor) }
        var status = stat()
        do throws(StorageError) {
            // Whatever the umask has taken away.
            _ = try SystemCall.retrying(path, "Cannot set the mode of the lock file") {
                Int(fchmod(descriptor, 0o600))
            }
            _ = try SystemCall.retrying(path, "Cannot examine the lock file") { Int(fstat(descriptor, &status)) }
        } catch {
            unlink(path)
            throw error
        }
        return FileIdentity.of(status)
    }

    /// Whether an open file is the realm file, and not one that somebody has put in its place.
    package func isOpen(as file: StorageFile) -> Bool { (try? LockFile.identity(of: file.data)) == realm }

    /// Removes what was made, unless something else stands at the names now; not in a forked child, whose parent uses it.
    package func remove() {
        guard ForkDetector.generation == forkGeneration else { return }
        if TemporaryRealmFile.ownIdentity(path) == realm { unlink(path) }
        let lockPath = path + ".lock"
        if TemporaryRealmFile.ownIdentity(lockPath) == lock { unlink(lockPath) }
    }

    /// What a name leads to, when that is a file of this user.
    private static func ownIdentity(_ path: String) -> FileIdentity? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
            return nil
        }
        return FileIdentity.of(status)
    }
}
