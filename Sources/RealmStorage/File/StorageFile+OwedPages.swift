import Synchronization

/// Commits that are acknowledged by their records, and whose pages are made later: the file owes them.
///
/// Such commits are the members of one group that is not sealed. Sealing and publishing it makes the pages of all of them. It is there only
/// while this process has the write lock and is alone with the file, and nothing else is on its way to the disk. Every reader of the newest
/// version has the pages made first, in ``beginRead(from:asWriter:asking:)``.
extension StorageFile {
    /// Whether commits may be left without pages at all.
    package var leavesPages: Bool { options.log?.pagesOnDemand == true && keepsLog }

    /// Whether commits were acknowledged whose pages are not made yet.
    package var isOwingPages: Bool { owesPages.load(ordering: .sequentiallyConsistent) }

    /// Whether pages that are owed are about to be published together with commits that have to be flushed for that.
    package var flushesForOwedPages: Bool {
        guard isOwingPages else { return false }
        let last = writer.withLock { $0.prepared.last?.version ?? 0 }
        return last > acknowledgedVersion.load(ordering: .relaxed)
    }

    /// The last version that was acknowledged, where nobody is about to make its pages, since writing has stopped, there was no space for
    /// them, or who reads the file may not write to it: whoever asks for the newest version reads it in memory; 0 elsewhere.
    package var versionWithoutPages: UInt64 {
        // Who has no lock file stays on what it was opened at.
        if lock == nil { return acknowledgedByOthers.load(ordering: .acquiring) }
        return reasonOfMissingPages == nil ? 0 : acknowledgedVersion.load(ordering: .relaxed)
    }

    /// The newest version for this process: the published one, or, where its pages cannot be made, what was acknowledged behind that.
    ///
    /// Two atomic loads where nothing is owed.
    package var newestVersionHere: UInt64 {
        // In this order: what is owed no more was published before.
        let unpublished = versionWithoutPages
        return max(unpublished, newestVersion)
    }

    /// Whether whoever stands on a version of this file is to move: there is a newer one for this process, or the same one with pages in the file.
    package func isAhead(of snapshot: Snapshot) -> Bool {
        snapshot.isBehind(newestVersion) || snapshot.version < versionWithoutPages
    }

    /// What a reader of the newest version asks for where pages are owed.
    package enum PageDemand: Sendable {
        /// All that was acknowledged: pages are made first, or, beside an open transaction and where they cannot be made, the version is made
        /// in memory.
        case acknowledged
        /// A version of the file: pages are made first, and beside an open transaction the version before is the newest.
        case inFile
        /// What is there without asking anybody: the version that is published, or, where pages cannot be made, what was acknowledged, in memory.
        case atHand
        /// Nothing: the version that is published.
        case published
    }

    /// Has pages be made for whoever looks for the newest version.
    ///
    /// - Returns: The newest version in memory, where an open transaction keeps its pages from being made, or they cannot be made at all.
    /// - Throws: Why they cannot be made, where there is no memory for the version either.
    package func makeOwedPages(from origin: ReaderOrigin? = nil) throws(StorageError) -> Snapshot? {
        try makeOwedPages(for: .acknowledged).map { Snapshot(of: $0, origin: origin) }
    }

    /// The same for a reader that may ask for less.
    ///
    /// Where the version cannot be made in memory, it waits for the end of the transaction, unless that is the caller's own.
    func makeOwedPages(for demand: PageDemand) throws(StorageError) -> ReplayedVersion? {
        if demand == .published { return nil }
        if isOwingPages { forgetPagesMadeElsewhere() }
        guard isOwingPages else {
            let asks = demand == .acknowledged || demand == .atHand && lock == nil
            return try asks ? versionOwedByOthers() : nil
        }
        if demand == .atHand { return reasonOfMissingPages == nil ? nil : replayOwedRecords() }
        var replayed: ReplayedVersion?
        pageMaker.make {
            if demand == .acknowledged { replayed = replayOwedRecords() }
            return demand == .inFile || replayed != nil
        }
        if let replayed { return replayed }
        // Who reads the file itself gets what it has.
        guard demand == .acknowledged, reasonOfMissingPages != nil else { return nil }
        // The published version is whole, and the records behind it are durable.
        if let made = replayOwedRecords() { return made }
        // Somebody may have made them meanwhile.
        if let missing = reasonOfMissingPages { throw missing }
        return nil
    }

    /// The newest acknowledged version in memory, whatever becomes of its pages; nothing is made in the file, and nobody is asked to.
    ///
    /// - Returns: The version; nil where nothing is owed, it cannot be made, or has pages by now.
    package func acknowledgedInMemory(from origin: ReaderOrigin? = nil) -> Snapshot? {
        guard owesPages.load(ordering: .sequentiallyConsistent) else { return nil }
        return replayOwedRecords().map { Snapshot(of: $0, origin: origin) }
    }

    /// Makes the newest acknowledged version in memory; nil where it cannot be made, or has pages by now.
    private func replayOwedRecords() -> ReplayedVersion? {
        guard let log = options.log, let base = try? beginRead(asking: .published) else { return nil }
        return try? owed.replayed(over: base, log)
    }

    /// Whether anybody of another process reads the file, or may do so in a moment.
    package var hasOtherReaders: Bool {
        guard let lock else { return true }
        // What this process has said of its log is there before it looks, and an opening says that it is there before it looks at the log:
        // one of them sees the other.
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        return lock.hasOtherProcesses || lock.hasOutsiders
    }

