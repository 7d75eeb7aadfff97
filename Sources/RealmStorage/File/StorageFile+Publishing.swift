import Synchronization

/// Bringing commits to the disk.
extension StorageFile {
    /// Writes and flushes prepared commits, as ``publish(_:pinning:)`` does, and pins none of them.
    package func publish(_ commits: [PreparedCommit]) throws(StorageError) { _ = try publish(commits, pinning: false) }

    /// Writes and flushes prepared commits, oldest first, with one flush; publishes the newest and wakes observers.
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
        let (published, slot, byteCount, stopped) = state.withLock {
            ($0.published, $0.slot, $0.byteCount, $0.stopped)
        }
        guard writer.withLock({ box in box.prepared.contains { $0 === last } }) else { throw lostBase }
        let runs = PreparedCommit.runs(of: commits)
        // Large growth is by the content itself, which is then flushed before the header.
        let isBulk =
            commits.contains(where: \.hasSpilled)
            || Int(last.pageCount) * pageByteCount - byteCount > StorageFile.bulkGrowthByteCount
        // What the header slot held, once it is touched.
        var isSlotTouched = false
        var isFlushing = false
        let target = 1 - slot
        var header = published
        do throws(StorageError) {
            if let stopped { throw stopped }
            let extents = PreparedCommit.extents(of: runs)
            try growth.withLock { (growth) -> Result<Void, StorageError> in
                do throws(StorageError) {
                    let needed = Int(last.pageCount) * pageByteCount
                    growth.committedByteCount = needed
                    var byteCount = byteCount
                    if needed > byteCount {
                        // What is known of the length may be older than the last time it was changed.
                        byteCount = try data.currentByteCount()
                    }
                    if needed > byteCount, !isBulk {
                        let step = StorageFile.growthStep(byteCount: byteCount)
                        let grown = (max(needed, byteCount + step) + 65535) & ~65535
                        try data.grow(from: byteCount, to: grown)
                        if options.durability == .flushed {
                            isFlushing = true
                            do throws(StorageError) {
                                try data.synchronize()
                            } catch {
                                try? data.setByteCount(byteCount)
                                // Space that was promised and could not be had is no loss of what was written.
                                isFlushing = error.code != .full
                                throw error
                            }
                            isFlushing = false
                        }
                        byteCount = grown
                        note(byteCount: grown)
                    }
                    try data.write(runs, of: reservation, leavingHolesIn: &growth, behind: &byteCount)
                    try data.fillHoles(of: &growth, behind: &byteCount, to: needed)
                    if isBulk { note(byteCount: byteCount) }
                    return .success(())
                } catch {
                    return .failure(error)
                }
            }
            .get()
            header.version = last.version
            header.confirmedVersion = published.version
            header.catalog = last.catalog
            header.log = last.log
            header.records = last.records
            header.oldestLogVersion = last.oldestLogVersion
            header.pageCount = UInt64(last.pageCount)
            header.isContentFlushed = isBulk || extents.count > FileHeader.maximumExtentCount
            header.extents = header.isContentFlushed ? [] : extents
            header.contentChecksum = header.isContentFlushed ? 0 : PreparedCommit.contentChecksum(of: runs)
            if header.isContentFlushed, options.durability == .flushed {
                isFlushing = true
                try data.synchronize()
                isFlushing = false
            }
            keepSlot(target)
            isSlotTouched = true
            try header.write(toSlot: target, of: data, by: slotMemory)
            if options.durability == .flushed {
                isFlushing = true
                try data.synchronize()
            }
        } catch {
            // The slot is to look as it did, so that nobody takes the commit, or this repair, for something durable.
            var isRestored = true
            if isSlotTouched {
                do throws(StorageError) {
                    try restoreSlot(target)
                } catch {
                    isRestored = false
                    lock.refuse(header)
                }
            } else if isBulk {
                cutBack(to: published, afterFailureOf: last.version)
            }
            if isFlushing || !isRestored {
                state.withLock {
                    $0.stopped = StorageError(
                        .writingStopped,
                        "Writing has stopped after a failed flush (\(error.message)); close the realm and open it again",
                        path: path,
                        errorNumber: error.errorNumber
                    )
                }
            }
            loseCommits(error)
            throw error
        }
        raisePageLimit(to: last.pageCount)
        for run in runs {
            reservation.verified[Int(run.page)].store(UInt32(truncatingIfNeeded: run.checksum), ordering: .relaxed)
        }
        writer.withLock { $0.release(upTo: last.version, in: reservation) }
        let hasPin = state.withLock { state in
            state.published = header
            state.slot = target
            return isPinned && pinPublished(&state, lock)
        }
        lock.publish(last.version)
        if options.durability == .flushed { confirm(header, inSlot: 1 - target) }
        return hasPin ? Snapshot(file: self, header: header, view: view) : nil
    }

    /// Pins the version that is about to be published; false when there is no entry for it.
    private func pinPublished(_ state: inout State, _ lock: LockFile) -> Bool {
        let version = state.published.version
        if state.pins[version] != nil {
            state.pins[version]!.count += 1
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
    private func loseCommits(_ error: StorageError) {
        writer.withLock { box in
            // Those that were prepared on top of them are lost, too. Pages that stayed in private memory would hide what
            // another process writes there.
            box.release(upTo: .max, in: reservation)
            // What stands unsealed on the lost commits is lost with them; an open member finds out when it ends.
            if let group = box.state?.group, !group.isInMember {
                for extent in group.taken {
                    for page in extent.page..<extent.end { box.withdrawBuffer(of: Int(page), in: reservation) }
                }
            }
            box.state = nil
            box.lastLoss = error
            lastLostGroup.store(box.groupCount, ordering: .releasing)
        }
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
    private func keepSlot(_ slot: Int) {
        let byteCount = FileHeader.copiesPerSlot * pageByteCount
        (slotMemory + byteCount).copyMemory(from: reservation.mapping + slot * byteCount, byteCount: byteCount)
    }

    /// Has a slot hold again what was kept.
    private func restoreSlot(_ slot: Int) throws(StorageError) {
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
        // Whatever else stands there, a commit of a process that died before it could be acknowledged must not come to life
        // at the next opening.
        let isMarked = (0..<FileHeader.copiesPerSlot)
            .allSatisfy { copy in
                let page = (1 - slot) * FileHeader.copiesPerSlot + copy
                let bytes = reservation.mapping + page * pageByteCount
                guard case .valid(let other) = FileHeader.read(bytes, page: PageNumber(page)) else { return false }
                return other.version == published.version && other.confirmedVersion == other.version
            }
        guard stopped == nil, !isMarked, (try? lock.tryLockForWriting()) == true else { return }
        if lock.newestVersion == published.version {
            var header = published
            header.confirmedVersion = header.version
            header.extents = []
            try? header.write(toSlot: 1 - slot, of: data)
        }
        lock.unlockForWriting()
    }
}
