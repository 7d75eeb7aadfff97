import CRealmShims
import Glibc

/// Whether what stands at `<file>.lock` is a lock file: nothing else is ever overwritten or deleted.
extension LockFile {
    private typealias Layout = LockFileLayout

    /// The most that is looked through for something other than zeros, which a crash may have left of a lock file.
    private static var searchedByteCount: Int { 1 << 20 }

    /// Fails when a lock file at a path would take the place of something else; for a realm that is to be created.
    static func checkPlace(_ path: String) throws(StorageError) {
        let descriptor = crealm_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        // What cannot be read is told by opening it.
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        try checkIsRegular(descriptor, path)
        try checkIsLockFile(descriptor, path)
    }

    /// Fails when a file has a content that is not a lock file's, or has no content, be it empty or zeros, and has another name.
    ///
    /// - Parameters:
    ///   - descriptor: The file.
    ///   - path: Its path.
    ///   - words: What it begins with, where that was read already, by whoever keeps others from making one.
    /// - Returns: whether it begins with the words of a lock file; what is empty, or was cut short, does not. And its length.
    /// - Throws: `incompatibleLockFile` for a file that is something else, and what the system said where it cannot be examined.
    @discardableResult
    static func checkIsLockFile(
        _ descriptor: Int32,
        _ path: String,
        beginningWith words: [UInt64]? = nil
    ) throws(StorageError) -> (isWhole: Bool, byteCount: Int) {
        var status = stat()
        _ = try SystemCall.retrying(path, "Cannot examine the lock file") { Int(fstat(descriptor, &status)) }
        let byteCount = Int(status.st_size)
        if status.st_size == 0, status.st_nlink <= 1 { return (false, byteCount) }
        if status.st_size > 0 {
            if words.map({ $0.first == Layout.magic }) ?? hasMagic(descriptor) { return (true, byteCount) }
            // Somebody else's file of zeros says no more of itself than what a crash has left: its other name does, and its length.
            if status.st_nlink <= 1, isMade(byteCount) {
                if try isZero(descriptor, byteCount, path) { return (false, byteCount) }
                // Whoever makes one may have come between both looks, which wait for nobody.
                if hasMagic(descriptor) { return (true, byteCount) }
            }
        }
        throw StorageError(
            .incompatibleLockFile,
            "The realm needs this name for its lock file, and a file that is none stands there"
                + (status.st_nlink > 1 ? " under two names" : " (\(status.st_size) bytes)")
                + ". It was left as it is. Move it away, or give the realm another name",
            path: path
        )
    }

    private static func hasMagic(_ descriptor: Int32) -> Bool {
        var word: UInt64 = 0
        let count = withUnsafeMutableBytes(of: &word) { pread(descriptor, $0.baseAddress, 8, 0) }
        return count == 8 && word == Layout.magic
    }

    /// Whether a lock file may have a length at any moment: whole pages, or up to an entry in the table of readers of a process.
    private static func isMade(_ byteCount: Int) -> Bool {
        if byteCount % pageByteCount == 0 { return true }
        let offset = (byteCount - Layout.baseByteCount) % Layout.areaByteCount
        return offset > Layout.Area.readers && (offset - Layout.Area.readers) % Layout.Reader.byteCount == 0
    }

    private static func isZero(_ descriptor: Int32, _ byteCount: Int, _ path: String) throws(StorageError) -> Bool {
        guard byteCount <= searchedByteCount else { return false }
        var bytes = [UInt8](repeating: 0, count: byteCount)
        let count = try SystemCall.retrying(path, "Cannot read the lock file") {
            bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        }
        // What makes it writes the number of its process before the words that name the file.
        let number = Layout.processIDs..<Layout.processIDs + 4
        return bytes[..<count].indices.allSatisfy { bytes[$0] == 0 || number.contains($0) }
    }
}

extension StorageFile {
    /// Deletes the lock file of a realm, when it is one.
    ///
    /// - Returns: Whether it was deleted.
    @discardableResult
    package static func removeLockFile(ofRealmAt path: String) -> Bool {
        let lock = path + ".lock"
        let descriptor = crealm_open(lock, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        do throws(StorageError) {
            try LockFile.checkIsRegular(descriptor, lock)
            try LockFile.checkIsLockFile(descriptor, lock)
        } catch {
            return false
        }
        return unlink(lock) == 0
    }
}
