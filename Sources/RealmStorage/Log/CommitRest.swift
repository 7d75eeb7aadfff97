/// When something is to be done because no commit has followed the last one for a while: a state machine without a clock.
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

    /// Notes a commit.
    mutating func commit(at now: UInt64) -> UInt64? { nil }

    /// Looks at an alarm.
    mutating func look(at now: UInt64) -> Answer { .nothing }

    /// Notes that nothing is left to be done.
    mutating func forget() {}

    /// Notes that no alarm will come.
    mutating func disarm() {}
}
