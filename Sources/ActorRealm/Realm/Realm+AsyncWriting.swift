import RealmStorage

extension Realm {
    /// Runs a block in a write transaction on the caller's actor and commits it, without blocking a thread.
    ///
    /// The task waits for its turn in the file's one queue of writers, whoever is writing, in this process or another:
    /// first come, first served, where more urgent tasks pass less urgent ones up to eight times.
    /// Then the block runs on the actor, the pages are written and flushed elsewhere together with all other commits that
    /// wait, and the task resumes when its own is durable. Other jobs of the actor run meanwhile; they read the last
    /// durable version.
    ///
    /// ```swift
    /// try await realm.asyncWrite { realm.create(Todo.self, value: ["name": name]) }
    /// ```
    ///
    /// Cancelled while it waits, the task throws `CancellationError` and the block does not run. Once the block has begun
    /// the commit completes.
    ///
    /// The observers whose tokens are passed are not told of this write: what they show reflects it already.
    ///
    /// Returns what the block returns, live objects included. Throws what the block throws, after rolling back;
    /// `CancellationError`; `Realm.Error`, with `wrongIsolation` where the caller does not run on the realm's actor.
    @discardableResult
    public func asyncWrite<Result>(
        withoutNotifying tokens: [NotificationToken] = [],
        isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: () throws -> Result
    ) async throws -> Result {
        try await write(WriteRequest(tokens, nil, file, line), isolation, block)
    }

    /// Runs a block, which receives the realm, in a write transaction on the caller's actor.
    @discardableResult
    public func asyncWrite<Result>(
        withoutNotifying tokens: [NotificationToken] = [],
        isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: (Realm) throws -> Result
    ) async throws -> Result {
        try await write(WriteRequest(tokens, nil, file, line), isolation) { try block(self) }
    }

    /// Runs a block in a write transaction on the caller's actor, unless its turn does not come in time.
    ///
    /// ```swift
    /// try await realm.asyncWrite(timeout: .seconds(2)) { realm.add(order) }
    /// ```
    ///
    /// The time is that of waiting for the write lock. A wait that is given up leaves the queue as a cancelled one does:
    /// the others keep their order.
    ///
    /// - Throws: `Realm.Error` with the code `.timedOut`, whose message names who has the lock: the process, and for this
    ///   one where the write was begun; and what the other forms throw.
    @discardableResult
    public func asyncWrite<Result>(
        timeout: Duration,
        withoutNotifying tokens: [NotificationToken] = [],
        isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: () throws -> Result
    ) async throws -> Result {
        try await write(WriteRequest(tokens, timeout, file, line), isolation, block)
    }

    /// Runs a block, which receives the realm, in a write transaction on the caller's actor, unless its turn does not come in
    /// time.
    @discardableResult
    public func asyncWrite<Result>(
        timeout: Duration,
        withoutNotifying tokens: [NotificationToken] = [],
        isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: (Realm) throws -> Result
    ) async throws -> Result {
        try await write(WriteRequest(tokens, timeout, file, line), isolation) { try block(self) }
    }

    /// Runs a block in a write transaction on the caller's actor, as the options say.
    ///
    /// ```swift
    /// try await realm.asyncWrite(Realm.WriteOptions(timeout: .seconds(2))) { realm.add(order) }
    /// ```
    ///
    /// - Throws: What the other forms throw; `Realm.Error` with the code `.timedOut` when the turn does not come in time.
    @discardableResult
    public func asyncWrite<Result>(
        _ options: WriteOptions,
        withoutNotifying tokens: [NotificationToken] = [],
        isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: () throws -> Result
    ) async throws -> Result {
        try await write(WriteRequest(tokens, options.timeout, file, line), isolation, block)
    }

    /// Runs a block, which receives the realm, in a write transaction on the caller's actor, as the options say.
    @discardableResult
    public func asyncWrite<Result>(
        _ options: WriteOptions,
        withoutNotifying tokens: [NotificationToken] = [],
        isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: (Realm) throws -> Result
    ) async throws -> Result {
        try await write(WriteRequest(tokens, options.timeout, file, line), isolation) { try block(self) }
    }

