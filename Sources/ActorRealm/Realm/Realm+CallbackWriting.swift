import Logging
import RealmStorage

extension Realm {
    /// Runs a block in a write transaction later, in the realm's isolation, and commits it without blocking a thread.
    ///
    /// For realms of an actor, a queue or a scheduler. In asynchronous code `asyncWrite` says the same in one expression.
    ///
    /// The block changes the realm; it may commit or cancel itself, with any of the forms. `onComplete` is called in the realm's
    /// isolation when the commit is durable, also one that the block began itself, or with the error, also where the block closed
    /// or invalidated the realm; with nil when the block cancelled and what it saw is durable. The observers whose tokens are passed are not told of this write: what they show reflects it already.
    ///
    /// Returns a number to cancel the write with, as long as it has not begun.
    ///
    /// - Precondition: The realm can be written, and belongs to an actor, a queue or a scheduler. `asyncWrite` and
    ///   `write` throw instead.
    @discardableResult
    public func writeAsync(
        withoutNotifying tokens: [NotificationToken] = [],
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @escaping () -> Void,
        onComplete: ((_ error: (any Swift.Error)?) -> Void)? = nil
    ) -> AsyncTransactionId {
        if core.isClosed { return core.refuseCallbackWrite(onComplete) }
        core.requireCallbackWrites()
        return core.enqueue(self, WriteRequest(tokens, nil, file, line), commits: true, block, onComplete)
    }

    /// Runs a block in a write transaction later, in the realm's isolation.
    ///
    /// The block has to commit: returning without ``commitAsyncWrite(allowGrouping:withoutNotifying:_:)`` or `commitWrite()` rolls
    /// back.
    ///
    /// - Returns: a number to cancel the write with, as long as it has not begun.
    /// - Precondition: The realm can be written, and belongs to an actor, a queue or a scheduler. `asyncWrite` and
    ///   `write` throw instead.
    @discardableResult
    public func beginAsyncWrite(
        file: StaticString = #fileID,
        line: UInt = #line,
        _ asyncWriteBlock: @escaping () -> Void
    ) -> AsyncTransactionId {
        if core.isClosed { return core.refuseCallbackWrite(nil) }
        core.requireCallbackWrites()
        return core.enqueue(self, WriteRequest([], nil, file, line), commits: false, asyncWriteBlock, nil)
    }

    /// Commits the open write transaction without blocking the thread.
    ///
    /// The changes are visible to this realm when the commit is durable.
    ///
    /// - Parameters:
    ///   - allowGrouping: Accepted for source compatibility: commits that wait are always flushed together.
    ///   - tokens: Of observers that are not told of this write: what they show reflects it already.
    ///   - onComplete: Called in the realm's isolation when the commit is durable, or with the error.
    /// - Returns: a number to cancel the completion block with; the commit itself goes on.
    /// - Precondition: A write transaction is open: look at ``isInWriteTransaction``.
    ///   ``commitWrite(withoutNotifying:)`` throws instead.
    @discardableResult
    public func commitAsyncWrite(
        allowGrouping: Bool = false,
        withoutNotifying tokens: [NotificationToken] = [],
        _ onComplete: ((_ error: (any Swift.Error)?) -> Void)? = nil
    ) -> AsyncTransactionId {
        if core.isClosed { return core.refuseCallbackWrite(onComplete) }
        core.requireCallbackWrites()
        if core.isInLostTransaction {
            core.endLostTransaction()
            return core.refuseCallbackWrite(onComplete, with: core.lostTransactionError)
        }
        guard core.isInWriteTransaction else {
            misuse("Can't commit a non-existing write transaction: call `realm.beginAsyncWrite { }` first.")
        }
        return core.commitInBackground(withoutNotifying: tokens, onComplete)
    }

    /// Commits the open write transaction without blocking the thread, as ``commitAsyncWrite(allowGrouping:withoutNotifying:_:)`` does.
    ///
    /// - Precondition: A write transaction is open: look at ``isInWriteTransaction``.
    ///   ``commitWrite(withoutNotifying:)`` throws instead.
    @discardableResult
    public func commitAsyncWrite(
        isGroupingAllowed: Bool,
        withoutNotifying tokens: [NotificationToken] = [],
        _ onComplete: ((_ error: (any Swift.Error)?) -> Void)? = nil
    ) -> AsyncTransactionId {
        commitAsyncWrite(allowGrouping: isGroupingAllowed, withoutNotifying: tokens, onComplete)
    }

