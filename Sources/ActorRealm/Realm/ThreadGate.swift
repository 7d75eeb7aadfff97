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

    /// What a wait with a limit came to.
    enum WakeUp {
        case value(Value)
        case called
        case timeIsUp
    }

    /// Blocks until the value is there, and takes it, until ``call()``, or until the time is up.
    func wait(for interval: DispatchTimeInterval) -> WakeUp {
        let isInTime = semaphore.wait(timeout: .now() + interval) == .success
        return take().map { .value($0) } ?? (isInTime ? .called : .timeIsUp)
    }

    /// Wakes a thread that waits with a limit, without a value.
    func call() { semaphore.signal() }

    private func take() -> Value? {
        value.withLock { value in
            defer { value = nil }
            return value
        }
    }
}
