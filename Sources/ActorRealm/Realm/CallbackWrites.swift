/// Names an asynchronous write or commit of callback form, to cancel it with.
public typealias AsyncTransactionId = UInt32

extension Realm {
    /// Names an asynchronous write or commit of callback form, to cancel it with.
    public typealias AsyncTransactionId = UInt32
}

/// The asynchronous writes of one realm that are under way.
///
/// Used only in the realm's isolation. A realm that is invalidated goes on with the same.
final class CallbackWrites {
    private var nextID: AsyncTransactionId = 1
    private var underWay: Set<AsyncTransactionId> = []
    private var cancelled: Set<AsyncTransactionId> = []
    /// Writes of tasks, from their call to their end.
    private var suspended = 0
    private var closes: (() -> Void)?
    /// Writes that wait for their turn, by number.
    var waiting: [AsyncTransactionId: WriteScheduler.Ticket] = [:]

    /// The commit that was begun last.
    var lastCommit: AsyncTransactionId?
    /// Whether the block of a write is being called that waits for what that commits in the background.
    var isCollecting = false
    /// What it has begun to commit last.
    var blockCommit: BlockCommit?
    /// What is called behind the completion block of a commit, also when that was cancelled: the end of the write whose block
    /// began the commit.
    var following: [AsyncTransactionId: (_ failure: (any Error)?) -> Void] = [:]

    /// The number of writes and commits that are not done.
    var count: Int { underWay.count + suspended }

    /// Numbers a write or commit.
    func begin() -> AsyncTransactionId {
        defer { nextID &+= 1 }
        underWay.insert(nextID)
        return nextID
    }

    /// Ends a write or commit.
    func end(_ id: AsyncTransactionId) {
        underWay.remove(id)
        cancelled.remove(id)
        waiting[id] = nil
        following[id] = nil
        closeIfDone()
    }

    /// Counts the write of a task in.
    func beginSuspended() { suspended += 1 }

    /// Counts the write of a task out.
    func endSuspended() {
        suspended -= 1
        closeIfDone()
    }

    /// Notes that a block shall not be called; numbers that are done are ignored.
    func cancel(_ id: AsyncTransactionId) {
        if underWay.contains(id) { cancelled.insert(id) }
    }

    /// Whether a block shall not be called.
    func isCancelled(_ id: AsyncTransactionId) -> Bool { cancelled.contains(id) }

    /// Closes the realm when everything is done.
    func whenDone(_ close: @escaping () -> Void) { closes = close }

    /// The realm was opened again: it is not closed when everything is done.
    ///
    /// - Returns: whether it was to be.
    func keepOpen() -> Bool {
        defer { closes = nil }
        return closes != nil
    }

    private func closeIfDone() {
        guard count == 0, let closes else { return }
        self.closes = nil
        closes()
    }
}
