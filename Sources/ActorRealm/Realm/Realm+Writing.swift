import RealmStorage

extension Realm {
    /// Runs a block in a write transaction and commits it; returns when the commit is durable.
    ///
    /// Waits for its turn in the file's one queue of writers, and blocks the calling thread meanwhile: on an actor prefer
    /// `asyncWrite`. The block may itself commit or cancel.
    ///
    /// ```swift
    /// try realm.write { realm.add(person) }
    /// ```
    ///
    /// The observers whose tokens are passed are not told of this write: what they show reflects it already.
    ///
    /// Returns what the block returns. Throws what the block throws, after rolling back, and `Realm.Error` when the
    /// transaction cannot begin or commit.
    @discardableResult
    public func write<Result>(
        withoutNotifying tokens: [NotificationToken] = [],
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: () throws -> Result
    ) throws -> Result {
        try write(WriteRequest(tokens, nil, file, line), block)
    }

    /// Runs a block, which receives the realm, in a write transaction and commits it.
    ///
    /// Inside an actor, a block that does not name `self` may capture objects made just before and use them afterwards.
    @discardableResult
    public func write<Result>(
        withoutNotifying tokens: [NotificationToken] = [],
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: (Realm) throws -> Result
    ) throws -> Result {
        try write(WriteRequest(tokens, nil, file, line)) { try block(self) }
    }

    /// Runs a block in a write transaction and commits it, unless its turn does not come in time.
    ///
    /// - Throws: `Realm.Error` with the code `.timedOut`, whose message names who has the write lock; and what
    ///   `write(_:)` throws.
    @discardableResult
    public func write<Result>(
        timeout: Duration,
        withoutNotifying tokens: [NotificationToken] = [],
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: () throws -> Result
    ) throws -> Result {
        try write(WriteRequest(tokens, timeout, file, line), block)
    }

    /// Runs a block in a write transaction and commits it, as the options say.
    ///
    /// - Throws: What `write(_:)` throws; `Realm.Error` with the code `.timedOut` when the turn does not come in time.
    @discardableResult
    public func write<Result>(
        _ options: WriteOptions,
        withoutNotifying tokens: [NotificationToken] = [],
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: () throws -> Result
    ) throws -> Result {
        try write(WriteRequest(tokens, options.timeout, file, line), block)
    }

    private func write<Result>(_ request: WriteRequest, _ block: () throws -> Result) throws -> Result {
        let core = core
        try core.beginBlocking(request)
        let around = core.beginCollecting()
        let result: Result
        do {
            result = try block()
        } catch {
            let outcome = core.endCollecting(around)
            throw try core.leaveBlocking(behind: outcome, throwing: error)
        }
        try core.endBlocking(request, behind: core.endCollecting(around))
        return result
    }

    /// Begins a write transaction, blocking the thread until it is the caller's turn.
    ///
    /// It waits for as long as another writer has the lock, and says to the ``Configuration/logger`` whom it waits for.
    ///
    /// On a realm that was closed nothing begins, and ``commitWrite(withoutNotifying:)`` throws.
    ///
    /// - Precondition: The realm can be written here and has no open transaction. ``beginWriteTransaction(file:line:)`` throws
    ///   instead.
    public func beginWrite(file: StaticString = #fileID, line: UInt = #line) {
        let core = core
        if core.isClosed { return core.checkAccess() }
        do {
            var request = WriteRequest([], nil, file, line)
            request.isPatient = true
            try core.beginBlocking(request, isOpenEnded: true)
        } catch {
            misuse(
                "\(error) To handle the error, use `try realm.beginWriteTransaction()` or `try realm.write { }`, which "
                    + "throw."
            )
        }
    }

    /// Begins a write transaction, blocking the thread until it is the caller's turn, as ``beginWrite(file:line:)`` does, but throws
    /// what that would trap on.
    ///
    /// - Throws: `Realm.Error` when the realm is frozen, read-only, used from another isolation or already in a write
    ///   transaction, or when the file cannot be written.
    public func beginWriteTransaction(file: StaticString = #fileID, line: UInt = #line) throws {
        try core.beginBlocking(WriteRequest([], nil, file, line), isOpenEnded: true)
    }

