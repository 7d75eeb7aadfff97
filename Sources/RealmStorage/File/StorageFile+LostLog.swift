/// The end of a log with a commit: somebody has deleted it while it was open, or it is in the way of readers.
extension StorageFile {
    /// Whether the log has no name any more: nothing in it will be found again.
    var hasLostLog: Bool {
        guard let openLog else { return false }
        do throws(StorageError) {
            try openLog.requireName()
            return false
        } catch {
            return true
        }
    }

    /// Whether somebody has come who reads without a lock file: the newest version is to stand in a closed header, where he finds it.
    var keepsReadersOut: Bool { openLog != nil && lock?.hasOutsiders == true }

    /// Brings everything to the realm file, and ends the log there.
    func leaveLostLog() throws(StorageError) {
        finishCheckpoint()
        lock?.beginEndOfLog()
        try makeCheckpoint(closing: true)
        forgetClosedLog()
    }

    /// Forgets the log behind a closed header that is on the disk, and removes it, unless somebody has deleted it: what stands at its name then
    /// stays.
    func forgetClosedLog() {
        guard let log = openLog?.header.log else { return }
        let isLost = hasLostLog
        lock?.endLog()
        forgetLog()
        // One that cannot be removed is by the next opening: the header says that it is closed.
        if !isLost { try? removeLog(log) }
    }

    /// The same behind a flush that made nothing durable, since the log was deleted before it: what is published stays.
    func leaveLostLog(afterFailureOf step: PublishingPlan.Step, of plan: PublishingPlan) {
        // A closed header of the version before would have acknowledged commits be gone without a word.
        if step == .flushingLog, !plan.hasAcknowledged, hasLostLog { try? leaveLostLog() }
    }

    /// How commits come to the file of which some were acknowledged in the log that is to end; nil where none was.
    ///
    /// One header has all of them, and says that the log is closed: until it is on the disk, the one before says that there is a log.
    func endOfLostLog(behind commits: [PreparedCommit]) -> PublishingPlan.Way? {
        guard let openLog, hasAcknowledged(commits) else { return nil }
        finishCheckpoint()
        lock?.beginEndOfLog()
        return .pages(LogMark(log: openLog.header.log, point: openLog.end, isOpen: false))
    }
}
