import Dispatch
import Glibc
import RealmStorage
import Synchronization

/// Lets the writers of one file take turns, and brings their commits to the disk: performs what ``WriteQueue`` decides.
///
/// Continuations are resumed and blocking calls are made outside the lock. Only giving back the inter-process lock happens
/// under it, so that nobody can try the lock before it is free.
final class WriteScheduler: Sendable {
    typealias Queue = WriteQueue<RealmIsolation.Key>
    typealias Ticket = Queue.Ticket

    /// How waiting for a turn ended.
    enum Outcome: Sendable {
        case granted
        case cancelled
        case timedOut(Queue.Holder)
        case failed(StorageError)
    }

    /// The time to wait for a turn has passed; who has the lock.
    struct TurnTimeout: Error {
        let holder: String
    }

    /// How a commit ended: durable, or not there.
    typealias CommitResult = Result<Void, StorageError>

    fileprivate enum Waiter {
        case task(UnsafeContinuation<Outcome, Never>)
        case thread(ThreadGate<Outcome>)
        case callback(@Sendable (Outcome) -> Void)
    }

    /// Who is told when a commit is durable.
    enum Completion {
        case task(UnsafeContinuation<CommitResult, Never>)
        case thread(ThreadGate<CommitResult>)
        case callback(@Sendable (CommitResult) -> Void)
    }

    /// A sealed commit and those whose transactions are in it.
    private struct Prepared {
        let commit: PreparedCommit
        var completions: [Completion]
    }

    private struct State {
        var queue: Queue
        var waiters: [Ticket: Waiter] = [:]
        /// Outcomes that came before the waiter did.
        var early: [Ticket: Outcome] = [:]
        var prepared: [Prepared] = []
        /// Those whose transactions are not sealed yet.
        var joined: [Completion] = []
        /// Who waits until nothing is on the way to the disk.
        var quietWaiters: [ThreadGate<Void>] = []
        /// The number of flushes that failed, now and when the transaction of this turn began: a transaction that was
        /// built on a lost commit is lost with it.
        var failureCount = 0
        var failureCountAtBegin = 0
        var lastFailure: StorageError?
        var flushCount = 0
        var commitCount = 0
    }

    private let file: StorageFile
    private let state: Mutex<State>
    private let ioThread: DedicatedThread
    private let lockThread = DedicatedThread(name: "realm-lock")
    /// Called with the newest version after each flush.
    private let didPublish: @Sendable (UInt64) -> Void

    /// Schedules the writers of a file; for `holdLimit` see ``WriteQueue/holdLimit``.
    init(
        file: StorageFile,
        ioThread: DedicatedThread,
        holdLimit: UInt64 = 10_000_000,
        didPublish: @escaping @Sendable (UInt64) -> Void
    ) {
        self.file = file
        self.ioThread = ioThread
        state = Mutex(State(queue: Queue(holdLimit: holdLimit)))
        self.didPublish = didPublish
    }

    private var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    /// The flushes made and the commits they covered, for tests and diagnostics.
    var statistics: (flushes: Int, commits: Int) { state.withLock { ($0.flushCount, $0.commitCount) } }

    /// The process that has the inter-process lock, for messages.
    var writerProcess: Int32? { file.writerProcess }

    /// The number of writers that wait for their turn.
    var waitingCount: Int { state.withLock { $0.queue.waitingCount } }

    /// The number of commits that are prepared and wait for a flush.
    var preparedCount: Int { state.withLock { $0.queue.preparedCount + $0.queue.joinedCount } }

