import CRealmShims
import Glibc
import Synchronization

/// The descriptor of a realm file, or of its log, and the system calls that the engine makes on it.
///
/// Bytes reach the file by `pwritev` only, never through the mapping: a full disk is an error and not a signal, and
/// whoever records system calls sees every byte.
final class DataFile: StorageDevice {
    package let descriptor: Int32
    package let path: String
    let identity: FileIdentity
    /// The length that the file had when it was opened.
    let byteCountWhenOpened: Int
    package let isReadOnly: Bool

    /// What a file is for, as messages say it.
    enum Role: String {
        case realm = "the realm file"
        case log = "the log of the realm"

        /// The same at the begin of a sentence.
        var capitalized: String { "T" + rawValue.dropFirst() }
    }

    private let role: Role
    /// How far the file was there, or was written, when the limit of its length was asked for; no further than it was there when its own
    /// length was.
    private let reach: Atomic<Int>

    private init(
        descriptor: Int32,
        path: String,
        identity: FileIdentity,
        byteCount: Int,
        isReadOnly: Bool,
        role: Role
    ) {
        self.role = role
        reach = Atomic(byteCount)
        self.descriptor = descriptor
        self.path = path
        self.identity = identity
        byteCountWhenOpened = byteCount
        self.isReadOnly = isReadOnly
    }

    deinit {
        close(descriptor)
    }

    /// Opens an existing regular file; symbolic links and special files are refused.
    static func open(path: String, isReadOnly: Bool, as role: Role = .realm) throws(StorageError) -> DataFile {
        let flags = (isReadOnly ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let descriptor: Int32
        do throws(StorageError) {
            descriptor = Int32(
                try SystemCall.retrying(path, "Cannot open \(role.rawValue)") { Int(crealm_open(path, flags, 0)) }
            )
        } catch {
            guard error.errorNumber == ELOOP || error.errorNumber == EISDIR || error.errorNumber == ENXIO else {
                throw error
            }
            throw StorageError(
                error.errorNumber == ELOOP && !isSymbolicLink(path) ? .impossiblePath : .notADatabase,
                "The path names something that is not a regular file, or leads through symbolic links to none",
                path: path,
                errorNumber: error.errorNumber
            )
        }
        do throws(StorageError) {
            var status = stat()
            _ = try SystemCall.retrying(path, "Cannot examine \(role.rawValue)") { Int(fstat(descriptor, &status)) }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw StorageError(.notADatabase, "The path names something that is not a regular file", path: path)
            }
            // Also for who only reads: the lock file is written to then as well.
            FileSizeLimit.ask()
            return DataFile(
                descriptor: descriptor,
                path: path,
                identity: FileIdentity.of(status),
                byteCount: Int(status.st_size),
                isReadOnly: isReadOnly,
                role: role
            )
        } catch {
            close(descriptor)
            throw error
        }
    }

    private static func isSymbolicLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// Creates a file with the given content, and perhaps zeros behind it, under a temporary name and puts it into place, durably.
    ///
    /// When the name was taken meanwhile, the other file stands. It is its owner's alone, unless another file says who may use it.
    ///
    /// - Returns: Whether it was not.
    @discardableResult
    static func create(
        path: String,
        content: UnsafeRawBufferPointer,
        zeros zeroByteCount: Int = 0,
        forUsersOf other: Int32? = nil,
        as role: Role = .realm
    ) throws(StorageError) -> Bool {
        let temporary = "\(path).\(getpid()).\(UInt64.random(in: 0 ... .max)).new"
        FileSizeLimit.ask()
        // Else zeros would be written up to the limit first.
        try FileSizeLimit.require(content.count + zeroByteCount, "Cannot create \(role.rawValue)", path)
        let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let descriptor = Int32(
            try SystemCall.retrying(path, "Cannot create \(role.rawValue)") {
                Int(crealm_open(temporary, flags, 0o600))
            }
        )
        defer {
            close(descriptor)
            unlink(temporary)
        }
        _ = try SystemCall.retrying(path, "Cannot set the mode of \(role.rawValue)") { Int(fchmod(descriptor, 0o600)) }
        try write([(content.baseAddress!, content.count)], at: 0, to: descriptor, path: path, role)
        if zeroByteCount > 0 { try writeZeros(zeroByteCount, at: content.count, to: descriptor, path: path, role) }
        if let other { try give(descriptor, toUsersOf: other, path: path, role) }
        _ = try SystemCall.retrying(path, "Cannot flush \(role.rawValue), which is new") { Int(fsync(descriptor)) }
        // Not with a link: a kill would leave the file with both names.
        let failure = crealm_rename_new(temporary, path)
        let isMade = failure == 0
        if !isMade, failure != EEXIST {
            throw SystemCall.error(failure, "Cannot put \(role.rawValue) into place", path)
        }
        try makeNameDurable(of: descriptor, isMade: isMade, path: path, as: role)
        return isMade
    }

