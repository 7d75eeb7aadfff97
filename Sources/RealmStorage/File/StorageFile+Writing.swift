import Dispatch
import Synchronization

/// The write lock, and beginning and sealing transactions.
extension StorageFile {
    /// Takes the inter-process write lock if nobody else has it.
    ///
    /// Not recursive; belongs to the process, not to a thread.
    package func tryLockForWriting() throws(StorageError) -> Bool {
        try checkProcess()
        guard let lock else { throw readOnlyError }
        guard ownWriteLock.wait(timeout: .now()) == .success else { return false }
        do throws(StorageError) {
            guard try lock.tryLockForWriting() else {
                ownWriteLock.signal()
                return false
            }
        } catch {
            ownWriteLock.signal()
            throw error
        }
        mayFollowLog.store(true, ordering: .relaxed)
        return true
    }

    /// Takes the inter-process write lock, blocking the calling thread: only for dedicated threads.
    package func lockForWriting() throws(StorageError) {
        try checkProcess()
        guard let lock else { throw readOnlyError }
        ownWriteLock.wait()
        do throws(StorageError) {
            try lock.lockForWriting()
        } catch {
            ownWriteLock.signal()
            throw error
        }
        mayFollowLog.store(true, ordering: .relaxed)
    }

    /// Gives the inter-process write lock back; every prepared commit must have been published or abandoned.
    package func unlockForWriting() {
        guard let lock else { return }
        // In a forked child, and after `leave()`, the end of the file is another instance's.
        if lock.isOwn { forgetHoles() }
        lock.unlockForWriting()
        ownWriteLock.signal()
    }

    /// Whether another process waits for the write lock, while this one holds it.
    package var hasWaitingProcesses: Bool { lock?.hasWaitingProcesses ?? false }

    /// Whether another process has the file open, or may have: one that was killed counts until its slot is cleared.
    ///
    /// Some atomic loads.
    package var hasOtherProcesses: Bool { lock?.hasOtherProcesses ?? false }

    /// How many other processes wait for the write lock, for messages.
    package var waitingProcessCount: Int { lock?.waitingProcessCount ?? 0 }

    /// Who holds the write lock, for messages.
    package var writeLockHolder: WriteLockHolder? { lock?.writer }

    /// The process that holds the write lock, for messages.
    package var writerProcess: Int32? { lock?.writerProcess }

    /// The newest version, when no process holds the write lock; nil while one does, or died with it, or when that cannot be
    /// told because the file was opened for reading in a folder that cannot be written.
    var versionWhileNobodyWrites: UInt64? {
        guard let lock, lock.writerProcess == nil else { return nil }
        return lock.newestVersion
    }

    var readOnlyError: StorageError {
        StorageError(.readOnly, "The realm was opened for reading only", path: path)
    }

    // MARK: Writing

