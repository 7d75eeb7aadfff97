import CRealmShims
import DequeModule
import Dispatch
import Glibc
import RealmStorage
import Synchronization

/// A serial executor with a thread of its own, for work that blocks in the device or in a lock and must not take a
/// thread of the concurrent pool with it.
///
/// The thread starts with the first work and ends when the object goes away, after the work that is left.
final class DedicatedThread: SerialExecutor {
    private enum Work: Sendable {
        case block(@Sendable () -> Void)
        case job(UnownedJob)
    }

    /// What the thread shares with its owner.
    private final class Inbox: Sendable {
        struct State {
            var work: Deque<Work> = []
            var isStopped = false
            private var isStarted = false

            /// Whether the caller is to start the thread: the first one that asks.
            mutating func begins() -> Bool {
                defer { isStarted = true }
                return !isStarted
            }

            /// Notes that the system did not start it: the next one tries again.
            mutating func didNotBegin() { isStarted = false }
        }

        let state = Mutex(State())
        /// What tells the thread from others, once it runs.
        let word = Atomic<UInt>(0)
        let wakeUps = DispatchSemaphore(value: 0)
    }

    private let inbox = Inbox()
    /// Where blocks go instead of to a thread: tests with one thread choose themselves what runs next.
    private let substitute: (@Sendable (@escaping @Sendable () -> Void) -> Void)?
    private let start: @Sendable (@escaping @Sendable () -> Void) throws -> Void

    /// A thread that begins with its first work.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - substitute: Where blocks go instead.
    ///   - start: What starts it, and throws where there can be none; nil for the system.
    init(
        name: String,
        substitute: (@Sendable (@escaping @Sendable () -> Void) -> Void)? = nil,
        start: (@Sendable (@escaping @Sendable () -> Void) throws -> Void)? = nil
    ) {
        self.substitute = substitute
        if let start {
            self.start = start
        } else {
            self.start = { try DedicatedThread.detach(name: name, $0) }
        }
    }

    deinit {
        inbox.state.withLock { $0.isStopped = true }
        inbox.wakeUps.signal()
    }

    /// Whether the thread runs the caller.
    var isHere: Bool { inbox.word.load(ordering: .relaxed) == crealm_thread_word() }

    /// Whether the thread runs the caller and has nothing else to do.
    var isIdleHere: Bool { isHere && inbox.state.withLock { $0.work.isEmpty } }

    /// Runs the block on the thread, after everything given before.
    func perform(_ block: @escaping @Sendable () -> Void) {
        if let substitute { return substitute(block) }
        add(.block(block))
    }

    /// Whether the thread is there, or could be started: what is given to it then waits for no other thread to end.
    func isThere() -> Bool {
        guard substitute == nil, inbox.state.withLock({ $0.begins() }) else { return true }
        do {
            try start(body)
            return true
        } catch {
            let hasWork = inbox.state.withLock { state in
                if state.work.isEmpty { state.didNotBegin() }
                return !state.work.isEmpty
            }
            // What others gave to it meanwhile.
            if hasWork { DispatchQueue.global().async(execute: body) }
            return hasWork
        }
    }

    /// Runs the block on the thread, after everything given before; at once, on the caller's, where the system starts no thread.
    ///
    /// For what need not be done elsewhere: the shared pool keeps its caller waiting until the system starts threads again. All work of the
    /// thread is given to it so, and nobody waits for it: where two callers come at once, and no thread is started, the pool may get it.
    func performOrRun(_ block: @escaping @Sendable () -> Void) {
        if let substitute { return substitute(block) }
        guard isThere() else { return block() }
        add(.block(block))
    }

    func enqueue(_ job: consuming ExecutorJob) {
        add(.job(UnownedJob(job)))
    }

    private func add(_ work: Work) {
        let starts = inbox.state.withLock { state in
            state.work.append(work)
            return state.begins()
        }
        if starts {
            do {
                try start(body)
            } catch {
                // The shared pool is the only place where the work still can run.
                DispatchQueue.global().async(execute: body)
            }
        }
        inbox.wakeUps.signal()
    }

    /// What the thread does until it ends.
    private var body: @Sendable () -> Void {
        { [inbox, executor = asUnownedSerialExecutor()] in Self.run(inbox, executor) }
    }

    private static func run(_ inbox: Inbox, _ executor: UnownedSerialExecutor) {
        inbox.word.store(crealm_thread_word(), ordering: .relaxed)
        while true {
            inbox.wakeUps.wait()
            let (work, ends) = inbox.state.withLock { state in
                let work = state.work.popFirst()
                return (work, work == nil && state.isStopped)
            }
            switch work {
            case .block(let block): block()
            case .job(let job): job.runSynchronously(on: executor)
            case nil: if ends { return }
            }
        }
    }

    /// Runs a block on a new thread.
    ///
    /// - Throws: `limit` when the system starts no thread; the block does not run then.
    static func detach(name: String, _ block: @escaping @Sendable () -> Void) throws(StorageError) {
        final class Start: Sendable {
            let name: String
            let block: @Sendable () -> Void
            init(name: String, block: @escaping @Sendable () -> Void) {
                self.name = name
                self.block = block
            }
        }
        let start = Unmanaged.passRetained(Start(name: name, block: block))
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        let result = pthread_create(
            &thread,
            &attributes,
            { argument in
                guard let argument else { return nil }
                let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                crealm_set_thread_name(start.name)
                start.block()
                return nil
            },
            start.toOpaque()
        )
        pthread_attr_destroy(&attributes)
        guard result == 0 else {
            start.release()
            throw StorageError(
                .limit,
                "The system started no further thread for this process. Try again when others have ended, or raise the limit.",
                errorNumber: result
            )
        }
    }
}
