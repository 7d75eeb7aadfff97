import CRealmShims
import DequeModule
import Dispatch
import Glibc
import Synchronization

/// One open realm file: at most one per process and inode, shared by everything that reads or writes it.
package final class StorageFile: Sendable {
    package let path: String
    package let options: StorageOptions

    let data: any StorageDevice
    let reservation: Reservation
    private let verifier: PageVerifier
    let lock: LockFile?
    /// Who else can say where it pins versions.
    package let pinHolders = PinHolders()
    let forkGeneration = ForkDetector.generation
    let state: Mutex<State>
    /// Two header slots, for whoever publishes: what goes to the file, and what stood there before.
    // One thread at a time publishes.
    nonisolated(unsafe) let slotMemory = UnsafeMutableRawPointer.allocate(
        byteCount: 2 * FileHeader.copiesPerSlot * pageByteCount,
        alignment: pageByteCount
    )
    /// The log, while one is open.
    // Used by whoever has its turn, and by the last one that has the file.
    nonisolated(unsafe) var openLog: CommitLog?
    /// Whether a log of an earlier life is being applied: the published header names it, and the lock file does not.
    // Before anybody else has the file.
    nonisolated(unsafe) var isReplaying = false
    /// The version of the header from which a recovery would begin, whose pages stay; 0 while no log is open.
    let checkpointVersion = Atomic<UInt64>(0)
    /// The version that a checkpoint is being made of, whose pages stay, too; 0 for none.
    let candidateVersion = Atomic<UInt64>(0)
    /// The checkpoint that is made beside commits.
    let checkpoint = Mutex(CheckpointCourse())
    /// Held by whoever carries out its steps.
    let checkpointSteps = Mutex(())
    /// Held by whoever uses the log: publishes, ends it, or does what is to be done behind the last commit.
    let logTurn = Mutex(())
    /// What is done when no commit follows; nil where nothing is.
    let logRest: LogRest?
    /// Who was told to make the last one.
    let checkpointErrand = Mutex<WeakReference<CheckpointErrand>?>(nil)
    /// Held during a flush of the realm file beside an open log; the failure of one.
    let pageFlush = Mutex<StorageError?>(nil)
    /// Held while the newest version is shown to other processes beside an open log.
    let imaging = Mutex(())
    /// The commits that could have been records, since there was no log, and no pause in which it would have ended.
    // Used by the thread that publishes.
    nonisolated(unsafe) var pageCommitCount = 0
    /// When the last of them came.
    // As above.
    nonisolated(unsafe) var lastPageCommit: UInt64 = 0
    /// The commits that were kept as pages beside the log, one behind the other.
    // As above.
    nonisolated(unsafe) var pageCommitCountBesideLog = 0
    /// The same since the last attempt to make a log that failed, whatever pauses came.
    // As above.
    nonisolated(unsafe) var pageCommitCountBehindFailure = 0
    /// Multiplies them before the next attempt: it doubles with each failure.
    // Used by the thread that publishes.
    nonisolated(unsafe) var logRetryFactor = 1
    /// Whether it was said why there is no log.
    // Used by the thread that publishes.
    nonisolated(unsafe) var hasToldOfNoLog = false
    /// Space for a log that is to come.
    let logSpace = LogSpace()
    /// Whether another process may have begun, ended or written to a log since this one looked: it has had the write lock.
    ///
    /// Asked for by the first transaction of a stretch, when nothing is being published: later ones begin beside that, which begins
    /// logs and ends them itself.
    let mayFollowLog = Atomic<Bool>(false)
    /// Whether commits were acknowledged whose pages are not made yet: the newest version that can be read is an older one.
    let owesPages = Atomic<Bool>(false)
    /// Their records.
    let owed = OwedRecords()
    /// Why their pages could not be made, where there was no space for them: the next turn to write makes them of the records.
    let refusedPages = Mutex<StorageError?>(nil)
    /// The same of another process, where this one was opened beside a transaction of that which keeps their pages from being made.
    let owedByOthers = OwedRecords()
    /// The version of the last of those; 0 where it is published, or there are none.
    let acknowledgedByOthers = Atomic<UInt64>(0)
    /// The version of the last commit that was acknowledged by its record.
    ///
    /// Set under the lock of `writer`, by whoever has the log's turn.
    let acknowledgedVersion = Atomic<UInt64>(0)
    /// Has their pages made.
    package let pageMaker = PageMaker()
    /// Held while the file is made longer, or written to where it has become longer.
    ///
    /// To be taken before `state`.
    let growth = Mutex(FileGrowth())
    /// Guarded by the write lock; see `WriterState`.
    let writer = Mutex<WriterBox>(WriterBox())
    /// Taken before the lock between processes, which is the file's and not its holder's: a file that is opened anew has another queue of
    /// writers, and something of the one before may have that lock yet, wait for it, or be about to give it back.
    let ownWriteLock = {
        // One that begins with 1 must not end with 0.
        let lock = DispatchSemaphore(value: 0)
        lock.signal()
        return lock
    }()

    /// What the holder of the write lock finds.
    struct WriterBox {
        var state: WriterState?
        /// The commits that are not published yet, oldest first.
        var prepared: Deque<PreparedCommit> = []
        /// The private memory of runs that stand in the file now, or belong to a commit that was lost: the transaction that is
        /// open may point into it, the next one uses it again.
        // Plain memory that nobody writes to meanwhile.
        nonisolated(unsafe) var withdrawnBuffers: [UnsafeMutableRawPointer] = []
        /// The groups that were begun so far, which are numbered from 1 on.
        var groupCount: UInt64 = 0
        /// Why commits were lost last.
        var lastLoss: StorageError?
        /// The groups that were given up last with members that had committed, and why.
        var givenUp: [(group: UInt64, error: StorageError)] = []

        /// Forgets the commits up to a version, which stand in the file now, and lets their memory be used again.
        mutating func release(upTo version: UInt64, in reservation: Reservation) {
            while let commit = prepared.first, commit.version <= version {
                prepared.removeFirst()
                for run in commit.runs { withdrawBuffer(of: Int(run.page), in: reservation) }
            }
        }

        /// Forgets all commits; what they wrote can still be read when a transaction is open that stands on them.
        mutating func loseCommits(in reservation: Reservation) {
            if let group = state?.group, group.isInMember {
                group.lost += prepared
                prepared.removeAll()
            } else {
                release(upTo: .max, in: reservation)
            }
        }

        /// Forgets a writer's group, and withdraws what lost commits wrote: the transaction that read it is over.
        mutating func endGroup(of state: WriterState, in reservation: Reservation) {
            guard let group = state.group else { return }
            state.group = nil
            if group.lost.isEmpty { return }
            for commit in group.lost {
                for run in commit.runs { withdrawBuffer(of: Int(run.page), in: reservation) }
            }
            group.lost = []
        }

        mutating func withdrawBuffer(of page: Int, in reservation: Reservation) {
            if let bytes = reservation.withdrawBuffer(of: page) { withdrawnBuffers.append(bytes) }
        }
    }

    struct Pin {
        var count: Int
        var entry: Int?
        /// Where its readers were opened, as far as they said so.
        var origins: [ReaderOrigin]
        /// What leads to the version's pages.
        let header: FileHeader

        /// Counts a reader more.
        ///
        /// - Returns: The entry that names the first place where one was opened, when that is this one's.
        mutating func add(from origin: ReaderOrigin?) -> Int? {
            count += 1
            guard let origin else { return nil }
            origins.append(origin)
            // Whoever pinned it before did not say where it was opened.
            return origins.count == 1 ? entry : nil
        }

        /// Counts a reader less.
        ///
        /// - Returns: The entry that named the place where this one was opened.
        mutating func remove(from origin: ReaderOrigin?) -> Int? {
            count -= 1
            guard count > 0, let origin, let index = origins.firstIndex(of: origin) else { return nil }
            origins.remove(at: index)
            return index == 0 ? entry : nil
        }
    }

    struct State {
        var published: FileHeader
        /// The slot that holds the published header.
        var slot: Int
        var byteCount: Int
        var pins: [UInt64: Pin] = [:]
        /// Who writes, and must be able to stand at the version that it has written.
        var writerCount = 0
        /// Reader entries that are kept for them.
        var spareEntries: [Int] = []
        var stopped: StorageError?
        /// Why nothing but the pinned versions can be read any more; nil during the file's life.
        var ended: StorageError?
        /// Called, outside the lock, when the last reader of a version has let go of it.
        var versionWasFreed: (@Sendable () -> Void)?
    }

    /// The number of the last group that was lost with commits that failed, and with it all before it that are not published: what
    /// was built on them cannot be committed.
    ///
    /// Changes while `writer` is held.
    let lastLostGroup = Atomic<UInt64>(0)

    /// Free space as the newest write transaction found it; see `StorageFile+Space`.
    let freePageCount = Atomic<Int>(0)
    let trailingPageCount = Atomic<Int>(0)
    /// The oldest version that a reader stood at when the newest write transaction began.
    let oldestPin = Atomic<UInt64>(.max)

    private let examined = Atomic<UInt64>(0)

    /// The version all of whose pages the last opening has looked at; 0 before the first.
    package var examinedVersion: UInt64 {
        get { examined.load(ordering: .acquiring) }
        set { examined.store(newValue, ordering: .releasing) }
    }

    /// The version of a torn commit that opening rolled back, for the log.
    package let rolledBackVersion: UInt64?

    init(
        path: String,
        options: StorageOptions,
        data: any StorageDevice,
        reservation: Reservation,
        lock: LockFile?,
        recovered: HeaderRecovery.Result,
        byteCount: Int
    ) {
        self.path = path
        self.options = options
        self.data = data
        self.reservation = reservation
        self.lock = lock
        verifier = PageVerifier(reservation: reservation, path: path)
        rolledBackVersion = recovered.rolledBack
        logRest = LogRest(options.log)
        state = Mutex(State(published: recovered.header, slot: recovered.slot, byteCount: byteCount))
        let pageCount = min(recovered.header.pageCount, UInt64(reservation.pageCapacity))
        reservation.verified[0].store(UInt32(pageCount), ordering: .releasing)
    }

    deinit {
        closeLogAtEnd()
        confirmOnClose()
        endOutsider()
        slotMemory.deallocate()
    }

    // MARK: Reading

    /// Where pages are read.
    var view: PageView {
        PageView(
            mapping: reservation.mapping,
            buffers: reservation.buffers,
            verified: reservation.verified,
            verifier: Unmanaged.passUnretained(verifier)
        )
    }

    /// Pins the newest durable version, for a reader that may say where it was opened.
    ///
    /// - Parameters:
    ///   - origin: Where the reader was opened.
    ///   - isWriter: Whether it has just written, and was counted by ``countWriter(_:)`` before: then there is an entry for it.
    ///   - demand: What becomes of what was acknowledged without pages; whoever makes them asks for nothing.
    /// - Returns: The version, pinned.
    /// - Throws: `StorageError`; `limit` when this process reads too many versions.
    package func beginRead(
        from origin: ReaderOrigin? = nil,
        asWriter isWriter: Bool = false,
        asking demand: PageDemand = .acknowledged
    ) throws(StorageError) -> Snapshot {
        try checkProcess()
        if let replayed = try makeOwedPages(for: demand) { return Snapshot(of: replayed, origin: origin) }
        while true {
            let newest = lock?.newestVersion ?? 0
            let result = state.withLock { (state) -> Result<FileHeader?, StorageError> in
                do throws(StorageError) {
                    if let ended = state.ended { throw ended }
                    try refresh(&state, to: newest)
                    let version = state.published.version
                    if addPin(at: version, from: origin, &state) { return .success(state.published) }
                    var entry: Int?
                    if let lock {
                        if isWriter, let spare = state.spareEntries.popLast() {
                            lock.setVersion(version, ofEntry: spare, from: origin)
                            entry = spare
                        } else {
                            entry = try lock.register(version: version, from: origin)
                        }
                    }
                    // Whoever published a newer version before it could see the entry may reuse this version's pages.
                    if let lock, let entry, lock.newestVersion > version {
                        giveBack(entry, to: lock, &state)
                        return .success(nil)
                    }
                    state.pins[version] = Pin(
                        count: 1,
                        entry: entry,
                        origins: origin.map { [$0] } ?? [],
                        header: state.published
                    )
                    return .success(state.published)
                } catch {
                    return .failure(error)
                }
            }
            if let header = try result.get() {
                checkPinsIfAsked(at: header.version)
                return Snapshot(file: self, header: header, view: view, origin: origin)
            }
        }
    }

    /// Pins the version of a snapshot once more, for a reader that may say where it was opened.
    package func beginRead(at snapshot: Snapshot, from origin: ReaderOrigin? = nil) -> Snapshot {
        if let replayed = snapshot.replayed { return Snapshot(of: replayed, origin: origin) }
        let isPinned = state.withLock { addPin(at: snapshot.version, from: origin, &$0) }
        precondition(isPinned, "A snapshot pins its version as long as it lives.")
        return Snapshot(file: self, header: snapshot.header, view: view, origin: origin)
    }

    /// Counts one more reader of a version that is pinned already; false when it is not.
    private func addPin(at version: UInt64, from origin: ReaderOrigin?, _ state: inout State) -> Bool {
        guard let place = state.pins.index(forKey: version) else { return false }
        if let entry = state.pins.values[place].add(from: origin) { lock?.setPlace(of: origin, ofEntry: entry) }
        return true
    }

    /// Releases a version that a snapshot had pinned.
    func unpin(_ version: UInt64, from origin: ReaderOrigin?) {
        let versionWasFreed = state.withLock { (state) -> (@Sendable () -> Void)? in
            guard let place = state.pins.index(forKey: version) else { return nil }
            let named = state.pins.values[place].remove(from: origin)
            if state.pins.values[place].count > 0 {
                // Others are told of one that is still there.
                if let named { lock?.setPlace(of: state.pins.values[place].origins.first, ofEntry: named) }
                return nil
            }
            let pin = state.pins.remove(at: place).value
            if let lock, let entry = pin.entry { giveBack(entry, to: lock, &state) }
            return state.versionWasFreed
        }
        checkPinsIfAsked(at: version)
        versionWasFreed?()
    }

    /// Gives a reader entry back, or keeps it for the writers.
    private func giveBack(_ entry: Int, to lock: LockFile, _ state: inout State) {
        if state.spareEntries.count < state.writerCount {
            lock.clear(entry)
            state.spareEntries.append(entry)
        } else {
            lock.unregister(entry)
        }
    }

    /// Counts who writes, and moves to what it has written, in or out.
    package func countWriter(_ begins: Bool) {
        state.withLock { state in
            state.writerCount += begins ? 1 : -1
            while state.spareEntries.count > state.writerCount, let entry = state.spareEntries.popLast() {
                lock?.unregister(entry)
            }
        }
        checkPinsIfAsked(at: 0)
    }

    /// Keeps an entry for each writer: what can fail fails before anything is written, and not behind the commit.
    func keepEntriesForWriters(_ state: inout State) throws(StorageError) {
        guard let lock else { return }
        while state.spareEntries.count < state.writerCount {
            state.spareEntries.append(try lock.register(version: nil))
        }
    }

    /// The newest durable version, other processes' commits included.
    ///
    /// One atomic load.
    package var newestVersion: UInt64 {
        lock?.newestVersion ?? state.withLock { $0.published.version }
    }

    /// The number of versions that readers of this process stand at.
    package var pinnedVersionCount: Int {
        state.withLock { $0.pins.count }
    }

    /// Takes over what another process has published.
    func refresh(_ state: inout State, to newest: UInt64) throws(StorageError) {
        guard newest > state.published.version else { return }
        try requireLength(of: UInt64(FileHeader.slotPageCount))
        guard let found = try newestHeader(newest) else {
            // The slot has been overwritten meanwhile, so there is a newer version still: the caller's check finds it.
            if let lock, lock.newestVersion > newest { return try refresh(&state, to: lock.newestVersion) }
            throw .corrupt("The newest version's header cannot be read", page: 0, path: path)
        }
        let byteCount = try data.currentByteCount()
        guard found.header.pageCount <= UInt64(byteCount / pageByteCount) else {
            // A newer version may need less of the file, which was made smaller meanwhile.
            if let lock, lock.newestVersion > newest { return try refresh(&state, to: lock.newestVersion) }
            throw StorageFile.cutShort(byteCount, path)
        }
        try take(found, &state, byteCount: byteCount)
    }

    /// Fails where the file does not reach as far as so many pages: who touches what is missing ends the process.
    func requireLength(of pageCount: UInt64) throws(StorageError) {
        let byteCount = try data.currentByteCount()
        guard pageCount <= UInt64(byteCount / pageByteCount) else { throw StorageFile.cutShort(byteCount, path) }
    }

    static func cutShort(_ byteCount: Int, _ path: String) -> StorageError {
        .corrupt("The file was cut short while it was open", page: PageNumber(byteCount / pageByteCount), path: path)
    }

    /// Takes over the header of another process's version, unless it says what this process can not see to.
    func take(_ found: HeaderRecovery.Result, _ state: inout State, byteCount: Int) throws(StorageError) {
        guard found.header.pageCount <= UInt64(reservation.pageCapacity) else { throw outgrown }
        if found.header.features != state.published.features, !data.isReadOnly {
            try found.header.features.requireWritable(path)
        }
        state.byteCount = byteCount
        state.published = found.header
        state.slot = found.slot
        setPageLimit(atLeast: UInt32(found.header.pageCount), byteCount: byteCount)
    }

    /// The header of a version that another process has published, or of a newer one.
    private func newestHeader(_ version: UInt64) throws(StorageError) -> HeaderRecovery.Result? {
        if let image = lock?.image, image.header.version >= version {
            return HeaderRecovery.Result(header: image.header, slot: image.slot)
        }
        return try StorageFile.published(version: version, reservation, path)
    }

    /// The error of a file that became larger than the address space that was reserved for it.
    var outgrown: StorageError {
        StorageError(
            .addressSpaceExhausted,
            "The realm file outgrew the address space that this process reserved for it: close the realm everywhere in the process, "
                + "and open it again",
            path: path
        )
    }

    /// Moves the end behind which no reference may point: not before the newest version's, and not behind the file's.
    func setPageLimit(atLeast pageCount: UInt32, byteCount: Int) {
        let limit = max(reservation.verified[0].load(ordering: .relaxed), pageCount)
        let end = min(byteCount / pageByteCount, reservation.pageCapacity)
        reservation.verified[0].store(min(limit, UInt32(end)), ordering: .releasing)
    }

    func raisePageLimit(to limit: UInt32) {
        let limit = min(limit, UInt32(reservation.pageCapacity))
        if reservation.verified[0].load(ordering: .relaxed) < limit {
            reservation.verified[0].store(limit, ordering: .releasing)
        }
    }
}