    /// Begins a write on top of the newest prepared version.
    ///
    /// The caller holds the write lock. Without `joining` no transaction may have been left unsealed.
    ///
    /// - Parameters:
    ///   - joining: Whether the transaction may become a member of the group of those that are not sealed yet, and
    ///   be left unsealed itself (``WriteTransaction/join()``).
    ///   - origin: Where the realm that writes was opened; others that wait are told.
    /// - Returns: The open transaction.
    /// - Throws: The failure; `limit` when more versions are in use than the options allow.
    package func beginWrite(
        joining: Bool = false,
        from origin: ReaderOrigin? = nil
    ) throws(StorageError) -> WriteTransaction {
        if joining, let member = try joinCounted(from: origin) { return member }
        try checkProcess()
        guard let lock, !data.isReadOnly else { throw readOnlyError }
        let isFirst = mayFollowLog.load(ordering: .relaxed)
        if isFirst { try followLog(lock) }
        let newest = lock.newestVersion
        let before = state.withLock { (state) -> Result<FileHeader, StorageError> in
            do throws(StorageError) {
                if let stopped = state.stopped { throw stopped }
                try refresh(&state, to: newest)
                if isFirst {
                    try requireLength(of: UInt64(FileHeader.slotPageCount))
                    try leaveImage(&state)
                }
                try keepEntriesForWriters(&state)
                // Asked for now: a flush under way makes the file larger before it publishes its version.
                let byteCount = try data.currentByteCount()
                guard byteCount >= Int(state.published.pageCount) * pageByteCount else {
                    throw StorageFile.cutShort(byteCount, path)
                }
                state.byteCount = byteCount
                return .success(state.published)
            } catch {
                return .failure(error)
            }
        }
        let published = try before.get()
        // Else somebody who publishes beside this may just be asking for it.
        if isFirst { mayFollowLog.store(false, ordering: .relaxed) }
        // What others take for the newest version, who may come to stand there behind the look at their tables.
        let visible = lock.newestVersion
        // Before the look at the tables: whoever registers at a checkpoint looks behind that whether it is one still.
        var kept: [UInt64] = []
        pinCheckpoint(in: &kept)
        var pinned = try lock.pinnedVersions()
        try checkActiveVersions(pinned, newest: published.version)
        oldestPin.store(pinned.first ?? published.version, ordering: .relaxed)
        pinned.pin(published.version)
        if visible < published.version { pinned.pin(visible) }
        for version in kept { pinned.pin(version) }
        pinCheckpoint(in: &pinned)
        let loaded = writer.withLock { (box) -> Result<(WriterState, WriterGroup), StorageError> in
            do throws(StorageError) {
                // No transaction is left that could point into them.
                while let bytes = box.withdrawnBuffers.popLast() { reservation.pool.giveBack(bytes) }
                let state: WriterState
                if let known = box.state, known.version >= published.version {
                    state = known
                } else if hasRefusedPages {
                    // Their commits were lost beside this one: the next turn applies their records before it goes on from what is published.
                    return .failure(lostBase)
                } else {
                    state = try WriterState.load(from: published, in: view, path: path)
                    box.state = state
                }
                // What is beyond them could be written, and never be read.
                let numbers = [
                    state.version, state.numbers.position, state.numbers.schemaGeneration, published.sequence,
                ]
                guard numbers.allSatisfy({ $0 < FileHeader.greatestWrittenVersion }) else {
                    throw StorageError(
                        .limit,
                        "The file has used up the numbers of its commits: export its data to a new one",
                        path: path
                    )
                }
                precondition(state.group == nil, "A transaction is open, or its group has not been sealed")
                box.groupCount += 1
                return .success((state, WriterGroup(box.groupCount, begunOn: state, pinned: pinned)))
            } catch {
                return .failure(error)
            }
        }
        let (writerState, group) = try loaded.get()
        // A reader whose version nobody knows holds everything back.
        if !lock.hasOutsiders { writerState.space.reclaim(pinned: pinned, durable: published.version) }
        if writerState.space.isDamaged {
            endGroup(of: writerState)
            throw .corrupt("A page was given up twice: the file is damaged", page: 0, path: path)
        }
        if leavesPages { group.usedPageCount = Int(writerState.space.pageCount) - writerState.space.availablePageCount }
        noteSpace(writerState.space)
        lock.noteWriter(from: origin)
        checkWriterBoxIfAsked()
        return WriteTransaction(
            file: self,
            state: writerState,
            view: view,
            reservation: reservation,
            group: group
        )
    }

    /// Forgets what is known of free space, so that the next write reads it from the file.
    ///
    /// The caller holds the write lock, no transaction is open, and every prepared commit has been published.
    package func forgetWriterState() {
        writer.withLock { box in
            box.state = nil
            box.release(upTo: .max, in: reservation)
        }
    }

    /// A new member of the group, once there is a reader entry for each writer.
    private func joinCounted(from origin: ReaderOrigin?) throws(StorageError) -> WriteTransaction? {
        // Whoever begins a group then is told why not.
        if let lock, !lock.isOwn { return nil }
        let kept = state.withLock { (state) -> Result<Void, StorageError> in
            do throws(StorageError) {
                return .success(try keepEntriesForWriters(&state))
            } catch {
                return .failure(error)
            }
        }
        try kept.get()
        guard let member = joinGroup() else { return nil }
        lock?.noteWriter(from: origin)
        return member
    }

    /// A new member of the group that is not sealed yet, if there is one.
    func joinGroup(asSealer isSealer: Bool = false) -> WriteTransaction? {
        let found = writer.withLock { box -> (WriterState, WriterGroup)? in
            guard let state = box.state, let group = state.group, !group.isInMember else { return nil }
            group.isInMember = true
            return (state, group)
        }
        guard let (writerState, group) = found else { return nil }
        return WriteTransaction(
            file: self,
            state: writerState,
            view: view,
            reservation: reservation,
            group: group,
            isSealer: isSealer
        )
    }

