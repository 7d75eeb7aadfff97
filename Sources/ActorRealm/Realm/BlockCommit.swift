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

/// The block of a write that is being called: what it has begun to commit so far, and what it has lost.
///
/// It is one value, which a block inside it sets aside, and puts back when it ends.
struct CalledBlock {
    /// Whether the write waits for what the block commits in the background.
    var isCollecting = false
    /// Whether that write throws the failure of such a commit; nil while there is none.
    var thrownLoss: ThrownLoss?
    /// What it has begun to commit.
    var commit: BaseFlush?
    /// Why something that it saw is not there, as far as it has waited for that itself.
    var loss: (any Error)?
    /// What it has lost with its realm; nil where no block is being called.
    var end: BlockEnd?
}

extension CallbackWrites {
    /// Who tells the failure of a commit that begins now; nil for none but its own block and the log.
    func teller() -> ThrownLoss? {
        guard block.isCollecting else { return nil }
        let teller = block.thrownLoss ?? ThrownLoss()
        block.thrownLoss = teller
        return teller
    }

    /// Notes what the block of a write has begun to commit, behind what it has begun before.
    func collect(_ commit: BaseFlush) { block.commit = block.commit?.followed(by: commit) ?? commit }
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
    func beginCollecting() -> CalledBlock {
        defer { callbackWrites.block = CalledBlock(isCollecting: true, end: BlockEnd()) }
        return callbackWrites.block
    }

    /// Finds out what the block of a write has begun to commit, and what it has lost with the realm.
    func endCollecting(_ around: CalledBlock) -> BlockOutcome {
        let block = callbackWrites.block
        callbackWrites.block = around
        return BlockOutcome(
            loss: block.loss,
            commit: block.commit,
            thrownLoss: block.thrownLoss,
            hasLostTransaction: endLosses(of: block.end)
        )
    }

    /// Notes that the block of a write is called now; returns what is to be given to ``endBlock(_:)``.
    func beginBlock() -> BlockEnd? {
        defer { callbackWrites.block.end = BlockEnd() }
        return callbackWrites.block.end
    }

    /// Finds out whether a transaction was rolled back with the realm in the block of a write: the write throws then.
    func endBlock(_ before: BlockEnd?) -> Bool {
        let ended = callbackWrites.block.end
        callbackWrites.block.end = before
        return endLosses(of: ended)
    }

    /// Ends what a block has lost that is over; returns whether a transaction was rolled back with the realm.
    ///
    /// Rolled back is also what the block has begun anew behind the core that it has invalidated, and left open: nobody else ends it.
    /// What all these were built on is waited for as what the block has cancelled itself.
    private func endLosses(of ended: BlockEnd?) -> Bool {
        var end = ended ?? BlockEnd()
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
