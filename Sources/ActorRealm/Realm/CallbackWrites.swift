/// Names an asynchronous write or commit of callback form, to cancel it with.
public typealias AsyncTransactionId = UInt32

/// The asynchronous writes in callback form of one realm that are under way.
struct CallbackWrites {
    private var nextID: AsyncTransactionId = 1
    private var underWay: Set<AsyncTransactionId> = []
    private var cancelled: Set<AsyncTransactionId> = []
    /// Writes that wait for their turn, by number.
    var waiting: [AsyncTransactionId: WriteScheduler.Ticket] = [:]

    /// The number of writes and commits that are not done.
    var count: Int { underWay.count }

    /// Numbers a write or commit.
    mutating func begin() -> AsyncTransactionId {
        defer { nextID &+= 1 }
        underWay.insert(nextID)
        return nextID
    }

    /// Ends a write or commit.
    mutating func end(_ id: AsyncTransactionId) {
        underWay.remove(id)
        cancelled.remove(id)
        waiting[id] = nil
    }

    /// Notes that a block shall not be called; numbers that are done are ignored.
    mutating func cancel(_ id: AsyncTransactionId) {
        if underWay.contains(id) { cancelled.insert(id) }
    }

    /// Whether a block shall not be called.
    func isCancelled(_ id: AsyncTransactionId) -> Bool { cancelled.contains(id) }
}