    /// Runs a block in a write transaction on the actor that is passed and that the caller runs on.
    @discardableResult
    public func asyncWrite<Result>(
        _isolation isolation: isolated any Actor,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: () throws -> Result
    ) async throws -> Result {
        try await write(WriteRequest([], nil, file, line), isolation, block)
    }

    /// Begins a write transaction on the caller's actor without blocking a thread, to be committed or cancelled later.
    ///
    /// ```swift
    /// let transaction = try await realm.beginAsyncWrite()
    /// realm.add(person)
    /// try await transaction.commit()
    /// ```
    ///
    /// Until then nobody else writes to the file: do not wait for anything slow in between. The transaction belongs to the
    /// task that began it. Other jobs of the actor that run in between are not in it: they read the last durable version.
    ///
    /// A write of the same task through this realm throws. Do not have the task wait for a write to the file on another actor either, nor
    /// for an opening that has to change its classes: both wait for this transaction, for ever unless somebody else cancels it or they
    /// have a time limit.
    public func beginAsyncWrite(
        isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> AsyncTransaction {
        try await begin(WriteRequest([], nil, file, line), isolation)
    }

    /// Begins a write transaction as ``beginAsyncWrite(isolation:file:line:)`` does, unless its turn does not come in time.
    ///
    /// - Throws: `Realm.Error` with the code `.timedOut`, whose message names who has the lock.
    public func beginAsyncWrite(
        timeout: Duration,
        isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> AsyncTransaction {
        try await begin(WriteRequest([], timeout, file, line), isolation)
    }

    private func begin(_ request: WriteRequest, _ isolation: isolated (any Actor)?) async throws -> AsyncTransaction {
        try core.checkAsynchronouslyWritable(isolation)
        let turn = try await core.waitForTurn(request, "beginAsyncWrite()", isolation)
        let core = core
        try core.beginTransaction(turn: turn, isOpenEnded: true, isExclusive: true)
        return AsyncTransaction(realm: self, core: core, turn: turn)
    }

    private func write<Result>(
        _ request: WriteRequest,
        _ isolation: isolated (any Actor)?,
        _ block: () throws -> Result
    ) async throws -> Result {
        let writes = try core.countWrite(isolation)
        defer { writes.endSuspended() }
        let turn = try await core.waitForTurn(request, "asyncWrite()", isolation)
        // The realm may have been invalidated meanwhile.
        let core = core
        // What observers are not to be told of is a version of its own, also when the block itself commits without notifying.
        try core.beginTransaction(turn: turn, joining: request.tokens.isEmpty && !core.signals.hasDeliverers)
        let around = core.beginCollecting()
        let result: Result
        do {
            result = try core.whileSettlingLater(isGrouped: request.tokens.isEmpty, block)
        } catch {
            let outcome = core.endCollecting(around)
            try await core.leaveSuspending(behind: outcome, isolation)
            throw outcome.loss ?? error
        }
        let outcome = core.endCollecting(around)
        if let loss = outcome.loss {
            try await core.leaveSuspending(behind: outcome, isolation)
            throw loss
        }
        let commit = outcome.commit
        let hasLostTransaction = outcome.hasLostTransaction
        // At once: while this suspends, others write in this realm.
        let base = core.takeBase()
        if base != nil || commit != nil {
            core.cancelBehindLoss(of: base, commit)
            // This write throws, whatever that was built on.
            if !core.isInWriteTransaction { _ = core.takeBase() }
        }
        if core.isInWriteTransaction {
            do {
                try await core.commitSuspending(withoutNotifying: request.tokens, isolation)
            } catch {
                core.noteBase(base)
                core.noteBase(commit)
                try await core.settleSuspending(isolation)
                throw error
            }
        }
        // A call that has nothing to wait for costs a frame and a look at the executor all the same.
        if let base { try core.moved(behind: await base.value(isolation: isolation)) }
        if let commit { try core.complete(await commit.value(isolation: isolation)) }
        if hasLostTransaction { throw core.endedInBlockError }
        return result
    }
}

extension RealmCore {
    /// Notes that an asynchronous write begins; whoever began it notes its end.
    func countWrite(_ isolation: (any Actor)?) throws -> CallbackWrites {
        try checkAsynchronouslyWritable(isolation)
        callbackWrites.beginSuspended()
        return callbackWrites
    }

    /// Leaves a write whose block has thrown: nothing of it is written.
    ///
    /// - Throws: `Realm.Error` when something is lost that the block saw.
    fileprivate func leaveSuspending(behind outcome: BlockOutcome, _ isolation: isolated (any Actor)?) async throws {
        cancelTransaction()
        // It saw what it has committed itself, too.
        noteBase(outcome.commit)
        try await settleSuspending(isolation)
    }

    /// Waits for the turn without blocking a thread, where ``checkAsynchronouslyWritable(_:)`` has passed.
    func waitForTurn(
        _ request: WriteRequest,
        _ what: String,
        _ isolation: isolated (any Actor)?
    ) async throws -> WriteScheduler.Ticket {
        do {
            return try await coordinator.writes.acquire(
                for: self.isolation.key,
                origin: request.origin,
                deadline: request.deadline(in: configuration),
                isolation: isolation
            )
        } catch let timeout as WriteScheduler.TurnTimeout {
            throw Realm.Error(timeout, what, path: coordinator.path)
        } catch {
            throw Realm.Error.wrap(error, path: coordinator.path)
        }
    }

    /// Commits the transaction and suspends until it is durable.
    func commitSuspending(
        withoutNotifying tokens: [NotificationToken],
        _ isolation: isolated (any Actor)?
    ) async throws {
        do {
            try noteLeavingOut(for: tokens)
        } catch {
            cancelTransaction()
            try await settleSuspending(isolation)
            throw error
        }
        let prepared: PreparedCommit
        let turn: WriteScheduler.Ticket
        do {
            if tokens.isEmpty, let commit = try joinOwing() {
                let (result, pages) = await coordinator.writes
                    .commitRecorded(commit.record, of: commit.group, ending: commit.turn, isolation: isolation)
                return try await complete(result, owing: pages, isolation)
            }
            if tokens.isEmpty, let ticket, coordinator.writes.mayJoin(ticket) {
                let (turn, group) = try joinCommit()
                return try complete(await coordinator.writes.commitJoined(group, ending: turn, isolation: isolation))
            }
            (prepared, turn) = try prepareCommit()
        } catch {
            try await settleSuspending(isolation)
            throw error
        }
        let leftOut = skip(prepared, for: tokens)
        let result = await coordinator.writes
            .commit(prepared, ending: turn, leavingOut: leftOut, isBrief: isBrief(prepared), isolation: isolation)
        if case .failure = result { takeBackSkip(of: leftOut, for: tokens) }
        try complete(result)
    }

    /// Whether an asynchronous write brings its commit to the file itself: without a flush, and with few pages, that costs less than
    /// to hand it over.
    ///
    /// Each sixteenth is handed over nevertheless, so that the isolation's other jobs run between the writes of a loop.
    private func isBrief(_ commit: PreparedCommit) -> Bool {
        if coordinator.file.flushesCommits || commit.writtenPageCount > 64 { return false }
        briefCommitCount &+= 1
        return briefCommitCount % 16 != 0
    }

    /// Calls the block of an asynchronous write, behind which what it was built on is waited for.
    func whileSettlingLater<Result>(isGrouped: Bool, _ block: () throws -> Result) rethrows -> Result {
        let before = blockRules
        blockRules = BlockRules(settlesLater: true, throwsBase: callbackWrites.block.isCollecting, isGrouped: isGrouped)
        defer { blockRules = before }
        return try block()
    }

    func checkAsynchronouslyWritable(_ isolation: (any Actor)?) throws {
        try checkWritableNow()
        guard isolation != nil, case .actor = self.isolation else {
            throw error(
                .wrongIsolation,
                "`asyncWrite` can only be called on the actor of an actor-isolated realm: this one belongs to "
                    + "\(self.isolation). Use `try realm.write { }` or `realm.writeAsync { }`, or open the realm on an actor."
            )
        }
        try checkNotNestedInTask()
    }
}
