import Atomics
import CRealmShims
import Glibc
import Synchronization

/// `<file>.lock`: the memory that all processes with a realm file open share.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 8 | magic `ARealmLk` |
/// | 8 | 4 | layout version |
/// | 16 | 8 | file identifier of the realm file |
/// | 24 | 8 | newest durable version |
/// | 32 | 4 | wake word: changes with every published version |
/// | 36 | 4 | highest reader entry ever used, plus one |
/// | 40 | 4 | process id of the writer, for messages only |
/// | 44 | 4 | number of threads that watch the wake word |
/// | 48 | 4 | highest process slot ever used, plus one |
/// | 52 | 4 | turn word: changes whenever the write lock is taken |
/// | 56 | 4 | number of threads that wait for the turn word to change |
/// | 60 | 4 | 1 when the newest version is known to be on the disk, 0 while only readers have recovered it |
/// | 64 | 8 | device of the realm file |
/// | 72 | 8 | inode of the realm file |
/// | 80 | 8 | fingerprint of a header whose commit failed and which could not be taken back; 0 for none |
/// | 2048 | 8 × 256 | by the number of a table modulo 256: the row keys below this one were given out, whatever became of their rows |
/// | 4096 | 4 × 1024 | per process slot: its process id, for messages only |
/// | 8192 | 16 × 4096 | reader entries: version plus one (0: free) `u64`, process slot plus one `u32`, second since boot when the version was taken `u32` |
/// | 73728 | 4 × 1024 | per process slot: how many of its threads wait for the write lock |
///
/// Locks are open-file-description locks on bytes far behind the content, which the kernel releases when a process
/// dies: one for initialisation, one for writing, one per process slot. A reader entry is alive exactly as long as its
/// process slot's byte is locked, and so is a count of waiting threads; process ids decide nothing.
///
/// Whoever has the file open also holds a shared lock on a byte of the realm file itself, so that processes which do not
/// share a lock file, because it was deleted or because the realm file has two names, notice each other.
final class LockFile: Sendable {
    static let magic: UInt64 = 0x6B4C_6D6C_6165_5241  // "ARealmLk"
    static let layoutVersion: UInt32 = 4
    static let rowKeysOffset = 2048
    static let rowKeyCount = 256
    static let processSlotCount = 1024
    static let readerEntryCount = 4096
    static let processSlotsOffset = 4096
    static let readerEntriesOffset = 8192
    static let waitingOffset = readerEntriesOffset + readerEntryCount * 16
    static let byteCount = waitingOffset + processSlotCount * 4

    static let initialisationByte: Int64 = 1 << 40
    static let writeByte: Int64 = 1 << 41
    static let processByte: Int64 = 1 << 42
    /// In the realm file: locked by every process that shares a lock file.
    static let presenceByte: Int64 = 1 << 43
    /// In the realm file: locked by readers that cannot write the lock file.
    static let outsiderByte: Int64 = (1 << 43) + 1
    /// The longest time for which a process that had the write lock lets those that wait go first.
    private static let turnNanoseconds: Int64 = 10_000_000
    /// For how long it goes on without them when none came.
    ///
    /// Twice as long each time until one comes: who had no processor for a moment has its next chance soon, and who was stopped
    /// costs the others a tenth of their time.
    private static let leastPauseNanoseconds: UInt64 = 5_000_000
    private static let greatestPauseNanoseconds: UInt64 = 100_000_000

    let path: String
    let descriptor: Int32
    let data: any StorageDevice
    private let forkGeneration = ForkDetector.generation
    /// The turn word when this process gave the write lock back while others waited, plus one bit that says so.
    private let lastTurn = ManagedAtomic<UInt64>(0)
    /// The moment before which those that wait are not let go first: they did not come when they could.
    private let givesWayAgain = Atomic<UInt64>(0)
    /// How long that will be put off when they do not come the next time.
    private let nextPause = Atomic<UInt64>(leastPauseNanoseconds)
    // Shared with other processes in any case: it is only reached through atomic operations.
    nonisolated(unsafe) private let memory: UnsafeMutableRawPointer
    /// This process's slot.
    let processSlot: Int
    /// When the realm file was last seen without readers that nobody knows.
    let lastWithoutOutsiders = Atomic<UInt64>(0)
    /// For how long that is taken to hold.
    static let outsiderNanoseconds: UInt64 = 10_000_000
    /// The threads of this process among those that watch.
    private let ownWatchers = Atomic<UInt32>(0)

