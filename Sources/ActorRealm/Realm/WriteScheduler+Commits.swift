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
        isBrief: Bool = false,
        isolation: isolated (any Actor)? = #isolation
    ) async -> CommitResult {
        await withUnsafeContinuation { continuation in
            let ending = isBrief ? Queue.Ending.preparedBrief : .prepared
            let place = add(commit, ending: ticket, ending, leavingOut: leftOut, completion: .task(continuation))
            if place == .caller { flush() }
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
        if place == .caller {
            flush()
            // Mostly it was among what this thread has flushed, and others need not hear of a wait.
            if let result = gate.takeWithoutWaiting() { return result }
        }
        let isOnPool = crealm_is_on_pool()
        let pool = isOnPool ? BlockedPool.swift : nil
        pool?.enter()
        defer { pool?.leave() }
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

    /// Ends a turn with a commit that joined the unsealed ones of a group; suspends until it is durable.
    func commitJoined(
        _ group: UInt64,
        ending ticket: Ticket,
        isolation: isolated (any Actor)? = #isolation
    ) async -> CommitResult {
        await withUnsafeContinuation { continuation in
            let completion = Completion.task(continuation)
            let (actions, isLost, lost) = state.withLock { state -> (Queue.Actions, Bool, [Joined]) in
                // A flush that fails later finds it among those that joined.
                if file.hasLost(group: group) {
                    return (released(state.finish(ticket, .nothing, at: now)), true, [])
                }
                let lost = state.takeOwing(besides: group)
                state.joinToBeSealed(group, completion)
                return (released(state.finish(ticket, .joined, at: now)), false, lost)
            }
            perform(actions)
            if isLost { completion.receive(.failure(file.lossOfGroup(group))) }
            for joined in lost { tell(joined, file.lossOfGroup(joined.group)) }
        }
    }

    /// Blocks the calling thread, whose turn it is, until every earlier commit is durable or has failed.
    func waitForFlushes() {
        if state.withLock({ !$0.joined.isEmpty }) { sealJoined() }
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
    ///   - isolation: Where it is open; nil for the library's own.
    func transactionBegins(joining: Bool = false, isOpenEnded: Bool = false, in isolation: RealmIsolation? = nil) {
        let needsPool = isOpenEnded && crealm_is_on_pool()
        let mustSeal = state.withLock { state in
            state.openEnded = needsPool ? state.queue.runningTicket : nil
            state.holder = isolation
            return !joining && !state.joined.isEmpty
        }
        if mustSeal { sealJoined() }
    }

    /// Seals what joined, for whoever has the turn.
    private func sealJoined() {
        perform(seal { $0.joinedSealed(at: self.now) })
        // Where that has failed no flush comes that would say so. Who has the turn waits for nobody who listens.
        if file.versionWithoutPages != 0 { ioThread.perform { self.announceWithoutPages() } }
    }

    /// Seals what joined, with nobody writing, and then tells the queue.
    ///
    /// Those whose group was given up meanwhile, or cannot be sealed, are told.
    func seal(_ then: (inout Queue) -> Queue.Actions) -> Queue.Actions {
        var sealed: PreparedCommit?
        var failure: StorageError?
        do {
            sealed = try file.sealGroup()
        } catch {
            failure = error
        }
        let (actions, lost) = state.withLock { state in
            look(&state)
            // Where a commit before it has failed meanwhile, nobody would look for it among the prepared ones any more.
            if let group = sealed?.group, file.hasLost(group: group) { sealed = nil }
            let (joined, lost) = state.takeJoined(sealedTo: sealed?.group)
            if let sealed {
                state.prepared.append(
                    Prepared(commit: sealed, completions: joined?.completions ?? [], flush: joined?.flush)
                )
            }
            return (released(then(&state.queue)), lost)
        }
        for joined in lost { tell(joined, failure ?? file.lossOfGroup(joined.group)) }
        return actions
    }

    /// Tells those whose group is lost.
    func tell(_ joined: Joined, _ failure: StorageError) {
        joined.flush?.end(.failure(failure))
        for completion in joined.completions { completion.receive(.failure(failure)) }
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
        let (actions, isLost, lost) = state.withLock { state -> (Queue.Actions, Bool, [Joined]) in
            // A flush that fails later finds it among the prepared ones.
            if file.hasLost(group: commit.group) {
                return (released(state.finish(ticket, .nothing, at: now)), true, [])
            }
            look(&state)
            let (joined, lost) = state.takeJoined(sealedTo: commit.group)
            var completions = joined?.completions ?? []
            completions.append(completion)
            state.prepared.append(
                Prepared(commit: commit, completions: completions, flush: joined?.flush, leftOut: leftOut)
            )
            return (released(state.finish(ticket, ending, at: now)), false, lost)
        }
        perform(actions)
        if isLost { completion.receive(.failure(file.lossOfGroup(commit.group))) }
        for joined in lost { tell(joined, file.lossOfGroup(joined.group)) }
        return actions.flush
    }

    /// Seals what joined, and writes and flushes everything that is prepared by then, with one flush; a commit that is left out
    /// alone.
    func flush() {
        let (isSealing, isOfRecords) = state.withLock { ($0.queue.isSealing, $0.queue.isFlushingRecords) }
        if isOfRecords { return flushRecords() }
        if isSealing { perform(seal { $0.sealFinished(at: self.now) }) }
        let (batch, past) = state.withLock { state in
            let past = state.takeLost(from: file)
            return (state.takeBatch(), past)
        }
        for joined in past { tell(joined, file.lossOfGroup(joined.group)) }
        let leftOut = batch.first?.leftOut
        let result: CommitResult
        do {
            if let leftOut { leftOut.willPublish(after: try? file.beginRead(asking: .published)) }
            let published = try file.publish(batch.map(\.commit), pinning: true)
            if let leftOut { leftOut.didPublish(published) }
            result = .success(published)
        } catch {
            leftOut?.fail()
            result = .failure(error)
        }
        let (actions, lost, flushes, quietWaiters) = state.withLock { state in
            look(&state)
            let flushes = state.underWay
            state.publishing = nil
            state.underWay = []
            // What was prepared or joined meanwhile stands on the commits that are lost now, unless it was begun behind their loss.
            let lost = state.takeLost(from: file)
            let actions = released(state.queue.flushFinished(at: now))
            return (actions, lost, flushes, state.takeQuietWaiters())
        }
        perform(actions)
        for gate in quietWaiters { gate.open(with: ()) }
        for prepared in batch {
            for completion in prepared.completions { completion.receive(result) }
        }
        for joined in lost { tell(joined, file.lossOfGroup(joined.group)) }
        for flush in flushes { flush.end(result) }
        if case .success = result, let last = batch.last {
            didPublish(last.commit.version)
        } else {
            announceWithoutPages()
        }
    }
}

extension WriteScheduler.State {
    /// The flush of those that joined, of whom there are some.
    mutating func flushOfJoined() -> BaseFlush {
        let flush = joined[joined.count - 1].flush ?? BaseFlush()
        joined[joined.count - 1].flush = flush
        return flush
    }

    /// The flush of the newest commit that is sealed and not published; nil where there is none.
    mutating func flushUnderWay() -> BaseFlush? {
        if let last = prepared.indices.last {
            let flush = prepared[last].flush ?? BaseFlush()
            prepared[last].flush = flush
            return flush
        }
        if publishing == nil { return nil }
        let flush = underWay.last ?? BaseFlush()
        if underWay.isEmpty { underWay = [flush] }
        return flush
    }

    /// The members of a group that is not sealed.
    mutating func join(_ group: UInt64, _ change: (inout WriteScheduler.Joined) -> Void) {
        if joined.last?.group != group { joined.append(WriteScheduler.Joined(group: group)) }
        change(&joined[joined.count - 1])
    }

    /// Takes out those whose group was sealed to a commit now, and those of other groups, which are lost.
    fileprivate mutating func takeJoined(
        sealedTo group: UInt64?
    ) -> (sealed: WriteScheduler.Joined?, lost: [WriteScheduler.Joined]) {
        let lost = takeJoined(besides: group)
        let sealed = joined.first
        joined = []
        return (sealed?.withoutRecords, lost)
    }

    /// Takes out those of other groups than this one, which are lost.
    mutating func takeJoined(besides group: UInt64?) -> [WriteScheduler.Joined] {
        let lost = joined.filter { $0.group != group }
        if lost.isEmpty { return [] }
        joined.removeAll { $0.group != group }
        drop(lost)
        return lost.map(\.withoutRecords)
    }

    /// Counts out what is lost of what joined.
    private mutating func drop(_ lost: [WriteScheduler.Joined]) {
        queue.drop(
            prepared: 0,
            joined: lost.reduce(0) { $0 + $1.completions.count },
            recorded: lost.reduce(0) { $0 + $1.recorded.count }
        )
    }

    /// Those who wait until nothing is on its way to the disk, where nothing is.
    mutating func takeQuietWaiters() -> [ThreadGate<Void>] {
        if queue.isFlushing { return [] }
        defer { quietWaiters = [] }
        return quietWaiters
    }

    /// Takes out what was lost with commits that failed.
    mutating func takeLost(from file: StorageFile) -> [WriteScheduler.Joined] {
        if prepared.isEmpty, joined.isEmpty { return [] }
        let commits = prepared.filter { file.hasLost(group: $0.commit.group) }
        let members = joined.filter { file.hasLost(group: $0.group) }
        if commits.isEmpty, members.isEmpty { return [] }
        prepared.removeAll { file.hasLost(group: $0.commit.group) }
        joined.removeAll { file.hasLost(group: $0.group) }
        queue.drop(prepared: commits.reduce(0) { $0 + $1.completions.count }, joined: 0)
        drop(members)
        return commits.map { commit in
            WriteScheduler.Joined(group: commit.commit.group, completions: commit.completions, flush: commit.flush)
        } + members.map(\.withoutRecords)
    }

    /// What is flushed together next.
    fileprivate mutating func takeBatch() -> [WriteScheduler.Prepared] {
        let alone = prepared.firstIndex { $0.leftOut != nil } ?? prepared.count
        let size = max(alone, min(1, prepared.count))
        var batch: [WriteScheduler.Prepared] = []
        if size == prepared.count {
            swap(&batch, &prepared)
        } else {
            batch = Array(prepared.prefix(size))
            prepared.removeFirst(size)
        }
        let count = batch.reduce(0) { $0 + $1.completions.count }
        queue.takeForFlush(count)
        precondition(
            !prepared.isEmpty || queue.preparedCount == 0,
            "The write queue lost count of its prepared commits."
        )
        flushCount += 1
        commitCount += count
        publishing = batch.last?.commit.group
        underWay = batch.compactMap(\.flush)
        return batch
    }
}
