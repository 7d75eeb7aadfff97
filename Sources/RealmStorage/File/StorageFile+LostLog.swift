/// A log that somebody has deleted while it was open.
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

    /// Brings everything to the realm file when somebody has deleted the log; what stands at its name now stays.
    func leaveLostLog() throws(StorageError) {
        finishCheckpoint()
        lock?.beginEndOfLog()
        try makeCheckpoint(closing: true)
        lock?.endLog()
        forgetLog()
    }

    /// The same behind a flush that made nothing durable, since the log was deleted before it: what is published stays.
    func leaveLostLog(afterFailureOf step: PublishingPlan.Step, of plan: PublishingPlan) {
        // A closed header of the version before would have acknowledged commits be gone without a word.
        if step == .flushingLog, !plan.hasAcknowledged, hasLostLog { try? leaveLostLog() }
    }

    /// How commits come to the file of which some were acknowledged in the log that has been deleted; nil where none was.
    ///
    /// One header has all of them, and says that the log is closed: until it is on the disk, the one before says that a log is missing.
    func endOfLostLog(behind commits: [PreparedCommit]) -> PublishingPlan.Way? {
        guard let openLog, hasAcknowledged(commits) else { return nil }
        finishCheckpoint()
        lock?.beginEndOfLog()
        return .pages(LogMark(log: openLog.header.log, point: openLog.end, isOpen: false))
    }
}