    /// Commits the open write transaction; returns when it is durable.
    ///
    /// - Throws: `Realm.Error` when the commit could not be written; the transaction is rolled back then. `.invalidInput` when there
    ///   is no open transaction, or a token is another realm's; `.closed`, `.wrongIsolation`.
    public func commitWrite(withoutNotifying tokens: [NotificationToken] = []) throws {
        try core.requireAccess()
        if core.isInLostTransaction {
            core.endLostTransaction()
            throw core.lostTransactionError
        }
        guard core.isInWriteTransaction else {
            throw core.error(
                .invalidInput,
                "Can't commit a non-existing write transaction: call `realm.beginWrite()` first."
            )
        }
        try core.commitBlocking(withoutNotifying: tokens)
    }

    /// Rolls the open write transaction back.
    ///
    /// What it was built on is durable when this returns, or, in the block of `asyncWrite` or `writeAsync`, when that write ends.
    ///
    /// - Precondition: A write transaction is open: look at ``isInWriteTransaction``.
    public func cancelWrite() {
        core.checkAccess()
        if core.dropsWrites { return core.endLostTransaction() }
        guard core.isInWriteTransaction else {
            misuse("Can't cancel a non-existing write transaction: call `realm.beginWrite()` first.")
        }
        core.cancelTransaction()
        core.settleOrReport()
    }
}

extension RealmCore {
    /// Waits for the turn, blocking the thread, and opens the transaction; `isOpenEnded` as with ``beginTransaction(turn:joining:isOpenEnded:isExclusive:)``.
    func beginBlocking(_ request: WriteRequest, isOpenEnded: Bool = false) throws {
        try checkWritableNow()
        try checkNotNested()
        let turn: WriteScheduler.Ticket
        do {
            turn = try coordinator.writes.acquireBlocking(
                for: isolation.key,
                origin: request.origin,
                deadline: request.deadline(in: configuration)
            )
        } catch let timeout as WriteScheduler.TurnTimeout {
            throw Realm.Error(timeout, "write()", path: coordinator.path)
        } catch {
            throw Realm.Error.wrap(error, path: coordinator.path)
        }
        // A block may build on what has no pages yet.
        let joining = ahead.owedPages != nil && !isOpenEnded && request.tokens.isEmpty && coordinator.writes.owesPages
        try beginTransaction(turn: turn, joining: joining, isOpenEnded: isOpenEnded)
    }

    /// Leaves a write, blocking the thread, whose block has thrown: nothing of it is written.
    ///
    /// - Returns: What the write throws.
    /// - Throws: `Realm.Error` when something is lost that the block saw.
    fileprivate func leaveBlocking(behind outcome: BlockOutcome, throwing error: any Error) throws -> any Error {
        cancelTransaction()
        try settle(behind: outcome)
        return outcome.loss ?? error
    }

    /// Commits what the block of a write has left open, and waits, blocking the thread, for what it has begun to commit.
    fileprivate func endBlocking(_ request: WriteRequest, behind outcome: BlockOutcome) throws {
        if let loss = outcome.loss { throw try leaveBlocking(behind: outcome, throwing: loss) }
        let commit = outcome.commit
        cancelBehindLoss(of: commit)
        if isInWriteTransaction {
            do {
                try commitBlocking(withoutNotifying: request.tokens)
            } catch {
                // Why nothing of what the block did is there.
                if let commit { try moved(behind: commit.waitOnPool()) }
                throw error
            }
        } else {
            // It may have ended the realm because of what it saw.
            try settle()
        }
        if let commit {
            try complete(commit.waitOnPool())
            tellBlocks()
        }
        if outcome.hasLostTransaction { throw endedInBlockError }
    }

    /// Commits the transaction, blocking the thread until it is durable, and calls the blocks that observe the whole realm.
    func commitBlocking(withoutNotifying tokens: [NotificationToken]) throws {
        do {
            try noteLeavingOut(for: tokens)
        } catch {
            cancelTransaction()
            try settle()
            throw error
        }
        let prepared: PreparedCommit
        let turn: WriteScheduler.Ticket
        do {
            guard let commit = try tokens.isEmpty ? prepareOrAcknowledge() : prepareCommit() else { return }
            (prepared, turn) = commit
        } catch {
            try settle()
            throw error
        }
        let leftOut = skip(prepared, for: tokens)
        let result = coordinator.writes.commitBlocking(prepared, ending: turn, leavingOut: leftOut, at: commitGate)
        if case .failure = result { takeBackSkip(of: leftOut, for: tokens) }
        // What the realm had acknowledged without pages was in it, or before it: nothing comes between here.
        if case .success = result { ahead.owedPages = nil }
        try complete(result)
        tellBlocks()
    }
}
