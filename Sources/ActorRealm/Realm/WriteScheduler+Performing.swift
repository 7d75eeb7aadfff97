import CRealmShims
import RealmStorage
import Synchronization

/// Performing what the queue decides.
extension WriteScheduler {
    func enqueue(
        _ kind: Queue.Kind,
        for key: RealmIsolation.Key,
        priority: TaskPriority,
        origin: ReaderOrigin? = nil
    ) -> (Ticket, isGranted: Bool) {
        let isOnPool = crealm_is_on_pool()
        let now = now
        let (ticket, actions, isInLine, pause) = state.withLock { state in
            look(&state)
            let (ticket, actions) = state.queue
                .enqueue(
                    kind,
                    isolation: key,
                    isOnPool: isOnPool,
                    priority: priority.rawValue,
                    origin: origin,
                    at: now
                )
            // Who finds others before it begins to wait at once.
            let isInLine = actions.grant == nil && actions.lock == nil
            return (ticket, released(actions), isInLine, isInLine ? state.watch.waitBegan(at: now) : nil)
        }
        let isGranted = perform(actions, own: ticket)
        if isInLine {
            if let pause { lookAtWaits(after: pause) }
        } else if !isGranted {
            watch(since: now)
        }
        return (ticket, isGranted)
    }

    func register(_ waiter: Waiter, for ticket: Ticket) {
        let early = state.withLock { state -> Outcome? in
            var outcome = state.early.removeValue(forKey: ticket)
            if outcome == nil, state.queue.hasTurn(ticket) { outcome = .granted }
            if outcome == nil {
                state.waiters[ticket] = waiter
            } else {
                // It may have been noted behind the outcome.
                state.deadlines.forget(ticket)
            }
            return outcome
        }
        if let early { waiter.receive(early) }
    }

    /// Waits for the turn of a writer that asked for it with a priority.
    func waitForTurn(
        _ ticket: Ticket,
        priority asked: TaskPriority,
        isolation: isolated (any Actor)? = #isolation
    ) async -> Outcome {
        await withTaskCancellationHandler {
            // A more urgent task may begin to wait for this one.
            await withTaskPriorityEscalationHandler {
                // So it may have since it got its place in the line.
                let priority = Self.currentPriority
                if priority > asked { state.withLock { $0.queue.raise(ticket, to: priority.rawValue) } }
                return await withUnsafeContinuation { register(.task($0), for: ticket) }
            } onPriorityEscalated: { _, priority in
                state.withLock { $0.queue.raise(ticket, to: priority.rawValue) }
            }
        } onCancel: {
            cancel(ticket)
        }
    }

    /// The priority of the calling task; outside of tasks the medium one.
    static var currentPriority: TaskPriority {
        let priority = Task.currentPriority
        return priority.rawValue == 0 ? .medium : priority
    }

    /// Tells the queue what goes on around it; called under the lock.
    func look(_ state: inout State) {
        state.queue.isContended = file.hasWaitingProcesses
        state.queue.isAlone = !file.hasOtherProcesses
        state.queue.isPoolExhausted = BlockedPool.swift.isExhausted
    }

    /// Gives the inter-process lock back where the actions say so; called under the lock.
    func released(_ actions: Queue.Actions) -> Queue.Actions {
        if actions.lock == .release || actions.lock == .yield { file.unlockForWriting() }
        return actions
    }

    /// Performs actions and those that follow from them; true when the turn went to `own`, which is told by this result.
    @discardableResult
    func perform(_ first: Queue.Actions, own: Ticket? = nil) -> Bool {
        var actions = first
        var isGranted = false
        while true {
            if actions.flush == .ioThread { ioThread.perform { self.flush() } }
            if let ticket = actions.grant {
                if ticket == own {
                    isGranted = true
                } else {
                    deliver(.granted, to: ticket)
                }
            }
            switch actions.lock {
            case nil, .release:
                return isGranted
            case .linger:
                lockThread.perform { self.linger() }
                return isGranted
            case .keep:
                if keep() { return isGranted }
                actions = state.withLock { released($0.queue.keepRefused()) }
            case .wait, .yield:
                // After a yield the file lets whoever waits in another process go first.
                lockThread.perform { self.waitForLock() }
                return isGranted
            case .acquire:
                actions = tryLock()
            }
        }
    }

