import CRealmShims
import Logging
import RealmModel
import RealmStorage

/// The write transaction of a core, in steps. The caller has checked that the realm may be used here.
extension RealmCore {
    /// Whether the realm stays where it is because a transaction is open: the caller's own, or one that every job sees.
    var isHeldByTransaction: Bool {
        model.isInTransaction && (owner.exclusiveTask == 0 || owner.exclusiveTask == crealm_current_task())
    }

    /// Sets another task's transaction in two steps aside, as every access of another job does: the caller reads, and moves, outside of it.
    func setForeignTransactionAside() throws(StorageError) {
        if owner.exclusiveTask != 0, owner.exclusiveTask != crealm_current_task() { try model.suspend() }
    }

    /// Throws the reason why no write transaction can be opened by the caller.
    func checkWritable() throws(Realm.Error) {
        if isFrozen {
            throw error(.frozen, "Can't perform transactions on a frozen Realm: use `realm.thaw()` first.")
        }
        if !isolation.isCurrent { throw error(.wrongIsolation, wrongIsolationMessage) }
        if lifecycle != .open { throw closedError }
        if configuration.readOnly { throw error(.readOnly, "Can't perform transactions on read-only Realms.") }
    }

    /// The same for what throws when the realm is outdated, before it waits for its turn.
    func checkWritableNow() throws {
        try checkWritable()
        do { try checkCurrentSchema() } catch { throw Realm.Error.wrap(error, path: coordinator.path) }
    }

    /// Throws when the write transaction that is open would never end if the caller waited for its turn.
    func checkNotNested() throws(Realm.Error) {
        guard hasTransaction else { return }
        guard owner.task == crealm_current_task() else {
            throw error(
                .alreadyInWriteTransaction,
                "Another task of \(isolation) has a write transaction of this realm open, and would never end it while a write "
                    + "that blocks waited here: use `try await realm.asyncWrite { }`, or finish that transaction first."
            )
        }
        throw error(
            .alreadyInWriteTransaction,
            "The Realm is already in a write transaction: finish it before beginning another one."
        )
    }

    /// As ``checkNotNested()``, for a writer that suspends: only the task that has the transaction open would wait for
    /// itself.
    func checkNotNestedInTask() throws(Realm.Error) {
        if hasTransaction, owner.task == crealm_current_task() { try checkNotNested() }
    }

    /// An error about this realm's file.
    func error(_ code: Realm.Error.Code, _ message: String) -> Realm.Error {
        Realm.Error(code, message, fileURL: configuration.fileURL)
    }

    /// Opens the transaction of a turn; gives the turn back when that fails.
    ///
    /// - Parameters:
    ///   - turn: The turn that has come.
    ///   - joining: Whether the transaction may build on commits that are not sealed yet.
    ///   - isOpenEnded: Whether no block ends the transaction, so that the task may suspend in it.
    ///   - isExclusive: Whether other jobs of the isolation may run before the transaction ends, which must not see it.
    /// - Throws: `Realm.Error`, when the transaction cannot be opened.
    func beginTransaction(
        turn: WriteScheduler.Ticket,
        joining: Bool = false,
        isOpenEnded: Bool = false,
        isExclusive: Bool = false
    ) throws {
        var base: UInt64 = 0
        do {
            isFresh = false
            if lifecycle != .open { throw error(.closed, "The realm was closed while the write waited for its turn.") }
            try checkCurrentSchema()
            let joining = joining && mayStandOnOwing
            coordinator.writes.transactionBegins(joining: joining, isOpenEnded: isOpenEnded, in: isolation)
            // What is owed has been sealed, and is being published; what is read outside of the transaction may be in memory until then.
            let isBehind = try ahead.owedPages != nil && !joining && !catchUpUnlessFull()
            if !isCountedAsWriter {
                coordinator.file.countWriter(true)
                isCountedAsWriter = true
            }
            let transaction = try coordinator.file.beginWrite(joining: joining, from: origin)
            base = transaction.version - 1
            if isBehind {
                do throws(Realm.Error) {
                    try catchUp(waiting: false)
                } catch {
                    transaction.rollback()
                    throw error
                }
            }
            transaction.recording = coordinator.file.keepsLog ? .record : .pages
            try model.begin(transaction)
        } catch {
            coordinator.writes.finish(turn)
            // What is on its way to the disk may be lost; where it is not, the realm finds it there.
            if let error = error as? StorageError, base <= coordinator.file.newestVersion { noteOutdated(error) }
            throw Realm.Error.wrap(error, path: coordinator.path)
        }
        ticket = turn
        owner.isOpenEnded = isOpenEnded
        owner.task = crealm_current_task()
        if hasLostTransaction, isOpenEnded { replaceLostTransactions() }
        if isExclusive {
            owner.exclusiveTask = owner.task
            RealmPlace.nowhere.store(to: place)
        }
    }

