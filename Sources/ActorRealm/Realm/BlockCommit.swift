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

/// What the block of a write has begun to commit, and what it has lost.
struct BlockOutcome {
    /// Why something is lost that the block saw in a transaction which it has cancelled, or why a commit could not begin: thrown instead of
    /// what the block throws or returns.
    let loss: (any Error)?
    /// The flush of all that it has begun to commit.
    let commit: BaseFlush?
    let thrownLoss: ThrownLoss?
    /// Whether a transaction was rolled back with the realm.
    let hasLostTransaction: Bool
}

extension CallbackWrites {
    /// What the block around the one that is called has begun to commit so far.
    struct Surroundings {
        fileprivate let isCollecting: Bool
        fileprivate let thrownLoss: ThrownLoss?
        fileprivate let commit: BaseFlush?
        fileprivate let loss: (any Error)?
        fileprivate let end: BlockEnd?
    }

    /// Sets what the block around has begun aside.
    fileprivate func setAside(_ end: BlockEnd?) -> Surroundings {
        defer { (isCollecting, thrownLoss, blockCommit, blockLoss) = (true, nil, nil, nil) }
        return Surroundings(
            isCollecting: isCollecting,
            thrownLoss: thrownLoss,
            commit: blockCommit,
            loss: blockLoss,
            end: end
        )
    }

    /// Goes on with what the block around has begun.
    fileprivate func restore(_ around: Surroundings) {
        isCollecting = around.isCollecting
        thrownLoss = around.thrownLoss
        blockCommit = around.commit
        blockLoss = around.loss
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
    func settle(behind outcome: BlockOutcome) throws {
        // It saw what it has committed itself, too.
        noteBase(outcome.commit)
        if blockRules.settlesLater, !blockRules.throwsBase { outcome.thrownLoss?.isNotThrown() }
        try settle()
    }

    /// Notes that the block of a write is called now whose commits are collected; returns what is to be given to ``endCollecting(_:)``,
    /// however the block ends.
    ///
    /// Nothing here knows the type of what the block returns: a value of a type that depends on it costs a look-up of metadata.
    func beginCollecting() -> CallbackWrites.Surroundings { callbackWrites.setAside(beginBlock()) }

    /// Finds out what the block of a write has begun to commit, and what it has lost with the realm.
    func endCollecting(_ around: CallbackWrites.Surroundings) -> BlockOutcome {
        let writes = callbackWrites
        let (loss, commit, thrownLoss) = (writes.blockLoss, writes.blockCommit, writes.thrownLoss)
        writes.restore(around)
        return BlockOutcome(
            loss: loss,
            commit: commit,
            thrownLoss: thrownLoss,
            hasLostTransaction: endBlock(around.end)
        )
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
        for turn in end.lostTurns { endLostTransaction(of: turn) }
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
