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
        /// Whether the turn would never have come.
        var isDeadlock = false
    }

    /// How a commit ended: durable, or not there.
    ///
    /// A success holds the version that it is in, so that its writer can stand there whatever others have committed since; nil
    /// where this process reads as many versions as it may.
    typealias CommitResult = Result<Snapshot?, StorageError>

    enum Waiter {
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
    struct Prepared {
        let commit: PreparedCommit
        var completions: [Completion]
        /// For writers that were built on it and ended without a commit.
        var flush: BaseFlush?
        /// What is flushed alone, because some observers are not told of it.
        var leftOut: LeftOutCommit?
    }

    /// Those whose transactions are members of one group that is not sealed.
    struct Joined {
        let group: UInt64
        var completions: [Completion] = []
        /// The last of them, as far as they wait for a flush of their records.
        var recorded: [Recorded] = []
        /// For writers that were built on them and ended without a commit.
        var flush: BaseFlush?
    }

    /// One that is durable once its record is.
    struct Recorded {
        let record: OwingRecord
        let completion: Completion
    }

    struct State {
        var queue: Queue
        var watch = WaitWatch()
        var waiters: [Ticket: Waiter] = [:]
        /// When those of them give up that block no thread.
        var deadlines = WriteDeadlines()
        /// Outcomes that came before the waiter did.
        var early: [Ticket: Outcome] = [:]
        var prepared: [Prepared] = []
        /// Those whose transactions are not sealed yet, by group: one, and what is left of groups that are lost; where pages are owed, one.
        var joined: [Joined] = []
        /// The group of the last of the commits that are being written and flushed.
        var publishing: UInt64?
        /// For writers that were built on those and ended without a commit.
        var underWay: [BaseFlush] = []
        /// Who waits until nothing is on the way to the disk.
        var quietWaiters: [ThreadGate<Void>] = []
        /// The last writer that began, on a thread of Swift's pool, a transaction which no block ends.
        var openEnded: Ticket?
        /// The isolation that has a transaction open.
        var holder: RealmIsolation?
        /// Whether another process's log is being ended, behind the taking of the lock.
        var isEndingLog = false
        /// How often a blocking writer passed another one because time had passed, for tests and diagnostics.
        var latePressCount = 0
        var flushCount = 0
        var commitCount = 0

        /// The writer whose turn it is is done.
        mutating func finish(_ ticket: Ticket, _ ending: Queue.Ending, at now: UInt64) -> Queue.Actions {
            holder = nil
            return queue.finish(ticket, ending, at: now)
        }

        /// The writer that has the turn, when its task may need a thread of Swift's pool to go on.
        var holderOnPool: Ticket? { openEnded.flatMap { queue.hasTurn($0) ? $0 : nil } }
    }

    let file: StorageFile
    let state: Mutex<State>
    let ioThread: DedicatedThread
    let lockThread: DedicatedThread
    let clock: Clock
    /// Called with the newest version after each flush, also where writing has stopped before that had pages.
    let didPublish: @Sendable (UInt64) -> Void
    /// Called when writers have waited long.
    let report: @Sendable (LongWait) -> Void

    /// What tells the time and waits, in nanoseconds.
    struct Clock: Sendable {
        var now: @Sendable () -> UInt64
        var pause: @Sendable (UInt64) -> Void
        /// Calls a function later, on no thread that a writer may block; false when it will not be called.
        var wake: @Sendable (UInt64, @escaping @Sendable () -> Void) -> Bool = { _, _ in false }
        /// The same for what is short and must not wait for a program's code, as a logger is.
        var wakeSoon: @Sendable (UInt64, @escaping @Sendable () -> Void) -> Bool = { _, _ in false }

        /// The same for the deadlines of writers, which must wait neither for a logger nor for a thread that a writer may block.
        var wakeForDeadline: @Sendable (UInt64, @escaping @Sendable () -> Void) -> Bool = { _, _ in false }

        static let system = Clock(
            now: { DispatchTime.now().uptimeNanoseconds },
            pause: { nanoseconds in
                var pause = timespec(tv_sec: 0, tv_nsec: Int(nanoseconds))
                nanosleep(&pause, nil)
            },
            wake: { AlarmThread.shared.call(after: $0, $1) },
            wakeSoon: { AlarmThread.locks.call(after: $0, $1) },
            wakeForDeadline: { AlarmThread.deadlines.call(after: $0, $1) }
        )
    }

    /// Schedules the writers of a file; for `holdLimit` see ``WriteQueue/holdLimit``.
    init(
        file: StorageFile,
        ioThread: DedicatedThread,
        lockThread: DedicatedThread = DedicatedThread(name: "realm-lock"),
        clock: Clock = .system,
        holdLimit: UInt64 = 10_000_000,
        report: @escaping @Sendable (LongWait) -> Void = { _ in },
        didPublish: @escaping @Sendable (UInt64) -> Void
    ) {
        self.file = file
        self.ioThread = ioThread
        self.lockThread = lockThread
        self.clock = clock
        state = Mutex(State(queue: Queue(holdLimit: holdLimit)))
        self.didPublish = didPublish
        self.report = report
        if file.leavesPages {
            let scheduler = WeakReference(self)
            file.pageMaker.attach(while: { scheduler.object != nil }, { scheduler.object?.makePages(unless: $0) })
        }
    }

    deinit { releaseKept() }

    var now: UInt64 { clock.now() }

    /// The flushes made and the commits they covered, for tests and diagnostics.
    var statistics: (flushes: Int, commits: Int) { state.withLock { ($0.flushCount, $0.commitCount) } }

    /// The process that has the inter-process lock, for messages.
    var writerProcess: Int32? { file.writerProcess }

    /// The number of writers that wait for their turn.
    var waitingCount: Int { state.withLock { $0.queue.waitingCount } }

    /// The number of commits that are prepared and wait for a flush.
    var preparedCount: Int { state.withLock { $0.queue.preparedCount + $0.queue.joinedCount } }
}

extension WriteScheduler.Waiter {
    func receive(_ outcome: WriteScheduler.Outcome) {
        switch self {
        case .task(let continuation): continuation.resume(returning: outcome)
        case .thread(let gate): gate.open(with: outcome)
        case .callback(let body): body(outcome)
        }
    }
}

extension WriteScheduler.Completion {
    func receive(_ result: WriteScheduler.CommitResult) {
        switch self {
        case .task(let continuation): continuation.resume(returning: result)
        case .thread(let gate): gate.open(with: result)
        case .callback(let body): body(result)
        }
    }
}
