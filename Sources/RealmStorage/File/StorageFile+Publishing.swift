import Synchronization

/// Bringing commits to the disk.
extension StorageFile {
    /// Writes and flushes prepared commits, as ``publish(_:pinning:)`` does, and pins none of them.
    package func publish(_ commits: [PreparedCommit]) throws(StorageError) { _ = try publish(commits, pinning: false) }

    /// Writes and flushes prepared commits, oldest first, with one flush or, where a header cannot list their extents, two;
    /// publishes the newest and wakes observers.
    ///
    /// Blocks in the device: call it on the file's I/O thread, or on the thread of a synchronous write; one call at a
    /// time, in the order of the versions.
    ///
    /// - Parameters:
    ///   - commits: The commits.
    ///   - isPinned: Whether the newest is pinned before anybody knows of it: another process may commit on top of it at once,
    ///     with another schema, and those who wrote it must be able to see it then.
    /// - Returns: The newest of the commits, pinned; nil when that was not asked for, or there was no entry for another reader.
    /// - Throws: the failure; then none of the commits is there. After a failed flush writing stops until the file is
    ///   reopened.
    package func publish(
        _ commits: [PreparedCommit],
        pinning isPinned: Bool
    ) throws(StorageError) -> Snapshot? {
        guard let last = commits.last, let lock else { return nil }
        guard writer.withLock({ box in box.prepared.contains { $0 === last } }) else { throw lostBase }
        if options.log == nil { return try publish(commits, last, pinning: isPinned, lock) }
        // Nothing is done to the log meanwhile because no commit followed the last one.
        return try logTurn.withLock { (_) throws(StorageError) in
            try publish(commits, last, pinning: isPinned, lock)
        }
    }

    /// The same for whoever has the log's turn, where there may be one.
    private func publish(
        _ commits: [PreparedCommit],
        _ last: PreparedCommit,
        pinning isPinned: Bool,
        _ lock: LockFile
    ) throws(StorageError) -> Snapshot? {
        try carryOver()
        return try publish(commits, last, pinning: isPinned, by: chooseWay(for: commits), lock)
    }

    /// The same for commits whose way is known.
    func publish(
        _ commits: [PreparedCommit],
        _ last: PreparedCommit,
        pinning isPinned: Bool,
        by way: PublishingPlan.Way,
        _ lock: LockFile
    ) throws(StorageError) -> Snapshot? {
        let (published, slot, byteCount, stopped) = state.withLock {
            ($0.published, $0.slot, $0.byteCount, $0.stopped)
        }
        let plan = PublishingPlan(
            commits,
            over: published,
            inSlot: slot,
            byteCount: byteCount,
            bulkByteCount: StorageFile.bulkGrowthByteCount,
            flushes: options.durability == .flushed,
            way: way,
            hasAcknowledged: hasAcknowledged(commits)
        )
        #if DEBUG
        assertInvariants { () throws(BrokenInvariant) in try plan.checkInvariants() }
        #endif
        var step = PublishingPlan.Step.writing
        do throws(StorageError) {
            if let stopped { throw stopped }
            try carryOut(plan, from: byteCount, &step)
        } catch {
            if step == .appending || step == .flushingLog, hasLostLog, let end = endOfLostLog(behind: commits) {
                return try publish(commits, last, pinning: isPinned, by: end, lock)
            }
            recover(from: error, at: step, of: plan, published, lock)
            throw error
        }
        raisePageLimit(to: last.pageCount)
        for run in plan.runs {
            reservation.verified[Int(run.page)].store(UInt32(truncatingIfNeeded: run.checksum), ordering: .relaxed)
        }
        writer.withLock { $0.release(upTo: last.version, in: reservation) }
        checkWriterBoxIfAsked()
        let hasPin = state.withLock { state in
            state.published = plan.header
            if let end = logEnd(behind: plan) { state.published.mark.point = end }
            if plan.entries == nil { state.slot = plan.slot }
            return isPinned && pinPublished(&state, lock)
        }
        if openLog != nil, plan.header.mark.isOpen { publishImage(lock) }
        // Behind the image: where this process dies before it, whoever ends the log writes over the header, which nobody knows, and a note
        // would have the log be durable up to a place that it does not reach from the version before.
        goOnInLog(behindPagesOf: plan)
        lock.publish(last.version)
        if plan.hasAcknowledged { forgetOwedPages() }
        checkOwedRecordsIfAsked()
        if plan.flushesHeader { confirm(plan.header, inSlot: slot) }
        goOnInLog(behind: plan)
        checkLogIfAsked()
        return hasPin ? Snapshot(file: self, header: plan.header, view: view) : nil
    }

