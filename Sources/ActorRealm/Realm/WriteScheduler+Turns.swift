import CRealmShims
import Dispatch
import RealmStorage
import Synchronization

/// Waiting for a turn, and ending one without a commit.
extension WriteScheduler {
    /// Waits for the turn without blocking a thread, and begins it.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before its turn began; a `TurnTimeout` when it has not come
    ///   by the deadline; a `StorageError` when the inter-process lock cannot be taken.
    func acquire(
        for key: RealmIsolation.Key,
        origin: ReaderOrigin? = nil,
        deadline: ContinuousClock.Instant? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Ticket {
        try Task.checkCancellation()
        let priority = Self.currentPriority
        var (ticket, isGranted) = enqueue(.asynchronous, for: key, priority: priority, origin: origin)
        while true {
            if !isGranted {
                // A turn that was given up for a synchronous writer's may come too late.
                if let deadline { watch(deadline, of: ticket) }
                switch await waitForTurn(ticket, priority: priority) {
                case .granted: break
                case .cancelled: throw CancellationError()
                case .timedOut(let holder): throw TurnTimeout(holder: describe(holder))
                case .failed(let error): throw error
                }
            }
            if state.withLock({ $0.queue.start(ticket) }) { break }
            isGranted = false
        }
        if Task.isCancelled {
            finish(ticket)
            throw CancellationError()
        }
        return ticket
    }

    /// Waits for the turn, blocking the calling thread, and begins it.
    ///
    /// - Throws: `locked` when an isolation that runs the caller has a write transaction open, so that it would wait for itself;
    ///   `TurnTimeout` when the turn has not come by the deadline, or never would; `CancellationError` when `cancellation` ended the wait.
    func acquireBlocking(
        for key: RealmIsolation.Key,
        origin: ReaderOrigin? = nil,
        deadline: ContinuousClock.Instant? = nil,
        cancellation: OpeningCancellation? = nil
    ) throws -> Ticket {
        if wouldWaitForItself(key) {
            throw StorageError(
                .locked,
                "This isolation, or one that cannot go on while the caller runs, is already in a write transaction of the realm: "
                    + "finish it first",
                path: file.path
            )
        }
        let (ticket, isGranted) = enqueue(.synchronous, for: key, priority: Self.currentPriority, origin: origin)
        if isGranted { return ticket }
        let gate = ThreadGate<Outcome>()
        register(.thread(gate), for: ticket)
        cancellation?.waits(for: ticket, of: self)
        defer { cancellation?.waitIsOver() }
        var pressure = TurnPressure<Ticket>(isOnPool: crealm_is_on_pool(), of: ObjectIdentifier(self)) { gate.call() }
        defer { pressure.end() }
        // The pool may have become exhausted by this wait.
        press(ticket, &pressure, wasPause: false)
        var nextLook = DispatchTime.now() + TurnPressure<Ticket>.interval
        while true {
            switch gate.wait(until: nextLook) {
            case .granted?: return ticket
            case .cancelled?: throw CancellationError()
            case .timedOut(let holder)?: throw TurnTimeout(holder: describe(holder))
            case .failed(let error)?: throw error
            case nil: break
            }
            // By the clock: commits to other files may call all the time, and put no look off.
            let time = DispatchTime.now()
            guard time >= nextLook else {
                press(ticket, &pressure, wasPause: false)
                continue
            }
            nextLook = time + TurnPressure<Ticket>.interval
            if let deadline, ContinuousClock.now >= deadline {
                expire(ticket)
                continue
            }
            // Who has a deadline goes on in the end.
            if deadline == nil, pressure.isHopeless(behind: state.withLock { $0.holderOnPool }) {
                let holder = describe(state.withLock { $0.queue.holder })
                if cancel(ticket) { throw TurnTimeout(holder: holder, isDeadlock: true) }
            }
            press(ticket, &pressure, wasPause: true)
        }
    }

    /// Whether the transaction that is open is of the caller's isolation, or of another one that the caller runs in as well: that
    /// of a queue under an actor's executor or under the caller's queue.
    private func wouldWaitForItself(_ key: RealmIsolation.Key) -> Bool {
        let (isOwn, holder) = state.withLock { state -> (Bool, RealmIsolation?) in
            key != .none && state.queue.isWriting(key) ? (true, nil) : (false, state.holder)
        }
        // A scheduler's own code answers, and must not under the lock.
        return isOwn || holder?.isCurrent == true
    }

    /// Lets a blocking writer pass one that was chosen and does not start, where that is due.
    private func press(_ ticket: Ticket, _ pressure: inout TurnPressure<Ticket>, wasPause: Bool) {
        perform(
            state.withLock { state in
                guard let chosen = state.queue.chosen,
                    pressure.isDue(against: chosen.ticket, needsPool: chosen.needsPool, wasPause: wasPause)
                else { return Queue.Actions() }
                if wasPause { state.latePressCount += 1 }
                return state.queue.pressForTurn(ticket, insteadOf: chosen.ticket)
            }
        )
    }

    /// Asks for a turn, which `granted` announces; it then begins with ``begin(_:)``.
    ///
    /// The priority is not that of the calling task: the blocks of one realm keep their order.
    func acquire(
        for key: RealmIsolation.Key,
        priority: TaskPriority = .medium,
        origin: ReaderOrigin? = nil,
        deadline: ContinuousClock.Instant? = nil,
        _ granted: @escaping @Sendable (Ticket, Outcome) -> Void
    ) -> Ticket {
        let (ticket, isGranted) = enqueue(.asynchronous, for: key, priority: priority, origin: origin)
        if isGranted {
            granted(ticket, .granted)
        } else {
            announce(ticket, deadline, granted)
        }
        return ticket
    }

    /// Begins a turn that was announced; false when a synchronous writer passed meanwhile: `granted` will be called again, also
    /// when the turn has not come by the deadline.
    func begin(
        _ ticket: Ticket,
        deadline: ContinuousClock.Instant? = nil,
        _ granted: @escaping @Sendable (Ticket, Outcome) -> Void
    ) -> Bool {
        if state.withLock({ $0.queue.start(ticket) }) { return true }
        announce(ticket, deadline, granted)
        return false
    }

    /// Has a function called when the turn comes, or has not come by the deadline.
    private func announce(
        _ ticket: Ticket,
        _ deadline: ContinuousClock.Instant?,
        _ granted: @escaping @Sendable (Ticket, Outcome) -> Void
    ) {
        if let deadline { watch(deadline, of: ticket) }
        register(.callback { granted(ticket, $0) }, for: ticket)
    }

    /// Gives up waiting; false when the turn has come already.
    @discardableResult
    func cancel(_ ticket: Ticket) -> Bool { dismiss(ticket) { _ in .cancelled } }

    /// Ends the wait of a writer whose time has passed; nothing when the turn has come already.
    func expire(_ ticket: Ticket) { dismiss(ticket) { .timedOut($0.holder) } }

    @discardableResult
    func dismiss(_ ticket: Ticket, with outcome: (borrowing Queue) -> Outcome) -> Bool {
        let (wasWaiting, waiter, outcome) = state.withLock { state -> (Bool, Waiter?, Outcome) in
            let outcome = outcome(state.queue)
            guard state.queue.cancel(ticket) else { return (false, nil, outcome) }
            state.deadlines.forget(ticket)
            let waiter = state.waiters.removeValue(forKey: ticket)
            if waiter == nil { state.early[ticket] = outcome }
            return (true, waiter, outcome)
        }
        waiter?.receive(outcome)
        return wasWaiting
    }

    /// Ends a turn without a commit.
    ///
    /// - Parameters:
    ///   - ticket: The turn that ends.
    ///   - group: The group of the turn's transaction; nil when it had none.
    /// - Returns: the flush of what that was built on; nil when it is durable.
    @discardableResult
    func finish(_ ticket: Ticket, group: UInt64? = nil) -> BaseFlush? {
        let (actions, base) = state.withLock { state -> (Queue.Actions, BaseFlush?) in
            look(&state)
            let base = group.flatMap { state.flushOfBase(of: $0, in: file) }
            return (released(state.finish(ticket, .nothing, at: now)), base)
        }
        perform(actions)
        return base
    }

    /// Ends the wait, or the turn, of a writer whose isolation is gone.
    func abandon(_ ticket: Ticket) {
        let (actions, rest) = state.withLock { state -> (Queue.Actions, Waiter?) in
            look(&state)
            state.early[ticket] = nil
            state.deadlines.forget(ticket)
            let waiter = state.waiters.removeValue(forKey: ticket)
            if state.queue.cancel(ticket) || !state.queue.hasTurn(ticket) { return (Queue.Actions(), waiter) }
            return (released(state.finish(ticket, .nothing, at: now)), waiter)
        }
        perform(actions)
        withExtendedLifetime(rest) {}
    }
}

extension WriteScheduler.State {
    /// The flush of everything that a transaction of a group was built on; nil when that is durable.
    ///
    /// Commits that were lost before the group was begun are none of it, although some are to be told yet.
    mutating func flushOfBase(of group: UInt64, in file: StorageFile) -> BaseFlush? {
        if file.hasLost(group: group) { return BaseFlush(.failure(file.lossOfGroup(group))) }
        if joined.last?.group == group {
            // They are durable, whenever their pages are made; unless they were given up, and nobody has been told.
            if queue.areRecordsDurable, !file.hasGivenUp(group: group) { return nil }
            queue.wishForPages()
            return flushOfJoined()
        }
        if let last = prepared.last {
            if !file.hasLost(group: last.commit.group) { return flushUnderWay() }
        }
        guard let publishing, !file.hasLost(group: publishing) else { return nil }
        let flush = underWay.last ?? BaseFlush()
        if underWay.isEmpty { underWay = [flush] }
        return flush
    }
}
