/// Whose the open write transaction is.
struct TransactionOwner {
    /// Whether it is the program's to end, and not a block's.
    var isOpenEnded = false
    /// The task that opened it; 0 outside tasks.
    var task: UInt64 = 0
    /// The task that alone sees it, while it is set aside when other jobs of the isolation run; 0 when it cannot outlive the job that
    /// opened it.
    var exclusiveTask: UInt64 = 0
}
