/// When it is said that writers of a file have waited long: a state machine without a clock.
///
/// A writer that has waited for ``patience`` is spoken of, and everybody who waits then again after every ``interval``. Those who
/// come later have their own patience, so that a file is spoken of once in that time at most. Nothing is asked for while nobody
/// waits: the owner looks when the last answer said, with the times since which writers wait.
struct WaitWatch {
    /// For so many nanoseconds nothing is said.
    static var patience: UInt64 { 10_000_000_000 }
    /// So many nanoseconds later it is said again.
    static var interval: UInt64 { 60_000_000_000 }

    /// So many nanoseconds later a look may come, and still be the one that was asked for.
    static var slack: UInt64 { 1_000_000_000 }

    /// What is to be done after a look.
    struct Answer: Equatable {
        /// Whether to say who waits for whom.
        var isDue = false
        /// In how many nanoseconds to look again; nil when somebody looks anyway, or nobody waits.
        var pause: UInt64?
    }

    /// When somebody looks.
    private var alarm: UInt64?
    /// When it was said last; nil when nobody has waited since.
    private var spoken: UInt64?

    /// A writer begins to wait.
    ///
    /// - Returns: in how many nanoseconds to look; nil when somebody looks by then anyway.
    mutating func waitBegan(at now: UInt64) -> UInt64? {
        // A look that should have been is late, or was never started. Asked for again, whichever comes first is the one that counts.
        if let alarm, alarm &+ Self.slack < now {
            self.alarm = now
            return 0
        }
        return arm(for: now &+ Self.patience, at: now)
    }

    /// Looks at the writers that wait, each given by the time when it came.
    mutating func look(at now: UInt64, waits: [UInt64]) -> Answer {
        // One that was asked for before an earlier one was.
        guard let alarm, now >= alarm else { return Answer() }
        self.alarm = nil
        if waits.isEmpty {
            spoken = nil
            return Answer()
        }
        let due = waits.map { self.due(since: $0) }.min() ?? now
        guard due <= now else { return Answer(pause: arm(for: due, at: now)) }
        spoken = now
        return Answer(isDue: true, pause: arm(for: now &+ Self.interval, at: now))
    }

    private func due(since: UInt64) -> UInt64 {
        guard let spoken, since <= spoken else { return since &+ Self.patience }
        return spoken &+ Self.interval
    }

    private mutating func arm(for time: UInt64, at now: UInt64) -> UInt64? {
        if let alarm, alarm <= time { return nil }
        alarm = time
        return time &- now
    }
}