    /// Has those use a new file who may use another one.
    ///
    /// - Throws: `permissionDenied` where this process may not have all of them do so.
    private static func give(
        _ descriptor: Int32,
        toUsersOf other: Int32,
        path: String,
        _ role: Role
    ) throws(StorageError) {
        if try FilePermissions.copy(from: other, to: descriptor, path) { return }
        throw StorageError(
            .permissionDenied,
            "This process may not give \(role.rawValue) the owner, the group and the permissions of the realm file",
            path: path
        )
    }

    /// Makes the name of a file durable that was just made, or found.
    private static func makeNameDurable(
        of descriptor: Int32,
        isMade: Bool,
        path: String,
        as role: Role
    ) throws(StorageError) {
        let isNewLog = isMade && role == .log
        do throws(StorageError) {
            // A file system may write the name down with the file, and not with the folder.
            if isNewLog {
                _ = try SystemCall.retrying(path, "Cannot flush the log of the realm") { Int(fsync(descriptor)) }
            }
            try synchronizeDirectory(of: path)
        } catch {
            // No header will name it, and the next opening would take it for another file's.
            if isNewLog { unlink(path) }
            throw error
        }
    }

    /// Makes a file of zeros without a name, durably, which gets one by ``create(path:content:from:forUsersOf:as:)``.
    ///
    /// - Parameters:
    ///   - path: The name that it may get.
    ///   - byteCount: Its length.
    ///   - role: What it is for.
    /// - Returns: The file; nil where the file system has none without names.
    /// - Throws: `StorageError` when it cannot be written or flushed.
    static func makeUnnamed(for path: String, byteCount: Int, as role: Role) throws(StorageError) -> UnnamedFile? {
        FileSizeLimit.ask()
        // Else zeros would be written up to the limit first.
        try FileSizeLimit.require(byteCount, "Cannot create \(role.rawValue)", path)
        let descriptor: Int32
        do throws(StorageError) {
            descriptor = Int32(
                try SystemCall.retrying(path, "Cannot create \(role.rawValue)") {
                    Int(crealm_open_unnamed(directory(of: path), 0o600))
                }
            )
        } catch {
            if let number = error.errorNumber, [EOPNOTSUPP, EISDIR, EINVAL, ENOSYS].contains(number) { return nil }
            throw error
        }
        let file = UnnamedFile(descriptor: descriptor)
        _ = try SystemCall.retrying(path, "Cannot set the mode of \(role.rawValue)") { Int(fchmod(descriptor, 0o600)) }
        try writeZeros(byteCount, at: 0, to: descriptor, path: path, role)
        _ = try SystemCall.retrying(path, "Cannot flush \(role.rawValue), which is new") { Int(fsync(descriptor)) }
        return file
    }

