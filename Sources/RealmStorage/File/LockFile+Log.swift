import Atomics

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

    /// Notes that nothing behind a place in a log must ever be believed.
    func refuse(_ point: LogPoint, of log: LogIdentifier) {
        noteLog(log)
        memory.word64(LogWord.failedChain).store(point.chain, ordering: .relaxed)
        memory.word64(LogWord.failedOffset).store(point.offset + 1, ordering: .sequentiallyConsistent)
    }

    private func noteLog(_ log: LogIdentifier) {
        guard memory.word64(LogWord.logID).load(ordering: .relaxed) != log.low else { return }
        memory.word64(LogWord.durableOffset).store(0, ordering: .relaxed)
        memory.word64(LogWord.failedOffset).store(0, ordering: .relaxed)
        memory.word64(LogWord.logID).store(log.low, ordering: .sequentiallyConsistent)
    }
}
