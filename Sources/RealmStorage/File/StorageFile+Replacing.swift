import CRealmShims
import Glibc
import Synchronization

/// Files that are written whole under a temporary name and then put into their place.
extension StorageFile {
    /// What a new file is called until it is complete.
    private static func temporaryPath(for path: String) -> String { path + ".compacting" }

    /// Makes a new file, which appears under its name only when it is complete and durable.
    ///
    /// Two that make one there at once would write to one temporary file: the second one throws that the place is taken.
    ///
    /// - Parameters:
    ///   - path: Where it shall be.
    ///   - replaces: Whether it takes the place of a file that is there; otherwise that is an error.
    ///   - beginning: What the file begins with.
    ///   - fill: Writes the content, holding the write lock; it must keep nothing of the file.
    /// - Returns: the new file's identifier and newest version.
    /// - Throws: what `fill` throws, or `StorageError`; then there is no new file, unless the message says that there is.
    @discardableResult
    package static func build(
        at path: String,
        replaces: Bool,
        beginning: FileBeginning,
        _ fill: (StorageFile) throws -> Void
    ) throws -> (fileID: UInt64, version: UInt64) {
        try whileAlone(building: path, waits: false) {
            try buildAlone(at: path, replaces: replaces, beginning: beginning, fill)
        }
    }

    @discardableResult
    private static func buildAlone(
        at path: String,
        replaces: Bool,
        beginning: FileBeginning,
        _ fill: (StorageFile) throws -> Void
    ) throws -> (fileID: UInt64, version: UInt64) {
        let temporary = temporaryPath(for: path)
        if isFile(temporary), isOpenAnywhere(path: temporary) {
            throw StorageError(
                .exists,
                "A realm that is open, or whose lock file cannot be read, has the name of a new file until that is complete: close it, or "
                    + "give it another name",
                path: temporary
            )
        }
        // What an attempt that was interrupted has left.
        unlink(temporary)
        removeLockFile(ofRealmAt: temporary)
        var isPlaced = false
        defer {
            // The name may be somebody else's by then.
            if !isPlaced { unlink(temporary) }
            removeLockFile(ofRealmAt: temporary)
        }
        let result = try write(temporary, beginning: beginning, fill)
        // With the mark that closing it wrote.
        let descriptor = Int32(
            try SystemCall.retrying(temporary, "Cannot open the new realm file") {
                Int(crealm_open(temporary, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0))
            }
        )
        defer { close(descriptor) }
        if replaces { try keepPermissions(ofFileAt: path, for: descriptor) }
        _ = try SystemCall.retrying(temporary, "Cannot flush the new realm file") { Int(fsync(descriptor)) }
        if replaces {
            _ = try SystemCall.retrying(path, "Cannot put the new realm file into place") {
                Int(rename(temporary, path))
            }
        } else {
            let failure = crealm_rename_new(temporary, path)
            if failure != 0 { throw SystemCall.error(failure, "Cannot put the new realm file into place", path) }
        }
        isPlaced = true
        do {
            try DataFile.synchronizeDirectory(of: path)
        } catch {
            // It stays: somebody may have opened it by its name already, and written to it.
            throw StorageError(
                error.code,
                "The new realm file is complete and in its place, but the folder could not be flushed: after a power cut it may be gone",
                path: path,
                errorNumber: error.errorNumber
            )
        }
        return result
    }

    /// Removes what a process has left that was killed while it made a file at a path, with its claim.
    ///
    /// Without a claim a file of that name is the program's own, and so is one that somebody has open.
    ///
    /// - Returns: Whether there was an unfinished file.
    /// - Throws: `StorageError` where it cannot be removed.
    @discardableResult
    package static func removeUnfinished(at path: String) throws(StorageError) -> Bool {
        let temporary = temporaryPath(for: path)
        guard isFile(temporary), isFile(temporary + ".claim") else { return false }
        do {
            return try whileAlone(building: path, waits: false) { () throws -> Bool in
                if isOpenAnywhere(path: temporary) { return false }
                let isRemoved = try remove(temporary, "Cannot delete an unfinished realm file")
                removeLockFile(ofRealmAt: temporary)
                return isRemoved
            }
        } catch let error as StorageError {
            // It is just being made.
            if error.code == .alreadyOpen { return false }
            throw error
        } catch {
            throw StorageError(.io, "\(error)", path: path)
        }
    }

