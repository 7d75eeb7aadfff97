import Atomics
import CRealmShims
import Glibc

/// The steps of opening a lock file.
extension LockFile {
    /// Readers that cannot write the lock file are known by a lock on the realm file, and by nothing more.
    ///
    /// Returns when every writer knows: whoever begins a transaction from then on has looked since. One that began before, and
    /// commits later, has taken no page of the version that is the newest now.
    ///
    /// - Throws: `StorageError` where the system has no lock: what is read would be written over.
    static func announceOutsider(in data: any StorageDevice) throws(StorageError) {
        let result = crealm_ofd_lock(data.descriptor, Int32(F_RDLCK), LockFileLayout.outsiderByte, 1, 0)
        if result != 0 { throw SystemCall.error(result, "Cannot lock the realm file", data.path) }
        let end = nanosecond + 2 * outsiderNanoseconds
        while nanosecond < end { usleep(useconds_t(outsiderNanoseconds / 1_000)) }
    }

    /// Whether somebody has the realm file open who has a place in a lock file, for such a reader, who has none.
    ///
    /// Not where the system cannot say.
    static func isAnybodyPresent(in data: any StorageDevice) -> Bool {
        crealm_ofd_is_locked(data.descriptor, LockFileLayout.presenceByte, 1) > 0
    }

    /// Says that such a reader has ended: closing alone would leave its lock to a child that was forked meanwhile.
    static func endOutsider(in data: any StorageDevice) {
        _ = crealm_ofd_lock(data.descriptor, Int32(F_UNLCK), LockFileLayout.outsiderByte, 1, 0)
    }

    /// Opens the file, or makes it, for its owner alone.
    ///
    /// What `root` makes for the realm of another user belongs to that user, who could not open the realm else.
    ///
    /// - Throws: `incompatibleLockFile` where it is not a regular file, and what the system answers.
    static func openFile(_ path: String, besides data: any StorageDevice) throws(StorageError) -> Int32 {
        let isRoot = geteuid() == 0
        if isRoot, let descriptor = openFileOfRoot(path) { return descriptor }
        let descriptor = try openOrMakeFile(path, besides: data, asRoot: isRoot)
        do throws(StorageError) {
            try checkIsRegular(descriptor, path)
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// The file where it is there and belongs to `root`, which is the usual case for a process of `root`: it need not try to make it before.
    ///
    /// Whatever belongs to another user is opened by ``openOrMakeFile(_:besides:asRoot:)``: in a folder that all may write to, the system refuses
    /// another user's file to whoever would make it, and to nobody else.
    private static func openFileOfRoot(_ path: String) -> Int32? {
        let descriptor = crealm_open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_uid == 0, status.st_mode & S_IFMT == S_IFREG { return descriptor }
        close(descriptor)
        return nil
    }

    private static func openOrMakeFile(
        _ path: String,
        besides data: any StorageDevice,
        asRoot isRoot: Bool
    ) throws(StorageError) -> Int32 {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        if isRoot {
            // What is there may have been put there by anybody, and stays as it is.
            let new = crealm_open(path, flags | O_EXCL, 0o600)
            if new >= 0 {
                var status = stat()
                if fstat(data.descriptor, &status) == 0 { _ = fchown(new, status.st_uid, gid_t.max) }
                return new
            }
        }
        return Int32(
            try SystemCall.retrying(path, "Cannot open the lock file") { Int(crealm_open(path, flags, 0o600)) }
        )
    }

    /// Whether somebody has the file open: a process, or another instance in this one.
    static func isOpen(_ descriptor: Int32, _ path: String) throws(StorageError) -> Bool {
        let result = crealm_ofd_is_locked(descriptor, LockFileLayout.processByte, Int64(LockFileLayout.slotCount))
        if result < 0 { throw SystemCall.error(-result, "Cannot examine the lock file", path) }
        return result != 0
    }

    /// Waits while an instance of this process that nobody has any more gives its slot back, where writing has stopped.
    ///
    /// Whoever joined it could not write. Its last user may be another thread, and its mapping keeps locks that the system did not
    /// give back. For whoever holds off other openings.
    static func waitForStoppedInstance(_ descriptor: Int32, _ path: String) throws(StorageError) {
        typealias Layout = LockFileLayout
        guard let words = stopWords(descriptor) else { return }
        let process = UInt32(bitPattern: getpid())
        for slot in 0..<min(Int(words[Layout.Word.slotEnd / 4]), Layout.slotCount) {
            // One without a number is on its way out.
            let number = words[Layout.processIDs / 4 + slot]
            if number == process || number == 0 { continue }
            // That process keeps everybody from writing in any case.
            if crealm_ofd_is_locked(descriptor, Layout.processByte + Int64(slot), 1) != 0 { return }
        }
        let end = nanosecond + 1_000_000_000
        // A flush that was only under way ends, in this process or in one that has the same number in another container.
        while try isOpen(descriptor, path), stopWords(descriptor) != nil, nanosecond < end { usleep(1_000) }
    }

    /// The words of a lock file, where they say that writing has stopped, or may have to; nil otherwise.
    ///
    /// It may have to while a flush is under way, which nobody makes without the lock to write or that of checkpoints. A note without them is
    /// that of a process that has died, and stays until somebody writes.
    private static func stopWords(_ descriptor: Int32) -> [UInt32]? {
        typealias Layout = LockFileLayout
        var words = [UInt32](repeating: 0, count: Layout.waitingThreads / 4)
        let count = words.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress!, $0.count, 0) }
        guard count == Layout.waitingThreads else { return nil }
        if words[Layout.Word.stopped / 4] != 0 { return words }
        let isFlushing =
            words[Layout.Word.pageFlush / 4] != 0
            && crealm_ofd_is_locked(descriptor, Layout.writeByte, Layout.checkpointByte + 1 - Layout.writeByte) != 0
        if isFlushing { return words }
        // Whoever stops says so before the lock is given back.
        var stopped: UInt32 = 0
        let isRead = pread(descriptor, &stopped, 4, off_t(Layout.Word.stopped)) == 4
        return isRead && stopped != 0 ? words : nil
    }

