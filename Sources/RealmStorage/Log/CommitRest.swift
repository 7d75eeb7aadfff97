/// When something is to be done because no commit has followed the last one for a while: a state machine without a clock.
///
/// The first commit asks for an alarm. Those that follow only say when they came: the alarm finds them, and asks for another one. So one
/// alarm is on its way at most, and none where nothing was committed since it was due.
struct CommitRest {
    /// What an alarm means.
    enum Answer: Equatable {
        case nothing
        /// The last commit is so long ago.
        case due
        /// It is not: in so many nanoseconds there is to be another alarm.
        case wake(UInt64)
    }

    /// So many nanoseconds later an alarm may come, and still be the one that was asked for.
    static var slack: UInt64 { 1_000_000_000 }

    /// For so many nanoseconds nothing is done.
    let patience: UInt64
    /// When the last commit came, where something is to be done behind it.
    private var last: UInt64?
    /// When the alarm comes that counts: it is the one that was asked for last.
    private var alarm: UInt64?

    init(patience: UInt64) { self.patience = patience }

    /// Notes a commit.
    ///
    /// - Returns: In how many nanoseconds there is to be an alarm; nil where one is on its way.
    mutating func commit(at now: UInt64) -> UInt64? {
        last = now
        // One that should have been may never come: the system may have started no thread for it.
        if let alarm, now <= alarm &+ Self.slack { return nil }
        alarm = now &+ patience
        return patience
    }

    /// Looks at an alarm.
    mutating func look(at now: UInt64) -> Answer {
        // One that was late, or that nobody waits for any more.
        guard let alarm, now >= alarm else { return .nothing }
        self.alarm = nil
        guard let last else { return .nothing }
        let end = last &+ patience
        guard now < end else {
            self.last = nil
            return .due
        }
        self.alarm = end
        return .wake(end - now)
    }

    /// Notes that nothing is left to be done.
    mutating func forget() { last = nil }

    /// Notes that no alarm will come.
    mutating func disarm() { alarm = nil }
}