    /// Opens the lock file and takes a process slot.
    ///
    /// - Parameters:
    ///   - path: The path of the lock file.
    ///   - data: The realm file.
    ///   - recover: Called, with every other process kept out, when no other process has the file open, or when those that
    ///     have could only read it; recovers the realm file and returns its identifier and newest version. It is given what
    ///     the processes before have left in the lock file.
    /// - Throws: What `recover` throws, and `StorageError` for what fails with the lock file itself.
    init(
        path: String,
        data: any StorageDevice,
        recover: (Past) throws(StorageError) -> (fileID: UInt64, version: UInt64)
    ) throws(StorageError) {
        self.path = path
        self.data = data
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let descriptor = Int32(
            try SystemCall.retrying(path, "Cannot open the lock file") { Int(crealm_open(path, flags, 0o600)) }
        )
        self.descriptor = descriptor
        var mapped: UnsafeMutableRawPointer?
        do throws(StorageError) {
            try LockFile.checkIsRegular(descriptor, path)
            try LockFile.lock(descriptor, LockFile.initialisationByte, 1, waits: true, path)
            let others = crealm_ofd_is_locked(descriptor, LockFile.processByte, Int64(LockFile.processSlotCount))
            if others < 0 { throw SystemCall.error(-others, "Cannot examine the lock file", path) }
            try LockFile.announcePresence(in: data, alone: others == 0)
            var state: (fileID: UInt64, version: UInt64)?
            var past = Past()
            if others == 0 {
                past = LockFile.past(descriptor)
                state = try recover(past)
                try LockFile.clear(descriptor, path)
            } else {
                guard try LockFile.byteCount(of: descriptor, path) >= LockFile.byteCount else {
                    throw LockFile.incompatible(path)
                }
            }
            let memory = try LockFile.map(descriptor, path)
            mapped = memory
            let identity = try LockFile.identity(of: data)
            if let state {
                memory.storeBytes(of: LockFile.layoutVersion, toByteOffset: 8, as: UInt32.self)
                memory.storeBytes(of: state.fileID, toByteOffset: 16, as: UInt64.self)
                memory.storeBytes(of: state.version, toByteOffset: 24, as: UInt64.self)
                memory.storeBytes(of: data.isReadOnly ? 0 : 1, toByteOffset: 60, as: UInt32.self)
                memory.storeBytes(of: identity.device, toByteOffset: 64, as: UInt64.self)
                memory.storeBytes(of: identity.inode, toByteOffset: 72, as: UInt64.self)
                past.storeRowKeys(ofFile: state.fileID, to: memory)
                memory.storeBytes(of: LockFile.magic, toByteOffset: 0, as: UInt64.self)
            } else {
                guard memory.load(fromByteOffset: 0, as: UInt64.self) == LockFile.magic,
                    memory.load(fromByteOffset: 8, as: UInt32.self) == LockFile.layoutVersion
                else { throw LockFile.incompatible(path) }
                guard memory.load(fromByteOffset: 64, as: UInt64.self) == identity.device,
                    memory.load(fromByteOffset: 72, as: UInt64.self) == identity.inode
                else {
                    throw StorageError(
                        .incompatibleLockFile,
                        "The realm file was replaced while another process has the old one open: close it there first",
                        path: path
                    )
                }
                if !data.isReadOnly, memory.load(fromByteOffset: 60, as: UInt32.self) == 0 {
                    _ = try recover(Past())
                    memory.storeBytes(of: 1, toByteOffset: 60, as: UInt32.self)
                }
            }
            self.memory = memory
            processSlot = try LockFile.takeSlot(descriptor, path)
        } catch {
            if let mapped { munmap(mapped, LockFile.byteCount) }
            LockFile.endPresence(in: data)
            LockFile.unlockAll(descriptor)
            close(descriptor)
            throw error
        }
        forget(slot: processSlot)
        raise(48, to: UInt32(processSlot + 1))
        memory.storeBytes(
            of: UInt32(getpid()),
            toByteOffset: LockFile.processSlotsOffset + processSlot * 4,
            as: UInt32.self
        )
        _ = crealm_ofd_lock(descriptor, Int32(F_UNLCK), LockFile.initialisationByte, 1, 0)
    }

