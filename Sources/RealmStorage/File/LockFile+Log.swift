import Atomics
import CRealmShims
import Glibc

/// What a lock file keeps of a log, beyond the life of its processes.
extension LockFile {
    /// What the processes before have left of a log.
    struct PastLog {
        /// The low half of the identifier of the log that the rest is about.
        var identifier: UInt64 = 0
        /// The durable offset, plus one.
        var durableWord: UInt64 = 0
        /// The offset behind which a record failed, plus one.
        var failedWord: UInt64 = 0
        /// The checksum of the record there.
        var failedChain: UInt64 = 0

        /// Up to where a log was durable, as far as they knew.
        func durableOffset(of log: LogIdentifier) -> UInt64 {
            identifier == log.low && durableWord > 0 ? durableWord - 1 : 0
        }

        /// Where a log ends, because the record behind it failed.
        func refused(in log: LogIdentifier) -> LogPoint? {
            guard identifier == log.low, failedWord > 0 else { return nil }
            return LogPoint(offset: failedWord - 1, chain: failedChain)
        }
    }

    private typealias LogWord = LockFileLayout.Word

    /// Notes how far a log is durable.
    func note(durable point: LogPoint, of log: LogIdentifier) {
        noteLog(log)
        memory.word64(LogWord.durableOffset).store(point.offset + 1, ordering: .relaxed)
    }

    /// Up to where a log is durable, as far as its process has said: behind the image, what was acknowledged without pages.
    func durableOffset(of log: LogIdentifier) -> UInt64 { pastLog.durableOffset(of: log) }

    /// What the processes so far have said of a log.
    var pastLog: PastLog {
        PastLog(
            identifier: memory.word64(LogWord.logID).load(ordering: .sequentiallyConsistent),
            durableWord: memory.word64(LogWord.durableOffset).load(ordering: .sequentiallyConsistent),
            failedWord: memory.word64(LogWord.failedOffset).load(ordering: .sequentiallyConsistent),
            failedChain: memory.word64(LogWord.failedChain).load(ordering: .sequentiallyConsistent)
        )
    }

    /// Notes that nothing behind a place in a log must ever be believed.
    func refuse(_ point: LogPoint, of log: LogIdentifier) {
        noteLog(log)
        memory.word64(LogWord.failedChain).store(point.chain, ordering: .relaxed)
        memory.word64(LogWord.failedOffset).store(point.offset + 1, ordering: .sequentiallyConsistent)
    }

    // MARK: The newest version beside an open log

    /// Whether there is a log that may hold newer commits than the header slots.
    enum LogState {
        case none
        case open
        /// A header that says that it is closed may be on the disk: nothing must be appended any more.
        case ending
    }

    /// The header of the newest version, which stands in no slot while a log is open.
    struct LogImage {
        var header: FileHeader
        /// The slot of the checkpoint.
        var slot: Int
    }

    private static let openBit: UInt64 = 1
    private static let imageShift: UInt64 = 1
    private static let slotShift: UInt64 = 2
    private static let endingBit: UInt64 = 8

    var logState: LogState {
        let word = memory.word64(LogWord.logImage).load(ordering: .sequentiallyConsistent)
        if word == 0 { return .none }
        return word & LockFile.endingBit == 0 ? .open : .ending
    }

    /// Publishes a version that a log has made durable: header, place in the log and durable offset at once, by one word.
    ///
    /// A writer that dies before leaves the image before it. The caller has the write lock, or the checkpoint lock in the process of the
    /// log; one at a time.
    ///
    /// - Parameters:
    ///   - header: The header, with the place behind its last record.
    ///   - slot: The slot of the checkpoint.
    func publishImage(_ header: FileHeader, inSlot slot: Int) {
        let word = memory.word64(LogWord.logImage)
        let before = word.load(ordering: .relaxed)
        let image = before == 0 ? 0 : 1 - (before >> LockFile.imageShift & 1)
        header.store(to: memory.address(LockFileLayout.images + Int(image) * LockFileLayout.imageByteCount), page: 0)
        let after = LockFile.openBit | image << LockFile.imageShift | UInt64(slot) << LockFile.slotShift
        word.store(after, ordering: .sequentiallyConsistent)
    }

