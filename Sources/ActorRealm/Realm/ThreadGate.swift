import Dispatch
import Synchronization

/// Blocks one thread until another hands it a value.
final class ThreadGate<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let semaphore = DispatchSemaphore(value: 0)

    /// Hands over the value, once.
    func open(with value: Value) {
        self.value.withLock { $0 = value }
        semaphore.signal()
    }

    /// Blocks until the value is there.
    func wait() -> Value {
        while true {
            semaphore.wait()
            if let value = value.withLock({ $0 }) { return value }
        }
    }

    /// Blocks until the value is there or the time is up.
    func wait(for interval: DispatchTimeInterval) -> Value? {
        _ = semaphore.wait(timeout: .now() + interval)
        return value.withLock { $0 }
    }
}
