/// The asynchronous writes in callback form of one realm that are under way.
struct CallbackWrites {
    /// The number of the next write or commit.
    var nextID: AsyncTransactionId = 1
    /// The number of writes and commits that are not done.
    var count = 0
    /// Writes that wait for their turn, by number.
    var waiting: [AsyncTransactionId: WriteScheduler.Ticket] = [:]
    /// Completion blocks that were cancelled.
    var silenced: Set<AsyncTransactionId> = []
    /// The write whose block runs.
    var running: AsyncTransactionId?
    /// Whether a completion block runs.
    var isInCompletion = false
}

/// Names an asynchronous write or commit of callback form, to cancel it with.
public typealias AsyncTransactionId = UInt32
