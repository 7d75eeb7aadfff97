/// How prepared commits come to the disk: decided from what is known, before anything is written.
struct PublishingPlan {
    /// The steps in which a commit comes to the disk, in order.
    enum Step: Comparable {
        /// The file is made longer, and the pages are written.
        case writing
        /// The new length is flushed: before it, nothing that counts has been written.
        case flushingLength
        /// The pages are flushed, where the header does not vouch for them.
        case flushingContent
        /// The records are appended to the log, and the log is flushed, where that makes the commit durable.
        case appending
        case flushingLog
        case writingHeader
        case flushingHeader
    }

    /// What makes commits durable.
    enum Way {
        /// One flush of pages and header, or two where the header cannot vouch for the pages.
        case oneFlush
        /// The flush of the pages, and that of the header, while a log is there, which ends with them where the mark says that it is closed.
        case pages(LogMark)
        /// Records in the log; pages and header need not be flushed.
        case records([CommitLog.Entry])
    }

    /// What a failure leaves to be done.
    struct Remedy: Equatable {
        /// The slot is to look as it did, so that nobody takes the commit for something durable.
        var restoresSlot: Bool
        /// Pages beyond the end of the version before it may stand in the file.
        var cutsBack: Bool
        /// Nobody knows any more what is on the disk: writing stops.
        var stopsWriting: Bool
    }

    /// The runs to write, ascending.
    let runs: [PreparedCommit.Run]
    /// The header that makes the commits be there.
    let header: FileHeader
    /// The slot that it is written to: that of the version before the published one.
    let slot: Int
    /// The length that the file must have.
    let neededByteCount: Int
    /// Whether the file grows by the content itself, which is then flushed before the header.
    let isBulk: Bool
    /// What makes it durable.
    let way: Way
    /// Whether some of the commits were acknowledged before, by their records.
    let hasAcknowledged: Bool
    private let flushes: Bool

    /// - Parameters:
    ///   - commits: The commits, oldest first; at least one.
    ///   - published: The header of the version that is published.
    ///   - slot: Its slot.
    ///   - byteCount: The length of the file, as far as it is known.
    ///   - bulkByteCount: By so much a file may grow before its content.
    ///   - flushes: Whether commits are flushed.
    ///   - way: What makes the commits durable.
    ///   - hasAcknowledged: Whether some of the commits were acknowledged before.
    init(
        _ commits: [PreparedCommit],
        over published: FileHeader,
        inSlot slot: Int,
        byteCount: Int,
        bulkByteCount: Int,
        flushes: Bool,
        way: Way = .oneFlush,
        hasAcknowledged: Bool = false
    ) {
        self.way = way
        let last = commits[commits.count - 1]
        runs = PreparedCommit.runs(of: commits)
        self.hasAcknowledged = hasAcknowledged
        self.slot = 1 - slot
        // A log is there, which is given back behind this: what it has made durable must be on the disk, whoever publishes.
        if case .pages = way { self.flushes = true } else { self.flushes = flushes }
        neededByteCount = Int(last.pageCount) * pageByteCount
        isBulk = commits.contains(where: \.hasSpilled) || neededByteCount - byteCount > bulkByteCount
        var header = published
        header.lead(to: last)
        header.sequence = published.sequence + 1
        header.confirmedVersion = published.version
        var extents: [Extent] = []
        switch way {
        case .oneFlush:
            extents = PreparedCommit.extents(of: runs)
            header.isContentFlushed = isBulk || extents.count > FileHeader.extentLimit(besides: last.records.count)
        case .records: header.isContentFlushed = true
        case .pages(let mark):
            // Pages of earlier versions that this one shares may not be on the disk.
            header.isContentFlushed = true
            header.mark = mark
        }
        header.extents = header.isContentFlushed ? [] : extents
        header.contentChecksum = header.isContentFlushed ? 0 : PreparedCommit.contentChecksum(of: runs)
        self.header = header
    }

    /// The records that make it durable, if that is its way.
    var entries: [CommitLog.Entry]? { if case .records(let entries) = way { entries } else { nil } }

    /// Whether pages of earlier versions, which are durable by their records, may not be on the disk.
    var isBesideLog: Bool { if case .oneFlush = way { false } else { true } }

    /// Whether the content is flushed by itself.
    var flushesContent: Bool { flushes && header.isContentFlushed && entries == nil }

    /// Whether the length of the file is flushed before anything relies on it.
    var flushesLength: Bool { flushes }

    /// Whether the header is flushed, with the content where that was not.
    var flushesHeader: Bool { flushes && entries == nil }

    /// What is to be done after a step failed.
    func remedy(afterFailureOf step: Step, _ code: StorageError.Code) -> Remedy {
        let stops =
            switch step {
            case .writing, .writingHeader: false
            // Space that was promised and could not be had is no loss of what was written: unless pages of versions before wait
            // for the same flush, which the log made durable and a checkpoint is to find on the disk.
            case .flushingLength: code != .full || isBesideLog
            case .flushingContent, .appending, .flushingLog, .flushingHeader: true
            }
        return Remedy(
            restoresSlot: step >= .writingHeader,
            cutsBack: step < .writingHeader && isBulk,
            // What was acknowledged must not be lost: the log has it, and the next opening applies it. Where there was no space, so does the
            // next turn to write.
            stopsWriting: stops || hasAcknowledged && code != .full
        )
    }
}

#if DEBUG
extension PublishingPlan {
    /// The runs ascend below the end, and the header says of them what it must.
    func checkInvariants() throws(BrokenInvariant) {
        var end = UInt64(FileHeader.slotPageCount)
        for run in runs {
            try Invariant.require(UInt64(run.page) >= end, "The run at page \(run.page) is written over another one")
            end = UInt64(run.page) + UInt64(run.pageCount)
        }
        try Invariant.require(
            end <= max(header.pageCount, UInt64(FileHeader.slotPageCount)),
            "A run lies behind the end"
        )
        try Invariant.require(
            neededByteCount == Int(header.pageCount) * pageByteCount,
            "The file is to have another length"
        )
        try Invariant.require(slot == 0 || slot == 1, "There is no slot \(slot)")
        try Invariant.require(!header.isFormer, "The commit has the format before")
        try Invariant.require(header.confirmedVersion < header.version, "The commit says of itself that it is durable")
        guard !header.isContentFlushed else {
            return try Invariant.require(header.extents.isEmpty, "The header vouches for what was flushed before it")
        }
        try Invariant.require(!isBulk, "What was written early is not flushed before the header")
        try Invariant.require(header.extents == PreparedCommit.extents(of: runs), "The header vouches for other pages")
        let checksum = PreparedCommit.contentChecksum(of: runs)
        try Invariant.require(header.contentChecksum == checksum, "The header has another checksum of the pages")
    }
}
#endif
