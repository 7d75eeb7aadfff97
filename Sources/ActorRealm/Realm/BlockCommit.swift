extension CallbackWrites {
    /// Calls the block of a write, and finds out what it commits in the background.
    ///
    /// - Returns: What the block returns, and the flush of all that it has begun to commit.
    /// - Throws: What the block throws; instead of that, or of what it returns, why something is lost that it saw in a transaction
    ///   which it has cancelled, or why a commit could not begin.
    func collecting<Result>(_ block: () throws -> Result) throws -> (result: Result, commit: BaseFlush?) {
        let before = (isCollecting, blockCommit, blockLoss)
        (isCollecting, blockCommit, blockLoss) = (true, nil, nil)
        defer { (isCollecting, blockCommit, blockLoss) = before }
        let result: Result
        do { result = try block() } catch { throw blockLoss ?? error }
        if let blockLoss { throw blockLoss }
        return (result, blockCommit)
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
