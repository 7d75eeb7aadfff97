import CRealmShims
import Logging
import RealmModel
import RealmQuery
import RealmStorage
import Synchronization

/// One realm of one isolation: the version that its objects read, the write transaction they are in, and the check that
/// they are used where they belong.
///
/// Everything reached from a realm holds its core; the public ``Realm`` is a handle on it. A frozen core stands on one
/// version for good and may be used anywhere.
@usableFromInline
final class RealmCore {
    /// How far the realm's life has come.
    enum Lifecycle {
        case open
        /// `invalidate()` was called: the objects are gone, the realm reads anew through another core.
        case invalidated
        case closed
    }

    let configuration: Realm.Configuration
    let coordinator: RealmCoordinator
    let isolation: RealmIsolation
    /// The version that is read, and the open write transaction.
    let model: ModelView
    /// Where the program opened the realm.
    let origin: ReaderOrigin?
    /// Whether this is a frozen realm's core.
    @usableFromInline let isFrozen: Bool
    /// Keeps the file from being deleted or replaced, where this is a frozen realm's core that stands on a version.
    private let fileUse: FileUse?
    /// Whether a change is delivered with the realm: it is frozen, and what is observed in it was found to fit its classes.
    ///
    /// The collection that is delivered knows its keys, so that its query waits until something else is asked of it.
    let isDelivery: Bool
    /// Tells the realm from every other one of the process, also from one that is gone; what goes on with an invalidated realm has its number.
    private(set) var number = RealmCore.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    private static let lastNumber = Atomic<UInt64>(0)
    /// The core as its coordinator knows it.
    private(set) lazy var registration = CoreRegistration(self)
    /// What every access compares with the place where the caller runs.
    @usableFromInline let place: UnsafeMutablePointer<RealmPlace>
    private(set) var lifecycle = Lifecycle.open
    private var isUseAfterClosingNoted = false

    /// Whether the file keeps a reader entry for the version that the realm writes next.
    var isCountedAsWriter = false
    /// The turn in the file's write queue that the open write transaction holds.
    var ticket: WriteScheduler.Ticket?
    /// Where blocking commits wait.
    private(set) lazy var commitGate = ThreadGate<WriteScheduler.CommitResult>()
    /// What a transaction was built on that ended without a commit, until somebody waits for it.
    private(set) var undurableBase: BaseFlush?
    /// What holds for the block that is being called.
    var blockRules = BlockRules()
    /// The commits that asynchronous writes might have brought to the file themselves.
    var briefCommitCount: UInt8 = 0
    /// Whose the open write transaction is.
    var owner = TransactionOwner()
    /// Whether the realm may have lost transactions, which are in ``CallbackWrites/lostTransactions``: every write asks.
    var mayHaveLostTransactions = false
    /// What was acknowledged, and is ahead of the version that it stands on.
    var ahead = AcknowledgedAhead()
    /// Whether nothing was read, written or delivered yet, so that it cannot be told which version the realm stands on.
    var isFresh = true
    /// Whether the realm follows the file by itself.
    var autorefresh: Bool
    /// The asynchronous writes of callback form that are under way.
    let callbackWrites: CallbackWrites
    /// The blocks that are being called.
    let blockCalls: BlockCalls
    /// The versions that tasks moved to and wait for observers to be told of, with the number of tasks.
    var refreshesUnderWay: [UInt64: Int] = [:]
    /// The observers to wake when the realm moved to a newer version, left a transaction, or ended.
    let signals = ChangeSignals()
    /// The frozen realm of the version that is read, until this one moves on.
    var frozenRealm: Realm?
    /// What is left to it when its classes do not fit the file any more.
    var outdated = OutdatedState()
    /// How many blocks of `withRealm` use the realm, the last of which closes it; nil when somebody opened it to stay open.
    var blockCount: Int?
    /// The migration that the realm is part of.
    var migration: MigrationTransaction?
    /// Owned by Objects: the accessors of the tables.
    var accessorStorage: AnyObject?
    /// Owned by Objects: what the last object was added with, for the next one.
    @exclusivity(unchecked) var spareAddContext: AddContext?

    /// Owned by Results: what changed since they were read last.
    private(set) lazy var resultSteps = ResultSteps()
    /// When results are computed anew instead of being taken from version to version.
    var resultEconomy = ResultAdvance.Economy.estimated

    private let handleLock = HandleLock()
    private var handle: WeakReference<Realm>?