    /// Locks the realm file's own byte; fails when there are processes that do not share this lock file.
    ///
    /// - Returns: Whether a process that was just ending was waited for.
    @discardableResult
    static func announcePresence(in data: any StorageDevice, alone isAlone: Bool) throws(StorageError) -> Bool {
        let result = crealm_ofd_lock(data.descriptor, Int32(F_RDLCK), LockFileLayout.presenceByte, 1, 0)
        if result != 0 { throw SystemCall.error(result, "Cannot lock the realm file", data.path) }
        guard isAlone else { return false }
        // A process that is just ending may have given back its slot and not yet this lock.
        for attempt in 0..<100 {
            let others = crealm_ofd_is_locked(data.descriptor, LockFileLayout.presenceByte, 1)
            if others == 0 { return attempt > 0 }
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
        _ = crealm_ofd_lock(data.descriptor, Int32(F_UNLCK), LockFileLayout.presenceByte, 1, 0)
    }

    /// Gives all locks back at once: closing alone would leave them to a child that another thread has just forked, until it
    /// has become another program.
    static func unlockAll(_ descriptor: Int32) {
        _ = crealm_ofd_lock(descriptor, Int32(F_UNLCK), 0, 0, 0)
    }

    static func identity(of data: any StorageDevice) throws(StorageError) -> FileIdentity {
        var status = stat()
        _ = try SystemCall.retrying(data.path, "Cannot examine the realm file") { Int(fstat(data.descriptor, &status)) }
        return FileIdentity.of(status)
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
        /// The word that threads wait by.
        var wake: UInt32 = 0
        /// Whether it belonged to a file with the number of that which is there now: that of the device may be another one behind a start of
        /// the machine.
        var isSameNumber = false
        /// Whether the realm file is known to have held that version: it is the same file, and the machine was not started anew since.
        var isOfThisFile = false
        /// The identifier of the realm file that it belonged to.
        var fileID: UInt64 = 0
        /// The log, as far as they used one.
        var log = PastLog()
        /// The row keys that were given out, by table.
        var rowKeys: [UInt64] = []
    }

    /// What the processes before have left in a lock file that is not opened to be used; nothing where it cannot be read.
    static func past(at path: String, of identity: FileIdentity) -> Past {
        let descriptor = crealm_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard descriptor >= 0 else { return Past() }
        defer { close(descriptor) }
        return past(descriptor, of: identity)
    }

    static func past(_ descriptor: Int32, of identity: FileIdentity) -> Past {
        past(storedWords(in: descriptor), of: identity)
    }

    /// The words that a lock file begins with, as many as it has.
    static func storedWords(in descriptor: Int32) -> [UInt64] {
        var words = [UInt64](repeating: 0, count: LockFileLayout.Word.end / 8)
        let count = words.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress!, $0.count, 0) }
        words.removeLast(words.count - max(count, 0) / 8)
        return words
    }

    static func past(_ words: [UInt64], of identity: FileIdentity) -> Past {
        typealias Word = LockFileLayout.Word
        guard words.count == Word.end / 8, words[Word.magic / 8] == LockFileLayout.magic else { return Past() }
        let version = UInt32(truncatingIfNeeded: words[Word.layoutVersion / 8])
        guard LockFileLayout.readableVersions.contains(version) else { return Past() }
        let boot = bootID
        let knowsLogs = version >= LockFileLayout.versionWithLog
        let isSameBoot =
            knowsLogs && boot.0 != 0 && words[Word.bootID / 8] == boot.0 && words[Word.bootID / 8 + 1] == boot.1
        let isSameNumber = words[Word.inode / 8] == identity.inode
        let isSameFile = isSameNumber && words[Word.device / 8] == identity.device
        let rowKeys = words[Word.rowKeys / 8..<Word.rowKeys / 8 + Word.rowKeyCount]
        return Past(
            version: words[Word.newestVersion / 8],
            refused: words[Word.refusedHeader / 8],
            wake: UInt32(truncatingIfNeeded: words[Word.wake / 8]),
            isSameNumber: isSameNumber,
            isOfThisFile: isSameBoot && isSameFile && words[Word.fileID / 8] != 0,
            fileID: words[Word.fileID / 8],
            log: knowsLogs
                ? PastLog(
                    identifier: words[Word.logID / 8],
                    durableWord: words[Word.durableOffset / 8],
                    failedWord: words[Word.failedOffset / 8],
                    failedChain: words[Word.failedChain / 8]
                ) : PastLog(),
            rowKeys: knowsLogs ? Array(rowKeys) : []
        )
    }

    /// The identifier of the machine's present run; zeros where it cannot be found out.
    static let bootID: (UInt64, UInt64) = {
        let descriptor = crealm_open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return (0, 0) }
        defer { close(descriptor) }
        var text = [UInt8](repeating: 0, count: 64)
        let count = text.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return (0, 0) }
        var digits: [UInt64] = []
        for byte in text[..<count] where byte != UInt8(ascii: "-") {
            guard let digit = Character(UnicodeScalar(byte)).hexDigitValue else { break }
            digits.append(UInt64(digit))
        }
        guard digits.count == 32 else { return (0, 0) }
        return (digits[..<16].reduce(0) { $0 << 4 | $1 }, digits[16...].reduce(0) { $0 << 4 | $1 })
    }()

    /// The words of a new lock file: what it belongs to, and what outlives the processes before.
    ///
    /// - Parameters:
    ///   - state: The realm file's identifier, and the version that it was opened at.
    ///   - identity: Which file the realm file is.
    ///   - isRecovered: Whether the realm file was brought to that version, and not only read as if it had been.
    ///   - past: What the processes before have left.
    /// - Returns: The bytes of the words.
    static func words(
        _ state: (fileID: UInt64, version: UInt64),
        _ identity: FileIdentity,
        isRecovered: Bool,
        after past: Past
    ) -> [UInt8] {
        typealias Word = LockFileLayout.Word
        var words = [UInt8](repeating: 0, count: Word.end)
        words.withUnsafeMutableBytes { words in
            func put<Value: FixedWidthInteger>(_ value: Value, at offset: Int) {
                words.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
            }
            put(LockFileLayout.magic, at: Word.magic)
            put(LockFileLayout.version, at: Word.layoutVersion)
            put(state.fileID, at: Word.fileID)
            put(state.version, at: Word.newestVersion)
            // A thread that has been counted out, and has not seen it yet, would wait for one that it has seen before.
            put(past.wake, at: Word.wake)
            put(UInt32(isRecovered ? 1 : 0), at: Word.isRecovered)
            put(identity.device, at: Word.device)
            put(identity.inode, at: Word.inode)
            // The header stands in the file until the next commit takes its place.
            put(past.refused, at: Word.refusedHeader)
            // What it says holds for one log only.
            put(past.log.identifier, at: Word.logID)
            put(past.log.durableWord, at: Word.durableOffset)
            put(past.log.failedWord, at: Word.failedOffset)
            put(past.log.failedChain, at: Word.failedChain)
            put(bootID.0, at: Word.bootID)
            put(bootID.1, at: Word.bootID + 8)
            guard state.fileID == past.fileID else { return }
            for (index, key) in past.rowKeys.enumerated() where key <= greatestRowKey {
                put(key, at: Word.rowKeys + index * 8)
            }
        }
        return words
    }

    /// Makes the lock file new: zeros in real blocks, so that a full disk is an error here and not a signal at a store, and
    /// the words last and at once, so that an opening which ends before loses nothing that the old ones said.
    ///
    /// A file that has its size is overwritten, so that a realm on a full disk can still be opened.
    ///
    /// - Parameters:
    ///   - descriptor: The lock file, which nobody else has open.
    ///   - path: Its path.
    ///   - byteCount: Its length.
    ///   - words: The words.
    ///   - process: The process, which takes the first slot.
    ///   - isFlushed: Whether it is flushed, as a new one is, so that a power cut leaves none that nobody would know for one.
    /// - Throws: `StorageError` when the file cannot be sized, written or flushed.
    static func renew(
        _ descriptor: Int32,
        _ path: String,
        of byteCount: Int,
        _ words: [UInt8],
        for process: UInt32,
        isFlushed: Bool
    ) throws(StorageError) {
        // What the areas of processes that are gone took.
        if byteCount > LockFileLayout.area(1) {
            _ = try SystemCall.retrying(path, "Cannot size the lock file") {
                Int(ftruncate(descriptor, off_t(LockFileLayout.area(1))))
            }
        }
        // With what the first process notes, which is the one that makes it new: one call, and no page that is read or written to by a store.
        let begin = LockFileLayout.Word.end
        let end = LockFileLayout.area(0) + LockFileLayout.Area.places + pageByteCount
        var rest = [UInt8](repeating: 0, count: end - begin)
        rest.withUnsafeMutableBytes {
            $0.storeBytes(of: process.littleEndian, toByteOffset: LockFileLayout.processIDs - begin, as: UInt32.self)
        }
        do throws(StorageError) {
            try write(rest, at: begin, to: descriptor, path)
        } catch {
            // On a full disk without the page of places, which may be a hole yet: it only tells where versions are held.
            try write(Array(rest.dropLast(pageByteCount)), at: begin, to: descriptor, path)
        }
        try write(words, at: 0, to: descriptor, path)
        if isFlushed {
            _ = try SystemCall.retrying(path, "Cannot flush the lock file") { Int(fdatasync(descriptor)) }
        }
    }

    /// Makes room for what a process notes from the beginning on, and for its first readers: the file reaches as far as the readers of others
    /// are looked for.
    static func prepareArea(_ slot: Int, isNew: Bool, in descriptor: Int32, _ path: String) throws(StorageError) {
        let area = LockFileLayout.area(slot)
        if !isNew || slot > 0 {
            try writeZeros(area..<(area + LockFileLayout.Area.places), to: descriptor, path)
        }
        let readers = area + LockFileLayout.Area.readers
        let byteCount = LockFileLayout.readerStep * LockFileLayout.Reader.byteCount
        try writeZeros(readers..<(readers + byteCount), to: descriptor, path)
    }

    static func writeZeros(_ bytes: Range<Int>, to descriptor: Int32, _ path: String) throws(StorageError) {
        try write([UInt8](repeating: 0, count: bytes.count), at: bytes.lowerBound, to: descriptor, path)
    }

    /// Writes a piece of the lock file.
    ///
    /// - Parameters:
    ///   - bytes: The piece.
    ///   - start: Where it begins.
    ///   - descriptor: The lock file.
    ///   - path: Its path.
    ///   - asks: Whether the system is asked for the limit of the length of files before. An opening does that once, and writes several pieces.
    /// - Throws: `StorageError` where it cannot be written, or the limit does not allow it.
    static func write(
        _ bytes: [UInt8],
        at start: Int,
        to descriptor: Int32,
        _ path: String,
        asking asks: Bool = false
    ) throws(StorageError) {
        if asks { FileSizeLimit.ask() }
        try FileSizeLimit.require(start + bytes.count, "Cannot write the lock file", path)
        var offset = 0
        while offset < bytes.count {
            let written = try SystemCall.retrying(path, "Cannot write the lock file") {
                bytes.withUnsafeBytes {
                    pwrite(descriptor, $0.baseAddress! + offset, $0.count - offset, off_t(start + offset))
                }
            }
            if written == 0 { throw SystemCall.error(ENOSPC, "Cannot write the lock file", path) }
            offset += written
        }
    }

    static func note(_ identity: FileIdentity, in memory: LockFileMemory) {
        memory.word64(LockFileLayout.Word.device).store(identity.device, ordering: .relaxed)
        memory.word64(LockFileLayout.Word.inode).store(identity.inode, ordering: .relaxed)
    }

    /// Fails when the lock file that others use has another layout, or belongs to another file.
    static func checkDescription(
        of identity: FileIdentity,
        in memory: LockFileMemory,
        _ path: String
    ) throws(StorageError) {
        typealias Word = LockFileLayout.Word
        guard memory.word64(Word.magic).load(ordering: .relaxed) == LockFileLayout.magic,
            memory.word32(Word.layoutVersion).load(ordering: .relaxed) == LockFileLayout.version
        else { throw incompatible(path) }
        guard memory.word64(Word.device).load(ordering: .relaxed) == identity.device,
            memory.word64(Word.inode).load(ordering: .relaxed) == identity.inode
        else {
            throw StorageError(
                .incompatibleLockFile,
                "The realm file was replaced while another process has the old one open: close it there first",
                path: path
            )
        }
    }

    static func lock(
        _ descriptor: Int32,
        _ start: Int64,
        _ length: Int64,
        waits: Bool,
        _ path: String
    ) throws(StorageError) {
        while true {
            let result = crealm_ofd_lock(descriptor, Int32(F_WRLCK), start, length, waits ? 1 : 0)
            if result == 0 { return }
            if result != EINTR { throw SystemCall.error(result, "Cannot lock the lock file", path) }
        }
    }

    static func incompatible(_ path: String) -> StorageError {
        StorageError(
            .incompatibleLockFile,
            "The lock file has another layout: another version of the library has the realm open",
            path: path
        )
    }

    static func takeSlot(_ descriptor: Int32, _ path: String) throws(StorageError) -> Int {
        for slot in 0..<LockFileLayout.slotCount {
            let result = crealm_ofd_lock(descriptor, Int32(F_WRLCK), LockFileLayout.processByte + Int64(slot), 1, 0)
            if result == 0 { return slot }
            if result != EAGAIN && result != EACCES {
                throw SystemCall.error(result, "Cannot take a process slot", path)
            }
        }
        throw StorageError(
            .limit,
            "More than \(LockFileLayout.slotCount) processes have the realm file open",
            path: path
        )
    }
}