    /// Cancels an asynchronous write that has not begun, or the completion block of a commit.
    ///
    /// Pass what `writeAsync`, `beginAsyncWrite` or `commitAsyncWrite` returned. Throws `Realm.Error` where the realm cannot
    /// be written.
    public func cancelAsyncWrite(_ asyncTransactionId: AsyncTransactionId) throws {
        try core.checkWritable()
        core.cancelCallbackWrite(asyncTransactionId)
    }

    /// Whether asynchronous writes or commits of this realm are under way.
    public var isPerformingAsynchronousWriteOperations: Bool {
        core.checkAccess()
        return core.callbackWrites.count > 0
    }
}

extension RealmCore {
    /// Says in the log what became of a write or commit that nobody asks about.
    fileprivate var logUnheardFailure: @Sendable ((any Error)?) -> Void {
        { [configured = configuration.logger, path = coordinator.path] error in
            guard let error else { return }
            (configured ?? .shared)
                .error(
                    "An asynchronous write failed, and no block of the program is called with the error.",
                    metadata: ["realm.path": "\(path)", "error": "\(error)"]
                )
        }
    }
}

/// One asynchronous write.
///
/// Unchecked because its closures are called, and its core is used, only in the core's isolation.
private final class PendingWrite: @unchecked Sendable {
    /// Keeps the realm open; it may be invalidated before the turn comes.
    let realm: Realm
    let isolation: RealmIsolation
    let coordinator: RealmCoordinator
    let writes: CallbackWrites
    let id: AsyncTransactionId
    let tokens: [NotificationToken]
    /// When it gives up waiting for its turn, be that one it was passed in.
    let deadline: ContinuousClock.Instant?
    let commits: Bool
    let block: () -> Void
    /// What the program gave to be told; nil where it gave nothing.
    let onComplete: (((any Error)?) -> Void)?
    private let log: @Sendable ((any Error)?) -> Void

    init(
        _ realm: Realm,
        id: AsyncTransactionId,
        _ request: WriteRequest,
        commits: Bool,
        _ block: @escaping () -> Void,
        _ onComplete: (((any Error)?) -> Void)?
    ) {
        self.realm = realm
        let core = realm.core
        isolation = core.isolation
        coordinator = core.coordinator
        writes = core.callbackWrites
        self.id = id
        tokens = request.tokens
        deadline = request.deadline(in: core.configuration)
        self.commits = commits
        self.block = block
        self.onComplete = onComplete
        log = core.logUnheardFailure
    }

    /// Tells the program, or the log.
    private func tell(_ failure: (any Error)?) {
        if let onComplete { onComplete(failure) } else { log(failure) }
    }

    func turnCame(_ ticket: WriteScheduler.Ticket, _ outcome: WriteScheduler.Outcome) {
        // When the actor is gone, its turn goes to the next.
        isolation.post(
            { self.run(ticket, outcome) },
            orElse: {
                if !self.writes.isCancelled(self.id) { self.log(self.failure(of: outcome) ?? self.goneError(outcome)) }
                self.isLost(with: ticket)
            }
        )
    }

    /// Why the turn did not come; nil where it did, or was not waited for any more.
    private func failure(of outcome: WriteScheduler.Outcome) -> Realm.Error? {
        switch outcome {
        case .granted, .cancelled: nil
        case .timedOut(let holder):
            Realm.Error(
                WriteScheduler.TurnTimeout(holder: coordinator.writes.describe(holder)),
                "writeAsync()",
                path: coordinator.path
            )
        case .failed(let error): Realm.Error(storage: error, path: coordinator.path)
        }
    }

    /// What is said of a write whose turn came when nobody could make it any more.
    private func goneError(_ outcome: WriteScheduler.Outcome) -> Realm.Error? {
        if case .cancelled = outcome { return nil }
        return Realm.Error(.closed, "The write was not made: the isolation of its realm, \(isolation), is gone.")
    }

    /// Counts the write out, whose actor is gone.
    private func isLost(with ticket: WriteScheduler.Ticket? = nil) {
        coordinator.writes.countOut(id, of: writes, in: isolation, with: ticket)
    }