    deinit {
        if isOwn {
            forget(slot: processSlot)
            LockFile.endPresence(in: data)
            LockFile.unlockAll(descriptor)
        }
        munmap(memory, LockFile.byteCount)
        close(descriptor)
    }

    /// Whether this is the process that opened the file, and not a child forked from it: they share their locks.
    var isOwn: Bool { ForkDetector.generation == forkGeneration }

    /// The identifier of the realm file that this lock file belongs to.
    var fileID: UInt64 { memory.load(fromByteOffset: 16, as: UInt64.self) }

    /// The newest durable version, of any process.
    var newestVersion: UInt64 { word64(24).load(ordering: .sequentiallyConsistent) }

    /// Announces a durable version and wakes the other processes that wait for one; this one is told without a detour.
    func publish(_ version: UInt64) {
        word64(24).store(version, ordering: .sequentiallyConsistent)
        wake(includingOwn: false)
    }

    /// Wakes everybody who waits for a version.
    ///
    /// - Parameter includingOwn: Whether the waiters of this process must be woken, even when there are no others.
    func wake(includingOwn: Bool) {
        word32(32).wrappingIncrement(ordering: .sequentiallyConsistent)
        let own = includingOwn ? 0 : ownWatchers.load(ordering: .sequentiallyConsistent)
        if word32(44).load(ordering: .sequentiallyConsistent) > own { _ = crealm_futex_wake_all(memory + 32) }
    }

    /// The present value of the wake word.
    var wakeWord: UInt32 { word32(32).load(ordering: .sequentiallyConsistent) }

    /// Counts a thread in, or out, that will wait for the wake word again and again.
    ///
    /// A process that dies in between leaves the count too high, which costs the others a system call and no more.
    func watch(_ begins: Bool) {
        if begins {
            word32(44).wrappingIncrement(ordering: .sequentiallyConsistent)
            ownWatchers.wrappingAdd(1, ordering: .sequentiallyConsistent)
        } else {
            ownWatchers.wrappingSubtract(1, ordering: .sequentiallyConsistent)
            word32(44).wrappingDecrement(ordering: .sequentiallyConsistent)
            // For a publisher that took this thread for the only one that is left.
            _ = crealm_futex_wake_all(memory + 32)
        }
    }

    /// Sleeps until the wake word differs from `expected`, or the timeout passes.
    func waitForWake(from expected: UInt32, timeoutNanoseconds: Int64) {
        _ = crealm_futex_wait(memory + 32, expected, timeoutNanoseconds)
    }

    /// Notes a header in the file that must never be believed: its commit failed, and it could not be taken back.
    func refuse(_ header: FileHeader) {
        word64(80).store(header.fingerprint, ordering: .sequentiallyConsistent)
    }

    // MARK: The write lock

    /// Takes the write lock when no other process has it, or has waited for it since this one gave it back.
    func tryLockForWriting() throws(StorageError) -> Bool {
        if hasToGiveWay { return false }
        let result = crealm_ofd_lock(descriptor, Int32(F_WRLCK), LockFile.writeByte, 1, 0)
        if result == EAGAIN || result == EACCES { return false }
        if result != 0 { throw SystemCall.error(result, "Cannot take the write lock", path) }
        noteWriter()
        return true
    }

    /// Takes the write lock, blocking the thread while another process has it.
    func lockForWriting() throws(StorageError) {
        giveWay()
        waitingThreads(processSlot).wrappingIncrement(ordering: .sequentiallyConsistent)
        defer { waitingThreads(processSlot).wrappingDecrement(ordering: .sequentiallyConsistent) }
        try LockFile.lock(descriptor, LockFile.writeByte, 1, waits: true, path)
        noteWriter()
    }

