import CRealmShims
import Glibc

/// The steps of opening a lock file.
extension LockFile {
    /// Readers that cannot write the lock file are known by a lock on the realm file, and by nothing more.
    ///
    /// Returns when every writer knows: whoever begins a transaction from then on has looked since. One that began before, and
    /// commits later, has taken no page of the version that is the newest now.
    static func announceOutsider(in data: any StorageDevice) {
        _ = crealm_ofd_lock(data.descriptor, Int32(F_RDLCK), outsiderByte, 1, 0)
        let end = nanosecond + 2 * outsiderNanoseconds
        while nanosecond < end { usleep(useconds_t(outsiderNanoseconds / 1_000)) }
    }

    /// Locks the realm file's own byte; fails when there are processes that do not share this lock file.
    static func announcePresence(in data: any StorageDevice, alone isAlone: Bool) throws(StorageError) {
        let result = crealm_ofd_lock(data.descriptor, Int32(F_RDLCK), presenceByte, 1, 0)
        if result != 0 { throw SystemCall.error(result, "Cannot lock the realm file", data.path) }
        guard isAlone else { return }
        // A process that is just ending may have given back its slot and not yet this lock.
        for _ in 0..<100 {
            let others = crealm_ofd_is_locked(data.descriptor, presenceByte, 1)
            if others == 0 { return }
            if others < 0 { throw SystemCall.error(-others, "Cannot examine the locks of the realm file", data.path) }
            usleep(1000)
        }
        throw StorageError(
            .incompatibleLockFile,
            "The realm file is open elsewhere, but not with this lock file: the lock file was deleted or replaced, or the "
                + "realm file has another name there. Close it there first",
            path: data.path
        )
    }

    static func endPresence(in data: any StorageDevice) {
        _ = crealm_ofd_lock(data.descriptor, Int32(F_UNLCK), presenceByte, 1, 0)
    }

    /// Gives all locks back at once: closing alone would leave them to a child that another thread has just forked, until it
    /// has become another program.
    static func unlockAll(_ descriptor: Int32) {
        _ = crealm_ofd_lock(descriptor, Int32(F_UNLCK), 0, 0, 0)
    }

    static func identity(of data: any StorageDevice) throws(StorageError) -> FileIdentity {
        var status = stat()
        _ = try SystemCall.retrying(data.path, "Cannot examine the realm file") { Int(fstat(data.descriptor, &status)) }
        return FileIdentity(status)
    }

    static func checkIsRegular(_ descriptor: Int32, _ path: String) throws(StorageError) {
        var status = stat()
        _ = try SystemCall.retrying(path, "Cannot examine the lock file") { Int(fstat(descriptor, &status)) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StorageError(.incompatibleLockFile, "The lock file is not a regular file", path: path)
        }
    }

    static func byteCount(of descriptor: Int32, _ path: String) throws(StorageError) -> Int {
        var status = stat()
        _ = try SystemCall.retrying(path, "Cannot examine the lock file") { Int(fstat(descriptor, &status)) }
        return Int(status.st_size)
    }

    /// What the processes before have left, for what it is worth after a crash: it may keep a file from being taken for
    /// new, a header from being believed, and row keys from being given out again, and nothing else.
    struct Past {
        /// The newest version that they knew.
        var version: UInt64 = 0
        /// The fingerprint of a header whose commit failed.
        var refused: UInt64 = 0
        /// The realm file that it belonged to.
        var fileID: UInt64 = 0
        /// The row keys that were given out, by table.
        var rowKeys: [UInt64] = []

        /// Keeps the row keys when the lock file still belongs to the same realm file.
        func storeRowKeys(ofFile fileID: UInt64, to memory: UnsafeMutableRawPointer) {
            guard fileID == self.fileID else { return }
            for (index, key) in rowKeys.enumerated() where key <= greatestRowKey {
                memory.storeBytes(of: key, toByteOffset: rowKeysOffset + index * 8, as: UInt64.self)
            }
        }
    }

    static func past(_ descriptor: Int32) -> Past {
        let firstRowKey = rowKeysOffset / 8
        var words = [UInt64](repeating: 0, count: firstRowKey + rowKeyCount)
        let count = words.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress!, $0.count, 0) }
        guard count == words.count * 8, words[0] == magic, UInt32(truncatingIfNeeded: words[1]) == layoutVersion else {
            return Past()
        }
        return Past(
            version: words[3],
            refused: words[10],
            fileID: words[2],
            rowKeys: Array(words[firstRowKey...])
        )
    }

    /// Fills the file with zeros: real blocks, so that a full disk is an error here and not a signal at a store.
    ///
    /// A file that has its size is overwritten, so that a realm on a full disk can still be opened.
    static func clear(_ descriptor: Int32, _ path: String) throws(StorageError) {
        if try byteCount(of: descriptor, path) != LockFile.byteCount {
            _ = try SystemCall.retrying(path, "Cannot size the lock file") {
                Int(ftruncate(descriptor, off_t(LockFile.byteCount)))
            }
        }
        let zeros = [UInt8](repeating: 0, count: LockFile.byteCount)
        var offset = 0
        while offset < zeros.count {
            let written = try SystemCall.retrying(path, "Cannot write the lock file") {
                zeros.withUnsafeBytes { pwrite(descriptor, $0.baseAddress! + offset, $0.count - offset, off_t(offset)) }
            }
            if written == 0 { throw SystemCall.error(ENOSPC, "Cannot write the lock file", path) }
            offset += written
        }
    }

    static func map(_ descriptor: Int32, _ path: String) throws(StorageError) -> UnsafeMutableRawPointer {
        guard let memory = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
            memory != MAP_FAILED
        else { throw SystemCall.error(errno, "Cannot map the lock file", path) }
        return memory
    }

    static func takeSlot(_ descriptor: Int32, _ path: String) throws(StorageError) -> Int {
        for slot in 0..<processSlotCount {
            let result = crealm_ofd_lock(descriptor, Int32(F_WRLCK), processByte + Int64(slot), 1, 0)
            if result == 0 { return slot }
            if result != EAGAIN && result != EACCES {
                throw SystemCall.error(result, "Cannot take a process slot", path)
            }
        }
        throw StorageError(.limit, "More than \(processSlotCount) processes have the realm file open", path: path)
    }
}
