#if DEBUG
import Atomics
import Synchronization

/// Of the memory that processes share only what this one owns is checked: another one may change everything else meanwhile.
///
/// Nothing is left of that when the process has left the file, maybe while it is looked at. A forked child has nothing of it from the
/// beginning on, and must not ask for locks that another thread may have had when it was made.
extension LockFile {
    private typealias Layout = LockFileLayout

    /// The process has its slot, and its area says what it has noted.
    func checkInvariants() throws(BrokenInvariant) {
        try Layout.checkInvariants()
        if !isOwn { return }
        try requireOwn(usedSlots.contains(processSlot), "Slot \(processSlot) lies behind the last one that is used")
        let number = processID(processSlot).load(ordering: .relaxed)
        try requireOwn(number == process, "Slot \(processSlot) has the process number \(number)")
        let waiting = waitingThreads(processSlot).load(ordering: .sequentiallyConsistent)
        try requireOwn(waiting < 1 << 31, "More threads have ended to wait for the write lock than have begun")
        try checkEntries()
        try checkRules()
        try places.withLock { (places) throws(BrokenInvariant) in
            let count = places.all.count
            try Invariant.require(count < Layout.Area.placeCount, "\(count) places have a number")
            guard let last = places.last else { return }
            let index = Int(last.number) - 1
            try Invariant.require(
                places.all.indices.contains(index) && places.all[index] == last.origin,
                "The last place is not the one with the number \(last.number)"
            )
        }
    }

    /// The entries of the process are free or in use, and all of them are counted where others look.
    ///
    /// - Parameter used: How many are in use, when that is known and cannot change.
    /// - Throws: What is wrong.
    func checkEntries(used: Int? = nil) throws(BrokenInvariant) {
        if !isOwn { return }
        try entries.withLock { (entries) throws(BrokenInvariant) in
            let (free, end) = (entries.free, entries.end)
            try Invariant.require(end <= entries.roomEnd, "Reader entry \(end - 1) has no room in the file")
            try Invariant.require(end <= readerLimit, "\(end) reader entries are in use, and \(readerLimit) may be")
            let told = LockFileMemory.word32(ownArea + Layout.Area.readerEnd).load(ordering: .sequentiallyConsistent)
            try requireOwn(told == UInt32(end), "Others look at \(told) of \(end) reader entries")
            if let used {
                try requireOwn(end - free.count == used, "\(end - free.count) reader entries are in use by \(used)")
            }
            // A bounded number: this is asked for often.
            let last = free.suffix(64)
            try Invariant.require(Set(last).count == last.count, "A reader entry is free twice")
            for entry in last {
                try Invariant.require((0..<end).contains(entry), "Reader entry \(entry) is free and was never used")
                try check(entry, standsAt: nil)
            }
        }
    }

    /// An entry of the process stands at a version, or at none.
    func check(_ entry: Int, standsAt version: UInt64?) throws(BrokenInvariant) {
        let word = readerVersion(entry, in: ownArea).load(ordering: .sequentiallyConsistent)
        let found = word == 0 ? "no version" : "version \(word - 1)"
        let expected = version.map { "version \($0)" } ?? "no version"
        try requireOwn(
            word == version.map({ $0 + 1 }) ?? 0,
            "Reader entry \(entry) stands at \(found), not at \(expected)"
        )
    }

    /// Throws unless a condition holds, or the file was left meanwhile.
    func requireOwn(_ condition: Bool, _ description: @autoclosure () -> String) throws(BrokenInvariant) {
        try Invariant.require(condition || !isOwn, description())
    }
}

extension LockFileLayout {
    /// The words of the file as a whole, with their lengths, as they stand behind each other.
    static let allWords: [(offset: Int, byteCount: Int)] = [
        (Word.magic, 8), (Word.layoutVersion, 4), (Word.fileID, 8), (Word.newestVersion, 8), (Word.wake, 4),
        (Word.reservedDoorbell, 4), (Word.writerProcess, 4), (Word.watcherCount, 4), (Word.slotEnd, 4), (Word.turn, 4),
        (Word.turnWaiterCount, 4), (Word.isRecovered, 4), (Word.device, 8), (Word.inode, 8), (Word.refusedHeader, 8),
        (Word.writerNanosecond, 8), (Word.writerPlace, 4), (Word.writerSlot, 4), (Word.bootID, 16), (Word.logImage, 8),
        (Word.durableOffset, 8), (Word.reservedAcknowledgedPosition, 8), (Word.logID, 8), (Word.reservedCheckpoint, 8),
        (Word.reservedCandidate, 8), (Word.reservedCandidateState, 4), (Word.stopped, 4), (Word.reservedPageCommit, 8),
        (Word.failedOffset, 8), (Word.failedChain, 8), (Word.ruleWithdrawer, 4), (Word.pageFlush, 4),
        (Word.reservedFlushNotes, 8), (Word.reservedCounters, 8), (Word.rowKeys, 8 * Word.rowKeyCount),
        (processIDs, 4 * slotCount), (waitingThreads, 4 * slotCount), (images, 2 * imageByteCount), (baseByteCount, 0),
    ]

    /// No word overlaps another one, all can be accessed atomically, and what a process notes fits its area.
    static func checkInvariants(_ words: [(offset: Int, byteCount: Int)] = allWords) throws(BrokenInvariant) {
        for word in words {
            let width = min(word.byteCount, 8)
            try Invariant.require(width == 0 || word.offset % width == 0, "The word at \(word.offset) is not aligned")
        }
        for (word, next) in zip(words, words.dropFirst()) {
            let end = word.offset + word.byteCount
            try Invariant.require(end <= next.offset, "The word at \(next.offset) begins before \(end)")
        }
        try Invariant.require(imageByteCount >= pageByteCount, "A header does not fit its image")
        try Invariant.require(
            baseByteCount % pageByteCount == 0 && areaByteCount % pageByteCount == 0,
            "An area does not begin at a page"
        )
        try Invariant.require(
            Area.rules + 8 * LockFile.ruleLimit <= Area.readers,
            "The rules of a process do not fit before its readers"
        )
        try Invariant.require(
            Area.readers + Reader.byteCount * readerCount <= areaByteCount && readerCount % readerStep == 0,
            "The readers of a process do not fit its area"
        )
        try Invariant.require(area(slotCount) <= initialisationByte, "A lock lies on a byte of the content")
    }
}
#endif
