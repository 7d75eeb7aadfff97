import ActorRealm
import Foundation
import Synchronization

/// A run loop as a program may have one: a thread of its own that works off what is given to it.
final class EventLoop: RealmScheduler {
    fileprivate struct State {
        var work: [@Sendable () -> Void] = []
        var isStopped = false
        var accepts = true
    }

    /// What a thread belongs to: handles that are the same share it.
    final class Core: Sendable {
        fileprivate let state = Mutex(State())
        fileprivate let wakeUps = DispatchSemaphore(value: 0)
        fileprivate let thread = Mutex<pthread_t?>(nil)
    }

    let core: Core

    /// Starts a loop.
    init() {
        let core = Core()
        self.core = core
        let thread = Thread {
            core.thread.withLock { $0 = pthread_self() }
            while true {
                core.wakeUps.wait()
                let (work, ends) = core.state.withLock { state in
                    defer { state.work = [] }
                    return (state.work, state.isStopped)
                }
                for work in work { work() }
                if ends { return }
            }
        }
        thread.start()
    }

    /// Another handle on the same loop.
    init(sharing other: EventLoop) { core = other.core }

    func invoke(_ work: @escaping @Sendable () -> Void) {
        core.state.withLock { $0.work.append(work) }
        core.wakeUps.signal()
    }

    var isOnThread: Bool { core.thread.withLock { $0 } == pthread_self() }

    var canInvoke: Bool { core.state.withLock { $0.accepts } }

    func isSame(as other: any RealmScheduler) -> Bool { (other as? EventLoop)?.core === core }

    /// Accepts no work from now on.
    func refuse() { core.state.withLock { $0.accepts = false } }

    /// Ends the thread after the work that is there.
    func stop() {
        core.state.withLock { $0.isStopped = true }
        core.wakeUps.signal()
    }

    /// Runs work on the loop and waits for its result.
    func run<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in invoke { continuation.resume(returning: work()) } }
    }
}