    /// The newest version while a log is open; nil when none is.
    var image: LogImage? {
        if logState == .none { return nil }
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: pageByteCount, alignment: pageByteCount)
        defer { bytes.deallocate() }
        // Whoever copies while two versions are published copies anew: the checksum tells.
        for _ in 0..<1000 {
            let word = memory.word64(LogWord.logImage).load(ordering: .sequentiallyConsistent)
            if word == 0 { return nil }
            let image = Int(word >> LockFile.imageShift & 1)
            let source = memory.address(LockFileLayout.images + image * LockFileLayout.imageByteCount)
            bytes.copyMemory(from: source, byteCount: pageByteCount)
            guard case .valid(let header) = FileHeader.read(bytes, page: 0) else { continue }
            return LogImage(header: header, slot: Int(word >> LockFile.slotShift & 1))
        }
        return nil
    }

    /// Says that a closed header is about to be written: whoever takes the write lock ends the log, and appends nothing.
    func beginEndOfLog() {
        let word = memory.word64(LogWord.logImage)
        word.store(word.load(ordering: .relaxed) | LockFile.endingBit, ordering: .sequentiallyConsistent)
    }

    /// Says that the newest version stands in a slot again.
    func endLog() { memory.word64(LogWord.logImage).store(0, ordering: .sequentiallyConsistent) }

    /// Takes the checkpoint lock, which the process of the log has while it makes a checkpoint beside its commits, and whoever ends the
    /// log of another process.
    ///
    /// - Returns: Whether it was free.
    /// - Throws: `StorageError` when the system cannot say.
    func tryLockForCheckpoint() throws(StorageError) -> Bool {
        guard isOwn else { return false }
        while true {
            switch crealm_ofd_lock(descriptor, Int32(F_WRLCK), LockFileLayout.checkpointByte, 1, 0) {
            case 0: return true
            case EAGAIN, EACCES: return false
            case EINTR: continue
            case let error: throw SystemCall.error(error, "Cannot take the checkpoint lock", path)
            }
        }
    }

    /// The same, blocking the thread until the other process has written its header, or is dead.
    ///
    /// - Parameter limit: How long.
    /// - Throws: `timedOut` when it is not free then.
    func lockForCheckpoint(within limit: Duration) throws(StorageError) {
        try failures?.step(.lock, path: path)
        let end = ContinuousClock.now + limit
        // The system has no lock that is waited for with a limit, and a checkpoint is a matter of milliseconds.
        var pause: useconds_t = 50
        while try !tryLockForCheckpoint() {
            guard isOwn else { throw StorageError(.ended, "The file was closed. Open it again", path: path) }
            guard ContinuousClock.now < end else {
                throw StorageError(
                    .timedOut,
                    "Another process has been bringing the realm to the disk for \(limit), or is dead and has left a child that keeps its "
                        + "locks. End that child, or try again",
                    path: path
                )
            }
            usleep(pause)
            pause = min(pause * 2, 10_000)
        }
    }

    func unlockForCheckpoint() {
        guard isOwn else { return }
        _ = crealm_ofd_lock(descriptor, Int32(F_UNLCK), LockFileLayout.checkpointByte, 1, 0)
    }

    /// Notes, before a flush of the realm file, that it may fail: the error is reported to the caller alone, who may die with it.
    func notePageFlush(_ begins: Bool) {
        memory.word32(LogWord.pageFlush).store(begins ? 1 : 0, ordering: .sequentiallyConsistent)
    }

    /// Has no process write any more until nobody has the file open.
    func stopWriting() { memory.word32(LogWord.stopped).store(1, ordering: .sequentiallyConsistent) }

    /// Whether writing has stopped; for whoever has the write lock.
    var hasStopped: Bool { memory.word32(LogWord.stopped).load(ordering: .sequentiallyConsistent) != 0 }

    /// Whether a flush of the realm file is under way, or may have failed; for whoever has the write lock and the checkpoint lock, with which
    /// none is under way.
    var isPageFlushNoted: Bool { memory.word32(LogWord.pageFlush).load(ordering: .sequentiallyConsistent) != 0 }

    private func noteLog(_ log: LogIdentifier) {
        guard memory.word64(LogWord.logID).load(ordering: .relaxed) != log.low else { return }
        memory.word64(LogWord.durableOffset).store(0, ordering: .relaxed)
        memory.word64(LogWord.failedOffset).store(0, ordering: .relaxed)
        memory.word64(LogWord.logID).store(log.low, ordering: .sequentiallyConsistent)
    }
}
