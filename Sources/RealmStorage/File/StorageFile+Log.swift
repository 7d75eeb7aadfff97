import Synchronization

/// Commits that are made durable by their records, and the checkpoints behind them.
///
/// With a log open the header slots are written by checkpoints and by commits that are kept as pages; the header of the newest version
/// stands in the lock file, where other processes find it. One process appends: any other one that is to write ends the log first.
extension StorageFile {
    /// How commits are to be made durable; makes the log where there is none, and room in it.
    ///
    /// - Throws: The failure of a flush; then writing has stopped.
    func chooseWay(for commits: [PreparedCommit]) throws(StorageError) -> PublishingPlan.Way {
        guard let log = options.log, options.durability == .flushed,
            state.withLock({ $0.stopped == nil && !$0.published.isFormer })
        else { return .oneFlush }
        if hasLostLog || keepsReadersOut {
            if let way = endOfLostLog(behind: commits) { return way }
            try leaveLostLog()
        }
        let entries = entries(of: commits)
        if openLog == nil {
            guard entries != nil else {
                // As many would end it.
                pageCommitCountBesideLog += 1
                if pageCommitCountBesideLog >= log.pageCommitLimit { pageCommitCount = 0 }
                return .oneFlush
            }
            pageCommitCountBesideLog = 0
            guard isLogWorthwhile(log), try startLog(log) else { return .oneFlush }
        }
        guard let openLog else { return .oneFlush }
        releaseBehindCheckpoint()
        if let entries {
            let byteCounts = entries.lazy.map(\.content.count)
            if !openLog.hasRoom(forContents: byteCounts) { try makeRoom(for: byteCounts, in: openLog) }
            if openLog.hasRoom(forContents: byteCounts) { return .records(entries) }
        }
        // Pages are a checkpoint of their own version, and go to the slot that the one before does not use.
        finishCheckpoint()
        return .pages(LogMark(log: openLog.header.log, point: openLog.pointBehindPages, isOpen: true))
    }

    /// Whether commits have come often enough, one soon behind the other, since there was no log, and its space is there: a life that writes
    /// once is to flush no more than it does without one, and no commit waits for zeros.
    private func isLogWorthwhile(_ log: LogOptions) -> Bool {
        if hasRested(log) {
            // It would end before it is used. Nor is its space kept for one that may never come.
            pageCommitCount = 0
            _ = logSpace.take()
        }
        pageCommitCount += 1
        pageCommitCountBehindFailure += 1
        guard pageCommitCount > log.pageCommitCount,
            pageCommitCountBehindFailure > log.pageCommitCount * logRetryFactor
        else { return false }
        let answer = logSpace.ask()
        checkLogSpaceIfAsked(log)
        switch answer {
        case .made: return true
        case .beingMade: return false
        case .none:
            makeLogSpace(log)
            // It is there where nothing runs beside the commits.
            return logSpace.isMade
        case .failed:
            postponeLog()
            return false
        }
    }

    /// Whether the commit before this one came so long ago that a log would have ended since.
    private func hasRested(_ log: LogOptions) -> Bool {
        guard let patience = log.endPatience, let clock = log.clock else { return false }
        let now = clock.now()
        defer { lastPageCommit = now }
        return now &- lastPageCommit >= patience
    }

    /// Doubles the commits before the next attempt to make a log.
    private func postponeLog() {
        pageCommitCount = 0
        pageCommitCountBehindFailure = 0
        logRetryFactor = min(2 * logRetryFactor, 1_024)
    }

    /// Makes the space of a log beside the commits.
    private func makeLogSpace(_ log: LogOptions) {
        // Beside other processes there is no log, nor at a name that is not the file's any more.
        guard let lock, !lock.isSharedWithOtherProcesses, !lock.hasOutsiders, isFile(at: path) else {
            pageCommitCount = 0
            _ = logSpace.take()
            return
        }
        // Before zeros are written for nothing.
        if let reason = obstacle(in: log.makeDirectory(path)) {
            _ = logSpace.take()
            postponeLog()
            return tell(log, whyThereIsNone: reason)
        }
        // Nothing keeps the file open meanwhile.
        log.runBeside(.space) { [logSpace, path] in logSpace.make(log, besides: path) }
    }