    /// Brings a file of the format before to the present one: the published version gets a header in that format, in the slot that
    /// does not hold it.
    ///
    /// The first commit takes the place of the former header then. So there is no moment at which a release that knows the former
    /// format only finds a whole header of an older version than the newest: it opens the same version as this one, or refuses.
    private func carryOver() throws(StorageError) {
        let (published, slot, stopped) = state.withLock { ($0.published, $0.slot, $0.stopped) }
        guard published.isFormer, stopped == nil else { return }
        let begun = headers(inSlot: 1 - slot).first { $0.version == published.version && !$0.isFormer }
        if let begun, !headers(inSlot: slot).contains(where: { $0.version == published.version && $0.isFormer }) {
            // The former header was overwritten, and could not be brought back: that was done when this one was on the disk.
            return noteCarriedOver(begun, inSlot: 1 - slot)
        }
        let isFlushed = options.durability == .flushed
        let header = published.carriedOver(asDurable: isFlushed)
        var isFlushing = false
        do throws(StorageError) {
            if isFlushed, begun != nil {
                // Somebody has come so far before. The former header may be what was brought back after a commit that failed, and on
                // the disk that commit: before the other slot is overwritten, it is written once more, as it is.
                keepSlot(slot)
                try restoreSlot(slot)
            }
            if isFlushed, begun != nil || published.confirmedVersion < published.version {
                isFlushing = true
                try data.synchronize()
                isFlushing = false
            }
            try header.write(toSlot: 1 - slot, of: data, by: slotMemory)
            isFlushing = true
            if isFlushed { try data.synchronize() }
        } catch {
            if isFlushing { stopWriting(after: error) }
            loseCommits(error)
            throw error
        }
        noteCarriedOver(header, inSlot: 1 - slot)
    }

    private func noteCarriedOver(_ header: FileHeader, inSlot slot: Int) {
        state.withLock { state in
            state.published = header
            state.slot = slot
        }
    }

    /// The copies of a slot that are whole.
    func headers(inSlot slot: Int) -> [FileHeader] {
        let first = slot * FileHeader.copiesPerSlot
        return (first..<first + FileHeader.copiesPerSlot)
            .compactMap { page in
                let bytes = reservation.mapping + page * pageByteCount
                guard case .valid(let header) = FileHeader.read(bytes, page: PageNumber(page)) else { return nil }
                return header
            }
    }

    /// Nobody knows any more what is on the disk; where writing has stopped before, the reason of that stays.
    ///
    /// - Parameters:
    ///   - error: The failure.
    ///   - isLogLost: Whether the log has been deleted that has what was acknowledged.
    func stopWriting(after error: StorageError, withoutLog isLogLost: Bool = false) {
        if let lock, lock.logState != .none { lock.stopWriting() }
        let what =
            if !owesPages.load(ordering: .relaxed) {
                "after a failed flush (\(error.message)); close the realm and open it again"
            } else if isLogLost {
                "after a failure (\(error.message)). Commits that were acknowledged are not in the file yet, and the log that has them was "
                    + "deleted: bring it back before the realm is opened again"
            } else {
                "after a failure (\(error.message)). The log has commits that were acknowledged and are not in the file yet: close the realm "
                    + "and open it again, which applies them"
            }
        let stopped = StorageError(
            .writingStopped,
            "Writing has stopped \(what)",
            path: path,
            errorNumber: error.errorNumber
        )
        state.withLock { $0.stopped = $0.stopped ?? stopped }
    }

    /// Writes and flushes what a plan says.
    private func carryOut(
        _ plan: PublishingPlan,
        from byteCount: Int,
        _ step: inout PublishingPlan.Step
    ) throws(StorageError) {
        // Transactions that go on behind those before them do not look whether the file is still there.
        if plan.hasAcknowledged { _ = try data.currentByteCount() }
        try writeContent(of: plan, from: byteCount, &step)
        if plan.flushesContent {
            step = .flushingContent
            try synchronizePages()
        }
        if let entries = plan.entries {
            step = .appending
            try openLog?.append(entries)
            step = .flushingLog
            try openLog?.flush()
            return
        }
        keepSlot(plan.slot)
        step = .writingHeader
        try plan.header.write(toSlot: plan.slot, of: data, by: slotMemory)
        if plan.flushesHeader {
            step = .flushingHeader
            try synchronizePages()
        }
    }

