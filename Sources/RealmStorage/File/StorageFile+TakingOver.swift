import Glibc
import Synchronization

/// What another process has acknowledged, and left without pages.
extension StorageFile {
    /// Waits, for an opening beside other processes, until what they have acknowledged can be read.
    ///
    /// The process that owes the pages sees this one from now on, and makes them in a moment; where it is dead, they are made from its log.
    /// Where it does neither, as in the midst of a transaction, they are read in memory.
    ///
    /// - Parameter readsAtOnce: Whether who reads only reads them in memory where nobody is about to make them: an opening for writing has
    ///   tried, and found no space.
    /// - Throws: `timedOut` where it does not make them, and they cannot be read in memory. For reading only, and where it is dead, what says of
    ///   a closed file that its log is to be applied first.
    func waitForOwedPages(inMemory readsAtOnce: Bool) throws(StorageError) {
        guard let lock else { return }
        let begin = ContinuousClock.now
        var readsLogBehind = StorageFile.makingPatience
        var pause: useconds_t = 100
        while isBehindOtherLog(lock) {
            if data.isReadOnly {
                // It goes before it makes them only where it dies, or there is no space, and who reads makes none.
                if lock.isFreeForWriting, isBehindOtherLog(lock), let header = lock.image?.header {
                    if readsAtOnce, readsOwedByOthers() { return }
                    try header.requireClosedLog(path, forReadingOnly: true)
                }
            } else if try tryLockForWriting() {
                defer { unlockForWriting() }
                // It has died, unless it has made them just now.
                guard isBehindOtherLog(lock) else { return }
                do throws(StorageError) {
                    return try followLog(lock)
                } catch {
                    // A realm opens on a full disk.
                    guard error.code == .full, readsOwedByOthers() else { throw error }
                    return
                }
            }
            let time = ContinuousClock.now - begin
            if time >= readsLogBehind {
                if readsOwedByOthers() { return }
                // It was published meanwhile, or there is no memory for it.
                readsLogBehind = time * 2
            }
            guard time < options.owedPagesWait else {
                throw StorageError(
                    .timedOut,
                    "Another process has acknowledged commits that cannot be read yet, and has been in a write transaction for "
                        + "\(options.owedPagesWait). Open the realm again when that has ended",
                    path: path
                )
            }
            usleep(pause)
            pause = min(pause * 2, 5_000)
        }
        try takeImage(of: lock)
    }

    /// Takes over a version that stands in the lock file and not yet as the newest one: its process may have ended between the two.
    private func takeImage(of lock: LockFile) throws(StorageError) {
        guard let image = lock.image, image.header.version > lock.newestVersion else { return }
        let byteCount = try data.currentByteCount()
        try state.withLock { (state) throws(StorageError) in
            guard image.header.version > state.published.version else { return }
            try take(HeaderRecovery.Result(header: image.header, slot: image.slot), &state, byteCount: byteCount)
        }
    }

    /// How long a process has for making pages, before another one reads its log instead.
    private static let makingPatience = Duration.milliseconds(20)

    /// Has whoever asks for the newest version read it in memory, made from the log of the process that owes its pages; for an opening.
    ///
    /// That process sees this one, and acknowledges nothing more without pages.
    ///
    /// - Returns: Whether that can be: not where the version has pages by now, this process cannot read the log, or its records cannot be applied.
    private func readsOwedByOthers() -> Bool {
        // Where that process has stopped, everybody has to close the file.
        guard let lock, !lock.hasStopped, let log = options.log ?? options.recovery,
            let base = try? beginRead(asking: .published), base.header.mark.isOpen
        else { return false }
        let mark = base.header.mark
        let past = lock.pastLog
        let durable = past.durableOffset(of: mark.log)
        // Where that version is no more the newest, the log may be written over: then the records do not follow it.
        guard let device = try? StorageFile.logDirectory(options, path).open(forReadingOnly: true),
            case .log(let reader)? = try? LogReader.read(device.descriptor, path: path), reader.header.log == mark.log,
            var tail = try? reader.tail(
                from: mark.point,
                version: base.version,
                durable: durable,
                refused: past.refused(in: mark.log)
            )
        else { return false }
        tail.cut(at: durable)
        guard let last = tail.records.last, tail.end.offset == durable else { return false }
        // The file may get one version of all of them.
        owed.lastReplayed.max(last.version, ordering: .sequentiallyConsistent)
        owedByOthers.append(tail.records)
        guard (try? owedByOthers.replayed(over: base, log)) != nil else {
            owedByOthers.removeAll()
            return false
        }
        acknowledgedByOthers.store(last.version, ordering: .sequentiallyConsistent)
        return true
    }

    /// What another process had acknowledged without pages when this one opened the file, in memory; nil where there was nothing, or it is
    /// published.
    ///
    /// One atomic load where there was nothing.
    func versionOwedByOthers() throws(StorageError) -> ReplayedVersion? {
        let version = acknowledgedByOthers.load(ordering: .acquiring)
        guard version != 0, let log = options.log ?? options.recovery else { return nil }
        if newestVersion < version {
            let base = try beginRead(asking: .published)
            if let made = try owedByOthers.replayed(over: base, log) { return made }
        }
        acknowledgedByOthers.store(0, ordering: .releasing)
        owedByOthers.removeAll()
        return nil
    }

