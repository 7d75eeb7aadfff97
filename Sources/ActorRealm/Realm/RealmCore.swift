import CRealmShims
import Logging
import RealmModel
import RealmQuery
import RealmStorage

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
    /// Whether a change is delivered with the realm: it is frozen, and what is observed in it was found to fit its classes.
    ///
    /// The collection that is delivered knows its keys, so that its query waits until something else is asked of it.
    let isDelivery: Bool
    /// The core as its coordinator knows it.
    private(set) lazy var registration = CoreRegistration(self)
    /// What every access compares with the current thread.
    @usableFromInline let access: UnsafeMutablePointer<RealmAccessState>
    private(set) var lifecycle = Lifecycle.open

    /// Whether the file keeps a reader entry for the version that the realm writes next.
    var isCountedAsWriter = false
    /// The turn in the file's write queue that the open write transaction holds.
    var ticket: WriteScheduler.Ticket?
    /// Where blocking commits wait.
    private(set) lazy var commitGate = ThreadGate<WriteScheduler.CommitResult>()
    /// The task that opened the write transaction; 0 outside tasks.
    var writingTask: UInt = 0
    /// The task that alone sees the open transaction, which is set aside while other jobs of the isolation run; 0 when a
    /// transaction cannot outlive the job that opened it.
    var exclusiveTask: UInt = 0
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
    private var frozenRealm: Realm?
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
        isDelivery: Bool = false
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
        autorefresh = !isFrozen
        access = .allocate(capacity: 1)
        access.initialize(to: RealmAccessState(ownerThread: RealmAccessState.noThread, threadMask: isFrozen ? 0 : .max))
        // Several threads may ask a frozen realm for its tables at once.
        if isFrozen { accessorStorage = AccessorRegistry(core: self) }
    }

    deinit {
        if model.isInTransaction || model.isParked {
            logger?
                .warning(
                    "A realm was let go of inside a write transaction, which was rolled back.",
                    metadata: ["realm.path": "\(coordinator.path)"]
                )
            model.rollback()
            if let ticket { coordinator.writes.finish(ticket) }
        }
        if isCountedAsWriter { coordinator.file.countWriter(false) }
        access.deallocate()
    }

    // MARK: Where and when it may be used

    /// The word that the current thread is compared with, for inlined getters.
    @usableFromInline
    var ownerThread: UnsafeMutablePointer<UInt> {
        UnsafeMutableRawPointer(access).assumingMemoryBound(to: UInt.self)
    }

    /// Traps unless the caller runs in the realm's isolation and the realm is open.
    @inline(__always)
    func checkAccess() {
        #if DEBUG
        checkAccessSlowly()
        #else
        let state = access.pointee
        if _slowPath((crealm_thread_word() ^ state.ownerThread) & state.threadMask != 0) { checkAccessSlowly() }
        #endif
    }

    /// Asks for the current executor or thread, and remembers the thread when it is the realm's.
    @usableFromInline
    @inline(never)
    func checkAccessSlowly() {
        switch lifecycle {
        case .open: break
        case .closed: misuse("This realm has been closed. Open it again before using it or its objects.")
        case .invalidated:
            misuse(
                "Object has been invalidated: invalidate() was called on its realm. Fetch it from the realm again."
            )
        }
        if isFrozen { return }
        guard isolation.isCurrent else { trapOnWrongIsolation() }
        if exclusiveTask != 0 { return showTransactionToItsTaskOnly() }
        if isolation.trustsThreads { access.pointee.ownerThread = crealm_thread_word() }
    }

    /// Sets the open transaction aside for other jobs than its own task's, and takes it up again for that.
    private func showTransactionToItsTaskOnly() {
        let isOwn = crealm_current_task() == exclusiveTask
        do {
            if isOwn { try model.unpark() } else { try model.park() }
        } catch {
            trap(error)
        }
    }

    /// Whether the caller runs in the realm's isolation.
    var isCurrent: Bool { isFrozen || isolation.isCurrent }

    /// Whether objects of this core can still be used.
    var isInvalidated: Bool { lifecycle != .open }

    private func trapOnWrongIsolation() -> Never {
        misuse(wrongIsolationMessage)
    }

    /// Names the realm's isolation, the caller's, and the remedies.
    var wrongIsolationMessage: String {
        var message =
            "Realm accessed from incorrect thread or actor: it belongs to \(isolation), and was used from "
            + "\(RealmIsolation.currentDescription). Send a ThreadSafeReference or a freeze()d copy to the other "
            + "isolation, or open a realm there."
        if case .thread = isolation {
            message += " To bind a realm to an actor from its init, open it with `try await Realm(actor: self)`."
        }
        return message
    }

    /// Traps outside a write transaction.
    func requireWrite(_ what: String) {
        checkAccess()
        if model.isInTransaction { return }
        if isFrozen {
            misuse("\(what) is not possible on a frozen realm: thaw() the object first.")
        }
        misuse("\(what) is possible only in a write transaction: call it inside realm.write { }.")
    }

    // MARK: What it is

    /// Whether a write transaction is open, as far as the caller sees.
    var isInWriteTransaction: Bool { model.isInTransaction }

    /// Whether a write transaction is open, be it another job's.
    var hasTransaction: Bool { model.isInTransaction || model.isParked }

    /// The version that is read.
    var version: UInt64 { model.version }

    /// The caller's logger.
    var logger: Logger? { configuration.logger ?? Logger.sharedIfSet }

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

    /// Makes an existing public realm the handle of this core.
    func adopt(_ realm: Realm) {
        handleLock.withLock { handle = WeakReference(realm) }
    }

    // MARK: Moving on

    /// Moves to the newest durable version; not inside a transaction.
    ///
    /// - Returns: whether there was a newer one.
    @discardableResult
    func advanceToNewest(asWriter isWriter: Bool = false) throws(StorageError) -> Bool {
        guard !isFrozen, lifecycle == .open, !model.isInTransaction,
            coordinator.file.newestVersion > model.snapshot.version
        else { return false }
        try advance(to: coordinator.file.beginRead(from: origin, asWriter: isWriter))
        return true
    }

    /// Moves to a newer version; not inside a transaction.
    func advance(to snapshot: Snapshot) throws(StorageError) {
        try model.advance(to: snapshot)
        frozenRealm = nil
        signals.raise()
    }

    /// Ends the core's life: every later access traps.
    func end(as lifecycle: Lifecycle) {
        guard self.lifecycle == .open else {
            if lifecycle == .closed {
                self.lifecycle = .closed
                signals.end()
            }
            return
        }
        if hasTransaction {
            logger?
                .warning(
                    "A realm was closed inside a write transaction, which was rolled back.",
                    metadata: ["realm.path": "\(coordinator.path)"]
                )
            cancelTransaction()
        }
        self.lifecycle = lifecycle
        frozenRealm = nil
        if lifecycle == .closed { signals.end() } else { signals.raise() }
        access.pointee = RealmAccessState(ownerThread: RealmAccessState.noThread, threadMask: .max)
        // The objects that are left keep nothing in the file. A frozen realm may be read by other threads just now.
        if !isFrozen { model.unpin() }
    }

    /// A core that reads anew, for the realm that was invalidated.
    func successor() throws(StorageError) -> RealmCore {
        let core = RealmCore(
            configuration: configuration,
            coordinator: coordinator,
            isolation: isolation,
            model: try ModelView(snapshot: coordinator.file.beginRead(from: origin)),
            origin: origin,
            callbackWrites: callbackWrites,
            blockCalls: blockCalls
        )
        core.autorefresh = autorefresh
        return core
    }

    // MARK: Frozen

    /// The frozen realm of the version that is read outside a transaction: the same one each time.
    func freeze() throws(StorageError) -> Realm {
        if isFrozen { return realm() }
        if let frozenRealm, frozenRealm.core.lifecycle == .open,
            frozenRealm.core.model.snapshot.version == model.snapshot.version
        {
            return frozenRealm
        }
        let frozen = RealmCore(
            configuration: configuration,
            coordinator: coordinator,
            isolation: .everywhere,
            model: try model.duplicate(),
            origin: origin
        )
        .realm()
        frozenRealm = frozen
        return frozen
    }
}

@available(*, unavailable, message: "A realm belongs to its isolation.")
extension RealmCore: Sendable {}
