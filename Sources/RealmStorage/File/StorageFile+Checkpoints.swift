import Synchronization

/// Checkpoints: versions at which a recovery begins, so that nobody needs the log before them.
///
/// Most are made beside the commits, by a thread of their own, which never has the write lock. It has the checkpoint lock, so that whoever
/// is to end the log waits for its header. What it may not overtake waits for it in this process: a commit that is kept as pages, a
/// full log, and the close.
extension StorageFile {
    /// Chooses the published version for a checkpoint, and has it made beside the next commits.
    ///
    /// To be called by whoever has the log's turn, when nothing is being published: no transaction has begun on a later published version,
    /// so that none has used pages again that this version needs, and none will.
    func beginCheckpoint() {
        guard let log = options.log, let lock else { return }
        let isBegun = checkpoint.withLock { course in
            guard course.isResting else { return false }
            let (published, slot) = state.withLock { ($0.published, $0.slot) }
            // Where the system cannot say, too: a writer who finds the log full makes the checkpoint himself.
            guard published.version > checkpointVersion.load(ordering: .relaxed),
                (try? lock.tryLockForCheckpoint()) == true
            else { return false }
            // Another process may have ended the log since the last commit: it has that lock while it does.
            guard lock.logState == .open else {
                lock.unlockForCheckpoint()
                return false
            }
            candidateVersion.store(published.version, ordering: .sequentiallyConsistent)
            let header = checkpointHeader(of: published, published.mark)
            return course.choose(CheckpointCourse.Candidate(header: header, slot: 1 - slot))
        }
        guard isBegun else { return }
        let errand = CheckpointErrand(self)
        checkpointErrand.withLock { $0 = WeakReference(errand) }
        log.runBeside(.checkpoint) { errand.run() }
    }

    /// Carries out what is left of a checkpoint that was begun, after whoever is at it.
    package func finishCheckpoint() {
        // In a child the file is the parent's, and so may be the lock.
        guard ForkDetector.generation == forkGeneration else { return }
        checkpointSteps.withLock { _ in
            while takeCheckpointStep() {}
        }
    }

    /// The same, for the last one that uses the file: no thread keeps it open behind this.
    package func endCheckpoint() {
        guard ForkDetector.generation == forkGeneration else { return }
        logRest?.silence()
        finishCheckpoint()
        checkpointErrand.withLock { $0?.object }?.giveUp()
        // A commit under way may have begun another one, whose errand was just given up.
        finishCheckpoint()
    }

    /// Carries out the next step of the checkpoint that was begun; one caller at a time.
    ///
    /// A failure stops writing. Commits that the log makes durable meanwhile stay: the next opening finds them there.
    ///
    /// - Returns: Whether there was one, and it succeeded.
    package func takeCheckpointStep() -> Bool {
        guard let (candidate, step) = checkpoint.withLock({ $0.next }) else { return false }
        checkCandidateIfAsked(candidate)
        do throws(StorageError) {
            switch step {
            case .flushPages: try synchronizePages()
            case .writeHeader: try candidate.header.write(toSlot: candidate.slot, of: data)
            case .flushHeader:
                try synchronizePages()
                noteCheckpoint(candidate)
            }
        } catch {
            stopWriting(after: error)
            checkpoint.withLock { course in
                course.fail()
                lock?.unlockForCheckpoint()
            }
            return false
        }
        checkpoint.withLock { course in
            course.advance()
            // Not before the next one can be begun, and not behind its beginning.
            if course.isResting { lock?.unlockForCheckpoint() }
        }
        return true
    }

    /// Has the candidate be the checkpoint: its header is on the disk.
    private func noteCheckpoint(_ candidate: CheckpointCourse.Candidate) {
        state.withLock { state in
            state.slot = candidate.slot
            // The next header that is written is newer than this one.
            state.published.sequence = max(state.published.sequence, candidate.header.sequence)
        }
        // Before pages of the one before are used again: whoever ends the log writes over its header, and not over this one.
        if let lock { publishImage(lock) }
        // In this order, and looked at in the other one: at any moment one of the two is the version that a recovery needs.
        checkpointVersion.store(candidate.header.version, ordering: .sequentiallyConsistent)
        candidateVersion.store(0, ordering: .sequentiallyConsistent)
    }