    /// Seals the transactions that were left unsealed; nil when there are none.
    ///
    /// The caller holds the write lock, and no transaction is open. When it fails, all of them are lost.
    package func sealGroup() throws(StorageError) -> PreparedCommit? {
        guard let sealer = joinGroup(asSealer: true) else { return nil }
        do throws(StorageError) {
            try checkProcess()
            try sealer.session?.seal(in: sealer)
            let prepared = try sealer.prepareCommit()
            sealer.session?.didSeal(catalog: prepared.catalog)
            return prepared
        } catch {
            // Whoever asks later why the group is lost is told, too.
            sealer.group.fail(with: error)
            sealer.discardGroup()
            throw error
        }
    }

    /// Notes that a member is over; false when its group has been lost with a commit that failed.
    func endMember(of group: WriterGroup, in state: WriterState) -> Bool {
        writer.withLock { box in
            group.isInMember = false
            return box.state === state
        }
    }

    /// Notes that a group is sealed, or forgotten.
    func endGroup(of state: WriterState) {
        let isLost = writer.withLock { box -> Bool in
            box.endGroup(of: state, in: reservation)
            return box.state !== state
        }
        if isLost { cutBackAsOwed() }
    }

    /// Notes that a group is sealed, and the commit that it has become.
    ///
    /// - Throws: `io` when a commit that it was built on has failed meanwhile.
    func endGroup(of state: WriterState, with commit: PreparedCommit) throws(StorageError) {
        let isLost = writer.withLock { box -> Bool in
            box.endGroup(of: state, in: reservation)
            if box.state !== state { return true }
            box.prepared.append(commit)
            return false
        }
        checkWriterBoxIfAsked()
        guard isLost else { return }
        cutBackAsOwed()
        throw lostBase
    }

    /// Notes that a group is forgotten, with members that had committed: they are lost.
    func giveUp(_ group: WriterGroup) {
        let error =
            group.damage
            ?? StorageError(
                .io,
                "A write that shared its commit with others could not be rolled back alone, and they are lost: write again",
                path: path
            )
        let isAcknowledged = writer.withLock { box in
            group.isGivenUp = true
            if !hasLost(group: group.number) { box.noteGivenUp(group.number, because: error) }
            return acknowledgedVersion.load(ordering: .relaxed) >= group.firstVersion
        }
        guard isAcknowledged, isOfThisProcess else { return }
        let reason = group.damage ?? lostBase
        if reason.code == .full { leavePagesToNextTurn(because: reason) } else { stopWriting(after: reason) }
    }

    /// Whether a group, or the commit that it has become, was lost with a commit that failed.
    ///
    /// One atomic load.
    package func hasLost(group: UInt64) -> Bool { group <= lastLostGroup.load(ordering: .acquiring) }

    /// Whether a group that is not published was given up, or lost with a commit that failed.
    package func hasGivenUp(group: UInt64) -> Bool { writer.withLock { $0.hasLost(group) } }

    /// Why a group was lost.
    package func lossOfGroup(_ group: UInt64) -> StorageError {
        let known = writer.withLock { box in
            box.givenUp.last { $0.group == group }?.error ?? box.lastLoss
        }
        return known ?? lostBase
    }

    /// The error of a transaction whose base was lost.
    var lostBase: StorageError {
        StorageError(.io, "An earlier commit failed while this transaction was open; begin it again", path: path)
    }

    /// Fails when writing has stopped, or when a commit that a transaction was built on was lost.
    func checkWriting(in group: WriterGroup) throws(StorageError) {
        // A forked child has its parent's transaction.
        try checkProcess()
        if let stopped = state.withLock({ $0.stopped }) { throw stopped }
        if hasLost(group: group.number) { throw lostBase }
    }
}

extension StorageFile.WriterBox {
    /// Whether a group is neither the one that is not sealed nor a commit that waits: it was lost or given up, unless it is published.
    func hasLost(_ group: UInt64) -> Bool {
        if let open = state?.group, open.number == group { return open.isGivenUp }
        return !prepared.contains { $0.group == group }
    }

    /// Notes why a group is given up.
    fileprivate mutating func noteGivenUp(_ group: UInt64, because error: StorageError) {
        // A program that goes on while everything fails must not fill memory.
        if givenUp.count == 16 { givenUp.removeFirst() }
        givenUp.append((group, error))
    }
}

extension [UInt64] {
    /// Adds a version to those whose pages must stay, ascending, unless it is there.
    mutating func pin(_ version: UInt64) {
        let index = partitioningIndex { $0 >= version }
        if index == count || self[index] != version { insert(version, at: index) }
    }
}