    /// Waits for a checkpoint that is being made, or makes one.
    private func makeRoom(for byteCounts: some Sequence<Int>, in openLog: CommitLog) throws(StorageError) {
        finishCheckpoint()
        releaseBehindCheckpoint()
        if !openLog.hasRoom(forContents: byteCounts) { try makeCheckpoint() }
    }

    /// The records of commits that are not acknowledged; nil where they are to be kept as pages.
    private func entries(of commits: [PreparedCommit]) -> [CommitLog.Entry]? {
        var all: [CommitLog.Entry] = []
        let acknowledged = acknowledgedVersion.load(ordering: .relaxed)
        for commit in commits {
            guard let entries = commit.entries, !commit.hasSpilled else { return nil }
            all += entries.drop { $0.version <= acknowledged }
        }
        let needed = commits.last.map { Int($0.pageCount) * pageByteCount } ?? 0
        let isBulk = needed - state.withLock { $0.byteCount } > StorageFile.bulkGrowthByteCount
        return isBulk || all.contains { $0.content.count > CommitRecord.contentByteLimit } ? nil : all
    }

    /// Makes a log, and has the file's header name it; false where that cannot be, and commits are kept as pages.
    private func startLog(_ log: LogOptions) throws(StorageError) -> Bool {
        // Whatever stands in the way: it need not be asked about at each commit.
        pageCommitCount = 0
        // Given back where no log comes of it.
        let space = logSpace.take()
        guard let lock, !lock.hasOutsiders, lock.holdOffOpenings() else { return false }
        defer { lock.letOpenAgain() }
        // Beside another file the log would not be found, and be in the way.
        guard isFile(at: path) else { return false }
        // As an older one would be.
        try? removeClosedLog()
        let published = state.withLock { $0.published }
        let header = LogHeader(
            file: published.identifier,
            log: LogIdentifier(low: .random(in: 1 ... .max), high: .random(in: 1 ... .max)),
            ringByteCount: log.ringByteCount,
            version: published.version,
            position: published.numbers.position,
            chain: .random(in: 1 ... .max)
        )
        let device: any StorageDevice
        do throws(StorageError) {
            device = try log.makeDirectory(path).create(header, in: space, forUsersOf: data)
        } catch {
            // Without space for it, deleting must stay possible.
            postponeLog()
            if error.code == .exists || error.code == .permissionDenied { tell(log, whyThereIsNone: error) }
            return false
        }
        // Before others see the log: this is whose it is.
        checkpointVersion.store(published.version, ordering: .sequentiallyConsistent)
        do throws(StorageError) {
            try writeHeader(LogMark(log: header.log, point: header.beginning, isOpen: true))
        } catch {
            checkpointVersion.store(0, ordering: .sequentiallyConsistent)
            throw error
        }
        openLog = CommitLog(
            header: header,
            device: options.failures.map { FailingStepDevice(base: device, failures: $0) } ?? device
        )
        logRetryFactor = 1
        return true
    }

    /// Where the log ends behind commits that are in it.
    func logEnd(behind plan: PublishingPlan) -> LogPoint? { plan.entries == nil ? nil : openLog?.end }

    /// Goes on in the log behind commits that are published.
    func goOnInLog(behind plan: PublishingPlan) {
        guard let openLog else { return }
        lock?.note(durable: openLog.durable, of: openLog.header.log)
        switch plan.way {
        case .oneFlush: break
        case .records:
            pageCommitCountBesideLog = 0
            releaseBehindCheckpoint()
            if openLog.usedByteCount > openLog.header.ringByteCount / 2 {
                beginCheckpoint()
                // It is over where nothing runs beside the commits.
                releaseBehindCheckpoint()
            }
            logRest?.commit(to: self)
        case .pages(let mark):
            guard mark.isOpen else { return forgetClosedLog() }
            checkpointVersion.store(plan.header.version, ordering: .releasing)
            endLogBesidePages(plan)
            if self.openLog != nil { logRest?.commit(to: self, keptAsPages: true) }
        }
    }

