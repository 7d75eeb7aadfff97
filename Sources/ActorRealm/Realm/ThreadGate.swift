import Dispatch
import Synchronization

/// Blocks one thread until another hands it a value.
final class ThreadGate<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let semaphore = DispatchSemaphore(value: 0)

    /// Hands over the value, once for each ``wait()``.
    func open(with value: Value) {
        self.value.withLock { $0 = value }
        semaphore.signal()
    }

    /// Blocks until the value is there, and takes it: the gate may be used again.
    func wait() -> Value {
        while true {
            semaphore.wait()
            if let value = take() { return value }
        }
    }

    /// Blocks until the value is there, and takes it; nil when the time is up, or somebody has called.
    ///
    /// Calls are counted, and may come all the time: only the clock says whether the time is up.
    func wait(until time: DispatchTime) -> Value? {
        _ = semaphore.wait(timeout: time)
        return take()
    }

    /// The value, where it is there.
    func takeWithoutWaiting() -> Value? { semaphore.wait(timeout: .now()) == .success ? take() : nil }

    /// Wakes a thread that waits with a limit, without a value.
    func call() { semaphore.signal() }

    private func take() -> Value? {
        value.withLock { value in
            defer { value = nil }
            return value
        }
    }
}