    /// Gives a file that was made without a name its content and its name, durably.
    ///
    /// When the name was taken meanwhile, the other file stands.
    ///
    /// - Parameters:
    ///   - path: Its name.
    ///   - content: What it begins with.
    ///   - unnamed: The file.
    ///   - other: A file whose users are to be this one's; nil for its owner alone.
    ///   - role: What it is for.
    /// - Returns: Whether the name was not taken; nil where it cannot be given a name at all, and nothing has changed.
    /// - Throws: `StorageError` when it cannot be written or flushed, or `permissionDenied` when it cannot be given to all of those users.
    static func create(
        path: String,
        content: UnsafeRawBufferPointer,
        from unnamed: UnnamedFile,
        forUsersOf other: Int32?,
        as role: Role
    ) throws(StorageError) -> Bool? {
        let descriptor = unnamed.descriptor
        try write([(content.baseAddress!, content.count)], at: 0, to: descriptor, path: path, role)
        if let other { try give(descriptor, toUsersOf: other, path: path, role) }
        _ = try SystemCall.retrying(path, "Cannot flush \(role.rawValue), which is new") { Int(fsync(descriptor)) }
        let result = crealm_link_unnamed(descriptor, path)
        // Where the system shows no descriptors as files.
        if result != 0 && result != EEXIST { return nil }
        try makeNameDurable(of: descriptor, isMade: result == 0, path: path, as: role)
        return result == 0
    }

