import Dispatch
import Glibc
import RealmStorage
import Synchronization

/// The thread that waits for the commits of other processes.
///
/// It has words of the lock file, and not the file: a close waits for no thread, and none that waits has the file open behind it. While it
/// tells of a version it has what it tells, as any thread that publishes.
final class VersionWatcher: Sendable {
    private enum State {
        /// Not counted among those that are woken: the thread has not begun, or pauses.
        case resting
        case watching
        case stopped
    }

    private let signal: VersionSignal
    private let relay: VersionRelay
    private let forkGeneration = ForkDetector.generation
    /// Held while the thread is counted in or out.
    private let state = Mutex(State.resting)

    init(signal: VersionSignal, relay: VersionRelay) {
        self.signal = signal
        self.relay = relay
    }

    /// - Throws: `limit` when the system starts no thread.
    func start() throws(StorageError) {
        let first = signal.newestVersion
        try SpareThreads.watching.run { self.watch(from: first) }
    }

    private func watch(from first: UInt64) {
        var version = first
        var pace = WatcherPace()
        while turn(.watching) {
            let newest = signal.waitForVersion(after: version) { isStopped }
            guard newest > version, !isStopped else { continue }
            version = newest
            relay.announce(newest)
            if let pause = pace.pause(afterVersionAt: DispatchTime.now().uptimeNanoseconds) {
                // Counted out, so that nobody wakes the thread meanwhile.
                guard turn(.resting) else { return }
                var time = timespec(tv_sec: 0, tv_nsec: Int(pause))
                nanosleep(&time, nil)
            }
        }
    }

    private var isStopped: Bool { state.withLock { $0 == .stopped } }

    /// Counts the thread in or out; false when it was stopped.
    private func turn(_ next: State) -> Bool {
        state.withLock { state in
            if state == .stopped { return false }
            if state != next { next == .watching ? signal.beginWatching() : signal.endWatching() }
            state = next
            return true
        }
    }

    /// Stops: the thread is counted out when this returns, and ends a moment later.
    ///
    /// Whoever calls this may be the thread itself, or hold what the thread waits for.
    func stop() {
        // The thread stays in the parent, which counts it out, and it may have been forked while that was going on.
        guard ForkDetector.generation == forkGeneration else { return }
        state.withLock { state in
            defer { state = .stopped }
            if state == .watching { signal.endWatching() }
        }
    }
}

/// How often the watcher lets others wake it: a process that commits without pause would else pay a system call for each
/// commit, and have the watchers of all other processes take its processor from it.
///
/// Versions that come alone, or as answers to one another, are announced at once.
struct WatcherPace {
    /// Versions that follow each other faster than this, in nanoseconds, come in a stream.
    static let streamInterval: UInt64 = 200_000
    /// The number of versions of a stream that are announced without a pause.
    static let streamHead = 3
    /// The pause after each further one: what a version of a stream is late by at most, in nanoseconds.
    static let pause: UInt64 = 250_000

    /// When the watcher was ready for the next version.
    private var ready: UInt64?
    private var streak = 0

    /// The pause to make after a version that was announced at a time, in nanoseconds; nil for none.
    mutating func pause(afterVersionAt now: UInt64) -> UInt64? {
        let isStream = ready.map { now &- $0 < Self.streamInterval } ?? false
        streak = isStream ? streak + 1 : 1
        let pause = streak > Self.streamHead ? Self.pause : nil
        ready = now &+ (pause ?? 0)
        return pause
    }
}
