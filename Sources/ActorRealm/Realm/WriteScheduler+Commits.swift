import CRealmShims
import RealmStorage
import Synchronization

/// Commits, from the end of their turns to the disk.
extension WriteScheduler {
    /// Ends a turn with a commit; suspends until it is durable.
    func commit(
        _ commit: PreparedCommit,
        ending ticket: Ticket,
        isolation: isolated (any Actor)? = #isolation
    ) async -> CommitResult {
        await withUnsafeContinuation { continuation in
            add(commit, ending: ticket, .prepared, completion: .task(continuation))
        }
    }

    /// Ends a turn with a commit; blocks the thread until it is durable.
    ///
    /// - Parameters:
    ///   - commit: The commit.
    ///   - ticket: The turn that ends.
    ///   - gate: Where the thread waits; one that is used again and again saves making it.
    /// - Returns: How it went.
    func commitBlocking(
        _ commit: PreparedCommit,
        ending ticket: Ticket,
        at gate: ThreadGate<CommitResult> = ThreadGate()
    ) -> CommitResult {
        let place = add(commit, ending: ticket, .preparedBlocking, completion: .thread(gate))
        if place == .caller { flush() }
        return gate.wait()
    }

    /// Ends a turn with a commit; `completion` is called on an internal thread when it is durable.
    func commit(
        _ commit: PreparedCommit,
        ending ticket: Ticket,
        completion: @escaping @Sendable (CommitResult) -> Void
    ) {
        add(commit, ending: ticket, .prepared, completion: .callback(completion))
    }

    /// Whether the writer whose turn it is may leave its commit to be sealed together with later ones.
    func mayJoin(_ ticket: Ticket) -> Bool { state.withLock { $0.queue.mayJoin(ticket) } }

    /// Ends a turn with a commit that joined the unsealed ones; suspends until it is durable.
    func commitJoined(ending ticket: Ticket, isolation: isolated (any Actor)? = #isolation) async -> CommitResult {
        await withUnsafeContinuation { continuation in
            let completion = Completion.task(continuation)
            let (actions, failure) = state.withLock { state -> (Queue.Actions, StorageError?) in
                if state.failureCount != state.failureCountAtBegin {
                    return (released(state.queue.finish(ticket, .nothing, at: now)), state.lastFailure)
                }
                state.joined.append(completion)
                return (released(state.queue.finish(ticket, .joined, at: now)), nil)
            }
            perform(actions)
            if let failure { completion.receive(.failure(failure)) }
        }
    }

    /// Blocks the calling thread, whose turn it is, until every earlier commit is durable or has failed.
    func waitForFlushes() {
        if state.withLock({ !$0.joined.isEmpty }) { perform(seal { $0.joinedSealed(at: self.now) }) }
        let gate = ThreadGate<Void>()
        let isQuiet = state.withLock { state in
            if state.prepared.isEmpty, !state.queue.isFlushing { return true }
            state.quietWaiters.append(gate)
            return false
        }
        if !isQuiet { gate.wait() }
    }

    /// Notes that the transaction of this turn begins now: call it before it takes its base.
    ///
    /// - Parameters:
    ///   - joining: Whether it may build on commits that are not sealed; otherwise they are sealed first.
    ///   - isOpenEnded: Whether its task may suspend before it ends, and needs a thread to go on then.
    func transactionBegins(joining: Bool = false, isOpenEnded: Bool = false) {
        let needsPool = isOpenEnded && crealm_is_on_pool()
        let mustSeal = state.withLock { state in
            state.failureCountAtBegin = state.failureCount
            state.openEnded = needsPool ? state.queue.runningTicket : nil
            return !joining && !state.joined.isEmpty
        }
        if mustSeal { perform(seal { $0.joinedSealed(at: self.now) }) }
    }

    /// Seals what joined, with nobody writing, and then tells the queue.
    func seal(_ then: (inout Queue) -> Queue.Actions) -> Queue.Actions {
        var sealed: PreparedCommit?
        var failure = StorageError(.io, "The commits that this one was built on were lost", path: file.path)
        do {
            sealed = try file.sealGroup()
        } catch {
            failure = error
        }
        let (actions, lost) = state.withLock { state in
            let joined = state.joined
            state.joined = []
            if let sealed {
                state.prepared.append(Prepared(commit: sealed, completions: joined))
            } else {
                state.queue.dropJoined()
            }
            return (released(then(&state.queue)), sealed == nil ? joined : [])
        }
        for completion in lost { completion.receive(.failure(failure)) }
        return actions
    }

    /// Ends a turn with a commit, and has it flushed; where the caller is to do that, this says so.
    @discardableResult
    func add(
        _ commit: PreparedCommit,
        ending ticket: Ticket,
        _ ending: Queue.Ending,
        completion: consuming Completion
    ) -> Queue.FlushPlace? {
        let completion = completion
        let (actions, failure) = state.withLock { state -> (Queue.Actions, StorageError?) in
            if state.failureCount != state.failureCountAtBegin {
                return (released(state.queue.finish(ticket, .nothing, at: now)), state.lastFailure)
            }
            state.prepared.append(Prepared(commit: commit, completions: state.joined + [completion]))
            state.joined = []
            return (released(state.queue.finish(ticket, ending, at: now)), nil)
        }
        perform(actions)
        if let failure { completion.receive(.failure(failure)) }
        return actions.flush
    }

    /// Seals what joined, and writes and flushes everything that is prepared by then, with one flush.
    func flush() {
        if state.withLock({ $0.queue.isSealing }) { perform(seal { $0.sealFinished(at: self.now) }) }
        let batch = state.withLock { state in
            let count = state.queue.takeForFlush()
            precondition(
                count == state.prepared.reduce(0) { $0 + $1.completions.count },
                "The write queue lost count of its prepared commits."
            )
            state.flushCount += 1
            state.commitCount += count
            defer { state.prepared = [] }
            return state.prepared
        }
        let result: CommitResult
        do {
            try file.publish(batch.map(\.commit))
            result = .success(())
        } catch {
            result = .failure(error)
        }
        let (actions, lost, quietWaiters) = state.withLock { state in
            var lost: [Completion] = []
            state.queue.isContended = file.hasWaitingProcesses
            if case .failure(let error) = result {
                // What was prepared or joined meanwhile stands on the commits that are lost now.
                lost = state.prepared.flatMap(\.completions) + state.joined
                state.prepared = []
                state.joined = []
                _ = state.queue.takeForFlush()
                state.queue.dropJoined()
                state.failureCount += 1
                state.lastFailure = error
            }
            let actions = released(state.queue.flushFinished(at: now))
            if state.queue.isFlushing { return (actions, lost, [ThreadGate<Void>]()) }
            defer { state.quietWaiters = [] }
            return (actions, lost, state.quietWaiters)
        }
        perform(actions)
        for gate in quietWaiters { gate.open(with: ()) }
        for prepared in batch {
            for completion in prepared.completions { completion.receive(result) }
        }
        for completion in lost { completion.receive(result) }
        if case .success = result, let last = batch.last { didPublish(last.commit.version) }
    }
}