    func unlockForWriting() {
        guard isOwn else { return }
        word32(40).store(0, ordering: .relaxed)
        if hasWaitingProcesses {
            lastTurn.store(1 << 32 | UInt64(word32(52).load(ordering: .relaxed)), ordering: .relaxed)
        }
        _ = crealm_ofd_lock(descriptor, Int32(F_UNLCK), LockFile.writeByte, 1, 0)
    }

    /// Whether others wait for the write lock, and none had it since this process gave it back.
    ///
    /// The kernel wakes them when the lock is free, and without this a process that writes in a loop would have taken it
    /// again before they run.
    private var hasToGiveWay: Bool {
        let turn = lastTurn.load(ordering: .relaxed)
        return turn >> 32 != 0 && word32(52).load(ordering: .sequentiallyConsistent) == UInt32(truncatingIfNeeded: turn)
            && hasWaitingProcesses
            && LockFile.nanosecond >= givesWayAgain.load(ordering: .relaxed)
    }

    /// Lets those that wait go first, for a moment at most.
    private func giveWay() {
        defer { lastTurn.store(0, ordering: .relaxed) }
        guard hasToGiveWay else { return }
        word32(56).wrappingIncrement(ordering: .sequentiallyConsistent)
        let turn = UInt32(truncatingIfNeeded: lastTurn.load(ordering: .relaxed))
        _ = crealm_futex_wait(memory + 52, turn, LockFile.turnNanoseconds)
        word32(56).wrappingDecrement(ordering: .sequentiallyConsistent)
        guard hasToGiveWay else {
            nextPause.store(LockFile.leastPauseNanoseconds, ordering: .relaxed)
            return
        }
        // Nobody came: they have died, were stopped, or have no processor. Those that live stay counted, and get their
        // next chance in a while.
        let pause = nextPause.load(ordering: .relaxed)
        nextPause.store(min(2 * pause, LockFile.greatestPauseNanoseconds), ordering: .relaxed)
        givesWayAgain.store(LockFile.nanosecond + pause, ordering: .relaxed)
        for slot in usedSlots where isWaiting(slot) { forgetIfDead(slot: slot) }
    }

    /// Whether other processes wait for the write lock; one that died waiting is counted until the lock is given back to
    /// it in vain, or its slot is taken.
    var hasWaitingProcesses: Bool { usedSlots.contains { isWaiting($0) } }

    private var usedSlots: Range<Int> {
        0..<min(Int(word32(48).load(ordering: .sequentiallyConsistent)), LockFile.processSlotCount)
    }

    /// Whether another process, that of a slot, waits for the write lock.
    private func isWaiting(_ slot: Int) -> Bool {
        slot != processSlot && waitingThreads(slot).load(ordering: .sequentiallyConsistent) != 0
    }

    /// The process that holds the write lock, when one does; for messages.
    var writerProcess: Int32? {
        let process = word32(40).load(ordering: .relaxed)
        return process == 0 ? nil : Int32(bitPattern: process)
    }

    // MARK: Processes

    /// The clock of the reader entries: no setting of the time moves it, and all processes of a machine share it.
    static var secondSinceBoot: UInt32 {
        var time = timespec()
        clock_gettime(clockid_t(CLOCK_BOOTTIME), &time)
        return UInt32(truncatingIfNeeded: time.tv_sec)
    }

    static var nanosecond: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    /// Whether another process has the file open.
    var isSharedWithOtherProcesses: Bool {
        let before = crealm_ofd_is_locked(descriptor, LockFile.processByte, Int64(processSlot) + 0)
        let behind = crealm_ofd_is_locked(
            descriptor,
            LockFile.processByte + Int64(processSlot) + 1,
            Int64(LockFile.processSlotCount - processSlot - 1)
        )
        return (processSlot > 0 && before != 0) || (processSlot + 1 < LockFile.processSlotCount && behind != 0)
    }

    /// Has whoever opens the file wait, if no other process has it open, until `letOpenAgain()`.
    ///
    /// - Returns: whether that is so.
    func holdOffOpenings() -> Bool {
        guard (try? LockFile.lock(descriptor, LockFile.initialisationByte, 1, waits: false, path)) != nil else {
            return false
        }
        if isSharedWithOtherProcesses {
            letOpenAgain()
            return false
        }
        return true
    }