    func tryLock() -> Queue.Actions {
        do {
            guard try file.tryLockForWriting() else {
                return state.withLock { state in
                    state.queue.isPoolExhausted = BlockedPool.swift.isExhausted
                    return released(state.queue.lockBusy())
                }
            }
        } catch {
            return lockFailed(error)
        }
        guard file.hasLogOfOthers else { return lockAcquired() }
        // That is ended before anybody has the turn, and not on a thread that may be an actor's.
        lockThread.perform { self.endLogOfOthers() }
        return Queue.Actions()
    }

    func waitForLock() {
        do {
            try file.lockForWriting()
        } catch {
            perform(lockFailed(error))
            return
        }
        endLogOfOthers()
    }

    /// Ends the log of another process, where there is one, behind the taking of the lock; on the thread that waits for that at other times.
    private func endLogOfOthers() {
        do throws(StorageError) {
            if file.hasLogOfOthers {
                state.withLock { $0.isEndingLog = true }
                defer { state.withLock { $0.isEndingLog = false } }
                try file.endLogOfOthers()
            }
        } catch {
            // Nobody of this process tries it before the queue is told.
            file.unlockForWriting()
            perform(lockFailed(error))
            return
        }
        perform(lockAcquired())
    }

    private func lockAcquired() -> Queue.Actions {
        state.withLock { state in
            state.queue.isPoolExhausted = BlockedPool.swift.isExhausted
            return released(state.queue.lockAcquired(at: now))
        }
    }

    /// Keeps the inter-process lock for a moment, on the thread that waits for it at other times.
    func linger() {
        let step = state.withLock { $0.queue.lingerStep }
        while true {
            clock.pause(step)
            let actions = state.withLock { state in
                state.queue.isContended = file.hasWaitingProcesses
                return released(state.queue.lingerEnded(at: now))
            }
            if actions.lock != .linger { return }
        }
    }

    /// Sees to it that the inter-process lock, which is kept, is given back when nobody has written for a while; false where that cannot be.
    private func keep() -> Bool {
        // The alarm holds neither the scheduler nor its file.
        let scheduler = WeakReference(self)
        return clock.wakeSoon(state.withLock { $0.queue.keepStep }) { scheduler.object?.keepEnded() }
    }

    private func keepEnded() {
        perform(
            state.withLock { state in
                look(&state)
                return released(state.queue.keepEnded(at: now))
            }
        )
    }

    /// Keeps the inter-process lock no more between writes: what ends the file takes it past the queue.
    func endKeeping() {
        if owesPages { makePages() }
        releaseKept()
    }

    /// The same where nothing else is left to be done.
    func releaseKept() { _ = state.withLock { released($0.queue.endKeeping()) } }

    /// Gives the inter-process lock back where it is only kept between writes; later writes may keep it again.
    func letGoOfKept() {
        if owesPages { makePages() }
        _ = state.withLock { released($0.queue.letGoOfKept()) }
    }

    func lockFailed(_ error: StorageError) -> Queue.Actions {
        let actions = state.withLock { state in released(state.queue.lockFailed(at: now)) }
        if let ticket = actions.fail { deliver(.failed(error), to: ticket) }
        return actions
    }

    func deliver(_ outcome: Outcome, to ticket: Ticket) {
        let waiter = state.withLock { state -> Waiter? in
            state.deadlines.forget(ticket)
            if let waiter = state.waiters.removeValue(forKey: ticket) { return waiter }
            // A grant is found by `hasTurn` when the waiter comes.
            if case .granted = outcome { return nil }
            state.early[ticket] = outcome
            return nil
        }
        waiter?.receive(outcome)
    }
}