    /// Whether a record of so many bytes may make the next member of a group durable, without pages.
    func mayOwePages(_ byteCount: Int, _ space: OwedSpace) -> Bool {
        logTurn.withLock { _ in mayAppend(CollectionOfOne(byteCount), space) }
    }

    /// Whether a record may make the next member of a group durable, as far as the group alone can tell.
    func mayJoinOwing(_ byteCount: Int, _ group: WriterGroup) -> Bool {
        // In a forked child the locks, and what would be made longer, are the parent's.
        guard isOfThisProcess, let log = options.log, let entries = group.entries, !group.hasSpilled,
            // What was left by others is on its way to a flush of its own.
            entries.count == group.owedCount, group.memberCount == group.owedCount
        else { return false }
        return byteCount <= log.contentByteLimit && group.owedCount < log.owedCommitLimit
            && group.owedByteCount + byteCount <= log.owedByteLimit
    }

    /// Whether records may be appended whose commits are left without pages; for whoever has the log's turn.
    private func mayAppend(_ byteCounts: some Sequence<Int>, _ space: OwedSpace) -> Bool {
        // Nothing is being published: the log ends behind the version that is.
        guard let openLog, let lock, lock.logState == .open, writer.withLock({ $0.prepared.isEmpty }),
            state.withLock({ $0.stopped == nil && !$0.published.isFormer }), !hasRefusedPages,
            isCheckpointFarOff(openLog)
        else { return false }
        return openLog.hasRoom(forContents: byteCounts) && hasPages(space)
    }

    /// Whether no checkpoint is due, which is made of a version with pages; for whoever has the log's turn.
    ///
    /// While one is being made, a log that is half full is no reason for another one.
    private func isCheckpointFarOff(_ openLog: CommitLog) -> Bool {
        let half = openLog.header.ringByteCount / 2
        if openLog.usedByteCount <= half { return true }
        releaseBehindCheckpoint()
        let isBeingMade = checkpoint.withLock { $0.next != nil }
        return openLog.usedByteCount <= (isBeingMade ? half + half / 2 : half)
    }

    /// Makes the record of an open transaction durable, and says so to other processes, before anybody is told.
    ///
    /// - Returns: Whether it is; false where the log has lost its name, and whoever publishes goes on without it.
    /// - Throws: The failure; then writing has stopped.
    func acknowledge(_ entry: CommitLog.Entry, of group: UInt64) throws(StorageError) -> Bool {
        try logTurn.withLock { (_) throws(StorageError) in try makeDurable([entry], of: group) }
    }

    /// Does the same for the records of commits that have joined a group, with one flush, beside whoever writes.
    ///
    /// Blocks in the device. One call at a time, and none beside ``publish(_:pinning:)``; what joined earlier is acknowledged before.
    ///
    /// - Parameters:
    ///   - records: The records, oldest first; at least one.
    ///   - group: The number of their group.
    /// - Returns: Whether they are durable; false where the group has to be sealed and published for that.
    /// - Throws: The failure, behind which writing has stopped, and the group is lost; or why it was lost before.
    package func acknowledge(_ records: [OwingRecord], of group: UInt64) throws(StorageError) -> Bool {
        try logTurn.withLock { (_) throws(StorageError) in
            if writer.withLock({ $0.hasLost(group) }) { throw lossOfGroup(group) }
            guard let last = records.last,
                mayAppend(records.lazy.map(\.entry.content.count), last.space)
            else { return false }
            do throws(StorageError) {
                return try makeDurable(records.map(\.entry), of: group)
            } catch {
                loseCommits(error)
                throw error
            }
        }
    }

    /// Whether some of the commits that are to be published were acknowledged before.
    func hasAcknowledged(_ commits: [PreparedCommit]) -> Bool {
        guard let first = commits.first else { return false }
        return first.firstVersion <= acknowledgedVersion.load(ordering: .relaxed)
    }

    /// Whether members of a group were acknowledged that is not sealed.
    func hasAcknowledged(_ group: WriterGroup) -> Bool {
        acknowledgedVersion.load(ordering: .relaxed) >= group.firstVersion
    }

    private func makeDurable(_ entries: [CommitLog.Entry], of group: UInt64) throws(StorageError) -> Bool {
        guard let openLog, let lock, let last = entries.last else { return false }
        let before = openLog.durable
        do throws(StorageError) {
            try openLog.append(entries)
            try openLog.flush()
            // Before anybody is told: without the realm file nobody finds the log.
            _ = try data.currentByteCount()
            // Whoever gives the group up stops writing from then on.
            let isGivenUp = writer.withLock { box in
                if box.hasLost(group) { return true }
                acknowledgedVersion.store(last.version, ordering: .relaxed)
                return false
            }
            if isGivenUp { throw lossOfGroup(group) }
        } catch {
            if hasLostLog, isInPlace { return false }
            // It may stand in the log, whole, and is not there.
            lock.refuse(before, of: openLog.header.log)
            stopWriting(after: error)
            throw error
        }
        // Whoever finds that pages are owed finds what they are made of.
        for entry in entries { owed.append(entry) }
        owesPages.store(true, ordering: .sequentiallyConsistent)
        checkOwedRecordsIfAsked(newest: entries.count)
        lock.note(durable: openLog.durable, of: openLog.header.log)
        return true
    }
}