    private func run(_ ticket: WriteScheduler.Ticket, _ outcome: WriteScheduler.Outcome) {
        if case .granted = outcome {
        } else {
            if let failure = failure(of: outcome), !writes.isCancelled(id) { tell(failure) }
            return writes.end(id)
        }
        guard coordinator.writes.begin(ticket, deadline: deadline, { self.turnCame($0, $1) }) else { return }
        if writes.isCancelled(id) {
            coordinator.writes.finish(ticket)
            return writes.end(id)
        }
        writes.waits(id, for: nil)
        let core = realm.core
        do {
            try core.beginTransaction(turn: ticket)
        } catch {
            tell(error)
            return writes.end(id)
        }
        writes.lastCommit = nil
        core.whileSettlingLater(isGrouped: false, block)
        core.cancelBegunAnew(behind: ticket)
        if core.ticket == ticket {
            if commits {
                core.commitInBackground(withoutNotifying: tokens, onComplete)
            } else {
                core.cancelTransaction()
            }
        } else if commits {
            // What the block has begun itself, and left open.
            if core.isInWriteTransaction { core.commitInBackground(withoutNotifying: tokens, nil) }
            let base = core.takeBase()
            guard let own = writes.lastCommit else { return settle(core, ticket, base, nil) }
            guard base != nil || core.lostTurn == ticket else {
                writes.follow(own) { [onComplete, log] failure, isHeard in
                    if let onComplete { onComplete(failure) } else if !isHeard { log(failure) }
                }
                return writes.end(id)
            }
            return writes.follow(own, ending: id) { self.settle(core, ticket, base, $0, isHeard: $1) }
        }
        // Nobody asks how a write ended whose block was to commit and did not.
        if !commits {
            if core.isInWriteTransaction { core.cancelTransaction() }
            _ = core.takeBase()
        }
        writes.end(id)
    }

    /// Ends a write whose block rolled a transaction back, when what that was built on is durable; `failure` is that of its commit, which
    /// may have been told already.
    private func settle(
        _ core: RealmCore,
        _ ticket: WriteScheduler.Ticket,
        _ base: BaseFlush?,
        _ failure: (any Error)?,
        isHeard: Bool = false
    ) {
        guard let base else { return finish(core, ticket, nil, failure, isHeard) }
        // Used in its isolation only, where it is sent to here.
        nonisolated(unsafe) let core = core
        base.tell(
            .callback { result in
                self.isolation.post(
                    { self.finish(core, ticket, result, failure, isHeard) },
                    orElse: {
                        if let failure {
                            if !isHeard { self.log(failure) }
                        } else if case .failure(let error) = result {
                            self.log(error)
                        }
                        self.isLost()
                    }
                )
            }
        )
    }

    private func finish(
        _ core: RealmCore,
        _ ticket: WriteScheduler.Ticket,
        _ base: WriteScheduler.CommitResult?,
        _ own: (any Error)?,
        _ isHeard: Bool
    ) {
        var failure = own
        do {
            if let base { try core.moved(behind: base) }
            try core.checkNotLost(ticket)
        } catch {
            failure = own ?? error
        }
        if onComplete != nil || own == nil || !isHeard { tell(failure) }
        writes.end(id)
    }
}

/// A commit on its way to the disk.
///
/// Unchecked because it is used only in the core's isolation.
private final class PendingCompletion: @unchecked Sendable {
    let core: RealmCore
    let id: AsyncTransactionId
    /// Of observers that are not told of the commit.
    let tokens: [NotificationToken]
    let onComplete: (((any Error)?) -> Void)?
    /// Says whether the call of a write, whose block this was begun in, throws the failure.
    var thrownLoss: ThrownLoss?
    private let log: @Sendable ((any Error)?) -> Void

    init(
        _ core: RealmCore,
        id: AsyncTransactionId,
        withoutNotifying tokens: [NotificationToken],
        _ onComplete: (((any Error)?) -> Void)?
    ) {
        self.core = core
        self.id = id
        self.tokens = tokens
        self.onComplete = onComplete
        thrownLoss = core.callbackWrites.teller()
        log = core.logUnheardFailure
    }

    private var isThrown: Bool { thrownLoss?.isThrown ?? false }

    /// Ends the commit in the isolation of its realm, or counts it out where that is gone.
    func end(_ result: WriteScheduler.CommitResult, _ leftOut: LeftOutCommit?) {
        core.isolation.post(
            { self.run(result, leftOut) },
            orElse: {
                if !self.isThrown, case .failure(let error) = result { self.log(error) }
                self.isLost()
            }
        )
    }

    private func isLost() {
        core.coordinator.writes.countOut(id, of: core.callbackWrites, in: core.isolation)
    }

    private func run(_ result: WriteScheduler.CommitResult, _ leftOut: LeftOutCommit?) {
        if case .failure = result { core.takeBackSkip(of: leftOut, for: tokens) }
        var failure: (any Error)?
        do {
            try core.complete(result)
        } catch {
            failure = error
        }
        finish(failure)
    }

    func fail(_ error: any Error) {
        core.isolation.post(
            {
                self.core.refreshQuietly()
                self.finish(error)
            },
            orElse: {
                if !self.isThrown { self.log(error) }
                self.isLost()
            }
        )
    }

    private func finish(_ failure: (any Error)?) {
        let writes = core.callbackWrites
        var isHeard = isThrown
        if let onComplete, !writes.isCancelled(id) {
            onComplete(failure)
            isHeard = true
        }
        if let follower = writes.end(behind: id) { follower(failure, isHeard) } else if !isHeard { log(failure) }
        writes.end(id)
    }
}

