import Atomics
import CRealmShims
import Glibc
import Synchronization

/// The processes that have the file open, each with a slot.
extension LockFile {
    private typealias Layout = LockFileLayout

    /// The clock of the reader entries: no setting of the time moves it, and all processes of a machine share it.
    static var secondSinceBoot: UInt32 { UInt32(truncatingIfNeeded: nanosecondSinceBoot / 1_000_000_000) }

    static var nanosecondSinceBoot: UInt64 { nanosecond(of: CLOCK_BOOTTIME) }

    static var nanosecond: UInt64 { nanosecond(of: CLOCK_MONOTONIC) }

    private static func nanosecond(of clock: Int32) -> UInt64 {
        var time = timespec()
        clock_gettime(clockid_t(clock), &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    var usedSlots: Range<Int> {
        0..<min(Int(memory.word32(Layout.Word.slotEnd).load(ordering: .sequentiallyConsistent)), Layout.slotCount)
    }

    func waitingThreads(_ slot: Int) -> UnsafeAtomic<UInt32> { memory.word32(Layout.waitingThreads + slot * 4) }

    /// The process that has a slot; 0 when none has noted that it does.
    func processID(_ slot: Int) -> UnsafeAtomic<UInt32> { memory.word32(Layout.processIDs + slot * 4) }

    /// Whether a slot says that another process has the file open, without a look at who lives.
    var hasOtherProcesses: Bool {
        usedSlots.contains { $0 != processSlot && processID($0).load(ordering: .relaxed) != 0 }
    }

    /// Whether another process has the file open.
    var isSharedWithOtherProcesses: Bool {
        let first = Layout.processByte
        let slot = Int64(processSlot)
        let before = slot > 0 && crealm_ofd_is_locked(descriptor, first, slot) != 0
        let count = Int64(Layout.slotCount) - slot - 1
        return before || count > 0 && crealm_ofd_is_locked(descriptor, first + slot + 1, count) != 0
    }

    /// Has whoever opens the file wait, if no other process has it open, until `letOpenAgain()`.
    ///
    /// - Returns: whether that is so.
    func holdOffOpenings() -> Bool {
        guard (try? LockFile.lock(descriptor, Layout.initialisationByte, 1, waits: false, path)) != nil else {
            return false
        }
        if isSharedWithOtherProcesses {
            letOpenAgain()
            return false
        }
        return true
    }

    /// Lets those open the file who wait for that.
    func letOpenAgain() { _ = crealm_ofd_lock(descriptor, Int32(F_UNLCK), Layout.initialisationByte, 1, 0) }

    /// Runs something while no other process has the file open, and none can open it; the file is another one afterwards,
    /// which those who wait to open it find described here.
    func whileAlone(
        _ body: () throws(StorageError) -> (fileID: UInt64, version: UInt64)
    ) throws(StorageError) {
        try LockFile.lock(descriptor, Layout.initialisationByte, 1, waits: true, path)
        defer { _ = crealm_ofd_lock(descriptor, Int32(F_UNLCK), Layout.initialisationByte, 1, 0) }
        guard !isSharedWithOtherProcesses else {
            throw StorageError(.alreadyOpen, "Another process has the realm open", path: path)
        }
        let state = try body()
        memory.word64(Layout.Word.fileID).store(state.fileID, ordering: .relaxed)
        memory.word64(Layout.Word.newestVersion).store(state.version, ordering: .sequentiallyConsistent)
        var status = stat()
        if stat(data.path, &status) == 0 { note(FileIdentity.of(status)) }
    }

    /// Whether any process has a file open, by its lock file; opens nothing.
    ///
    /// - Throws: `StorageError` where that cannot be told: `permissionDenied` where the lock file is there and may not be read.
    static func isInUse(path: String) throws(StorageError) -> Bool {
        // Who asks for a lock, and takes none, need not write.
        let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let descriptor: Int32
        do throws(StorageError) {
            descriptor = Int32(
                try SystemCall.retrying(path, "Cannot tell by its lock file whether the realm is open") {
                    Int(crealm_open(path, flags, 0))
                }
            )
        } catch {
            // What is no lock file is nobody's. All else says nothing of it, as a lack of descriptors does.
            let isNone = [ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP, ENXIO].contains { $0 == error.errorNumber }
            if isNone { return false }
            throw error
        }
        defer { close(descriptor) }
        return crealm_ofd_is_locked(descriptor, Layout.processByte, Int64(Layout.slotCount)) != 0
    }

    /// Clears what a dead process has left; false when it lives.
    @discardableResult
    func forgetIfDead(slot: Int) -> Bool {
        // The threads of a process share its locks: what keeps a new process out of the slot does not keep them apart, and the slower
        // one would clear what the new process has noted since the quicker one let it in.
        clearing.withLock { _ in
            let byte = Layout.processByte + Int64(slot)
            // The slot is locked while it is cleared, so that no new process can take it meanwhile.
            guard crealm_ofd_lock(descriptor, Int32(F_WRLCK), byte, 1, 0) == 0 else { return false }
            didTakeDeadSlot?(slot)
            forget(slot: slot)
            _ = crealm_ofd_lock(descriptor, Int32(F_UNLCK), byte, 1, 0)
            return true
        }
    }

    func forget(slot: Int) {
        waitingThreads(slot).store(0, ordering: .sequentiallyConsistent)
        processID(slot).store(0, ordering: .relaxed)
        guard let area = memory.area(slot) else { return }
        let end = LockFileMemory.word32(area + Layout.Area.readerEnd)
        for entry in 0..<min(Int(end.load(ordering: .sequentiallyConsistent)), Layout.readerCount) {
            readerVersion(entry, in: area).store(0, ordering: .sequentiallyConsistent)
        }
        end.store(0, ordering: .sequentiallyConsistent)
        forgetRules(ofSlot: slot, in: area)
    }

    // MARK: Places

    /// The number under which other processes find where something came from; 0 when there is no room for it.
    func place(of origin: ReaderOrigin) -> UInt32 {
        places.withLock { places in
            if let last = places.last, last.origin == origin { return last.number }
            let known = places.all.firstIndex(of: origin)
            guard known != nil || places.all.count < Layout.Area.placeCount - 1 else { return 0 }
            let number = UInt32((known ?? places.all.count) + 1)
            if known == nil {
                places.all.append(origin)
                var text = Array("\(origin)".utf8.suffix(Layout.Area.placeByteCount - 1))
                text.append(0)
                let offset =
                    Layout.area(processSlot) + Layout.Area.places + Int(number) * Layout.Area.placeByteCount
                // It only tells where versions are held. Also the first one may come long after the file was opened.
                try? LockFile.write(text, at: offset, to: descriptor, path, asking: true)
            }
            places.last = (origin, number)
            return number
        }
    }

    /// What a process has noted under a number.
    func place(_ number: UInt32, ofSlot slot: Int) -> String? {
        guard number > 0, Int(number) < Layout.Area.placeCount, (0..<Layout.slotCount).contains(slot) else {
            return nil
        }
        var text = [UInt8](repeating: 0, count: Layout.Area.placeByteCount)
        let offset = Layout.area(slot) + Layout.Area.places + Int(number) * Layout.Area.placeByteCount
        let count = text.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
        guard count > 0, let end = text.firstIndex(of: 0), end > 0 else { return nil }
        return String(decoding: text[..<end], as: UTF8.self)
    }

    /// The places of this process that have a number.
    struct Places {
        var all: [ReaderOrigin] = []
        var last: (origin: ReaderOrigin, number: UInt32)?
    }
}
