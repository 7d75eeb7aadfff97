import Dispatch
import Glibc
import Logging
import RealmModel
import RealmStorage
import Synchronization

/// Makes the file smaller in the background, when commits have left space that is worth giving back.
///
/// It waits for a quiet moment, takes turns like any other writer, each for one small step, and rests in between.
final class SpaceKeeper: Sendable {
    private struct State {
        var writes: WeakReference<WriteScheduler>?
        var isWorking = false
        /// Before this moment (monotonic nanoseconds) nothing is looked at again.
        var restsUntil: UInt64 = 0
        var rest: UInt64 = SpaceKeeper.shortestRest
    }

    private static let shortestRest: UInt64 = 1_000_000_000
    private static let longestRest: UInt64 = 60_000_000_000
    /// How long it waits for a moment without writers before it takes a turn among them.
    private static let patience: UInt64 = 500_000_000

    private let file: StorageFile
    private let thread = DedicatedThread(name: "realm-space")
    private let state = Mutex(State())
    private let isStopped = Atomic(false)
    /// Held while a step has its turn.
    private let stepping = Mutex(())
    private let steppingThread = Atomic<UInt>(0)
    private let nextWarning = Atomic<UInt64>(0)

    init(file: StorageFile) {
        self.file = file
    }

    func attach(_ writes: WriteScheduler) {
        state.withLock { $0.writes = WeakReference(writes) }
    }

    /// Runs what takes turns among the writers, and may block; nothing where the system starts no thread for it.
    func perform(_ body: @escaping @Sendable () -> Void) {
        if thread.isThere() { thread.perform(body) }
    }

    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    /// Looks whether there is something to do, after a commit of this process.
    ///
    /// A few loads, seldom more.
    func commitWasPublished() {
        guard file.isSpaceWasted else { return }
        // The file must be able to close between two steps, so nothing holds the keeper over a sleep.
        guard begins(at: Self.now) else { return }
        // Where the system starts no thread, the shared pool would keep the writer waiting until it does: a later commit looks again.
        guard thread.isThere() else { return state.withLock { $0.isWorking = false } }
        thread.perform { [weak self] in Self.work { [weak self] in self } }
    }

    /// Whether the work may begin at a moment, and if so, that it has: it is not under way, and has rested.
    func begins(at now: UInt64) -> Bool {
        state.withLock { state in
            guard !state.isWorking, now >= state.restsUntil else { return false }
            state.isWorking = true
            return true
        }
    }

    /// Warns, at most once a minute, of a reader that stays at an old version and keeps its space.
    ///
    /// Two loads in general.
    func warnOfStalledReader(_ logger: @autoclosure () -> Logger) {
        guard file.isReaderFarBehind else { return }
        let now = Self.now
        guard now >= nextWarning.load(ordering: .relaxed), let oldest = file.activeVersions().first,
            oldest.seconds >= 60
        else { return }
        nextWarning.store(now + 60_000_000_000, ordering: .relaxed)
        logger()
            .warning(
                "An old version of the realm is still being read, and keeps its space: close or refresh what stands there.",
                metadata: [
                    "realm.path": "\(file.path)", "realm.version": "\(file.newestVersion)", "realm.oldest": "\(oldest)",
                ]
            )
    }

    /// Ends the work; returns when no step has its turn, and none that waits for it writes any more.
    func stop() {
        isStopped.store(true, ordering: .sequentiallyConsistent)
        // The last reference to the realm may end in a step.
        if steppingThread.load(ordering: .sequentiallyConsistent) == UInt(pthread_self()) { return }
        // Or on the thread that a step has its commit flushed by. The step ends behind this then; it holds what it uses.
        if state.withLock({ $0.writes?.object })?.ioThread.isHere == true { return }
        stepping.withLock { _ in }
    }

    /// Runs a step; who ends the work waits for it, unless that is this thread.
    func whileStepping<Result>(_ body: () -> Result) -> Result {
        stepping.withLock { _ in
            steppingThread.store(UInt(pthread_self()), ordering: .sequentiallyConsistent)
            defer { steppingThread.store(0, ordering: .sequentiallyConsistent) }
            return body()
        }
    }

    private static func work(for keeper: () -> SpaceKeeper?) {
        let maintenance = SpaceMaintenance()
        let first = now
        while true {
            usleep(20_000)
            guard let keeper = keeper(), !keeper.isStopped.load(ordering: .sequentiallyConsistent) else { return }
            if keeper.isBusy, now - first < patience { continue }
            break
        }
        while true {
            guard let isDone = keeper()?.step(maintenance) else { return }
            if isDone { break }
            usleep(1_000)
        }
        keeper()?.rest(afterProgress: maintenance.hasGained)
    }

    private var isBusy: Bool {
        guard let writes = state.withLock({ $0.writes?.object }) else { return false }
        return writes.waitingCount > 0 || writes.preparedCount > 0
    }

    /// Takes one turn; returns whether nothing is left to do, nil when the realm is closing.
    private func step(_ maintenance: SpaceMaintenance) -> Bool? {
        guard !isStopped.load(ordering: .sequentiallyConsistent), let writes = state.withLock({ $0.writes?.object })
        else {
            return nil
        }
        // Whoever stops the work must not wait for this: the turn may be that of an actor whose thread he has.
        guard let turn = try? writes.acquireWaiting() else { return true }
        return whileStepping { () -> Bool? in
            guard !isStopped.load(ordering: .sequentiallyConsistent) else {
                writes.finish(turn)
                return nil
            }
            writes.waitForFlushes()
            writes.transactionBegins()
            do {
                switch try maintenance.step(file) {
                case .commit(let commit):
                    if case .failure = writes.commitBlocking(commit, ending: turn) { return true }
                    return false
                case .more:
                    writes.finish(turn)
                    return false
                case .done:
                    writes.finish(turn)
                    return true
                }
            } catch {
                // What stands in the way of a step stands in the way of the next commit, which reports it.
                writes.finish(turn)
                return true
            }
        }
    }

    /// The work is over: it rests, the longer the less there was to do.
    func rest(afterProgress hadProgress: Bool) {
        state.withLock { state in
            state.isWorking = false
            state.rest = hadProgress ? Self.shortestRest : min(state.rest * 2, Self.longestRest)
            state.restsUntil = Self.now + state.rest
        }
    }
}

extension WriteScheduler {
    /// Waits for the turn as the least urgent of all, blocking the thread, and lets whoever must pass.
    func acquireWaiting() throws(StorageError) -> Ticket {
        var gate = ThreadGate<Outcome>()
        let announced = Mutex(gate)
        let granted: @Sendable (Ticket, Outcome) -> Void = { _, outcome in
            announced.withLock { $0 }.open(with: outcome)
        }
        let ticket = acquire(for: .none, priority: .background, granted)
        while true {
            switch gate.wait() {
            case .granted: break
            case .cancelled, .timedOut: misuse("Maintenance is never cancelled.")
            case .failed(let error): throw error
            }
            gate = ThreadGate<Outcome>()
            let next = gate
            announced.withLock { $0 = next }
            if begin(ticket, granted) { return ticket }
        }
    }
}
