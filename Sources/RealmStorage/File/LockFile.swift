import Atomics
import Glibc
import Synchronization

/// `<file>.lock`: the memory that all processes with a realm file open share; ``LockFileLayout`` says what stands where.
///
/// Locks are open-file-description locks on bytes far behind the content, which the kernel releases when a process
/// dies: one for initialisation, one for writing, one per process slot. What stands in a process's area is alive exactly as
/// long as its slot's byte is locked, and so is its count of waiting threads; which number a process has decides nothing.
///
/// Whoever has the file open also holds a shared lock on a byte of the realm file itself, so that processes which do not
/// share a lock file, because it was deleted or because the realm file has two names, notice each other.
final class LockFile: Sendable {
    private typealias Layout = LockFileLayout
    private typealias Word = LockFileLayout.Word

    let path: String
    let descriptor: Int32
    let data: any StorageDevice
    let failures: StepFailures?
    private let forkGeneration = ForkDetector.generation
    /// The process that opened the file, as those that wait are told.
    let process = UInt32(bitPattern: getpid())
    let memory: LockFileMemory
    /// How other processes are told of versions, and tell of theirs.
    let signal: VersionSignal
    /// This process's slot.
    let processSlot: Int
    // Shared with other processes in any case: it is only reached through atomic operations.
    nonisolated(unsafe) let ownArea: UnsafeMutableRawPointer
    let turns = Turns()
    let entries = Mutex(Entries())
    /// The most versions that this process may read at once.
    let readerLimit: Int
    let places = Mutex(Places())
    let rules = Mutex(Rules())
    /// How long who declares rules waits for a withdrawal before it is told that they may go; less in tests.
    // Set by a test, before the thread begins that is to wait.
    nonisolated(unsafe) var withdrawalNanoseconds: UInt64 = 10_000_000_000
    /// Held while what a dead process has left is cleared.
    let clearing = Mutex(())
    /// Called while the slot of a dead process is held, before it is cleared; for tests.
    // Set by a test, on the thread that then has the lock file look at slots.
    nonisolated(unsafe) var didTakeDeadSlot: ((Int) -> Void)?
    /// When the realm file was last seen without readers that nobody knows.
    let lastWithoutOutsiders = Atomic<UInt64>(0)
    /// For how long that is taken to hold.
    static let outsiderNanoseconds: UInt64 = 10_000_000
    /// Whether the process slot was given back though this instance is still there.
    private let isLeft = Atomic(false)

