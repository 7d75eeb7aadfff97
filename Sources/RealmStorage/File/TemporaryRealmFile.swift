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
    /// Nothing of it is flushed: it does not outlive the process.
    ///
    /// - Parameter path: The name of the realm file, which nobody else gives to a file.
    /// - Returns: The files; nil when one of the names is taken.
    /// - Throws: `StorageError` when they cannot be made; nothing of them is left then.
    package static func make(at path: String) throws(StorageError) -> TemporaryRealmFile? {
        let lockPath = path + ".lock"
        guard let lock = try makeFile(lockPath, "the lock file") else { return nil }
        do throws(StorageError) {
            var realm: FileIdentity?
            try StorageFile.withNewFileContent(StorageOptions()) { (content) throws(StorageError) in
                realm = try makeFile(path, "the realm file", content)
            }
            if let realm {
                return TemporaryRealmFile(
                    path: path,
                    realm: realm,
                    lock: lock,
                    forkGeneration: ForkDetector.generation
                )
            }
        } catch {
            unlink(lockPath)
            throw error
        }
        unlink(lockPath)
        return nil
    }

    /// Makes a file for this user alone.
    ///
    /// - Returns: What tells it from others, whoever owns it by the file system's word; nil when the name is taken.
    private static func makeFile(
        _ path: String,
        _ what: String,
        _ content: UnsafeRawBufferPointer? = nil
    ) throws(StorageError) -> FileIdentity? {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let descriptor: Int32
        do throws(StorageError) {
            descriptor = Int32(
                try SystemCall.retrying(path, "Cannot create \(what)") { Int(crealm_open(path, flags, 0o600)) }
            )
        } catch {
            if error.code == .exists { return nil }
            throw error
        }
        defer { close(descriptor) }
        var status = stat()
        do throws(StorageError) {
            // Whatever the umask has taken away.
            _ = try SystemCall.retrying(path, "Cannot set the mode of \(what)") { Int(fchmod(descriptor, 0o600)) }
            if let content, let bytes = content.baseAddress {
                FileSizeLimit.ask()
                try DataFile.write([(bytes, content.count)], at: 0, to: descriptor, path: path, .realm)
            }
            _ = try SystemCall.retrying(path, "Cannot examine \(what)") { Int(fstat(descriptor, &status)) }
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
        if TemporaryRealmFile.identity(path) == realm { unlink(path) }
        let lockPath = path + ".lock"
        if TemporaryRealmFile.identity(lockPath) == lock { unlink(lockPath) }
    }

    /// What has a name, when that is a file.
    private static func identity(_ path: String) -> FileIdentity? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return FileIdentity.of(status)
    }
}