    init(
        configuration: Realm.Configuration,
        coordinator: RealmCoordinator,
        isolation: RealmIsolation,
        model: ModelView,
        origin: ReaderOrigin? = nil,
        callbackWrites: CallbackWrites = CallbackWrites(),
        blockCalls: BlockCalls = BlockCalls(),
        isDelivery: Bool = false,
        schema: ModelSchema? = nil
    ) {
        self.isDelivery = isDelivery
        self.callbackWrites = callbackWrites
        self.blockCalls = blockCalls
        self.origin = origin
        self.configuration = configuration
        self.coordinator = coordinator
        self.isolation = isolation
        self.model = model
        if case .everywhere = isolation { isFrozen = true } else { isFrozen = false }
        fileUse = isFrozen && model.pinsVersion ? FileUse(of: coordinator) : nil
        autorefresh = !isFrozen
        place = .allocate(capacity: 1)
        place.initialize(to: isFrozen ? .everywhere : .nowhere)
        // Several threads may ask a frozen realm for its tables at once.
        if isFrozen { accessorStorage = AccessorRegistry(core: self, schema: schema) }
    }

    deinit {
        if model.isInTransaction || model.isSuspended {
            logger
                .warning(
                    "A realm was let go of inside a write transaction, which was rolled back.",
                    metadata: ["realm.path": "\(coordinator.path)"]
                )
            model.rollback()
            if let ticket { coordinator.writes.finish(ticket) }
        }
        if isCountedAsWriter { coordinator.file.countWriter(false) }
        if !isFrozen, lifecycle != .closed { coordinator.noteGone() }
        place.deallocate()
    }

    // MARK: Where and when it may be used

    /// Traps unless the caller runs in the realm's isolation, and on objects of a realm that was invalidated.
    ///
    /// A realm that was closed may be used on, and is empty: nobody can know when another job of its actor closes it.
    @inline(__always)
    func checkAccess() {
        if _slowPath(!place.pointee.isCaller) { checkAccessSlowly() }
    }

    /// Asks the isolation, and notes its place when that is one word.
    @usableFromInline
    @inline(never)
    func checkAccessSlowly() {
        if isFrozen { return }
        guard isolation.isCurrent else { misuse(wrongIsolationMessage) }
        switch lifecycle {
        case .open: break
        case .closed: return noteUseAfterClosing()
        case .invalidated: misuse(Self.invalidatedMessage)
        }
        if ahead.owedPages != nil { catchUpOrReport(waiting: false) }
        do {
            try admitCaller()
        } catch {
            trap(error)
        }
        // What can throw is to do so behind this, too.
        if ahead.isMissingReported { hideIfBehind() }
    }

    /// Notes that the realm is used in its isolation.
    ///
    /// - Throws: `StorageError` when an open transaction, which the caller must not see, cannot be set aside.
    private func admitCaller() throws(StorageError) {
        isFresh = false
        if owner.exclusiveTask != 0 { return try showTransactionToItsTaskOnly() }
        isolation.place.store(to: place)
    }

    /// As ``checkAccess()``, for what throws.
    func requireAccess() throws(Realm.Error) {
        if place.pointee.isCaller { return }
        guard isFrozen || isolation.isCurrent else { throw error(.wrongIsolation, wrongIsolationMessage) }
        switch lifecycle {
        case .open:
            if isFrozen { return }
            if ahead.owedPages != nil { try catchUp(waiting: false) }
            do throws(StorageError) { try admitCaller() } catch {
                throw Realm.Error(storage: error, path: coordinator.path)
            }
        case .closed: throw closedError
        case .invalidated: throw error(.invalidatedObject, Self.invalidatedMessage)
        }
    }

    /// As ``requireAccess()``, for what reads as empty when the realm was closed.
    func requireReading() throws(Realm.Error) {
        if !isClosed || !isCurrent { try requireAccess() }
    }

    /// What a realm that was closed throws.
    var closedError: Realm.Error {
        if let reason = outdated.unreadableReason { return Realm.Error(storage: reason, path: coordinator.path) }
        return error(.closed, "This realm has been closed. Open it again.")
    }

    private static var invalidatedMessage: String {
        "Object has been invalidated: `realm.invalidate()` was called. Fetch it from the realm again."
    }

    /// Whether `close()` was called: everything of the realm is empty, and what is written goes nowhere.
    var isClosed: Bool { lifecycle == .closed }