    // MARK: The end of a log

    /// Ends the log behind a commit that is published, where it is one of many in a row that were kept as pages: without it they flush once.
    ///
    /// What fails stops writing, as in any other place, and leaves the log to the next opening; the commit is there.
    private func endLogBesidePages(_ plan: PublishingPlan) {
        // What was acknowledged before it had records.
        pageCommitCountBesideLog = plan.hasAcknowledged ? 0 : pageCommitCountBesideLog + 1
        guard let log = options.log, pageCommitCountBesideLog >= log.pageCommitLimit else { return }
        try? closeOwnLog()
    }

    /// Brings everything to the realm file, and removes the log.
    ///
    /// The caller has the turn to write, no transaction is open, and every prepared commit has been published.
    func closeLog() throws(StorageError) {
        if let lock { try followLog(lock) }
        try logTurn.withLock { (_) throws(StorageError) in try closeOwnLog() }
    }

    private func closeOwnLog() throws(StorageError) {
        guard let log = openLog?.header.log else { return try removeClosedLog() }
        // It would say that the log goes on.
        finishCheckpoint()
        // A flush that succeeds behind one that failed says nothing of the pages.
        if let stopped = state.withLock({ $0.stopped }) { throw stopped }
        // Only the log has what was acknowledged.
        guard !owesPages.load(ordering: .sequentiallyConsistent) else { throw lostBase }
        lock?.beginEndOfLog()
        try makeCheckpoint(closing: true)
        lock?.endLog()
        forgetLog()
        try removeLog(log)
    }

    /// Removes a log that the header calls closed, where that is what stands at its name: the files may have been moved.
    ///
    /// The header that says so is on the disk.
    func removeLog(_ log: LogIdentifier) throws(StorageError) {
        let directory = StorageFile.logDirectory(options, path)
        guard let device = try directory.openIfFile(),
            try LogReader.header(of: device.descriptor, path: directory.path)?.log == log
        else { return }
        try directory.remove()
    }

    /// The same for the log that is closed already, and that whoever closed it could not remove.
    private func removeClosedLog() throws(StorageError) {
        let mark = state.withLock { $0.published.mark }
        if mark.log != LogMark.none.log { try removeLog(mark.log) }
    }

    func forgetLog() {
        openLog = nil
        pageCommitCount = 0
        pageCommitCountBesideLog = 0
        // Behind the step that is under way: it is about the log that is forgotten.
        checkpointSteps.withLock { _ in
            checkpoint.withLock { course in
                if course.next != nil { lock?.unlockForCheckpoint() }
                course = CheckpointCourse()
            }
        }
        candidateVersion.store(0, ordering: .sequentiallyConsistent)
        checkpointVersion.store(0, ordering: .sequentiallyConsistent)
    }

    /// Has nothing stand between this process and its next commit: ends a log that is not its own, and forgets its own one that another
    /// process has ended.
    ///
    /// Its own one is ended like another process's where it has commits without pages, for which there was no space.
    ///
    /// The caller has the write lock, no transaction is open, and every prepared commit has been published.
    func followLog(_ lock: LockFile) throws(StorageError) {
        forgetPagesMadeElsewhere()
        let isOwn = checkpointVersion.load(ordering: .sequentiallyConsistent) != 0
        let isLeft = isOwn && hasRefusedPages
        switch lock.logState {
        case .open where isOwn && !isLeft: break
        case .none: if isOwn { logTurn.withLock { _ in forgetLog() } }
        case .open, .ending:
            try logTurn.withLock { (_) throws(StorageError) in
                if isLeft { finishCheckpoint() }
                forgetLog()
                try endLogOfOthers(lock)
            }
        }
    }

