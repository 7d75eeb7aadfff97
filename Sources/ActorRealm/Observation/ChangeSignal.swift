import Synchronization

/// Wakes one observer: it stays raised until somebody waits, so that nothing is missed between looking and waiting.
final class ChangeSignal: Sendable {
    fileprivate struct State {
        var isRaised = false
        var isEnded = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Something may have changed.
    func raise() {
        state.withLock { state in
            state.isRaised = true
            return state.takeWaiter()
        }?
        .resume()
    }

    /// Nobody will observe any more.
    ///
    /// - Returns: true for the first call.
    @discardableResult
    func end() -> Bool {
        let (isFirst, waiter) = state.withLock { state in
            let isFirst = !state.isEnded
            state.isEnded = true
            return (isFirst, state.takeWaiter())
        }
        waiter?.resume()
        return isFirst
    }

    /// Whether the observer has been told to stop.
    var isEnded: Bool { state.withLock { $0.isEnded } }

    /// Waits until the signal is raised, the observer ended or its task cancelled.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    if state.isRaised || state.isEnded || Task.isCancelled {
                        state.isRaised = false
                        return true
                    }
                    state.waiter = continuation
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            raise()
        }
    }
}

extension ChangeSignal.State {
    fileprivate mutating func takeWaiter() -> CheckedContinuation<Void, Never>? {
        guard let waiter else { return nil }
        self.waiter = nil
        isRaised = false
        return waiter
    }
}

/// The signals of the observers that follow one realm; they are raised when it moved, ended, or left a transaction.
final class ChangeSignals: Sendable {
    private let signals = Mutex<[ObjectIdentifier: ChangeSignal]>([:])

    func add(_ signal: ChangeSignal) {
        signals.withLock { $0[ObjectIdentifier(signal)] = signal }
    }

    func remove(_ signal: ChangeSignal) {
        signals.withLock { $0[ObjectIdentifier(signal)] = nil }
    }

    func raise() {
        let all = signals.withLock { $0.isEmpty ? [] : Array($0.values) }
        for signal in all { signal.raise() }
    }

    /// Ends the observers: the realm was closed.
    func end() {
        let all = signals.withLock { $0.isEmpty ? [] : Array($0.values) }
        for signal in all { signal.end() }
    }
}