    /// Whether what is written goes nowhere, to be asked in the realm's isolation: it was closed, or its transaction is over that
    /// the program has not ended.
    var dropsWrites: Bool { isClosed || isInLostTransaction }

    /// The same, before the access is checked: of objects from before the transaction was lost.
    var dropsWritesOfInvalidated: Bool { lifecycle == .invalidated && hasLostTransaction && isolation.isCurrent }

    /// Says once that the realm is used though it was closed.
    private func noteUseAfterClosing() {
        if isUseAfterClosingNoted { return }
        isUseAfterClosingNoted = true
        logger
            .warning(
                "A realm is used after it was closed: it reads as empty, and takes no writes. Open it again.",
                metadata: ["realm.path": "\(coordinator.path)"]
            )
    }

    /// Sets the open transaction aside for other jobs than its own task's, and takes it up again for that.
    private func showTransactionToItsTaskOnly() throws(StorageError) {
        if crealm_current_task() == owner.exclusiveTask { try model.resume() } else { try model.suspend() }
    }

    /// Whether the caller runs in the realm's isolation: what every access asks, without the trap.
    var isCurrent: Bool { place.pointee.isCaller || isFrozen || isolation.isCurrent }

    /// Whether objects of this core can still be used.
    var isInvalidated: Bool { lifecycle != .open }

    // MARK: What it is

    /// Whether a write transaction is open, as far as the caller sees.
    var isInWriteTransaction: Bool { model.isInTransaction }

    /// Whether a write transaction is open, be it another job's.
    var hasTransaction: Bool { model.isInTransaction || model.isSuspended }

    /// The version that is read.
    var version: UInt64 { model.version }

    /// The caller's logger.
    var logger: Logger { configuration.logger ?? .shared }

    /// The public realm of this core.
    func realm() -> Realm {
        handleLock.withLock {
            if let realm = handle?.object { return realm }
            let realm = Realm(core: self)
            handle = WeakReference(realm)
            return realm
        }
    }

    /// The public realm of this core, if there is one.
    var existingRealm: Realm? { handleLock.withLock { handle?.object } }

    /// The core for another opening in its isolation.
    ///
    /// - Throws: `incompatibleSession` when it is open with settings that exclude these.
    func reopened(with configuration: Realm.Configuration, for use: RealmUse) throws -> RealmCore {
        try coordinator.checkCompatible(self.configuration, with: configuration)
        // What exists already stays as closed or as open as it is to be.
        if use != .found { note(use, whileClosing: callbackWrites.keepOpen()) }
        return self
    }

    /// Makes an existing public realm the handle of this core.
    func adopt(_ realm: Realm) {
        handleLock.withLock { handle = WeakReference(realm) }
    }

    // MARK: Moving on

    /// Notes that a realm that is closed, or is about to be, fits no version that could be read.
    func noteUnreadable(_ error: StorageError) {
        outdated.unreadableReason = .schemaOutdatedUnread(error.subject)
    }

    /// The program has closed it itself.
    func forgetUnreadable() { outdated.unreadableReason = nil }

    /// Moves to the newest durable version; not inside a transaction, and not when that has another schema.
    ///
    /// Another task's transaction in two steps is set aside for that.
    ///
    /// - Parameters:
    ///   - isWriter: Whether the version may take a reader entry that is kept for writers.
    ///   - demand: What it asks for where pages are owed.
    /// - Returns: whether there was a newer one, and the realm stands on it.
    /// - Throws: `StorageError`, where it cannot be read or does not fit.
    @discardableResult
    func advanceToNewest(
        asWriter isWriter: Bool = false,
        asking demand: StorageFile.PageDemand = .acknowledged
    ) throws(StorageError) -> Bool {
        guard !isFrozen, lifecycle == .open, !isHeldByTransaction, outdated.reason == nil,
            coordinator.file.isAhead(of: model.snapshot)
        else { return false }
        try setForeignTransactionAside()
        let before = version
        do throws(StorageError) {
            let newest = try coordinator.file.beginRead(from: origin, asWriter: isWriter, asking: demand)
            // There may be no memory for what is newer.
            if newest.version < before || newest.isSame(as: model.snapshot) { return false }
            try advance(to: newest)
        } catch {
            // An outdated realm stays, and that is no failure of whoever moves it.
            if outdated.reason != nil { return false }
            throw error
        }
        // What it read in memory is the same in the file.
        return version > before
    }

