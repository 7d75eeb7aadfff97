import Atomics
import CRealmShims
import Synchronization

/// The words of a lock file by which processes tell each other of new versions.
///
/// Whoever waits for one has the lock file mapped by this, and not the file open: it can be closed meanwhile.
package final class VersionSignal: Sendable {
    private typealias Word = LockFileLayout.Word

    private let memory: LockFileMemory
    /// The threads of this process among those that watch.
    private let ownWatchers = Atomic<UInt32>(0)

    init(_ memory: LockFileMemory) { self.memory = memory }

    /// The newest durable version, of any process.
    package var newestVersion: UInt64 {
        memory.word64(Word.newestVersion).load(ordering: .sequentiallyConsistent)
    }

    /// Announces a durable version and wakes the other processes that wait for one.
    func publish(_ version: UInt64) {
        memory.word64(Word.newestVersion).store(version, ordering: .sequentiallyConsistent)
        memory.word32(Word.wake).wrappingIncrement(ordering: .sequentiallyConsistent)
        let own = ownWatchers.load(ordering: .sequentiallyConsistent)
        if memory.word32(Word.watcherCount).load(ordering: .sequentiallyConsistent) > own { wakeAll() }
    }

    /// Counts a thread in that will wait again and again.
    ///
    /// A process that dies before it is counted out leaves the count too high, which costs the others a system call and no more.
    package func beginWatching() {
        memory.word32(Word.watcherCount).wrappingIncrement(ordering: .sequentiallyConsistent)
        ownWatchers.wrappingAdd(1, ordering: .sequentiallyConsistent)
    }

    /// Counts it out, and ends its waiting.
    ///
    /// Before the process's place in the lock file is given back: for whoever opens the file then the count begins at 0.
    package func endWatching() {
        ownWatchers.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        memory.word32(Word.watcherCount).wrappingDecrement(ordering: .sequentiallyConsistent)
        memory.word32(Word.wake).wrappingIncrement(ordering: .sequentiallyConsistent)
        // All: a publisher may have taken this thread for the only one that is left.
        wakeAll()
    }

    /// Blocks the calling (dedicated) thread, which is counted, until a version newer than `version` is published by another process, or
    /// somebody is counted out; returns the newest version.
    ///
    /// - Parameters:
    ///   - version: The version that the caller has seen.
    ///   - isEnded: Whether not to wait at all. What is so before ``endWatching()`` is seen here or ends the wait.
    /// - Returns: The newest durable version.
    package func waitForVersion(after version: UInt64, unless isEnded: () -> Bool) -> UInt64 {
        let word = memory.word32(Word.wake).load(ordering: .sequentiallyConsistent)
        if newestVersion <= version, !isEnded() { _ = crealm_futex_wait(memory.address(Word.wake), word, -1) }
        return newestVersion
    }

    private func wakeAll() { _ = crealm_futex_wake_all(memory.address(Word.wake)) }
}
