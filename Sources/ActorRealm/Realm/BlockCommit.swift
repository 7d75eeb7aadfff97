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

/// What the block of a write has returned or thrown, and has begun to commit.
struct BlockOutcome<Value> {
    /// Instead of the block's own, why something is lost that it saw in a transaction which it has cancelled, or why a commit could not begin.
    let result: Result<Value, any Error>
    /// The flush of all that it has begun to commit.
    let commit: BaseFlush?
    let thrownLoss: ThrownLoss?
}

extension CallbackWrites {
    /// Calls the block of a write, and finds out what it commits in the background.
    func collecting<Value>(_ block: () throws -> Value) -> BlockOutcome<Value> {
        let before = (isCollecting, thrownLoss, blockCommit, blockLoss)
        (isCollecting, thrownLoss, blockCommit, blockLoss) = (true, nil, nil, nil)
        defer { (isCollecting, thrownLoss, blockCommit, blockLoss) = before }
        let outcome = Result { try block() }
        return BlockOutcome(
            result: blockLoss.map { Result.failure($0) } ?? outcome,
            commit: blockCommit,
            thrownLoss: thrownLoss
        )
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

    /// Rolls back what the block of a write has begun anew behind the core that it has invalidated: that write throws, and nobody else
    /// ends it.
    ///
    /// What that was built on is waited for as what the block has cancelled itself.
    func cancelBegunAnew(behind turn: WriteScheduler.Ticket) {
        let next = coreInUse
        guard next !== self else { return }
        if next.hasTransaction {
            next.cancelTransaction()
            lostTurn = turn
        }
        noteBase(next.takeBase())
    }

    /// Rolls back what the block of a write has left open, where something that it committed or saw before is lost: what throws has
    /// not written.
    func cancelBehindLoss(of commits: BaseFlush?...) {
        guard isInWriteTransaction, commits.contains(where: { $0?.isLost == true }) else { return }
        cancelTransaction()
    }
}