    /// Moves to the newest durable version, or, where that cannot be had, to one that the caller has written or seen: what was
    /// acknowledged does not vanish because another process has changed the schema meanwhile.
    ///
    /// Another task's transaction in two steps is set aside for that. Where one is open that every job sees, the realm moves when that
    /// has ended.
    ///
    /// - Throws: `StorageError` when the newest version cannot be read, and that is not because the realm is outdated.
    func advanceToNewest(orAtLeastTo own: Snapshot?, asWriter isWriter: Bool = false) throws(StorageError) {
        if let own, own.version > ahead.unseen?.version ?? 0 { ahead.unseen = own }
        try setForeignTransactionAside()
        if model.isInTransaction { return }
        let target = ahead.unseen
        ahead.unseen = nil
        var failure: StorageError?
        do throws(StorageError) {
            try advanceToNewest(asWriter: isWriter)
        } catch {
            failure = error
        }
        if let target, !isFrozen, lifecycle == .open, model.snapshot.version < target.version {
            try model.advance(to: coordinator.file.beginRead(at: target, from: origin))
            didMove()
        }
        if let failure { throw failure }
    }

    /// Moves to a newer version, which another view may stand on for good; not inside a transaction.
    func advance(to snapshot: Snapshot, as known: ModelView? = nil) throws(StorageError) {
        try checkCurrentSchema()
        do throws(StorageError) {
            try model.advance(to: snapshot, as: known)
        } catch {
            noteOutdated(error)
            throw error
        }
        didMove()
    }

    private func didMove() {
        frozenRealm = nil
        // It would hold the version that they were made in.
        if let made = ahead.owedPages?.version, made <= model.snapshot.version { ahead.owedPages = nil }
        signals.raise()
    }

    /// Takes what the transaction that ended last without a commit was built on, if that is not durable.
    func takeBase() -> BaseFlush? {
        defer { undurableBase = nil }
        return undurableBase
    }

    /// Notes what a transaction was built on that ended without a commit.
    ///
    /// A block may end several before somebody waits: that a later one saw nothing that is lost says nothing of those before.
    func noteBase(_ base: BaseFlush?) { undurableBase = undurableBase?.followed(by: base) ?? base }

    /// Ends the core's life.
    ///
    /// Of an invalidated one every later access traps; a closed one is empty.
    func end(as lifecycle: Lifecycle) {
        guard self.lifecycle == .open else {
            if lifecycle == .closed {
                self.lifecycle = .closed
                outdated.lastVersion = nil
                signals.end()
            }
            return
        }
        if hasTransaction {
            logger
                .warning(
                    "A realm was closed inside a write transaction, which was rolled back.",
                    metadata: ["realm.path": "\(coordinator.path)"]
                )
            loseTransaction()
        }
        // It holds a version of the file. A write whose block ends the realm waits for it: what that saw may be on its way to the
        // disk.
        let base = takeBase()
        callbackWrites.block.end?.note(base)
        self.lifecycle = lifecycle
        frozenRealm = nil
        ahead.unseen = nil
        ahead.owedPages = nil
        if lifecycle == .closed { signals.end() } else { signals.raise() }
        // A frozen realm may be read by other threads just now: what it holds stays until the last of it is let go of.
        if isFrozen { return }
        RealmPlace.nowhere.store(to: place)
        // No other version can be read any more.
        if lifecycle == .invalidated, outdated.reason != nil { outdated.lastVersion = model.snapshot }
        // The objects that are left keep nothing in the file.
        model.unpin()
    }

    /// A core that reads anew, for the realm that was invalidated.
    ///
    /// One that was outdated stays at its version, which is the last that it can read.
    func successor() throws(StorageError) -> RealmCore {
        let view: ModelView
        if let lastVersion = outdated.lastVersion {
            view = try ModelView(snapshot: lastVersion, schema: model.schema)
        } else {
            view = try coordinator.makeView(origin)
        }
        let core = RealmCore(
            configuration: configuration,
            coordinator: coordinator,
            isolation: isolation,
            model: view,
            origin: origin,
            callbackWrites: callbackWrites,
            blockCalls: blockCalls
        )
        try core.followSchema()
        core.number = number
        core.outdated.reason = outdated.reason
        core.mayHaveLostTransactions = hasLostTransaction
        outdated.lastVersion = nil
        core.autorefresh = autorefresh
        core.blockCount = blockCount
        return core
    }
}

@available(*, unavailable, message: "A realm belongs to its isolation.")
extension RealmCore: Sendable {}
