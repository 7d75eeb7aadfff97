import Foundation
import RealmTestSupport
import Synchronization

/// Something that is done on a thread of its own, and is to come to a wait.
final class OtherThread: Sendable {
    private let thread = Mutex<WatchedThread?>(nil)
    private let result = Mutex<Result<Void, any Error>?>(nil)
    private let isDone = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () throws -> Void) {
        Thread.detachNewThread { [self] in
            let result = Result {
                let thread = try WatchedThread()
                self.thread.withLock { $0 = thread }
                try body()
            }
            self.result.withLock { $0 = result }
            isDone.signal()
        }
    }

    /// Waits until it waits for something, or is over.
    func waitUntilItWaits() {
        while result.withLock({ $0 == nil }), thread.withLock({ $0?.isAsleep != true }) { sched_yield() }
    }

    /// Waits for its end, and throws what it has thrown.
    func end() throws {
        isDone.wait()
        try result.withLock { $0 }?.get()
    }
}
