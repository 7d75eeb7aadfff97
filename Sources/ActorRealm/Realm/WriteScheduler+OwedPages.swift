import CRealmShims
import RealmStorage
import Synchronization

/// Commits that are acknowledged by their records, and whose pages are made later.
extension WriteScheduler {
    /// Whether the writer whose turn it is may leave its commit without pages once it is durable.
    ///
    /// Not where the system starts no thread to make them on: whoever asks for them would wait until it does.
    func mayOwePages(_ ticket: Ticket) -> Bool {
        state.withLock { state in
            look(&state)
            return state.queue.mayOwePages(ticket)
        } && ioThread.isThere()
    }

    /// Whether a writer may build on commits that owe their pages, and nothing else.
    var owesPages: Bool { state.withLock { $0.queue.owesPages } }

    /// Whether pages that somebody has asked for come behind a flush, or behind the end of a block.
    var arePagesDelayed: Bool {
        state.withLock { $0.queue.owesPages ? $0.queue.arePagesDelayed : file.flushesForOwedPages }
    }

    /// Ends a turn with a commit that is durable, and whose pages are made when somebody asks for them.
    ///
    /// - Returns: That making.
    func acknowledge(_ group: UInt64, ending ticket: Ticket) -> BaseFlush {
        let (actions, pages, gone) = state.withLock { state -> (Queue.Actions, BaseFlush, [Joined]) in
            look(&state)
            let gone = state.takeOwing(besides: group)
            // The queue counts all of them as one.
            if !state.queue.owesPages { state.join(group) { $0.completions.append(.callback { _ in }) } }
            let pages = state.flushOfJoined()
            return (released(state.finish(ticket, .acknowledged, at: now)), pages, gone)
        }
        perform(actions)
        for joined in gone { tell(joined, file.lossOfGroup(joined.group)) }
        return pages
    }

    /// Makes the pages of commits that were acknowledged without, or waits for whoever makes them or has the turn.
    ///
    /// Nothing where the caller has the turn itself, in the block of a write; and on the thread that makes them where they are about to be made
    /// there: the lock stays until they are.
    ///
    /// - Parameter doesWithout: Asked where a block is open that stands on them, or may begin before they are made, since records are being
    ///   flushed: whether the caller need not wait for its end. The block may wait for the caller. And where they are published together with
    ///   commits that are flushed for that: whether the caller need not wait for the flush.
    func makePages(unless doesWithout: () -> Bool = { false }) {
        guard file.isOfThisProcess else { return }
        let (actions, pages, wait) = state.withLock { state -> (Queue.Actions, BaseFlush?, BlockToEnd?) in
            look(&state)
            guard state.queue.owesPages else {
                // Those that are on their way may be it.
                let wait = file.flushesForOwedPages ? BlockToEnd(isolation: nil) : nil
                return (Queue.Actions(), state.flushUnderWay(), wait)
            }
            let pages = state.flushOfJoined()
            let actions = released(state.queue.askForPages(at: now))
            let isRunning = state.queue.runningTicket != nil
            return (actions, pages, BlockToEnd(isolation: isRunning ? state.holder : nil))
        }
        perform(actions)
        if actions.flush == .caller {
            flush()
        } else if let wait, doesWithout() || wait.isolation?.isCurrent == true {
            return
        }
        if ioThread.isHere { return }
        _ = pages?.waitOnPool()
    }

    /// What has to end before pages are made: a block that is open, in its isolation, one that may begin before, or a flush.
    private struct BlockToEnd {
        let isolation: RealmIsolation?
    }

    /// Has them made, and waits for nobody.
    func requestPages() {
        perform(
            state.withLock { state in
                look(&state)
                return released(state.queue.askForPages(.ioThread, at: now))
            }
        )
    }

    /// The making of pages that a group owes which is not sealed; nil where it owes none.
    func pages(owedBy group: UInt64) -> BaseFlush? {
        state.withLock { state in
            guard state.queue.owesPages, state.joined.last?.group == group else { return nil }
            return state.flushOfJoined()
        }
    }

    // MARK: Records that are flushed elsewhere

    /// Whether the writer whose turn it is may leave its record to a flush, and its commit without pages behind that.
    func mayLeaveRecord(_ ticket: Ticket) -> Bool {
        state.withLock { state in
            look(&state)
            return state.queue.mayLeaveRecord(ticket)
        } && ioThread.isThere()
    }

    /// Ends a turn with a commit that joined a group, and is durable once its record is; suspends until then.
    ///
    /// - Returns: How it went, and the making of its pages. A success holds no version unless these are made.
    func commitRecorded(
        _ record: OwingRecord,
        of group: UInt64,
        ending ticket: Ticket,
        isolation: isolated (any Actor)? = #isolation
    ) async -> (result: CommitResult, pages: BaseFlush) {
        var pages: BaseFlush?
        let result = await withUnsafeContinuation { continuation in
            commitRecorded(record, of: group, ending: ticket) {
                pages = $0
                return .task(continuation)
            }
        }
        return (result, pages ?? BaseFlush(result))
    }

