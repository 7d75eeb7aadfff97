/// What the block of a write has begun to commit without waiting for it, for the write to wait for.
enum BlockCommit {
    /// It is on its way to the disk.
    case underWay(BaseFlush)
    /// It could not begin.
    case failed(any Error)
}

extension CallbackWrites {
    /// Calls the block of a write, and finds out what it commits in the background.
    ///
    /// - Throws: What the block throws; instead of that, or of what it returns, why something is lost that it saw in a transaction
    ///   which it has cancelled.
    func collecting<Result>(_ block: () throws -> Result) throws -> (result: Result, commit: BlockCommit?) {
        let before = (isCollecting, blockCommit, blockLoss)
        (isCollecting, blockCommit, blockLoss) = (true, nil, nil)
        defer { (isCollecting, blockCommit, blockLoss) = before }
        let result: Result
        do { result = try block() } catch { throw blockLoss ?? error }
        if let blockLoss { throw blockLoss }
        return (result, blockCommit)
    }
}

extension RealmCore {
    /// Waits for what the block of a write has committed itself, blocking the thread, and moves there.
    ///
    /// - Throws: `Realm.Error` when that is lost.
    func completeBlocking(_ commit: BlockCommit?) throws {
        switch commit {
        // It may have ended the realm because of what it saw.
        case nil: return try settle()
        case .underWay(let flush):
            // Of a transaction behind it.
            try settle()
            try complete(flush.waitOnPool())
        case .failed(let error):
            try settle()
            throw error
        }
        tellBlocks()
    }

    /// The same without blocking the thread.
    func completeSuspending(_ commit: BlockCommit?, _ isolation: isolated (any Actor)?) async throws {
        switch commit {
        case nil: return
        case .underWay(let flush): try complete(await flush.value(isolation: isolation))
        case .failed(let error): throw error
        }
    }
}