    /// Brings what another process has published to the header slots, and what it has acknowledged behind that, and removes its log.
    ///
    /// What was acknowledged without pages lies before the durable offset that the lock file has; whatever stands in the log behind both was
    /// never acknowledged. That process may be dead, or go on: it looks for a log whenever it begins to write.
    private func endLogOfOthers(_ lock: LockFile) throws(StorageError) {
        // The log's process may be about to write a header.
        try lock.lockForCheckpoint(within: options.checkpointWait)
        defer { lock.unlockForCheckpoint() }
        guard !lock.hasStopped, let image = lock.image else {
            lock.stopWriting()
            let stopped = StorageError(
                .writingStopped,
                "Writing has stopped: another process failed while it brought the realm to the disk. Close the realm in all processes "
                    + "and open it again",
                path: path
            )
            // Whoever opens the file anew in this process closes it first.
            state.withLock { $0.stopped = $0.stopped ?? stopped }
            throw stopped
        }
        if try takeEndedLog(behind: image, lock) { return }
        // Its process may have died between the two.
        if image.header.version > lock.newestVersion { lock.publish(image.header.version) }
        let byteCount = try data.currentByteCount()
        // Its log stays, which has what the file lacks.
        guard image.header.pageCount <= UInt64(byteCount / pageByteCount) else {
            throw StorageFile.cutShort(byteCount, path)
        }
        try state.withLock { (state) throws(StorageError) in
            let found = HeaderRecovery.Result(header: image.header, slot: image.slot)
            try take(found, &state, byteCount: byteCount)
        }
        // Who noted it is dead: one that has failed has stopped writing.
        if lock.isPageFlushNoted { try writeOnceMore(behind: image) }
        lock.beginEndOfLog()
        do throws(StorageError) {
            try synchronizePages()
        } catch {
            stopWriting(after: error)
            throw error
        }
        let mark = image.header.mark
        if lock.durableOffset(of: mark.log) > mark.point.offset {
            try applyAcknowledged(behind: image, lock)
        } else {
            try writeHeader(LogMark(log: mark.log, point: mark.point, isOpen: false))
        }
        lock.endLog()
        // One that stays is removed by the next opening: the header says that it is closed.
        try? removeLog(mark.log)
    }

    /// Takes over the header of a version that was read while a log was open, which has ended since: it stands in a slot now.
    ///
    /// The caller has the write lock.
    func leaveImage(_ state: inout State) throws(StorageError) {
        guard state.published.mark.isOpen, !isReplaying, let lock, lock.logState == .none else { return }
        guard let found = try StorageFile.published(version: state.published.version, reservation, path) else {
            throw .corrupt("The newest version's header cannot be read", page: 0, path: path)
        }
        state.published = found.header
        state.slot = found.slot
    }

    // MARK: Opening

    /// A log that holds what was committed behind the header's version.
    struct UnreadLog {
        let reader: LogReader
        let past: LockFile.PastLog
    }

    static func logDirectory(_ options: StorageOptions, _ path: String) -> any LogDirectory {
        options.log?.makeDirectory(path) ?? LogFile(besides: path)
    }

    /// Has a header that needs no settling be on the disk before a log is removed that it calls closed: as it is, and before anything is
    /// written to the other slot, since both could be torn.
    static func settleBeforeRemoval(
        of result: HeaderRecovery.Result,
        in data: any StorageDevice
    ) throws(StorageError) {
        guard result.header.confirmedVersion == result.header.version, result.rolledBack == nil else { return }
        try result.header.write(toSlot: result.slot, of: data)
        try data.synchronize()
    }