    /// Seals the transaction and leaves it: reads see the last durable version again, until `advanceToNewest()`.
    ///
    /// When that fails, the transaction is rolled back and its turn given back.
    func prepareCommit() throws -> (PreparedCommit, WriteScheduler.Ticket) {
        guard let turn = ticket else {
            misuse("There is no write transaction to commit: begin one first.")
        }
        owner.exclusiveTask = 0
        do {
            try model.resume()
            try throwWriteFailure()
            try model.keepRecord(coordinator.recordHeading)
            return (try sealCommit(), turn)
        } catch {
            cancelTransaction(because: error)
            throw Realm.Error.wrap(error, path: coordinator.path)
        }
    }

    func sealCommit() throws -> PreparedCommit {
        let prepared = try model.prepareCommit()
        try model.endTransaction()
        ticket = nil
        hideIfBehind()
        showUnseen()
        return prepared
    }

    /// Leaves the transaction to be sealed together with later ones, as ``prepareCommit()`` otherwise.
    ///
    /// - Returns: Its turn, and the number of its group.
    func joinCommit() throws -> (turn: WriteScheduler.Ticket, group: UInt64) {
        guard let turn = ticket else {
            misuse("There is no write transaction to commit: begin one first.")
        }
        owner.exclusiveTask = 0
        do {
            try model.resume()
            try throwWriteFailure()
            try model.keepRecord(coordinator.recordHeading)
            let group = try model.join()
            ticket = nil
            hideIfBehind()
            return (turn, group)
        } catch {
            cancelTransaction(because: error)
            throw Realm.Error.wrap(error, path: coordinator.path)
        }
    }

    /// Rolls the transaction back and gives its turn back.
    ///
    /// What it was built on may be on its way to the disk still: ``settle()`` waits for that.
    func cancelTransaction() {
        owner.exclusiveTask = 0
        let group = model.groupNumber
        if hasTransaction { model.rollback() }
        hideIfBehind()
        forgetWriteFailure()
        guard let turn = ticket else { return }
        ticket = nil
        let owed = coordinator.leavesPages ? group.flatMap(coordinator.writes.pages(owedBy:)) : nil
        let base = coordinator.writes.finish(turn, group: group)
        noteBase(base)
        // It saw what is acknowledged, whose writers may not have gone on yet.
        if base == nil, let owed { owe(owed) }
        followBehindTransaction()
    }

    /// The same behind a commit that failed: where there was no space for it with what owes its pages, whoever tries again finds nothing that
    /// does.
    func cancelTransaction(because error: any Error) {
        cancelTransaction()
        if coordinator.leavesPages, (error as? StorageError)?.code == .full { coordinator.noteSpaceRefusal() }
    }

    /// Moves to what others have committed while a transaction was open that has come to nothing, and has it delivered.
    private func followBehindTransaction() {
        if !showUnseen() { refreshQuietly() }
        // Where the realm stands already, or stays, observers were refused all the same.
        signals.raise()
    }

