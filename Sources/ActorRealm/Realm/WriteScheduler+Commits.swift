import CRealmShims
import RealmStorage
import Synchronization

/// Commits, from the end of their turns to the disk.
extension WriteScheduler {
    /// Ends a turn with a commit; suspends until it is durable.
    func commit(
        _ commit: PreparedCommit,
        ending ticket: Ticket,
        leavingOut leftOut: LeftOutCommit? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async -> CommitResult {
        await withUnsafeContinuation { continuation in
            add(commit, ending: ticket, .prepared, leavingOut: leftOut, completion: .task(continuation))
        }
    }

    /// Ends a turn with a commit; blocks the thread until it is durable.
    ///
    /// - Parameters:
    ///   - commit: The commit.
    ///   - ticket: The turn that ends.
    ///   - leftOut: For those observers that are not told of it.
    ///   - gate: Where the thread waits; one that is used again and again saves making it.
    /// - Returns: How it went.
    func commitBlocking(
        _ commit: PreparedCommit,
        ending ticket: Ticket,
        leavingOut leftOut: LeftOutCommit? = nil,
        at gate: ThreadGate<CommitResult> = ThreadGate()
    ) -> CommitResult {
        let place = add(commit, ending: ticket, .preparedBlocking, leavingOut: leftOut, completion: .thread(gate))
        if place == .caller { flush() }
        let isOnPool = crealm_is_on_pool()
        if isOnPool { BlockedPool.swift.enter() }
        defer { if isOnPool { BlockedPool.swift.leave() } }
        return gate.wait()
    }

    /// Ends a turn with a commit; `completion` is called on an internal thread when it is durable.
    func commit(
        _ commit: PreparedCommit,
        ending ticket: Ticket,
        leavingOut leftOut: LeftOutCommit? = nil,
        completion: @escaping @Sendable (CommitResult) -> Void
    ) {
        add(commit, ending: ticket, .prepared, leavingOut: leftOut, completion: .callback(completion))
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
        let (actions, lost, lostFlush) = state.withLock { state in
            look(&state)
            let joined = state.joined
            let flush = state.joinedFlush
            state.joined = []
            state.joinedFlush = nil
            if let sealed {
                state.prepared.append(Prepared(commit: sealed, completions: joined, flush: flush))
            } else {
                state.queue.dropJoined()
            }
            let isLost = sealed == nil
            return (released(then(&state.queue)), isLost ? joined : [], isLost ? flush : nil)
        }
        lostFlush?.end(.failure(failure))
        for completion in lost { completion.receive(.failure(failure)) }
        return actions
    }

    /// Ends a turn with a commit, and has it flushed; where the caller is to do that, this says so.
    @discardableResult
    func add(
        _ commit: PreparedCommit,
        ending ticket: Ticket,
        _ ending: Queue.Ending,
        leavingOut leftOut: LeftOutCommit? = nil,
        completion: consuming Completion
    ) -> Queue.FlushPlace? {
        let completion = completion
        let (actions, failure) = state.withLock { state -> (Queue.Actions, StorageError?) in
            if state.failureCount != state.failureCountAtBegin {
                return (released(state.queue.finish(ticket, .nothing, at: now)), state.lastFailure)
            }
            look(&state)
            state.prepared.append(
                Prepared(
                    commit: commit,
                    completions: state.joined + [completion],
                    flush: state.joinedFlush,
                    leftOut: leftOut
                )
            )
            state.joined = []
            state.joinedFlush = nil
            return (released(state.queue.finish(ticket, ending, at: now)), nil)
        }
        perform(actions)
        if let failure { completion.receive(.failure(failure)) }
        return actions.flush
    }

    /// Seals what joined, and writes and flushes everything that is prepared by then, with one flush; a commit that is left out
    /// alone.
    func flush() {
        if state.withLock({ $0.queue.isSealing }) { perform(seal { $0.sealFinished(at: self.now) }) }
        let batch = state.withLock { $0.takeBatch() }
        let leftOut = batch.first?.leftOut
        let result: CommitResult
        do {
            if let leftOut { leftOut.willPublish(after: try? file.beginRead()) }
            let published = try file.publish(batch.map(\.commit), pinning: true)
            if let leftOut { leftOut.didPublish(published) }
            result = .success(published)
        } catch {
            leftOut?.fail()
            result = .failure(error)
        }
        let (actions, lost, flushes, quietWaiters) = state.withLock { state in
            look(&state)
            var flushes = state.underWay
            state.isPublishing = false
            state.underWay = []
            var lost: [Completion] = []
            if case .failure(let error) = result {
                // What was prepared or joined meanwhile stands on the commits that are lost now.
                lost = state.prepared.flatMap(\.completions) + state.joined
                flushes += state.prepared.compactMap(\.flush) + (state.joinedFlush.map { [$0] } ?? [])
                state.prepared = []
                state.joined = []
                state.joinedFlush = nil
                _ = state.queue.takeForFlush()
                state.queue.dropJoined()
                state.failureCount += 1
                state.lastFailure = error
            }
            let actions = released(state.queue.flushFinished(at: now))
            if state.queue.isFlushing { return (actions, lost, flushes, [ThreadGate<Void>]()) }
            defer { state.quietWaiters = [] }
            return (actions, lost, flushes, state.quietWaiters)
        }
        perform(actions)
        for gate in quietWaiters { gate.open(with: ()) }
        for prepared in batch {
            for completion in prepared.completions { completion.receive(result) }
        }
        for completion in lost { completion.receive(result) }
        for flush in flushes { flush.end(result) }
        if case .success = result, let last = batch.last { didPublish(last.commit.version) }
    }
}

extension WriteScheduler.State {
    /// What is flushed together next.
    fileprivate mutating func takeBatch() -> [WriteScheduler.Prepared] {
        let alone = prepared.firstIndex { $0.leftOut != nil } ?? prepared.count
        let batch = Array(prepared.prefix(max(alone, min(1, prepared.count))))
        prepared.removeFirst(batch.count)
        let count = batch.reduce(0) { $0 + $1.completions.count }
        queue.takeForFlush(count)
        precondition(
            !prepared.isEmpty || queue.preparedCount == 0,
            "The write queue lost count of its prepared commits."
        )
        flushCount += 1
        commitCount += count
        isPublishing = true
        underWay = batch.compactMap(\.flush)
        return batch
    }
}
