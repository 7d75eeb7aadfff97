import CRealmShims
import Dispatch
import Glibc
import RealmStorage
import Synchronization

/// The thread that waits for the commits of other processes.
final class VersionWatcher: Sendable {
    private let file: StorageFile
    private let relay: VersionRelay
    private let isStopped = Atomic(false)
    /// Held by the thread while it runs.
    private let running = Mutex(())
    /// What tells the thread from others, once it runs.
    private let threadWord = Atomic<UInt>(0)

    init(file: StorageFile, relay: VersionRelay) {
        self.file = file
        self.relay = relay
    }

    /// - Throws: `limit` when the system starts no thread.
    func start() throws(StorageError) {
        let first = file.newestVersion
        try DedicatedThread.detach(name: "realm-watch") { [self] in
            threadWord.store(crealm_thread_word(), ordering: .relaxed)
            running.withLock { _ in watch(from: first) }
        }
    }

    private func watch(from first: UInt64) {
        if isStopped.load(ordering: .acquiring) { return }
        var version = first
        var pace = WatcherPace()
        file.beginWatching()
        defer { file.endWatching() }
        while !isStopped.load(ordering: .acquiring) {
            let newest = file.waitForVersion(after: version) { isStopped.load(ordering: .acquiring) }
            guard newest > version else { continue }
            version = newest
            relay.announce(newest)
            if let pause = pace.pause(afterVersionAt: DispatchTime.now().uptimeNanoseconds) {
                // Counted out, so that nobody wakes the thread meanwhile.
                file.endWatching()
                var time = timespec(tv_sec: 0, tv_nsec: Int(pause))
                nanosleep(&time, nil)
                file.beginWatching()
            }
        }
    }

    func stop() {
        isStopped.store(true, ordering: .releasing)
        file.interruptWaiters()
    }

    /// Stops; the thread does nothing with the file any more when this returns, unless it is the caller.
    func stopAndWait() {
        stop()
        if threadWord.load(ordering: .relaxed) == crealm_thread_word() { return }
        running.withLock { _ in }
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
