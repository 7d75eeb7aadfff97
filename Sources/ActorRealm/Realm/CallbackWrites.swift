/// Names an asynchronous write or commit of callback form, to cancel it with.
public typealias AsyncTransactionId = UInt32

extension Realm {
    /// Names an asynchronous write or commit of callback form, to cancel it with.
    public typealias AsyncTransactionId = UInt32
}

/// The asynchronous writes of one realm that are under way.
///
/// With them is what else belongs to the realm and not to one of its cores.
///
/// Used in the realm's isolation, where a realm that is invalidated goes on with the same; and by whoever counts the writes of an actor
/// out that is gone, while that may be about its isolated `deinit` yet.
final class CallbackWrites {
    /// Guards what counting out touches.
    private let lock = HandleLock()
    private var nextID: AsyncTransactionId = 1
    private var underWay: Set<AsyncTransactionId> = []
    private var cancelled: Set<AsyncTransactionId> = []
    /// Writes of tasks, from their call to their end.
    private var suspended = 0
    private var closes: (() -> Void)?
    /// Writes that wait for their turn.
    private var waiting: [AsyncTransactionId: WriteScheduler.Ticket] = [:]
    private var following: [AsyncTransactionId: Follower] = [:]

    /// Is given whether somebody was told of the failure.
    typealias End = (_ failure: (any Error)?, _ isHeard: Bool) -> Void

    private struct Follower {
        /// The write that it ends later; nil for one that has ended.
        let write: AsyncTransactionId?
        let end: End
    }

    /// The transactions that ended with the realm and that the program has not ended: what it writes goes nowhere until it does, since
    /// another job may have called `invalidate()`.
    ///
    /// They are the realm's, and not those of one core: what is left of the cores before knows that the program has ended one.
    var lostTransactions: [LostTransaction] = []
    /// The commit that was begun last.
    var lastCommit: AsyncTransactionId?
    /// The block of a write that is being called, of any form: the innermost one.
    var block = CalledBlock()

    /// The number of writes and commits that are not done.
    var count: Int { lock.withLock { underWay.count + suspended } }

    /// Numbers a write or commit.
    func begin() -> AsyncTransactionId {
        lock.withLock {
            defer { nextID &+= 1 }
            underWay.insert(nextID)
            return nextID
        }
    }

    /// Ends a write or commit.
    func end(_ id: AsyncTransactionId) {
        let follower = lock.withLock {
            underWay.remove(id)
            cancelled.remove(id)
            waiting[id] = nil
            // One that was not called is of an isolation that is gone: so is what it would have ended.
            let follower = following.removeValue(forKey: id)
            if let write = follower?.write {
                underWay.remove(write)
                cancelled.remove(write)
            }
            return follower
        }
        // What the program has put into it ends outside the lock.
        withExtendedLifetime(follower) {}
        closeIfDone()
    }

    /// Counts the write of a task in.
    func beginSuspended() { lock.withLock { suspended += 1 } }

    /// Counts the write of a task out.
    func endSuspended() {
        let mayClose = lock.withLock {
            suspended -= 1
            return closes != nil
        }
        if mayClose { closeIfDone() }
    }

    /// Notes for which turn a write waits; nil for none any more.
    func waits(_ id: AsyncTransactionId, for ticket: WriteScheduler.Ticket?) {
        lock.withLock { waiting[id] = ticket }
    }

    /// The turn that a write waits for.
    func turn(of id: AsyncTransactionId) -> WriteScheduler.Ticket? { lock.withLock { waiting[id] } }

    /// Has a function called behind the completion block of a commit, also when that was cancelled: the end of the write whose block began
    /// the commit, and which is named where it has not ended yet.
    func follow(
        _ id: AsyncTransactionId,
        ending write: AsyncTransactionId? = nil,
        _ end: @escaping End
    ) {
        lock.withLock { following[id] = Follower(write: write, end: end) }
    }

    /// Takes what is to be called behind the completion block of a commit.
    func end(behind id: AsyncTransactionId) -> End? {
        lock.withLock { following.removeValue(forKey: id)?.end }
    }

    /// Notes that a block shall not be called; numbers that are done are ignored.
    func cancel(_ id: AsyncTransactionId) {
        lock.withLock { if underWay.contains(id) { cancelled.insert(id) } }
    }

    /// Whether a block shall not be called.
    func isCancelled(_ id: AsyncTransactionId) -> Bool { lock.withLock { cancelled.contains(id) } }

    /// Closes the realm when everything is done.
    ///
    /// - Returns: false when it is: then nothing is called.
    func whenDone(_ close: @escaping () -> Void) -> Bool {
        lock.withLock {
            if underWay.isEmpty, suspended == 0 { return false }
            closes = close
            return true
        }
    }

    /// The realm was opened again: it is not closed when everything is done.
    ///
    /// - Returns: whether it was to be.
    func keepOpen() -> Bool {
        takeClosing { true } != nil
    }

    private func closeIfDone() {
        takeClosing { underWay.isEmpty && suspended == 0 }?()
    }

    private func takeClosing(where isWanted: () -> Bool) -> (() -> Void)? {
        lock.withLock { () -> (() -> Void)? in
            guard isWanted() else { return nil }
            defer { closes = nil }
            return closes
        }
    }
}