    /// Whether a name is a file's, and not a folder's or a link's.
    private static func isFile(_ path: String) -> Bool {
        var status = Glibc.stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Has those use the new file who may use the one whose place it takes, if there is one.
    private static func keepPermissions(ofFileAt path: String, for descriptor: Int32) throws(StorageError) {
        let old: DataFile
        do throws(StorageError) {
            old = try DataFile.open(path: path, isReadOnly: true)
        } catch {
            if error.code == .notFound { return }
            throw error
        }
        try FilePermissions.copy(from: old.descriptor, to: descriptor, path)
    }

    /// Makes a new file as ``build(at:replaces:beginning:_:)`` does, unless others make one there meanwhile: then theirs stays.
    ///
    /// Waits for those who are about the same.
    package static func buildUnlessMade(
        at path: String,
        beginning: FileBeginning,
        _ fill: (StorageFile) throws -> Void
    ) throws {
        try whileAlone(building: path, waits: true) {
            if FileIdentity.ofFile(at: path) != nil { return }
            do {
                try buildAlone(at: path, replaces: false, beginning: beginning, fill)
            } catch let error as StorageError where error.errorNumber == EEXIST {
                // Whoever makes an empty one waits for nobody.
            }
        }
    }

    /// Runs what makes a file while nobody else makes one at the same place.
    ///
    /// The system gives the lock of a process back that is killed.
    private static func whileAlone<Result>(
        building path: String,
        waits: Bool,
        _ body: () throws -> Result
    ) throws -> Result {
        let claim = temporaryPath(for: path) + ".claim"
        while true {
            let descriptor = try open(claim: claim, to: path)
            defer {
                LockFile.unlockAll(descriptor)
                close(descriptor)
            }
            try lock(claim: claim, descriptor, to: path, waits: waits)
            var status = stat()
            _ = try SystemCall.retrying(claim, "Cannot examine the claim to a new realm file") {
                Int(fstat(descriptor, &status))
            }
            // Whoever had it before has taken the name away.
            guard FileIdentity.ofFile(at: claim) == FileIdentity.of(status) else { continue }
            defer { unlink(claim) }
            return try body()
        }
    }

    private static func open(claim: String, to path: String) throws(StorageError) -> Int32 {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        // What is there may have been put there by anybody, and stays as it is.
        let new = crealm_open(claim, flags | O_EXCL, 0o600)
        if new >= 0 {
            var status = Glibc.stat()
            // What is left behind a kill is in the way of nobody whose file it is, or whose folder where no file is there yet.
            if lstat(path, &status) == 0 || stat(DataFile.directory(of: path), &status) == 0 {
                _ = fchown(new, status.st_uid, gid_t.max)
            }
            return new
        }
        return Int32(
            try SystemCall.retrying(claim, "Cannot open the claim to a new realm file") {
                Int(crealm_open(claim, flags, 0o600))
            }
        )
    }

    private static func lock(
        claim: String,
        _ descriptor: Int32,
        to path: String,
        waits: Bool
    ) throws(StorageError) {
        do throws(StorageError) {
            try LockFile.lock(descriptor, 0, 1, waits: waits, claim)
        } catch {
            guard !waits, error.errorNumber == EAGAIN || error.errorNumber == EACCES else { throw error }
            throw StorageError(
                .alreadyOpen,
                "A file is being made at this place, by another call or process: wait until that has ended",
                path: path
            )
        }
    }

    private static func write(
        _ temporary: String,
        beginning: FileBeginning,
        _ fill: (StorageFile) throws -> Void
    ) throws -> (fileID: UInt64, version: UInt64) {
        var options = StorageOptions()
        options.durability = .none
        options.beginning = beginning
        let file = try StorageFile.open(path: temporary, options: options)
        guard try file.tryLockForWriting() else {
            throw StorageError(.locked, "The new realm file is in use", path: temporary)
        }
        defer { file.unlockForWriting() }
        try fill(file)
        try file.cutToSize()
        return file.state.withLock { ($0.published.fileID, $0.published.version) }
    }

    /// Cuts off what was grown ahead; for a file that nobody else has open.
    private func cutToSize() throws(StorageError) {
        let pageCount = state.withLock { $0.published.pageCount }
        let end = Int(pageCount) * pageByteCount
        guard try data.currentByteCount() > end else { return }
        setPageLimit(atLeast: 0, byteCount: end)
        try data.setByteCount(end)
        state.withLock { $0.byteCount = end }
    }

    /// Replaces this file by a new one; nobody may use this instance afterwards, whose file has no name any more.
    ///
    /// - Parameter fill: Writes the new file's content.
    /// - Throws: `alreadyOpen` when another process has the file open, `invalidArgument` when the file has another name, or what
    ///   `fill` throws; then nothing has changed.
    package func replace(_ fill: (Snapshot, StorageFile) throws -> Void) throws {
        guard let lock, !data.isReadOnly else {
            throw StorageError(.readOnly, "The realm was opened for reading only", path: path)
        }
        var status = Glibc.stat()
        if fstat(data.descriptor, &status) == 0, status.st_nlink > 1 {
            // The other name would keep the old file: of one realm there would be two.
            throw StorageError(
                .invalidArgument,
                "The realm has another name, a hard link, and cannot be replaced under one of them: remove the other one",
                path: path
            )
        }
        var failure: (any Error)?
        do throws(StorageError) {
            try lock.whileAlone { () throws(StorageError) in
                do {
                    // Never is a new file put beside an old log.
                    try closeLog()
                    let snapshot = try beginRead()
                    let beginning = try FileBeginning(replacementOf: snapshot)
                    return try StorageFile.build(at: path, replaces: true, beginning: beginning) {
                        try fill(snapshot, $0)
                    }
                } catch {
                    failure = error
                    throw error as? StorageError ?? StorageError(.io, "\(error)", path: path)
                }
            }
        } catch {
            throw failure ?? error
        }
    }

    /// The bytes of the file, and how many of them hold something that a version needs.
    package func byteCounts() throws(StorageError) -> (total: Int, used: Int) {
        let snapshot = try beginRead(asking: .inFile)
        let space = try WriterState.load(from: snapshot.header, in: snapshot.view, path: path).space
        let unused = space.freePageCount + space.retired.reduce(0) { $0 + Int($1.extent.pageCount) }
        return (byteCount, (Int(snapshot.header.pageCount) - unused) * pageByteCount)
    }
}