    /// Whether a log of another process has something that was acknowledged and is not published.
    func isBehindOtherLog(_ lock: LockFile) -> Bool {
        // As where that process looks for others.
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        guard checkpointVersion.load(ordering: .sequentiallyConsistent) == 0, lock.logState != .none else {
            return false
        }
        let past = lock.pastLog
        guard let image = lock.image?.header, past.durableOffset(of: image.mark.log) > image.mark.point.offset else {
            return false
        }
        // Whoever took over may have died when all of it was in the file.
        return lock.newestVersion <= image.version
    }

    /// Whether another process has begun a log, or was about to end this one's, or this one's has commits whose pages found no space, so that
    /// who is to write has it ended first.
    ///
    /// Some atomic loads.
    package var hasLogOfOthers: Bool {
        guard isOfThisProcess, !data.isReadOnly, let lock else { return false }
        switch lock.logState {
        case .none: return false
        case .open: return checkpointVersion.load(ordering: .sequentiallyConsistent) == 0 || hasRefusedPages
        case .ending: return true
        }
    }

    /// Ends that log, so that the next transaction finds none; flushes, and may wait for as long as a checkpoint takes.
    ///
    /// The caller has just taken the write lock: no transaction is open, and every prepared commit has been published.
    package func endLogOfOthers() throws(StorageError) {
        guard hasLogOfOthers, let lock else { return }
        try followLog(lock)
    }

    /// Applies what was acknowledged behind the published version to the file, as an opening does, and closes the header.
    ///
    /// The caller has the write lock and the checkpoint lock, the pages of the published version are on the disk, and others read them.
    /// Where this process dies in here, the next one begins anew: until the new header is flushed, both slots hold the published version, and
    /// the log stays.
    func applyAcknowledged(behind image: LockFile.LogImage, _ lock: LockFile) throws(StorageError) {
        guard let log = options.log ?? options.recovery else {
            throw StorageError(
                .unsupportedFormat,
                "Another process has left commits in the log of the realm, which this one cannot apply",
                path: path
            )
        }
        let mark = image.header.mark
        let past = lock.pastLog
        let durable = past.durableOffset(of: mark.log)
        guard let device = try StorageFile.logDirectory(options, path).open(forReadingOnly: true),
            case .log(let reader) = try LogReader.read(device.descriptor, path: path), reader.header.log == mark.log
        else {
            throw StorageError(
                .corrupt,
                "The log of the realm is missing or damaged, and has commits that were acknowledged: bring it back",
                path: path
            )
        }
        var tail = try reader.tail(
            from: mark.point,
            version: image.header.version,
            durable: durable,
            refused: past.refused(in: mark.log)
        )
        tail.cut(at: durable)
        guard let last = tail.records.last else {
            return try writeHeader(LogMark(log: mark.log, point: mark.point, isOpen: false))
        }
        var settled = HeaderRecovery.Result(header: image.header, slot: 1 - image.slot)
        settled.sequence = StorageFile.newestSequence(in: reservation)
        settled.header.sequence = max(settled.header.sequence, settled.sequence) + 1
        do throws(StorageError) {
            // What stands in the other slot may be a header of pages that are used again now. Each flush is noted: where one fails and this process
            // dies of it, the next taker would write over the only slot that is whole on the disk.
            try StorageFile.settleBeforeReplay(&settled, in: data, flushing: synchronizePages)
        } catch {
            // One that finds no space for a header leaves all of it to the next turn, as one does that dies there.
            if error.code != .full || pageFlush.withLock({ $0 != nil }) { stopWriting(after: error) }
            throw error
        }
        state.withLock { state in
            state.published = settled.header
            state.slot = settled.slot
        }
        // No log is looked for inside of this.
        let follows = mayFollowLog.exchange(false, ordering: .relaxed)
        isReplaying = true
        defer {
            isReplaying = false
            if follows { mayFollowLog.store(true, ordering: .relaxed) }
        }
        let commit = try replay(tail.records, upTo: last, over: settled.header, log)
        _ = try publish(
            [commit],
            commit,
            pinning: false,
            by: .pages(LogMark(log: mark.log, point: tail.end, isOpen: false)),
            lock
        )
    }

    /// Finishes what another one has begun that took over, and died when everything was in the file: its version is published, and the
    /// image before it is still there.
    ///
    /// - Returns: Whether that was so.
    func takeEndedLog(behind image: LockFile.LogImage, _ lock: LockFile) throws(StorageError) -> Bool {
        let newest = lock.newestVersion
        guard newest > image.header.version, let found = try StorageFile.published(version: newest, reservation, path)
        else {
            return false
        }
        let byteCount = try data.currentByteCount()
        guard found.header.pageCount <= UInt64(byteCount / pageByteCount) else {
            throw StorageFile.cutShort(byteCount, path)
        }
        try state.withLock { (state) throws(StorageError) in try take(found, &state, byteCount: byteCount) }
        lock.endLog()
        try? removeLog(image.header.mark.log)
        return true
    }

    /// The greatest number of a header that stands in a slot.
    private static func newestSequence(in reservation: Reservation) -> UInt64 {
        (0..<FileHeader.slotPageCount)
            .reduce(0) { greatest, page in
                let bytes = reservation.mapping + page * pageByteCount
                guard case .valid(let header) = FileHeader.read(bytes, page: PageNumber(page)) else { return greatest }
                return max(greatest, header.sequence)
            }
    }
}