extension WriteScheduler {
    /// Counts an asynchronous write out that cannot be ended in its isolation, and passes its turn on if it waits for one.
    ///
    /// On the thread of the file, because many may wait: a realm of an actor that is gone, and that was to be closed behind the write, is
    /// closed there.
    fileprivate func countOut(
        _ id: AsyncTransactionId,
        of writes: CallbackWrites,
        in isolation: RealmIsolation,
        with ticket: Ticket? = nil
    ) {
        // What counting out touches is behind a lock of its own.
        nonisolated(unsafe) let writes = writes
        ioThread.perform { [self] in
            if let ticket { abandon(ticket) }
            guard isolation.isAlive else { return writes.end(id) }
            // A scheduler that is there may let go of work as well, and uses the count: it is counted out there, if it goes on.
            isolation.post { writes.end(id) }
        }
    }
}

extension RealmCore {
    /// Says in the realm's isolation that it was closed, or another reason, where something can be said there.
    fileprivate func refuseCallbackWrite(
        _ onComplete: (((any Error)?) -> Void)?,
        with reason: Realm.Error? = nil
    ) -> AsyncTransactionId {
        checkAccess()
        let reason = reason ?? closedError
        let completion = PendingCompletion(self, id: callbackWrites.begin(), withoutNotifying: [], onComplete)
        // A write whose block has closed the realm throws, or tells, the same.
        callbackWrites.lastCommit = completion.id
        if callbackWrites.isCollecting { callbackWrites.blockLoss = callbackWrites.blockLoss ?? reason }
        if isolation.canPost {
            completion.fail(reason)
        } else {
            if !callbackWrites.isCollecting { logUnheardFailure(reason) }
            callbackWrites.end(completion.id)
        }
        return completion.id
    }

    /// Traps where asynchronous writes of callback form are impossible.
    fileprivate func requireCallbackWrites() {
        checkAccess()
        do {
            try checkWritable()
        } catch {
            misuse(error.message)
        }
        guard isolation.canPost else {
            misuse(
                "Cannot schedule async transaction: this realm belongs to \(isolation), where nothing can be scheduled. "
                    + "Open it on an actor, a serial queue or a scheduler."
            )
        }
    }

    fileprivate func enqueue(
        _ realm: Realm,
        _ request: WriteRequest,
        commits: Bool,
        _ block: @escaping () -> Void,
        _ onComplete: (((any Error)?) -> Void)?
    ) -> AsyncTransactionId {
        let id = callbackWrites.begin()
        let pending = PendingWrite(realm, id: id, request, commits: commits, block, onComplete)
        let ticket = coordinator.writes.acquire(
            for: isolation.key,
            origin: request.origin,
            deadline: pending.deadline
        ) {
            pending.turnCame($0, $1)
        }
        callbackWrites.waits(id, for: ticket)
        return id
    }

    @discardableResult
    fileprivate func commitInBackground(
        withoutNotifying tokens: [NotificationToken],
        _ onComplete: (((any Error)?) -> Void)?
    ) -> AsyncTransactionId {
        let completion = PendingCompletion(
            self,
            id: callbackWrites.begin(),
            withoutNotifying: tokens,
            onComplete
        )
        callbackWrites.lastCommit = completion.id
        do {
            do {
                try noteLeavingOut(for: tokens)
            } catch {
                cancelTransaction()
                throw error
            }
            let (prepared, turn) = try prepareCommit()
            let leftOut = skip(prepared, for: tokens)
            let flush = callbackWrites.isCollecting ? BaseFlush() : nil
            if let flush { callbackWrites.collect(flush) }
            coordinator.writes.commit(prepared, ending: turn, leavingOut: leftOut) { result in
                flush?.end(result)
                completion.end(result, leftOut)
            }
        } catch {
            if callbackWrites.isCollecting {
                callbackWrites.blockLoss = callbackWrites.blockLoss ?? error
                completion.thrownLoss = ThrownLoss()
            }
            if let base = takeBase() {
                // The write whose block this is waits for it, too.
                if callbackWrites.isCollecting { noteBase(base) }
                // What the transaction failed for may be on its way to the disk.
                base.tell(.callback { _ in completion.fail(error) })
            } else {
                completion.fail(error)
            }
        }
        return completion.id
    }

    fileprivate func cancelCallbackWrite(_ id: AsyncTransactionId) {
        if let ticket = callbackWrites.turn(of: id), coordinator.writes.cancel(ticket) { return }
        callbackWrites.cancel(id)
    }
}
