import Synchronization

@testable import RealmStorage

/// A clock that a test moves, and that calls on the test's thread.
final class HandClock: Sendable {
    private struct State {
        var now: UInt64 = 1_000
        var alarms: [(time: UInt64, body: @Sendable () -> Void)] = []
        var askCount = 0
        var isBroken = false
    }

    private let state = Mutex(State())

    /// The alarms that were not called yet.
    var alarmCount: Int { state.withLock { $0.alarms.count } }

    /// How many were asked for.
    var askCount: Int { state.withLock { $0.askCount } }

    /// Whether it calls nobody.
    var isBroken: Bool {
        get { state.withLock { $0.isBroken } }
        set { state.withLock { $0.isBroken = newValue } }
    }

    /// What a file is given.
    var clock: LogOptions.Clock {
        LogOptions.Clock(
            now: { [self] in state.withLock { $0.now } },
            wake: { [self] pause, body in
                state.withLock { state in
                    state.askCount += 1
                    if state.isBroken { return false }
                    state.alarms.append((state.now + pause, body))
                    return true
                }
            }
        )
    }

    /// Lets so many milliseconds pass, and calls whoever is to be called in that time, in order.
    func pass(_ milliseconds: Int) {
        let end = state.withLock { $0.now + UInt64(milliseconds) * 1_000_000 }
        while let body = nextBody(until: end) { body() }
    }

    private func nextBody(until end: UInt64) -> (@Sendable () -> Void)? {
        state.withLock { state in
            let times = state.alarms.map(\.time)
            guard let time = times.min(), time <= end, let index = times.firstIndex(of: time) else {
                state.now = max(state.now, end)
                return nil
            }
            state.now = max(state.now, time)
            return state.alarms.remove(at: index).body
        }
    }
}
