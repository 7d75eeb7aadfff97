import Synchronization

/// Wakes one observer: it stays raised until somebody waits, so that nothing is missed between looking and waiting.
final class ChangeSignal: Sendable {
    fileprivate struct State {
        var isRaised = false
        var isEnded = false
        var waiter: CheckedContinuation<Void, Never>?
        /// The version up to which the observer knows everything.
        var told: UInt64 = 0
        /// Who waits until the observer knows a version.
        var followers: [Follower] = []
    }

    fileprivate struct Follower {
        let version: UInt64
        let number: UInt64
        let continuation: CheckedContinuation<Void, Never>
    }

    private let state = Mutex(State())
    private let lastFollower = Atomic<UInt64>(0)

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
        let (isFirst, waiter, followers) = state.withLock { state in
            let isFirst = !state.isEnded
            state.isEnded = true
            return (isFirst, state.takeWaiter(), state.takeFollowers { _ in true })
        }
        waiter?.resume()
        for follower in followers { follower.continuation.resume() }
        return isFirst
    }

    /// The observer knows everything up to a version.
    func noteTold(of version: UInt64) {
        let followers = state.withLock { state in
            state.told = version
            return state.takeFollowers { $0.version <= version }
        }
        for follower in followers { follower.continuation.resume() }
    }

    /// Whether the observer may still have something to hear of up to a version.
    func isBehind(_ version: UInt64) -> Bool { state.withLock { !$0.isEnded && $0.told < version } }

    /// Waits until the observer knows a version, ended, or the waiting task is cancelled.
    func waitUntilTold(of version: UInt64, isolation: isolated (any Actor)? = #isolation) async {
        let number = lastFollower.wrappingAdd(1, ordering: .relaxed).newValue
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    if state.isEnded || state.told >= version || Task.isCancelled { return true }
                    state.followers.append(Follower(version: version, number: number, continuation: continuation))
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            let followers = state.withLock { $0.takeFollowers { $0.number == number } }
            for follower in followers { follower.continuation.resume() }
        }
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
    fileprivate mutating func takeFollowers(
        where isTaken: (ChangeSignal.Follower) -> Bool
    ) -> [ChangeSignal.Follower] {
        if followers.isEmpty { return [] }
        let taken = followers.filter(isTaken)
        if !taken.isEmpty { followers.removeAll(where: isTaken) }
        return taken
    }

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
    /// Those of observers that deliver by themselves, and do not wait to be asked.
    private let deliverers = Mutex<[ObjectIdentifier: ChangeSignal]>([:])

    func add(_ signal: ChangeSignal, delivers: Bool = false) {
        signals.withLock { $0[ObjectIdentifier(signal)] = signal }
        if delivers { deliverers.withLock { $0[ObjectIdentifier(signal)] = signal } }
    }

    /// The observers that deliver by themselves and may still have something to tell up to a version.
    func deliverers(before version: UInt64) -> [ChangeSignal] {
        deliverers.withLock { $0.isEmpty ? [] : Array($0.values) }.filter { $0.isBehind(version) }
    }

    func remove(_ signal: ChangeSignal) {
        signals.withLock { $0[ObjectIdentifier(signal)] = nil }
        deliverers.withLock { $0[ObjectIdentifier(signal)] = nil }
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
