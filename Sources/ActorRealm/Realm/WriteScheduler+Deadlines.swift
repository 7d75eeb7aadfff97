import RealmStorage
import Synchronization

/// Ending the waits of writers that block no thread, when their time has passed.
extension WriteScheduler {
    /// Ends the wait of a writer at its deadline, unless it has ended before.
    func watch(_ deadline: ContinuousClock.Instant, of ticket: Ticket) {
        if let alarm = state.withLock({ $0.deadlines.add(deadline, of: ticket) }) { lookAtDeadlines(at: alarm) }
    }

    private func lookAtDeadlines(at alarm: ContinuousClock.Instant) {
        // The alarm holds neither the scheduler nor its file.
        let scheduler = WeakReference(self)
        let look: @Sendable () -> Void = { scheduler.object?.lookAtDeadlines(calledFor: alarm) }
        if clock.wakeForDeadline(Self.nanoseconds(until: alarm), look) { return }
        // Where the system starts no thread.
        Task.detached {
            try? await Task.sleep(until: alarm, clock: .continuous)
            look()
        }
    }

    private func lookAtDeadlines(calledFor alarm: ContinuousClock.Instant) {
        let (due, next) = state.withLock { $0.deadlines.look(at: .now, calledFor: alarm) }
        // Before a program is told, which may take its time.
        if let next { lookAtDeadlines(at: next) }
        for ticket in due { expire(ticket) }
    }

    /// The time until then, rounded up.
    private static func nanoseconds(until time: ContinuousClock.Instant) -> UInt64 {
        let pause = max(time - .now, .zero).components
        return UInt64(pause.seconds) * 1_000_000_000 + UInt64(pause.attoseconds / 1_000_000_000) + 1
    }
}
