import CRealmShims
import Glibc
import Synchronization

/// The end of a file whose last user still holds it: of one that vanishes what nobody can read any more is given back, though somebody
/// still reads a version of it, and one that is to be deleted or replaced is closed.
extension StorageFile {
    /// Has a function called whenever the last reader of a version has let go of it, on the thread of that reader.
    package func callWhenVersionIsFreed(_ body: (@Sendable () -> Void)?) {
        state.withLock { $0.versionWasFreed = body }
    }

    /// Ends the file's life: no version can be pinned from now on but those that are, and nothing can be written.
    ///
    /// The caller has the turn to write, no transaction is open, and every prepared commit has been published.
    package func end(because error: StorageError) {
        state.withLock { state in
            state.ended = error
            state.stopped = error
        }
        writer.withLock { box in
            box.state = nil
            while let bytes = box.withdrawnBuffers.popLast() { reservation.pool.giveBack(bytes) }
        }
        reservation.pool.empty()
    }

    /// Ends the use of the file in this process though somebody still holds it: whoever opens the file gets another instance, beside this one
    /// as beside another process.
    ///
    /// No transaction is open, nobody waits or watches, and every prepared commit has been published.
    package func endUse(because error: StorageError) {
        // Whoever was at it in the parent is not there in a child.
        if isOfThisProcess { logRest?.silence() }
        // Behind the giving back of the place another process may end the log, and write to the same slot.
        finishCheckpoint()
        closeLogAtEnd()
        logSpace.end()
        confirmOnClose()
        end(because: error)
    }

    /// Gives the place in the lock file back, which the last reference would do, in a file whose life is over: it is closed then.
    ///
    /// - Returns: false when somebody still reads a version.
    package func closeUnlessRead() -> Bool {
        let isRead = state.withLock { state in
            if !state.pins.isEmpty { return true }
            while let entry = state.spareEntries.popLast() { lock?.unregister(entry) }
            return false
        }
        if isRead { return false }
        // Waits for a cut that is under way. A later one finds nothing to cut: the file's end is another instance's then.
        growth.withLock { growth in
            growth.cut(at: 0)
            growth.owesCut = false
        }
        lock?.leave()
        endOutsider()
        return true
    }

    /// Says that nobody reads here any more who is in no table of readers.
    func endOutsider() {
        if lock == nil, isOfThisProcess { LockFile.endOutsider(in: data) }
    }

    /// Whether the place in the lock file was given back.
    package var isClosed: Bool { lock?.hasLeft ?? hasEnded }

    /// Whether the file's life is over.
    package var hasEnded: Bool { state.withLock { $0.ended != nil } }

    /// The versions that somebody reads in this process, oldest first.
    package var pinnedSnapshots: [Snapshot] {
        let headers = state.withLock { state in
            for version in state.pins.keys { state.pins[version]!.count += 1 }
            return state.pins.values.map(\.header)
        }
        return headers.sorted { $0.version < $1.version }.map { Snapshot(file: self, header: $0, view: view) }
    }

    /// Gives the memory of all pages but some back to the file system, in a file whose life is over.
    ///
    /// Nothing happens where the file system cannot make holes, nor in a forked child, whose parent reads the pages.
    package func giveBackPages(except isKept: (PageNumber) -> Bool) {
        guard isOfThisProcess, state.withLock({ $0.ended }) != nil else { return }
        let end = byteCount / pageByteCount
        var page = FileHeader.slotPageCount
        while page < end {
            if isKept(PageNumber(page)) {
                page += 1
                continue
            }
            let first = page
            while page < end, !isKept(PageNumber(page)) { page += 1 }
            let (offset, length) = (Int64(first * pageByteCount), Int64((page - first) * pageByteCount))
            while true {
                let result = crealm_punch_hole(data.descriptor, offset, length)
                if result == 0 { break }
                if result != EINTR { return }
            }
        }
    }

    /// The bytes that the file takes in its file system, and those that its writers keep in the process.
    package var heldByteCount: Int {
        var status = stat()
        let stored = fstat(data.descriptor, &status) == 0 ? Int(status.st_blocks) * 512 : 0
        return stored + reservation.pool.residentEnd * pageByteCount
    }
}

/// The end of a log with the last use of its file.
extension StorageFile {
    /// Ends the log when nobody uses the file any more, that of a process that was killed, too; what fails leaves it to the next opening.
    ///
    /// So do records of that one which have no pages, and a death within a flush of the realm file: nothing is read and written through a file
    /// that is going away but its header, and an opening begins at the checkpoint.
    func closeLogAtEnd() {
        guard keepsLog, let lock, lock.isOwn, mayEndLog(lock), !hasStopped else { return }
        lock.forgetDeadWaiters()
        guard (try? lock.tryLockForWriting()) == true else { return }
        endLog(lock, applying: false)
        lock.unlockForWriting()
    }

    /// The same when nobody is to write any more, while threads have something to do with the file yet; records are applied.
    ///
    /// Waits for nobody's turn: where somebody has it, whoever lets go of the file last ends the log. It waits where the log is being ended
    /// since nobody has written for a while.
    package func closeLogUnlessWritten() {
        guard keepsLog, isOfThisProcess, let lock else { return }
        guard let logRest else { return endLogUnlessWritten(lock) }
        // An alarm that came before the turn to write is taken would have it, and this return beside the end of the log.
        logRest.withoutWork { endLogUnlessWritten(lock) }
    }

    private func endLogUnlessWritten(_ lock: LockFile) {
        guard mayEndLog(lock) else { return }
        lock.forgetDeadWaiters()
        guard (try? tryLockForWriting()) == true else { return }
        if !hasStopped { endLog(lock, applying: true) }
        unlockForWriting()
    }

    /// Whether there is a log that is this process's, or that nobody else ends; to be asked again in the turn to write.
    private func mayEndLog(_ lock: LockFile) -> Bool {
        guard lock.logState != .none else { return false }
        return checkpointVersion.load(ordering: .sequentiallyConsistent) != 0 || !lock.isSharedWithOtherProcesses
    }

    /// Ends this process's log, or, where no other one has the file, what one that was killed has left; for the holder of the write lock.
    private func endLog(_ lock: LockFile, applying appliesRecords: Bool) {
        if openLog != nil, lock.logState == .open {
            // Records without pages are for an opening, or the next turn.
            if appliesRecords || !hasRefusedPages { endOwnLog(lock) }
            return
        }
        // Who lives ends its own. Nobody opens the file meanwhile.
        guard lock.logState != .none, lock.holdOffOpenings() else { return }
        defer { lock.letOpenAgain() }
        let needsHeaderOnly = openLog == nil && !isBehindOtherLog(lock) && !lock.isPageFlushNoted
        if appliesRecords || needsHeaderOnly { try? followLog(lock) }
    }

    /// Ends the log that this process has begun; for the holder of the write lock.
    func endOwnLog(_ lock: LockFile) {
        // Another process may have ended it, and written.
        if lock.logState == .open, lock.newestVersion == state.withLock({ $0.published.version }) { try? closeLog() }
    }
}
