extension CallbackWrites {
    /// Calls the block of a write, and finds out what it commits in the background.
    ///
    /// - Parameters:
    ///   - isThrown: Whether the write throws a failure of that, also where its block throws another error.
    ///   - block: The block.
    /// - Returns: What the block returns or throws, and the flush of all that it has begun to commit; instead of the former, why something
    ///   is lost that it saw in a transaction which it has cancelled, or why a commit could not begin.
    func collecting<Value>(
        isThrown: Bool = true,
        _ block: () throws -> Value
    ) -> (outcome: Result<Value, any Error>, commit: BaseFlush?) {
        let before = (isCollecting, throwsLoss, blockCommit, blockLoss)
        (isCollecting, throwsLoss, blockCommit, blockLoss) = (true, isThrown, nil, nil)
        defer { (isCollecting, throwsLoss, blockCommit, blockLoss) = before }
        let outcome = Result { try block() }
        return (blockLoss.map { Result.failure($0) } ?? outcome, blockCommit)
    }

    /// Notes what the block of a write has begun to commit, behind what it has begun before.
    func collect(_ commit: BaseFlush) { blockCommit = blockCommit?.followed(by: commit) ?? commit }
}

extension RealmCore {
    /// Rolls back what the block of a write has left open, where something that it committed or saw before is lost: what throws has
    /// not written.
    func cancelBehindLoss(of commits: BaseFlush?...) {
        guard isInWriteTransaction, commits.contains(where: { $0?.isLost == true }) else { return }
        cancelTransaction()
    }
}