    /// Removes a log that a header does without that is on the disk.
    ///
    /// Under what stands in the other slot, as the mark of a close, the disk may have a header that names the log: its flush failed, and a
    /// later one that failed lost what was written over it. So that slot is written, too, and flushed.
    static func removeLog(
        besides result: HeaderRecovery.Result,
        _ options: StorageOptions,
        _ path: String,
        in data: any StorageDevice
    ) throws(StorageError) {
        try result.header.write(toSlot: 1 - result.slot, of: data)
        try data.synchronize()
        try unlessForbidden { () throws(StorageError) in try logDirectory(options, path).remove() }
    }

    /// Has the header that is believed be on the disk before anything else is written, and in the other slot, too.
    ///
    /// That one may hold, on the disk, a header whose commit failed, and whose pages are about to be used.
    static func settleBeforeReplay(
        _ result: inout HeaderRecovery.Result,
        in data: any StorageDevice,
        flushing flush: () throws(StorageError) -> Void
    ) throws(StorageError) {
        try result.header.write(toSlot: result.slot, of: data)
        try flush()
        result.header.sequence = max(result.header.sequence, result.sequence) + 1
        try result.header.write(toSlot: 1 - result.slot, of: data)
        try flush()
    }

    /// Applies what a log holds as one transaction, closes the header, and removes the log.
    ///
    /// Until the new header is flushed, the one before it and its log stay as they are.
    func replay(_ unread: UnreadLog) throws(StorageError) {
        guard let lock, let log = options.log else { return }
        guard lock.holdOffOpenings(), try lock.tryLockForWriting() else {
            throw StorageError(
                .alreadyOpen,
                "The log is to be read, and another process has the realm open",
                path: path
            )
        }
        defer {
            lock.unlockForWriting()
            lock.letOpenAgain()
        }
        isReplaying = true
        defer { isReplaying = false }
        let published = state.withLock { $0.published }
        let identifier = unread.reader.header.log
        let tail = try unread.reader.tail(
            from: published.mark.point,
            version: published.version,
            durable: unread.past.durableOffset(of: identifier),
            refused: unread.past.refused(in: identifier)
        )
        let mark = LogMark(log: identifier, point: tail.end, isOpen: false)
        if let last = tail.records.last {
            try requireFreeSpace(log)
            let commit = try replay(tail.records, upTo: last, over: published, log)
            _ = try publish([commit], commit, pinning: false, by: .pages(mark), lock)
        } else {
            try writeHeader(mark)
        }
        try StorageFile.unlessForbidden { () throws(StorageError) in try removeLog(identifier) }
    }

    /// Each record has the next position, or that of the one before, where its block changed nothing.
    func requirePositions(of records: [CommitRecord], behind position: UInt64) throws(StorageError) {
        var last = position
        for record in records {
            guard record.position == last || record.position == last + 1 else {
                throw StorageError(
                    .corrupt,
                    "The log of the realm has the commit record \(record.position) behind \(last)",
                    path: path
                )
            }
            last = record.position
        }
    }

    /// Applies records on top of the published version, all as one transaction, and prepares its commit.
    func replay(
        _ records: [CommitRecord],
        upTo last: CommitRecord,
        over published: FileHeader,
        _ log: LogOptions
    ) throws(StorageError) -> PreparedCommit {
        try requirePositions(of: records, behind: published.numbers.position)
        let base = try WriterState.load(from: published, in: view, path: path)
        // The one version that is made of all of them is the last one's.
        base.version = max(last.version, published.version + 1) - 1
        writer.withLock { $0.state = base }
        let transaction = try beginWrite()
        transaction.recording = .replay
        transaction.changed.replayedNumbers = CommitNumbers(
            position: last.position,
            schemaGeneration: published.numbers.schemaGeneration + UInt64(records.count { $0.kind == .schema }),
            recordTime: published.numbers.recordTime
        )
        do {
            return try log.replay(records, transaction)
        } catch {
            transaction.rollback()
            throw error as? StorageError
                ?? StorageError(.corrupt, "The log of the realm cannot be applied: \(error)", path: path)
        }
    }
}