    /// Opens the lock file and takes a process slot.
    ///
    /// - Parameters:
    ///   - path: The path of the lock file.
    ///   - data: The realm file.
    ///   - knownIdentity: Which file that is; nil where it is to be asked.
    ///   - options: How the realm is opened.
    ///   - isBesideOwn: Whether this process has the file open already, in an instance that nobody waits for.
    ///   - recover: Called, with every other process kept out, when no other process has the file open, or when those that
    ///     have could only read it; recovers the realm file and returns its identifier and newest version. It is given what
    ///     the processes before have left in the lock file.
    ///   - holdsOffOpenings: Asked at the end: whether other processes go on to be kept out until ``letOpenAgain()``.
    /// - Throws: What `recover` throws, and `StorageError` for what fails with the lock file itself.
    init(
        path: String,
        data: any StorageDevice,
        of knownIdentity: FileIdentity? = nil,
        options: StorageOptions = StorageOptions(),
        besideOwn isBesideOwn: Bool = true,
        recover: (Past) throws(StorageError) -> (fileID: UInt64, version: UInt64),
        holdsOffOpenings: () -> Bool = { false }
    ) throws(StorageError) {
        self.path = path
        self.data = data
        failures = options.failures
        readerLimit = min(options.readerLimit, Layout.readerCount)
        let descriptor = try LockFile.openFile(path, besides: data)
        self.descriptor = descriptor
        var isFirst = false
        var (isWhole, byteCount) = (true, 0)
        var stored: [UInt64] = []
        do throws(StorageError) {
            try failures?.step(.lockFile, path: path)
            try LockFile.lock(descriptor, Layout.initialisationByte, 1, waits: true, path)
            isFirst = try !LockFile.isOpen(descriptor, path)
            if !isFirst, !isBesideOwn {
                try LockFile.waitForStoppedInstance(descriptor, path)
                isFirst = try !LockFile.isOpen(descriptor, path)
            }
            if isFirst {
                stored = LockFile.storedWords(in: descriptor)
                (isWhole, byteCount) = try LockFile.checkIsLockFile(descriptor, path, beginningWith: stored)
            }
            // One that was just ending may have noted something until then.
            if try LockFile.announcePresence(in: data, alone: isFirst) { stored = LockFile.storedWords(in: descriptor) }
            try failures?.step(.lockFile, path: path)
            let identity: FileIdentity
            if let knownIdentity { identity = knownIdentity } else { identity = try LockFile.identity(of: data) }
            if isFirst {
                let past = LockFile.past(stored, of: identity)
                let words = LockFile.words(try recover(past), identity, isRecovered: !data.isReadOnly, after: past)
                try LockFile.renew(
                    descriptor,
                    path,
                    of: byteCount,
                    words,
                    for: process,
                    isFlushed: !isWhole && options.durability == .flushed
                )
            } else {
                guard try LockFile.byteCount(of: descriptor, path) >= Layout.baseByteCount else {
                    throw LockFile.incompatible(path)
                }
            }
            try failures?.step(.mapping, path: path)
            let memory = try LockFileMemory(descriptor, path)
            self.memory = memory
            signal = VersionSignal(memory)
            if !isFirst {
                try LockFile.checkDescription(of: identity, in: memory, path)
                let isRecovered = memory.word32(Word.isRecovered)
                if !data.isReadOnly, isRecovered.load(ordering: .relaxed) == 0 {
                    // Those that are there read the version that was chosen by what was known to be refused.
                    _ = try recover(LockFile.past(descriptor, of: identity))
                    isRecovered.store(1, ordering: .relaxed)
                }
            }
            try failures?.step(.lockFile, path: path)
            let slot = try LockFile.takeSlot(descriptor, path)
            processSlot = slot
            try LockFile.prepareArea(slot, isNew: isFirst, in: descriptor, path)
            try memory.reach(slot)
            guard let area = memory.area(slot) else { throw LockFile.incompatible(path) }
            ownArea = area
        } catch {
            LockFile.endPresence(in: data)
            LockFile.unlockAll(descriptor)
            close(descriptor)
            throw error
        }
        // A lock file that was just made says nothing of anybody.
        if !isFirst { forget(slot: processSlot) }
        raise(Word.slotEnd, to: UInt32(processSlot + 1))
        if !isFirst || processSlot > 0 { processID(processSlot).store(process, ordering: .relaxed) }
        LockFileMemory.word64(ownArea + Layout.Area.openingNanosecond)
            .store(LockFile.nanosecondSinceBoot, ordering: .relaxed)
        if !holdsOffOpenings() { letOpenAgain() }
    }

    deinit {
        leave()
        close(descriptor)
    }

    /// Gives the process slot back, as when the last reference goes: what is still held changes nothing in the file any more.
    ///
    /// No version is registered, and nobody writes; who waits to write is refused, and who watches was counted out.
    func leave() {
        guard isOwn else { return }
        isLeft.store(true, ordering: .sequentiallyConsistent)
        forget(slot: processSlot)
        LockFile.endPresence(in: data)
        LockFile.unlockAll(descriptor)
    }

    /// Whether the process slot was given back.
    var hasLeft: Bool { isLeft.load(ordering: .sequentiallyConsistent) }

    /// Whether the process slot is this instance's: it has not left, and this is the process that opened the file, and not a child forked
    /// from it: they share their locks.
    var isOwn: Bool { ForkDetector.generation == forkGeneration && !isLeft.load(ordering: .relaxed) }

    /// The identifier of the realm file that this lock file belongs to.
    var fileID: UInt64 { memory.word64(Word.fileID).load(ordering: .relaxed) }

    /// The newest durable version, of any process.
    var newestVersion: UInt64 { signal.newestVersion }

    /// Announces a durable version and wakes the other processes that wait for one; this one is told without a detour.
    func publish(_ version: UInt64) {
        // What was refused stood where the header of this version stands now. One that looks the same is not it.
        let refused = memory.word64(Word.refusedHeader)
        if refused.load(ordering: .relaxed) != 0 { refused.store(0, ordering: .sequentiallyConsistent) }
        signal.publish(version)
    }

    /// Notes a header in the file that must never be believed: its commit failed, and it could not be taken back.
    func refuse(_ header: FileHeader) {
        memory.word64(Word.refusedHeader).store(header.fingerprint, ordering: .sequentiallyConsistent)
    }

    /// Notes which file the realm file is.
    func note(_ identity: FileIdentity) { LockFile.note(identity, in: memory) }

    private func raise(_ offset: Int, to limit: UInt32) {
        let word = memory.word32(offset)
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
}
