import Synchronization

/// What is done to a log when no commit follows.
extension StorageFile {
    /// Does what is to be done behind the last commit, and waits for nobody; on the thread of an alarm, unless the log is ended.
    ///
    /// - Returns: Whether it is done, or need not be: nobody uses the log just now, or makes a checkpoint of something older.
    func perform(_ work: LogRest.Work) -> Bool {
        if work == .end { return endLogAtRest() }
        let isDone = logTurn.withLockIfAvailable { _ in
            // Their pages are made in a moment, or by the next opening.
            if isOwingPages { return reasonOfMissingPages != nil }
            guard isAheadOfCheckpoint else { return true }
            switch work {
            case .note: noteDurableOffset()
            case .checkpoint:
                if checkpoint.withLock({ $0.next != nil }) { return false }
                beginCheckpoint()
            case .end: break
            }
            return true
        }
        return isDone ?? false
    }

    /// Ends this process's log, where nobody has the turn to write, or waits for it; who comes meanwhile waits for the flushes of that.
    ///
    /// What fails stops writing, as in any other place, and leaves the log to the next opening.
    private func endLogAtRest() -> Bool {
        lock?.forgetDeadWaiters()
        // Behind a checkpoint that is being made there is less to flush.
        guard checkpoint.withLock({ $0.next == nil }), lock?.hasWaitingProcesses == false,
            (try? tryLockForWriting()) == true
        else { return hasStopped }
        if let lock, openLog != nil, !hasStopped { endOwnLog(lock) }
        unlockForWriting()
        return true
    }

    /// Whether the newest version is in this process's log, and not in a checkpoint.
    private var isAheadOfCheckpoint: Bool {
        let (version, isStopped) = state.withLock { ($0.published.version, $0.stopped != nil) }
        // Another process may have ended the log.
        return openLog != nil && !isStopped && lock?.logState == .open
            && version > checkpointVersion.load(ordering: .sequentiallyConsistent)
    }

    /// Has the log say how far it is durable, for whoever has its turn.
    ///
    /// Until this is on the disk, or a checkpoint, damage to the last record looks like the torn end of a flush.
    func noteDurableOffset() {
        guard let openLog else { return }
        let published = state.withLock { $0.published }
        // Nobody relies on it, and the next record is written over whatever stands there.
        try? openLog.note(.durable, version: published.version, position: published.numbers.position)
    }

    /// Goes on in the log behind a commit that is kept as pages, and says there that its version is in the file, where an older copy of the file
    /// would have the log end.
    ///
    /// Its header is on the disk, the image names it, and nobody who waits has been told of it.
    func goOnInLog(behindPagesOf plan: PublishingPlan) {
        guard let openLog, case .pages(let mark) = plan.way, mark.isOpen else { return }
        openLog.goOn(at: mark.point)
        // As above.
        try? openLog.note(.pages, version: plan.header.version, position: plan.header.numbers.position)
    }
}
