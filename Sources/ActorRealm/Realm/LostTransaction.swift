import CRealmShims

/// A transaction that ended with its realm while the program had not ended it.
struct LostTransaction {
    let turn: WriteScheduler.Ticket
    /// The task that began it; 0 outside tasks.
    let task: UInt64
    /// Whether that task alone saw it.
    let isExclusive: Bool
}

/// What is written in a transaction that `invalidate()` has ended goes nowhere, whoever writes to the realm meanwhile.
extension RealmCore {
    /// Whether there is a transaction that was lost, and that the program has not ended.
    var hasLostTransaction: Bool { mayHaveLostTransactions && !callbackWrites.lostTransactions.isEmpty }

    /// Whether the caller writes in a transaction that was lost, as far as is known: no other one is open, or one that another task has
    /// begun behind it.
    var isInLostTransaction: Bool {
        guard hasLostTransaction else { return false }
        guard isInWriteTransaction else { return true }
        let task = crealm_current_task()
        return task != 0 && task != owner.task && callbackWrites.lostTransactions.contains { $0.task == task }
    }

    /// What its commit throws.
    var lostTransactionError: Realm.Error {
        error(
            .invalidInput,
            "There is nothing to commit: `realm.invalidate()` was called, and has rolled the write transaction back."
        )
    }

    /// The program ends a transaction that was lost: its task's, or else one that any job may end.
    func endLostTransaction() {
        let task = crealm_current_task()
        let lost = callbackWrites.lostTransactions
        let index = lost.lastIndex { $0.task == task } ?? lost.firstIndex { !$0.isExclusive }
        if let index { callbackWrites.lostTransactions.remove(at: index) }
    }

    /// The program ends the transaction of a turn, if that was lost; from elsewhere nothing happens.
    func endLostTransaction(of turn: WriteScheduler.Ticket) {
        if isCurrent { callbackWrites.lostTransactions.removeAll { $0.turn == turn } }
    }

    /// The task that begins a transaction has none any more that was lost.
    ///
    /// Outside of tasks one job cannot be told from another one: whoever begins one stands for all of them. Where a program rolls back by
    /// `invalidate()`, what it writes outside of transactions afterwards is to trap, as it does elsewhere.
    func replaceLostTransactions() { callbackWrites.lostTransactions.removeAll { $0.task == owner.task } }

    /// Rolls the open transaction back with the realm.
    func loseTransaction() {
        if owner.isOpenEnded, let ticket {
            noteLostTransaction(ticket)
            // The write whose block this is ends it, where the block does not.
            callbackWrites.block.end?.lostTurns.append(ticket)
        }
        callbackWrites.block.end?.hasLostTransaction = true
        cancelTransaction()
    }

    /// So many are kept of tasks that never end what they began.
    private static var lostTransactionLimit: Int { 64 }

    /// Notes that the transaction of a turn is lost, which the program has not ended.
    private func noteLostTransaction(_ turn: WriteScheduler.Ticket) {
        // That of an `AsyncTransaction` ends with it.
        let lost = callbackWrites.lostTransactions
        if lost.count >= Self.lostTransactionLimit, let oldest = lost.firstIndex(where: { !$0.isExclusive }) {
            callbackWrites.lostTransactions.remove(at: oldest)
        }
        callbackWrites.lostTransactions
            .append(LostTransaction(turn: turn, task: owner.task, isExclusive: owner.exclusiveTask != 0))
        mayHaveLostTransactions = true
    }
}