    /// The same, where somebody is told of it.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - group: The number of the group.
    ///   - ticket: The turn that ends.
    ///   - completion: Makes who is told; it is given the making of the pages, and called under the lock.
    func commitRecorded(
        _ record: OwingRecord,
        of group: UInt64,
        ending ticket: Ticket,
        telling completion: (_ pages: BaseFlush) -> Completion
    ) {
        let (actions, own, lost) = state.withLock { state -> (Queue.Actions, Completion?, [Joined]) in
            // A flush that fails later finds it among those that joined.
            if file.hasLost(group: group) {
                return (released(state.finish(ticket, .nothing, at: now)), completion(BaseFlush()), [])
            }
            let lost = state.takeOwing(besides: group)
            // The flush before may have been refused meanwhile: then this one is sealed behind what it stands on.
            let isRecorded = state.queue.mayLeaveRecord(ticket)
            // The queue counts all that owe their pages as one besides.
            let isFirst = isRecorded && !state.queue.owesPages
            state.join(group) { if isFirst { $0.completions.append(.callback { _ in }) } }
            let completion = completion(state.flushOfJoined())
            if isRecorded {
                state.join(group) { $0.recorded.append(Recorded(record: record, completion: completion)) }
            } else {
                state.joinToBeSealed(group, completion)
            }
            return (released(state.finish(ticket, isRecorded ? .recorded : .joined, at: now)), nil, lost)
        }
        perform(actions)
        own?.receive(.failure(file.lossOfGroup(group)))
        for joined in lost { tell(joined, file.lossOfGroup(joined.group)) }
    }

    /// Makes the records durable that wait for it, with one flush, and tells those who wait.
    func flushRecords() {
        let batches = state.withLock { $0.takeRecords() }
        for batch in batches.dropLast() { tell(batch.withoutRecords, file.lossOfGroup(batch.group)) }
        let batch = batches.last
        let result = batch.map { batch in
            Result { () throws(StorageError) in try file.acknowledge(batch.recorded.map(\.record), of: batch.group) }
        }
        let (actions, told, lost, quietWaiters) = state.withLock { state in
            look(&state)
            var told = batch
            if let batch, case .success(false) = result { told = state.handBack(batch) }
            let lost = state.takeLost(from: file)
            let actions = released(state.queue.flushFinished(at: now))
            return (actions, told, lost, state.takeQuietWaiters())
        }
        perform(actions)
        for gate in quietWaiters { gate.open(with: ()) }
        if let told {
            if case .success(true) = result {
                for recorded in told.recorded { recorded.completion.receive(.success(nil)) }
            } else if case .failure(let error) = result {
                tell(told.withoutRecords, error)
            } else {
                tell(told.withoutRecords, file.lossOfGroup(told.group))
            }
        }
        for joined in lost { tell(joined, file.lossOfGroup(joined.group)) }
        announceWithoutPages()
    }

    /// Says what the newest version of this process is, where writing has stopped before that had pages; once.
    func announceWithoutPages() {
        let version = file.versionWithoutPages
        if version != 0 { didPublish(version) }
    }
}

extension WriteScheduler.Joined {
    /// The same where it is sealed and published, or lost, with those whose records wait.
    var withoutRecords: Self {
        if recorded.isEmpty { return self }
        return Self(group: group, completions: completions + recorded.map(\.completion), flush: flush)
    }
}

extension WriteScheduler.State {
    /// Takes out the records that wait, by group: those of the last group, and of others before, which are lost.
    fileprivate mutating func takeRecords() -> [WriteScheduler.Joined] {
        queue.takeRecords()
        var batches: [WriteScheduler.Joined] = []
        for index in joined.indices where !joined[index].recorded.isEmpty {
            batches.append(WriteScheduler.Joined(group: joined[index].group, recorded: joined[index].recorded))
            joined[index].recorded = []
        }
        flushCount += 1
        commitCount += batches.last?.recorded.count ?? 0
        return batches
    }

    /// Takes out the group that owes pages where a commit joins another one now: it is lost, and what the queue counts as one is of one group.
    mutating func takeOwing(besides group: UInt64) -> [WriteScheduler.Joined] {
        queue.owesPages ? takeJoined(besides: group) : []
    }

    /// A member that has to be sealed before anybody is told, and with it those whose records wait before it.
    mutating func joinToBeSealed(_ group: UInt64, _ completion: WriteScheduler.Completion) {
        join(group) { _ in }
        let last = joined.count - 1
        let waiting = joined[last].recorded.map(\.completion)
        if !waiting.isEmpty {
            // All are told in the order of their turns.
            joined[last].completions += waiting
            joined[last].recorded = []
            queue.handBack(joined: 0, recorded: waiting.count)
        }
        joined[last].completions.append(completion)
    }

    /// Has those be sealed and published whose records may not be flushed by themselves, with all that stand on them.
    ///
    /// - Returns: Those, where they are lost.
    fileprivate mutating func handBack(_ batch: WriteScheduler.Joined) -> WriteScheduler.Joined? {
        let completions = batch.recorded.map(\.completion)
        // They are counted where they are published.
        commitCount -= completions.count
        if let place = joined.firstIndex(where: { $0.group == batch.group }) {
            // In the order of their turns, which is that of their records.
            let waiting = joined[place].recorded.map(\.completion)
            joined[place].completions = completions + joined[place].completions + waiting
            joined[place].recorded = []
            queue.handBack(joined: completions.count, recorded: waiting.count)
        } else if let place = prepared.firstIndex(where: { $0.commit.group == batch.group }) {
            prepared[place].completions.insert(contentsOf: completions, at: 0)
            queue.handBack(joined: 0, prepared: completions.count)
        } else {
            return batch
        }
        return nil
    }
}