    /// Makes the names in a file's directory durable.
    static func synchronizeDirectory(of path: String) throws(StorageError) {
        let directory = directory(of: path)
        let descriptor = Int32(
            try SystemCall.retrying(directory, "Cannot open the directory") {
                Int(crealm_open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0))
            }
        )
        defer { close(descriptor) }
        _ = try SystemCall.retrying(directory, "Cannot flush the directory") { Int(fsync(descriptor)) }
    }

    /// Whether this process may make and remove names in a file's directory.
    static func mayChangeDirectory(of path: String) -> Bool {
        faccessat(AT_FDCWD, directory(of: path), W_OK | X_OK, AT_EACCESS) == 0
    }

    /// The folder that a path names a file in.
    static func directory(of path: String) -> String {
        // A mark that begins a name makes one character with the separator before it.
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    /// How many bytes the file's device has left for this process: the folder that the path names may be on another one.
    package var freeByteCount: Int? {
        var information = statvfs()
        return fstatvfs(descriptor, &information) == 0 ? DataFile.freeByteCount(by: information) : nil
    }

    /// How many bytes the device of a file's folder has left for this process; nil where the system does not say.
    static func freeByteCount(besides path: String) -> Int? {
        var information = statvfs()
        return statvfs(directory(of: path), &information) == 0 ? freeByteCount(by: information) : nil
    }

    private static func freeByteCount(by information: statvfs) -> Int? {
        // Some say that they have no blocks at all, where nothing limits them.
        guard information.f_blocks > 0 else { return nil }
        // Without the blocks that are kept for root, who is not asked for: in a container it may be another one.
        let (byteCount, overflows) = information.f_bavail.multipliedReportingOverflow(by: information.f_frsize)
        return overflows ? nil : Int(exactly: byteCount)
    }

    /// The file's present length, after checking that it is still there.
    package func currentByteCount() throws(StorageError) -> Int {
        var byteCount: Int64 = 0
        var linkCount: UInt32 = 0
        // Without its times: the system gives every change of a file whose times somebody asked for a new time of its own, and
        // writes that down, which was a twentieth of a small commit.
        let result = crealm_file_status(descriptor, &byteCount, &linkCount)
        if result != 0 { throw SystemCall.error(result, "Cannot examine \(role.rawValue)", path) }
        if linkCount == 0 {
            throw StorageError(
                .io,
                "\(role.capitalized) was deleted or replaced while it was open; close it and open it again",
                path: path
            )
        }
        // Another process may have cut it: before it is made longer again, the limit is asked for.
        if Int(byteCount) < reach.load(ordering: .relaxed) { reach.store(Int(byteCount), ordering: .relaxed) }
        return Int(byteCount)
    }

    /// Writes pieces of memory one behind the other, all of them or an error.
    package func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError) {
        let end = pieces.reduce(offset) { $0 + $1.1 }
        let isLonger = end > reach.load(ordering: .relaxed)
        if isLonger { FileSizeLimit.ask() }
        try DataFile.write(pieces, at: offset, to: descriptor, path: path, role)
        if isLonger { reach.store(end, ordering: .relaxed) }
    }

    private static func writeZeros(
        _ byteCount: Int,
        at offset: Int,
        to descriptor: Int32,
        path: String,
        _ role: Role
    ) throws(StorageError) {
        // The system keeps what was written at once in one piece of memory, and counts all of it as written again for each block of it:
        // with pieces of 1 MiB that was up to 1 MiB for each flushed block of a log.
        let chunk = min(byteCount, pageByteCount)
        let zeros = UnsafeMutableRawPointer.allocate(byteCount: chunk, alignment: pageByteCount)
        zeros.initializeMemory(as: UInt8.self, repeating: 0, count: chunk)
        defer { zeros.deallocate() }
        var done = 0
        while done < byteCount {
            let count = min(chunk, byteCount - done)
            try write([(UnsafeRawPointer(zeros), count)], at: offset + done, to: descriptor, path: path, role)
            done += count
        }
    }

    /// The most bytes that one call writes.
    ///
    /// For more at once the system looks for larger pieces of memory, and takes up to ten times as long: 104 MB in 13 calls took
    /// 107 to 380 ms, in calls of 1 MiB 25 to 48 ms (Linux 6.18, ext4).
    private static let longestWrite = 1 << 20

    static func write(
        _ pieces: [(UnsafeRawPointer, Int)],
        at offset: Int,
        to descriptor: Int32,
        path: String,
        _ role: Role
    ) throws(StorageError) {
        // On the stack, where they are few.
        try withUnsafeTemporaryAllocation(of: iovec.self, capacity: pieces.count) { (vectors) throws(StorageError) in
            var end = offset
            for (index, (bytes, byteCount)) in pieces.enumerated() {
                let vector = iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes), iov_len: byteCount)
                vectors.initializeElement(at: index, to: vector)
                end += byteCount
            }
            try FileSizeLimit.require(end, "Cannot write to \(role.rawValue)", path)
            try write(vectors, at: offset, to: descriptor, path: path, role)
        }
    }

    /// Writes pieces of memory; what is said of them changes on the way.
    private static func write(
        _ vectors: UnsafeMutableBufferPointer<iovec>,
        at offset: Int,
        to descriptor: Int32,
        path: String,
        _ role: Role
    ) throws(StorageError) {
        var first = 0
        var position = offset
        while first < vectors.count {
            var count = 1
            var byteCount = vectors[first].iov_len
            while first + count < vectors.count, count < 1024,
                byteCount + vectors[first + count].iov_len <= longestWrite
            {
                byteCount += vectors[first + count].iov_len
                count += 1
            }
            let whole = vectors[first].iov_len
            vectors[first].iov_len = min(whole, longestWrite)
            var written = try SystemCall.retrying(path, "Cannot write to \(role.rawValue)") {
                pwritev(descriptor, vectors.baseAddress! + first, Int32(count), position)
            }
            vectors[first].iov_len = whole
            if written == 0 {
                throw StorageError(.io, "Cannot write to \(role.rawValue): nothing was written", path: path)
            }
            position += written
            while written > 0 {
                let length = vectors[first].iov_len
                if written >= length {
                    written -= length
                    first += 1
                } else {
                    vectors[first].iov_base += written
                    vectors[first].iov_len -= written
                    written = 0
                }
            }
        }
    }

    /// Makes everything written durable.
    ///
    /// A failure is never retried: what the kernel dropped would look like success.
    package func synchronize() throws(StorageError) {
        _ = try SystemCall.retrying(path, "Cannot flush \(role.rawValue)") { Int(fdatasync(descriptor)) }
    }

    /// Cuts the file, or extends it with a hole.
    package func setByteCount(_ byteCount: Int) throws(StorageError) {
        FileSizeLimit.ask()
        // What is cut may still be longer than the process may write.
        if !FileSizeLimit.allows(byteCount), try currentByteCount() < byteCount {
            throw FileSizeLimit.refusal("Cannot set the length of \(role.rawValue)", path)
        }
        _ = try SystemCall.retrying(path, "Cannot set the length of \(role.rawValue)") {
            Int(ftruncate(descriptor, off_t(byteCount)))
        }
        reach.store(byteCount, ordering: .relaxed)
    }
}