    /// Gives back what the log has before a checkpoint that was made beside the commits; for whoever appends.
    func releaseBehindCheckpoint() {
        guard let point = checkpoint.withLock({ $0.takeUnneeded() }) else { return }
        openLog?.release(upTo: point)
    }

    /// Adds the version of the checkpoint, and the one that is to be the next, to those whose pages must stay.
    func pinCheckpoint(in pinned: inout [UInt64]) {
        let words = [
            candidateVersion.load(ordering: .sequentiallyConsistent),
            checkpointVersion.load(ordering: .sequentiallyConsistent),
        ]
        for word in words where word != 0 { pinned.pin(word) }
    }

    /// Has a recovery begin at the published version, and gives back what the log has before it; for whoever publishes.
    func makeCheckpoint(closing isClosing: Bool = false) throws(StorageError) {
        guard let openLog else { return }
        finishCheckpoint()
        releaseBehindCheckpoint()
        do throws(StorageError) {
            // A flush behind one that failed succeeds, and says nothing of what that one left out.
            if let stopped = state.withLock({ $0.stopped }) { throw stopped }
            // Of all versions since the last checkpoint.
            try synchronizePages()
        } catch {
            if !hasStopped { stopWriting(after: error) }
            loseCommits(error)
            throw error
        }
        // Behind its last record there may be others, which are acknowledged and have no pages yet.
        let point = owesPages.load(ordering: .relaxed) ? state.withLock { $0.published.mark.point } : openLog.end
        try writeHeader(LogMark(log: openLog.header.log, point: point, isOpen: !isClosing))
        checkpointVersion.store(state.withLock { $0.published.version }, ordering: .releasing)
        openLog.release(upTo: point)
    }

    /// Writes the header of the published version, whose pages are durable, to the slot that no recovery needs, and flushes it.
    func writeHeader(_ mark: LogMark) throws(StorageError) {
        let (published, slot) = state.withLock { ($0.published, $0.slot) }
        let header = checkpointHeader(of: published, mark)
        do throws(StorageError) {
            try header.write(toSlot: 1 - slot, of: data, by: slotMemory)
            try synchronizePages()
        } catch {
            stopWriting(after: error)
            loseCommits(error)
            throw error
        }
        state.withLock { state in
            state.published = header
            state.slot = 1 - slot
        }
        if mark.isOpen, let lock { publishImage(lock) }
    }

    /// The header of a version whose pages are durable.
    private func checkpointHeader(of published: FileHeader, _ mark: LogMark) -> FileHeader {
        var header = published
        header.mark = mark
        header.sequence += 1
        header.isContentFlushed = true
        header.extents = []
        header.contentChecksum = 0
        // It is no mark of another header.
        header.confirmedVersion = min(published.confirmedVersion, header.version - 1)
        return header
    }

    /// Flushes the realm file; with a log open others learn of a failure even when this process dies of it.
    ///
    /// One thread at a time does so, and nobody behind a failure: the system tells only one caller of it, and whoever flushes beside or
    /// behind that one would take for durable what was left out.
    func synchronizePages() throws(StorageError) {
        guard let lock, lock.logState != .none else { return try data.synchronize() }
        let result = pageFlush.withLock { (failure) -> Result<Void, StorageError> in
            if let failure { return .failure(failure) }
            lock.notePageFlush(true)
            do throws(StorageError) {
                try data.synchronize()
            } catch {
                failure = error
                return .failure(error)
            }
            lock.notePageFlush(false)
            return .success(())
        }
        try result.get()
    }

    /// Shows other processes the published version, whose header is in no slot.
    ///
    /// Whoever publishes and whoever makes a checkpoint do so one after the other, each with what is the newest then.
    func publishImage(_ lock: LockFile) {
        imaging.withLock { _ in
            let (published, slot) = state.withLock { ($0.published, $0.slot) }
            lock.publishImage(published, inSlot: slot)
        }
    }
}
