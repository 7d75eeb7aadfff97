import RealmStorage

/// What was acknowledged, and is ahead of the version that a realm stands on.
struct AcknowledgedAhead {
    /// What was acknowledged while the realm could not leave an open transaction, until it has left that.
    var unseen: Snapshot?
    /// The making of the pages of what the realm has acknowledged without; nil where it stands behind all that it has written.
    var owedPages: BaseFlush?
    /// Whether it was reported that neither these can be made nor that version in memory.
    var isMissingReported = false
}
