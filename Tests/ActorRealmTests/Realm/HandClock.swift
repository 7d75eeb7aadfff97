import Synchronization

@testable import ActorRealm

/// A clock that a test moves.
final class HandClock: Sendable {
    private struct State {
        var now: UInt64 = 1_000_000_000_000
        var alarms: [(time: UInt64, body: @Sendable () -> Void)] = []
    }

    private let state = Mutex(State())

    /// The clock as writers see it.
    var clock: WriteScheduler.Clock {
        let wake: @Sendable (UInt64, @escaping @Sendable () -> Void) -> Bool = { pause, body in
            self.state.withLock { $0.alarms.append(($0.now + pause, body)) }
            return true
        }
        return WriteScheduler.Clock(
            now: { self.state.withLock { $0.now } },
            // Pauses are short, and take no time but that.
            pause: { pause in self.state.withLock { $0.now += pause } },
            wake: wake,
            wakeSoon: wake
        )
    }

    /// How many alarms wait for their time.
    var alarmCount: Int { state.withLock { $0.alarms.count } }

    /// Moves on, and calls what was to be called until then.
    func advance(seconds: Double) {
        let end = state.withLock { $0.now } + UInt64(seconds * 1e9)
        while let body = next(until: end) { body() }
        state.withLock { $0.now = end }
    }

    private func next(until end: UInt64) -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard let index = state.alarms.indices.min(by: { state.alarms[$0].time < state.alarms[$1].time }),
                state.alarms[index].time <= end
            else { return nil }
            let alarm = state.alarms.remove(at: index)
            state.now = max(state.now, alarm.time)
            return alarm.body
        }
    }
}
