import Foundation
import RealmStorage
import Synchronization

/// The threads of a pool that block in writes.
///
/// A suspended writer needs one of them to go on. When all of them block, none is left, and only those that wait for their turns
/// can let each other go on: they are told at once.
final class BlockedPool: Sendable {
    /// That of Swift's tasks in this process: a forked child has none of its parent's threads.
    static var swift: BlockedPool { processes.value }

    private static let processes = PerProcess {
        BlockedPool(threadCount: ProcessInfo.processInfo.activeProcessorCount)
    }

    /// A thread that waits for its turn, and may have to press for it.
    private struct Waiter {
        let id: UInt64
        /// The file whose turn it waits for.
        let file: ObjectIdentifier
        let look: @Sendable () -> Void
    }

    private struct State {
        var waiters: [Waiter] = []
        var lastID: UInt64 = 0
    }

    let threadCount: Int
    private let state = Mutex(State())
    /// Those that block, on all files.
    private let blocked = Atomic(0)
    /// Those of them that wait for a writer which needs one of them to go on.
    let stuck = Atomic(0)

    init(threadCount: Int) {
        self.threadCount = threadCount
    }

    /// Whether no thread is left.
    var isExhausted: Bool { blocked.load(ordering: .sequentiallyConsistent) >= threadCount }

    /// Notes that a thread blocks until something happens that needs no thread of the pool.
    func enter() {
        if blocked.add(1, ordering: .sequentiallyConsistent).newValue >= threadCount { tellWaiters(exceptOf: nil) }
    }

    /// Notes that it goes on.
    func leave() { blocked.subtract(1, ordering: .sequentiallyConsistent) }

    /// Notes that a thread blocks until its turn comes; `look` is called when the pool becomes exhausted by another one's doing.
    ///
    /// The caller looks itself when it has entered.
    func enter(waitingFor file: ObjectIdentifier, _ look: @escaping @Sendable () -> Void) -> UInt64 {
        let id = state.withLock { state in
            state.lastID += 1
            state.waiters.append(Waiter(id: state.lastID, file: file, look: look))
            return state.lastID
        }
        if blocked.add(1, ordering: .sequentiallyConsistent).newValue >= threadCount { tellWaiters(exceptOf: file) }
        return id
    }

    /// Notes that a thread that waited for its turn goes on.
    func leave(_ id: UInt64) {
        leave()
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
        }
        withExtendedLifetime(waiter) {}
    }

    /// Has the first waiter of each other file look.
    private func tellWaiters(exceptOf file: ObjectIdentifier?) {
        let first = state.withLock { state in
            var told: Set<ObjectIdentifier> = []
            if let file { told.insert(file) }
            return state.waiters.filter { told.insert($0.file).inserted }
        }
        for waiter in first { waiter.look() }
    }
}
