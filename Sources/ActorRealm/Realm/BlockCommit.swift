import Synchronization

/// Whether the call of a write throws the failure of what its block has begun to commit.
///
/// It does, but where its block throws another error and the write around it does not wait. That is known before any of the failures is
/// told, for that happens in the isolation in which the block runs, or behind its end.
final class ThrownLoss: Sendable {
    private let flag = Atomic<Bool>(true)

    var isThrown: Bool { flag.load(ordering: .acquiring) }

    func isNotThrown() { flag.store(false, ordering: .releasing) }
}

/// What the block of a write loses by ending its realm.
///
/// It is the block's, and not that of one core: a realm that was invalidated goes on with another one.
struct BlockEnd {
    /// Whether a transaction was rolled back with the realm, so that the write throws.
    var hasLostTransaction = false
    /// The turns of those that the block has begun itself: what it writes on goes nowhere, and no longer than the block.
    var lostTurns: [WriteScheduler.Ticket] = []
    /// What transactions were built on that have ended, and whose core has, too.
    private(set) var base: BaseFlush?

    mutating func note(_ base: BaseFlush?) { self.base = self.base?.followed(by: base) ?? base }
}

/// What the block of a write has returned or thrown, and has begun to commit.
struct BlockOutcome<Value> {
    /// Instead of the block's own, why something is lost that it saw in a transaction which it has cancelled, or why a commit could not begin.
    let result: Result<Value, any Error>
    /// The flush of all that it has begun to commit.
    let commit: BaseFlush?
    let thrownLoss: ThrownLoss?
    /// Whether a transaction was rolled back with the realm.
    var hasLostTransaction = false
}

extension CallbackWrites {
    /// Calls the block of a write, and finds out what it commits in the background.
    func collecting<Value>(_ block: () throws -> Value) -> BlockOutcome<Value> {
        let before = (isCollecting, thrownLoss, blockCommit, blockLoss)
        (isCollecting, thrownLoss, blockCommit, blockLoss) = (true, nil, nil, nil)
        defer { (isCollecting, thrownLoss, blockCommit, blockLoss) = before }
        var result = Result { try block() }
        if let blockLoss { result = .failure(blockLoss) }
        return BlockOutcome(result: result, commit: blockCommit, thrownLoss: thrownLoss)
    }

    /// Who tells the failure of a commit that begins now; nil for none but its own block and the log.
    func teller() -> ThrownLoss? {
        guard isCollecting else { return nil }
        let teller = thrownLoss ?? ThrownLoss()
        thrownLoss = teller
        return teller
    }

    /// Notes what the block of a write has begun to commit, behind what it has begun before.
    func collect(_ commit: BaseFlush) { blockCommit = blockCommit?.followed(by: commit) ?? commit }
}

extension RealmCore {
    /// Waits for what the block of a write saw that throws another error, unless the write around it does.
    ///
    /// - Throws: `Realm.Error` when that is lost.
    func settle<Value>(behind outcome: BlockOutcome<Value>) throws {
        // It saw what it has committed itself, too.
        noteBase(outcome.commit)
        if settlesLater, !throwsBase { outcome.thrownLoss?.isNotThrown() }
        try settle()
    }

    /// Calls the block of a write, and finds out what it commits in the background and what it loses with the realm.
    func collecting<Value>(_ block: () throws -> Value) -> BlockOutcome<Value> {
        let before = beginBlock()
        var outcome = callbackWrites.collecting(block)
        outcome.hasLostTransaction = endBlock(before)
        return outcome
    }

    /// Notes that the block of a write is called now; returns what is to be given to ``endBlock(_:)``.
    func beginBlock() -> BlockEnd? {
        defer { callbackWrites.blockEnd = BlockEnd() }
        return callbackWrites.blockEnd
    }

    /// Finds out whether a transaction was rolled back with the realm in the block of a write: the write throws then.
    ///
    /// Rolled back is also what the block has begun anew behind the core that it has invalidated, and left open: nobody else ends it.
    /// What all these were built on is waited for as what the block has cancelled itself.
    func endBlock(_ before: BlockEnd?) -> Bool {
        var end = callbackWrites.blockEnd ?? BlockEnd()
        callbackWrites.blockEnd = before
        for turn in end.lostTurns { existingRealm?.endLostTransaction(of: turn) }
        noteBase(end.base)
        let next = coreInUse
        if next !== self {
            if next.hasTransaction {
                next.cancelTransaction()
                end.hasLostTransaction = true
            }
            noteBase(next.takeBase())
        }
        return end.hasLostTransaction
    }

    /// Rolls back what the block of a write has left open, where something that it committed or saw before is lost: what throws has
    /// not written.
    func cancelBehindLoss(of commits: BaseFlush?...) {
        guard isInWriteTransaction, commits.contains(where: { $0?.isLost == true }) else { return }
        cancelTransaction()
    }
}
