extension Realm {
    /// Runs a block in a write transaction on the caller's actor and commits it, without blocking a thread.
    ///
    /// The task waits for its turn in the file's one queue of writers, whoever is writing, in this process or another.
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
        _ block: () throws -> Result
    ) async throws -> Result {
        let core = core
        let turn = try await core.waitForTurn(isolation)
        // What observers are not to be told of is a version of its own.
        try core.beginTransaction(turn: turn, joining: tokens.isEmpty)
        let result: Result
        do {
            result = try block()
        } catch {
            core.cancelTransaction()
            throw error
        }
        if core.isInWriteTransaction { try await core.commitSuspending(withoutNotifying: tokens, isolation) }
        return result
    }

    /// Runs a block, which receives the realm, in a write transaction on the caller's actor.
    @discardableResult
    public func asyncWrite<Result>(
        withoutNotifying tokens: [NotificationToken] = [],
        isolation: isolated (any Actor)? = #isolation,
        _ block: (Realm) throws -> Result
    ) async throws -> Result {
        try await asyncWrite(withoutNotifying: tokens, isolation: isolation) { try block(self) }
    }

    /// Runs a block in a write transaction on the actor that is passed and that the caller runs on.
    @discardableResult
    public func asyncWrite<Result>(
        _isolation isolation: isolated any Actor,
        _ block: () throws -> Result
    ) async throws -> Result {
        try await asyncWrite(isolation: isolation, block)
    }

    /// Begins a write transaction on the caller's actor without blocking a thread, to be committed or cancelled later.
    ///
    /// ```swift
    /// let transaction = try await realm.beginAsyncWrite()
    /// realm.add(person)
    /// try await transaction.commit()
    /// ```
    ///
    /// Until then nobody else writes to the file: do not wait for anything slow in between. Other jobs of the actor that
    /// run in between read the transaction's state.
    public func beginAsyncWrite(isolation: isolated (any Actor)? = #isolation) async throws -> AsyncTransaction {
        let core = core
        let turn = try await core.waitForTurn(isolation)
        try core.beginTransaction(turn: turn)
        return AsyncTransaction(realm: self, core: core, turn: turn)
    }
}

extension RealmCore {
    /// Waits for the turn without blocking a thread.
    func waitForTurn(_ isolation: isolated (any Actor)?) async throws -> WriteScheduler.Ticket {
        try checkAsynchronouslyWritable(isolation)
        do {
            return try await coordinator.writes.acquire(for: self.isolation.key, isolation: isolation)
        } catch {
            throw Realm.Error.wrap(error, path: coordinator.path)
        }
    }

    /// Commits the transaction and suspends until it is durable.
    func commitSuspending(
        withoutNotifying tokens: [NotificationToken],
        _ isolation: isolated (any Actor)?
    ) async throws {
        if tokens.isEmpty, let ticket, coordinator.writes.mayJoin(ticket) {
            try complete(await coordinator.writes.commitJoined(ending: joinCommit(), isolation: isolation))
            return
        }
        let (prepared, turn) = try prepareCommit()
        skip(prepared, for: tokens)
        try complete(await coordinator.writes.commit(prepared, ending: turn, isolation: isolation))
    }

    private func checkAsynchronouslyWritable(_ isolation: (any Actor)?) throws(Realm.Error) {
        try checkWritable()
        guard isolation != nil, case .actor = self.isolation else {
            throw error(
                .wrongIsolation,
                "asyncWrite() can only be called on the actor of an actor-isolated realm: this one belongs to "
                    + "\(self.isolation). Use write() or writeAsync(), or open the realm on an actor."
            )
        }
        try checkNotNestedInTask()
    }
}
