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
        core.requireCallbackWrites(asking: true)
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
        core.requireCallbackWrites(asking: true)
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
    var logUnheardFailure: @Sendable ((any Error)?) -> Void {
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
        if callbackWrites.block.isCollecting { callbackWrites.block.loss = callbackWrites.block.loss ?? reason }
        if isolation.canPost {
            completion.fail(reason)
        } else {
            if !callbackWrites.block.isCollecting { logUnheardFailure(reason) }
            callbackWrites.end(completion.id)
        }
        return completion.id
    }

    /// Traps where asynchronous writes of callback form are impossible.
    ///
    /// - Parameter isAsking: Whether one is asked for, and no open transaction is looked at, which may have to be taken up again.
    fileprivate func requireCallbackWrites(asking isAsking: Bool = false) {
        // That would have the pages made on which the write may build; what it looks for is looked for below.
        if !isAsking || ahead.owedPages == nil { checkAccess() }
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
    func commitInBackground(
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
            // A write whose block this is would not move to what has no pages.
            if tokens.isEmpty, !callbackWrites.block.isCollecting, let commit = try joinOwing() {
                coordinator.writes.commitRecorded(commit.record, of: commit.group, ending: commit.turn) { pages in
                    .callback { completion.end($0, owing: pages) }
                }
                return completion.id
            }
            let (prepared, turn) = try prepareCommit()
            let leftOut = skip(prepared, for: tokens)
            let flush = callbackWrites.block.isCollecting ? BaseFlush() : nil
            if let flush { callbackWrites.collect(flush) }
            coordinator.writes.commit(prepared, ending: turn, leavingOut: leftOut) { result in
                flush?.end(result)
                completion.end(result, leftOut)
            }
        } catch {
            if callbackWrites.block.isCollecting {
                callbackWrites.block.loss = callbackWrites.block.loss ?? error
                completion.thrownLoss = ThrownLoss()
            }
            if let base = takeBase() {
                // The write whose block this is waits for it, too.
                if callbackWrites.block.isCollecting { noteBase(base) }
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