    /// Moves to what was acknowledged while a transaction was open that has been left; a failure leaves the realm at its version.
    ///
    /// - Returns: whether there was any.
    @discardableResult
    func showUnseen() -> Bool {
        guard ahead.unseen != nil, !model.isInTransaction else { return false }
        do {
            try advanceToNewest(orAtLeastTo: nil)
        } catch {
            report(error, "A realm could not move to what was acknowledged while it was in a transaction.")
        }
        return true
    }

    /// Waits until what a transaction was built on that ended without a commit is durable, blocking the thread, and moves there:
    /// what the caller saw in it is there.
    ///
    /// - Throws: `Realm.Error` when that is lost.
    func settle() throws {
        if blockRules.settlesLater { return }
        guard let base = takeBase() else { return }
        try moved(behind: base.waitOnPool())
    }

    /// The same without blocking the thread.
    func settleSuspending(_ isolation: isolated (any Actor)?) async throws {
        guard let base = takeBase() else { return }
        try moved(behind: await base.value(isolation: isolation))
    }

    /// As ``settle()``, where nobody can be told of a failure but the write whose block this is.
    func settleOrReport() {
        do {
            try settle()
        } catch {
            guard !callbackWrites.block.isCollecting else {
                callbackWrites.block.loss = callbackWrites.block.loss ?? error
                // Whatever becomes of the rest: this is thrown.
                callbackWrites.block.thrownLoss = nil
                return
            }
            report(error, "The commits that a transaction was built on, which was rolled back, are lost.")
        }
    }

    /// The core that the realm goes on with, in its isolation: another one where this one was invalidated and the realm is in use again.
    var coreInUse: RealmCore {
        guard lifecycle == .invalidated, let realm = existingRealm, !realm.isInvalid else { return self }
        return realm.core
    }

    /// Takes the end of a flush: moves to what it made durable, or throws where that is lost, and moves to what others have committed.
    ///
    /// That the realm cannot move there is logged only. As an error it would say that nothing was written, and who tries again would write
    /// it twice; or it would stand for the error of a block, which saw what is durable now.
    ///
    /// A realm that was invalidated meanwhile moves where it is in use again.
    func moved(behind result: WriteScheduler.CommitResult, asWriter isWriter: Bool = false) throws(Realm.Error) {
        switch result {
        case .success(let durable):
            do {
                try coreInUse.advanceToNewest(orAtLeastTo: durable, asWriter: isWriter)
            } catch {
                report(error, "A realm could not move to the newest version behind a commit that is durable.")
            }
        case .failure(let error):
            coreInUse.followBehindTransaction()
            throw Realm.Error(storage: error, path: coordinator.path)
        }
    }

    /// What a write throws whose block has ended the realm in a transaction.
    var endedInBlockError: Realm.Error {
        error(
            .closed,
            "The block of a write closed or invalidated its realm: what it wrote is rolled back. Do that behind the write."
        )
    }

    /// Takes the result of the realm's own commit: moves to the new version, or throws.
    func complete(_ result: WriteScheduler.CommitResult) throws {
        if case .success = result { coordinator.space.warnOfStalledReader(logger) }
        try moved(behind: result, asWriter: true)
    }

    /// Follows the file where the realm is allowed to; a failure leaves it at its version and is logged.
    func refreshQuietly() {
        // What was opened for reading only does not change, though others of this process may have written to the file before.
        guard autorefresh, !configuration.readOnly else { return }
        do {
            // What it has acknowledged since comes with its next access, and others have the pages of theirs made.
            try advanceToNewest(asking: .atHand)
        } catch {
            report(error, "A realm could not move to the newest version.")
        }
    }

    /// Logs a failure that the caller cannot be told of.
    func report(_ error: any Error, _ message: Logger.Message) {
        logger.error(message, metadata: ["realm.path": "\(coordinator.path)", "error": "\(error)"])
    }
}