    /// Makes the file long enough, and writes the pages.
    private func writeContent(
        of plan: PublishingPlan,
        from byteCount: Int,
        _ step: inout PublishingPlan.Step
    ) throws(StorageError) {
        var reached = step
        defer { step = reached }
        try growth.withLock { (growth) -> Result<Void, StorageError> in
            do throws(StorageError) {
                let needed = plan.neededByteCount
                growth.committedByteCount = needed
                var byteCount = byteCount
                if needed > byteCount {
                    // What is known of the length may be older than the last time it was changed.
                    byteCount = try data.currentByteCount()
                }
                if needed > byteCount, !plan.isBulk {
                    let end = max(needed, byteCount + StorageFile.growthStep(byteCount: byteCount))
                    byteCount = try grow(
                        from: byteCount,
                        to: end,
                        flushing: plan.flushesLength,
                        atLeast: needed,
                        &reached
                    )
                }
                try data.write(plan.runs, of: reservation, leavingHolesIn: &growth, behind: &byteCount)
                try data.fillHoles(of: &growth, behind: &byteCount, to: needed)
                if plan.isBulk { note(byteCount: byteCount) }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        .get()
    }

    /// Makes the file longer ahead of need, or, where the disk has no space for that, by less, and at least as long as is needed.
    ///
    /// What the disk says that it has left is an estimate, which refuses nothing that is needed.
    ///
    /// - Parameters:
    ///   - byteCount: Its length.
    ///   - end: The length that is wanted.
    ///   - isFlushed: Whether the length is flushed.
    ///   - needed: The length that is enough; 0 where none is that is less.
    ///   - step: What is being done.
    /// - Returns: Its new length.
    /// - Throws: The failure; the file has its old length then.
    func grow(
        from byteCount: Int,
        to end: Int,
        flushing isFlushed: Bool,
        atLeast needed: Int,
        _ step: inout PublishingPlan.Step
    ) throws(StorageError) -> Int {
        var grown = (end + 65535) & ~65535
        if grown > byteCount {
            // Else zeros would be written up to the limit first, and cut again.
            FileSizeLimit.ask()
            let least = needed > byteCount ? needed : grown
            try FileSizeLimit.require(least, "Cannot make the realm file longer", path)
            if !FileSizeLimit.allows(grown) { grown = max(needed, FileSizeLimit.most & ~65535) }
        }
        // Else zeros would fill the disk first.
        if needed < grown, let free = data.freeByteCount, free < grown - byteCount {
            guard needed > byteCount else {
                throw StorageError(.full, "The device has no space left to make the realm file longer", path: path)
            }
            grown = max(needed, (byteCount + free / 2) & ~65535)
        }
        while true {
            do throws(StorageError) {
                try data.grow(from: byteCount, to: grown)
                break
            } catch {
                guard error.code == .full, needed > byteCount, needed < grown else { throw error }
                // Not just by what is needed: the next commits would each be refused what is more, and flush a length.
                grown = max(needed, (byteCount + (grown - byteCount) / 2) & ~65535)
            }
        }
        if isFlushed {
            step = .flushingLength
            do throws(StorageError) {
                try synchronizePages()
            } catch {
                try? data.setByteCount(byteCount)
                throw error
            }
            step = .writing
        }
        note(byteCount: grown)
        return grown
    }

    /// Has nothing of commits that failed be there, or stops writing where that cannot be known.
    private func recover(
        from error: StorageError,
        at step: PublishingPlan.Step,
        of plan: PublishingPlan,
        _ published: FileHeader,
        _ lock: LockFile
    ) {
        let remedy = plan.remedy(afterFailureOf: step, error.code)
        // Nobody finds the records of a log without a name.
        var stops = remedy.stopsWriting || plan.hasAcknowledged && hasLostLog
        if remedy.restoresSlot {
            do throws(StorageError) {
                try restoreSlot(plan.slot)
                // The commits that follow are made durable by their records, and write to no slot: what failed must not be on the disk
                // behind one that is acknowledged.
                if plan.isBesideLog, !stops { try synchronizePages() }
            } catch {
                stops = true
                lock.refuse(plan.header)
            }
        }
        if step == .appending || step == .flushingLog, let log = openLog {
            // What was not flushed may stand in the log, whole, and is not there.
            lock.refuse(log.durable, of: log.header.log)
        }
        leaveLostLog(afterFailureOf: step, of: plan)
        if stops {
            stopWriting(after: error, withoutLog: plan.hasAcknowledged && hasLostLog)
        } else if plan.hasAcknowledged {
            leavePagesToNextTurn(because: error)
        }
        if remedy.cutsBack {
            loseCommits(error, cuttingBackTo: published, afterFailureOf: plan.header.version)
        } else {
            loseCommits(error)
        }
    }

    /// Pins the version that is about to be published; false when there is no entry for it.
    private func pinPublished(_ state: inout State, _ lock: LockFile) -> Bool {
        let version = state.published.version
        if let place = state.pins.index(forKey: version) {
            _ = state.pins.values[place].add(from: nil)
            return true
        }
        var entry = state.spareEntries.popLast()
        if let entry { lock.setVersion(version, ofEntry: entry) } else { entry = try? lock.register(version: version) }
        guard let entry else { return false }
        state.pins[version] = Pin(count: 1, entry: entry, origins: [], header: state.published)
        return true
    }

    /// Forgets every prepared commit after one that failed, and the transactions that were built on them.
    ///
    /// Whoever begins to write afterwards builds on what is published.
    ///
    /// - Returns: Whether a transaction is open that reads what they wrote, until it ends.
    @discardableResult
    func loseCommits(_ error: StorageError) -> Bool {
        let isRead = writer.withLock { box -> Bool in
            let isRead = box.state?.group?.isInMember ?? false
            // Those that were prepared on top of them are lost, too. Pages that stayed in private memory would hide what
            // another process writes there; none does while a transaction is open here.
            box.loseCommits(in: reservation)
            // What stands unsealed on the lost commits is lost with them; an open member finds out when it ends.
            if let group = box.state?.group, !group.isInMember {
                for extent in group.taken {
                    for page in extent.page..<extent.end { box.withdrawBuffer(of: Int(page), in: reservation) }
                }
            }
            box.state = nil
            box.lastLoss = error
            lastLostGroup.store(box.groupCount, ordering: .releasing)
            return isRead
        }
        checkWriterBoxIfAsked()
        return isRead
    }

    /// Marks a durable version as such, over the version before it, so that later damage to it cannot pass for a torn commit.
    ///
    /// Needs no flush: without the mark the version is checked at the next opening.
    func confirm(_ header: FileHeader, inSlot slot: Int) {
        var header = header
        header.confirmedVersion = header.version
        header.extents = []
        try? header.write(toSlot: slot, copies: 1, of: data, by: slotMemory)
        state.withLock {
            if $0.published.version == header.version { $0.published.confirmedVersion = header.version }
        }
    }

    /// Keeps what a slot holds.
    func keepSlot(_ slot: Int) {
        let byteCount = FileHeader.copiesPerSlot * pageByteCount
        (slotMemory + byteCount).copyMemory(from: reservation.mapping + slot * byteCount, byteCount: byteCount)
    }

    /// Has a slot hold again what was kept.
    func restoreSlot(_ slot: Int) throws(StorageError) {
        let byteCount = FileHeader.copiesPerSlot * pageByteCount
        try data.write([(UnsafeRawPointer(slotMemory + byteCount), byteCount)], at: slot * byteCount)
    }

    /// Marks the newest version as durable in both copies of the other slot, where that has not been done.
    ///
    /// While commits follow each other one copy has to do: it is overwritten soon. In a file that rests, a damaged page must not
    /// take the mark away and pass for a torn commit.
    func confirmOnClose() {
        guard let lock, !data.isReadOnly, ForkDetector.generation == forkGeneration else { return }
        let (published, slot, stopped) = state.withLock { ($0.published, $0.slot, $0.stopped) }
        guard (try? requireLength(of: UInt64(FileHeader.slotPageCount))) != nil else { return }
        // Whatever else stands there, a commit of a process that died before it could be acknowledged must not come to life
        // at the next opening.
        let isMarked = (0..<FileHeader.copiesPerSlot)
            .allSatisfy { copy in
                let page = (1 - slot) * FileHeader.copiesPerSlot + copy
                let bytes = reservation.mapping + page * pageByteCount
                guard case .valid(let other) = FileHeader.read(bytes, page: PageNumber(page)) else { return false }
                return other.version == published.version && other.confirmedVersion == other.version
            }
        // While a log is open, and for whoever read beside one, the newest version is another process's business.
        guard stopped == nil, !isMarked, !published.mark.isOpen else { return }
        lock.forgetDeadWaiters()
        guard (try? lock.tryLockForWriting()) == true else { return }
        if lock.newestVersion == published.version, lock.logState == .none {
            var header = published
            header.confirmedVersion = header.version
            header.extents = []
            try? header.write(toSlot: 1 - slot, of: data)
        }
        lock.unlockForWriting()
    }
}