    /// Lets those open the file who wait for that.
    func letOpenAgain() { _ = crealm_ofd_lock(descriptor, Int32(F_UNLCK), LockFile.initialisationByte, 1, 0) }

    /// Runs something while no other process has the file open, and none can open it; the file is another one afterwards,
    /// which those who wait to open it find described here.
    func whileAlone(
        _ body: () throws(StorageError) -> (fileID: UInt64, version: UInt64)
    ) throws(StorageError) {
        try LockFile.lock(descriptor, LockFile.initialisationByte, 1, waits: true, path)
        defer { _ = crealm_ofd_lock(descriptor, Int32(F_UNLCK), LockFile.initialisationByte, 1, 0) }
        guard !isSharedWithOtherProcesses else {
            throw StorageError(.alreadyOpen, "Another process has the realm open", path: path)
        }
        let state = try body()
        memory.storeBytes(of: state.fileID, toByteOffset: 16, as: UInt64.self)
        word64(24).store(state.version, ordering: .sequentiallyConsistent)
        var status = stat()
        if stat(data.path, &status) == 0 {
            let identity = FileIdentity(status)
            memory.storeBytes(of: identity.device, toByteOffset: 64, as: UInt64.self)
            memory.storeBytes(of: identity.inode, toByteOffset: 72, as: UInt64.self)
        }
    }

    /// Whether any process has a file open, by its lock file; opens nothing.
    static func isInUse(path: String) -> Bool {
        let descriptor = crealm_open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return crealm_ofd_is_locked(descriptor, processByte, Int64(processSlotCount)) != 0
    }

    // MARK: Pieces

    private func noteWriter() {
        word32(40).store(UInt32(getpid()), ordering: .relaxed)
        word32(52).wrappingIncrement(ordering: .sequentiallyConsistent)
        if word32(56).load(ordering: .sequentiallyConsistent) != 0 { _ = crealm_futex_wake_all(memory + 52) }
    }

    /// Clears what a dead process has left; false when it lives.
    @discardableResult
    func forgetIfDead(slot: Int) -> Bool {
        let byte = LockFile.processByte + Int64(slot)
        // The slot is locked while it is cleared, so that no new process can take it meanwhile.
        guard crealm_ofd_lock(descriptor, Int32(F_WRLCK), byte, 1, 0) == 0 else { return false }
        forget(slot: slot)
        _ = crealm_ofd_lock(descriptor, Int32(F_UNLCK), byte, 1, 0)
        return true
    }

    func forget(slot: Int) {
        waitingThreads(slot).store(0, ordering: .sequentiallyConsistent)
        for entry in 0..<LockFile.readerEntryCount
        where readerOwner(entry).load(ordering: .relaxed) == UInt32(slot + 1) {
            unregister(entry)
        }
    }

    func raise(_ offset: Int, to limit: UInt32) {
        let word = word32(offset)
        var current = word.load(ordering: .sequentiallyConsistent)
        while current < limit {
            let result = word.compareExchange(
                expected: current,
                desired: limit,
                ordering: .sequentiallyConsistent
            )
            if result.exchanged { return }
            current = result.original
        }
    }

    func word64(_ offset: Int) -> UnsafeAtomic<UInt64> {
        UnsafeAtomic(at: (memory + offset).assumingMemoryBound(to: UInt64.AtomicRepresentation.self))
    }

    func word32(_ offset: Int) -> UnsafeAtomic<UInt32> {
        UnsafeAtomic(at: (memory + offset).assumingMemoryBound(to: UInt32.AtomicRepresentation.self))
    }

    func waitingThreads(_ slot: Int) -> UnsafeAtomic<UInt32> { word32(LockFile.waitingOffset + slot * 4) }

    func readerVersion(_ entry: Int) -> UnsafeAtomic<UInt64> {
        word64(LockFile.readerEntriesOffset + entry * 16)
    }

    func readerOwner(_ entry: Int) -> UnsafeAtomic<UInt32> {
        word32(LockFile.readerEntriesOffset + entry * 16 + 8)
    }

    func readerSecond(_ entry: Int) -> UnsafeAtomic<UInt32> {
        word32(LockFile.readerEntriesOffset + entry * 16 + 12)
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
}