    // MARK: Turns

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
        var (ticket, isGranted) = enqueue(.asynchronous, for: key, origin: origin)
        var timer: Task<Void, Never>?
        defer { timer?.cancel() }
        while true {
            if !isGranted {
                // A turn that was given up for a synchronous writer's may come too late.
                if let deadline {
                    timer?.cancel()
                    timer = expiry(of: ticket, at: deadline)
                }
                switch await waitForTurn(ticket) {
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

    private func expiry(of ticket: Ticket, at deadline: ContinuousClock.Instant) -> Task<Void, Never> {
        Task.detached { [weak self] in
            do {
                try await Task.sleep(until: deadline, clock: .continuous)
            } catch {
                return
            }
            self?.expire(ticket)
        }
    }

    /// Waits for the turn, blocking the calling thread, and begins it.
    ///
    /// - Throws: `locked` when the caller's isolation has a write transaction open, so that it would wait for itself;
    ///   `TurnTimeout` when the turn has not come by the deadline.
    func acquireBlocking(
        for key: RealmIsolation.Key,
        origin: ReaderOrigin? = nil,
        deadline: ContinuousClock.Instant? = nil
    ) throws -> Ticket {
        if key != .none, state.withLock({ $0.queue.isWriting(key) }) {
            throw StorageError(
                .locked,
                "This isolation is already in a write transaction of the realm: finish it first",
                path: file.path
            )
        }
        let (ticket, isGranted) = enqueue(.synchronous, for: key, origin: origin)
        if isGranted { return ticket }
        let gate = ThreadGate<Outcome>()
        register(.thread(gate), for: ticket)
        var lastChosen: Ticket?
        while true {
            if let outcome = gate.wait(for: .milliseconds(20)) {
                switch outcome {
                case .granted: return ticket
                case .cancelled: misuse("A synchronous writer cannot be cancelled.")
                case .timedOut(let holder): throw TurnTimeout(holder: describe(holder))
                case .failed(let error): throw error
                }
            }
            if let deadline, ContinuousClock.now >= deadline {
                expire(ticket)
                continue
            }
            let seen = lastChosen
            let (chosen, actions) = state.withLock { state -> (Ticket?, Queue.Actions) in
                let chosen = state.queue.chosen
                guard let chosen, chosen == seen else { return (chosen, Queue.Actions()) }
                return (nil, state.queue.pressForTurn(ticket, insteadOf: chosen))
            }
            lastChosen = chosen
            perform(actions)
        }
    }

    /// Asks for a turn, which `granted` announces; it then begins with ``begin(_:)``.
    func acquire(
        for key: RealmIsolation.Key,
        origin: ReaderOrigin? = nil,
        _ granted: @escaping @Sendable (Ticket, Outcome) -> Void
    ) -> Ticket {
        let (ticket, isGranted) = enqueue(.asynchronous, for: key, origin: origin)
        if isGranted {
            granted(ticket, .granted)
        } else {
            register(.callback { granted(ticket, $0) }, for: ticket)
        }
        return ticket
    }

    /// Begins a turn that was announced; false when a synchronous writer passed meanwhile: `granted` will be called again.
    func begin(_ ticket: Ticket, _ granted: @escaping @Sendable (Ticket, Outcome) -> Void) -> Bool {
        if state.withLock({ $0.queue.start(ticket) }) { return true }
        register(.callback { granted(ticket, $0) }, for: ticket)
        return false
    }

    /// Gives up waiting; false when the turn has come already.
    @discardableResult
    func cancel(_ ticket: Ticket) -> Bool { dismiss(ticket) { _ in .cancelled } }

    /// Ends the wait of a writer whose time has passed; nothing when the turn has come already.
    private func expire(_ ticket: Ticket) { dismiss(ticket) { .timedOut($0.holder) } }

    @discardableResult
    private func dismiss(_ ticket: Ticket, with outcome: (borrowing Queue) -> Outcome) -> Bool {
        let (wasWaiting, waiter, outcome) = state.withLock { state -> (Bool, Waiter?, Outcome) in
            let outcome = outcome(state.queue)
            guard state.queue.cancel(ticket) else { return (false, nil, outcome) }
            let waiter = state.waiters.removeValue(forKey: ticket)
            if waiter == nil { state.early[ticket] = outcome }
            return (true, waiter, outcome)
        }
        waiter?.receive(outcome)
        return wasWaiting
    }

    /// Ends a turn without a commit.
    func finish(_ ticket: Ticket) {
        perform(
            state.withLock { state in
                state.queue.isContended = file.hasWaitingProcesses
                return released(state.queue.finish(ticket, .nothing, at: now))
            }
        )
    }

    // MARK: Commits

    /// Ends a turn with a commit; suspends until it is durable.
    func commit(
        _ commit: PreparedCommit,
        ending ticket: Ticket,
        isolation: isolated (any Actor)? = #isolation
    ) async -> CommitResult {
        await withUnsafeContinuation { continuation in
            _ = add(commit, ending: ticket, completion: .task(continuation))
        }
    }

    /// Ends a turn with a commit; blocks the thread until it is durable.
    func commitBlocking(_ commit: PreparedCommit, ending ticket: Ticket) -> CommitResult {
        let gate = ThreadGate<CommitResult>()
        let place = add(commit, ending: ticket, completion: .thread(gate))
        if place == .caller { flush() }
        return gate.wait()
    }

    /// Ends a turn with a commit; `completion` is called on an internal thread when it is durable.
    func commit(
        _ commit: PreparedCommit,
        ending ticket: Ticket,
        completion: @escaping @Sendable (CommitResult) -> Void
    ) {
        _ = add(commit, ending: ticket, completion: .callback(completion))
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
    /// - Parameter joining: Whether it may build on commits that are not sealed; otherwise they are sealed first.
    func transactionBegins(joining: Bool = false) {
        let mustSeal = state.withLock { state in
            state.failureCountAtBegin = state.failureCount
            return !joining && !state.joined.isEmpty
        }
        if mustSeal { perform(seal { $0.joinedSealed(at: self.now) }) }
    }

    /// Seals what joined, with nobody writing, and then tells the queue.
    private func seal(_ then: (inout Queue) -> Queue.Actions) -> Queue.Actions {
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

    private func add(
        _ commit: PreparedCommit,
        ending ticket: Ticket,
        completion: consuming Completion
    ) -> Queue.FlushPlace? {
        let completion = completion
        let (actions, failure) = state.withLock { state -> (Queue.Actions, StorageError?) in
            if state.failureCount != state.failureCountAtBegin {
                return (released(state.queue.finish(ticket, .nothing, at: now)), state.lastFailure)
            }
            state.prepared.append(Prepared(commit: commit, completions: state.joined + [completion]))
            state.joined = []
            return (released(state.queue.finish(ticket, .prepared, at: now)), nil)
        }
        perform(actions)
        if let failure { completion.receive(.failure(failure)) }
        return actions.flush
    }

    /// Seals what joined, and writes and flushes everything that is prepared by then, with one flush.
    private func flush() {
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

    // MARK: Performing what the queue decides

    private func enqueue(
        _ kind: Queue.Kind,
        for key: RealmIsolation.Key,
        origin: ReaderOrigin? = nil
    ) -> (Ticket, isGranted: Bool) {
        let (ticket, actions) = state.withLock { state in
            state.queue.isContended = file.hasWaitingProcesses
            let (ticket, actions) = state.queue.enqueue(kind, isolation: key, origin: origin, at: now)
            return (ticket, released(actions))
        }
        return (ticket, perform(actions, own: ticket))
    }

    private func register(_ waiter: Waiter, for ticket: Ticket) {
        let early = state.withLock { state -> Outcome? in
            if let outcome = state.early.removeValue(forKey: ticket) { return outcome }
            if state.queue.hasTurn(ticket) { return .granted }
            state.waiters[ticket] = waiter
            return nil
        }
        if let early { waiter.receive(early) }
    }

    private func waitForTurn(
        _ ticket: Ticket,
        isolation: isolated (any Actor)? = #isolation
    ) async -> Outcome {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { register(.task($0), for: ticket) }
        } onCancel: {
            cancel(ticket)
        }
    }

    /// Gives the inter-process lock back where the actions say so; called under the lock.
    private func released(_ actions: Queue.Actions) -> Queue.Actions {
        if actions.lock == .release || actions.lock == .yield { file.unlockForWriting() }
        return actions
    }

    /// Performs actions and those that follow from them; true when the turn went to `own`, which is told by this result.
    @discardableResult
    private func perform(_ first: Queue.Actions, own: Ticket? = nil) -> Bool {
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
            case .wait, .yield:
                // After a yield the file lets whoever waits in another process go first.
                lockThread.perform { self.waitForLock() }
                return isGranted
            case .acquire:
                actions = tryLock()
            }
        }
    }

    private func tryLock() -> Queue.Actions {
        do {
            let isAcquired = try file.tryLockForWriting()
            return state.withLock { state in
                released(isAcquired ? state.queue.lockAcquired(at: now) : state.queue.lockBusy())
            }
        } catch {
            return lockFailed(error)
        }
    }

    private func waitForLock() {
        do {
            try file.lockForWriting()
            perform(state.withLock { state in released(state.queue.lockAcquired(at: now)) })
        } catch {
            perform(lockFailed(error))
        }
    }

    /// Keeps the inter-process lock for a moment, on the thread that waits for it at other times.
    private func linger() {
        var pause = timespec(tv_sec: 0, tv_nsec: Int(state.withLock { $0.queue.lingerStep }))
        while true {
            nanosleep(&pause, nil)
            let actions = state.withLock { state in
                state.queue.isContended = file.hasWaitingProcesses
                return released(state.queue.lingerEnded(at: now))
            }
            if actions.lock != .linger { return }
        }
    }

    private func lockFailed(_ error: StorageError) -> Queue.Actions {
        let actions = state.withLock { state in released(state.queue.lockFailed(at: now)) }
        if let ticket = actions.fail { deliver(.failed(error), to: ticket) }
        return actions
    }

    private func deliver(_ outcome: Outcome, to ticket: Ticket) {
        let waiter = state.withLock { state -> Waiter? in
            if let waiter = state.waiters.removeValue(forKey: ticket) { return waiter }
            // A grant is found by `hasTurn` when the waiter comes.
            if case .granted = outcome { return nil }
            state.early[ticket] = outcome
            return nil
        }
        waiter?.receive(outcome)
    }
}

extension WriteScheduler.Waiter {
    fileprivate func receive(_ outcome: WriteScheduler.Outcome) {
        switch self {
        case .task(let continuation): continuation.resume(returning: outcome)
        case .thread(let gate): gate.open(with: outcome)
        case .callback(let body): body(outcome)
        }
    }
}

extension WriteScheduler.Completion {
    fileprivate func receive(_ result: WriteScheduler.CommitResult) {
        switch self {
        case .task(let continuation): continuation.resume(returning: result)
        case .thread(let gate): gate.open(with: result)
        case .callback(let body): body(result)
        }
    }
}
