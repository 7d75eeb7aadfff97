import Synchronization

/// The space of what is owed.
///
/// Its pages are made in the length that the file has. So no more is owed than leaves room in it for a small commit on top, which may be the one
/// that ends the group, with the pages of all: it needs no more of the disk than it does without those before it.
struct OwedSpace: Sendable {
    /// So many pages the file needs for those of a group and of one more commit, by an estimate.
    let needed: Int
    /// The same with room for small ones behind that.
    let withEnd: Int
    /// So long the file is made at the beginning of a group, in pages, where the disk has room, and it is much shorter.
    let wanted: Int

    /// From this length on it is long enough at the beginning of a group: what it was made longer by lasts for several groups, and no group of
    /// one commit flushes it for itself.
    var sufficient: Int { (withEnd + wanted) / 2 }
}

extension LoggedCommit {
    /// The space for the pages of its group, with its own.
    var owedSpace: OwedSpace {
        let withEnd = neededPageCount(and: 8, of: 16 << 10)
        let pageCount = Int(state.space.pageCount)
        // Longer than that, it would be cut off when the file rests.
        let step = StorageFile.growthStep(byteCount: pageCount * pageByteCount) / pageByteCount
        return OwedSpace(
            needed: neededPageCount(),
            withEnd: withEnd,
            wanted: max(withEnd, min(neededPageCount(and: 256, of: 64 << 10), pageCount + step))
        )
    }

    /// So many pages the file needs for those of the group, of this transaction, and of more commits with records of so many bytes.
    ///
    /// How many pages a record changes is not known: a small one changes a few, most of which others change, too. But a group copies each page
    /// that is in use at most once.
    private func neededPageCount(and commitCount: Int = 0, of byteCount: Int = 0) -> Int {
        var copied = 3 * (group.owedCount + 1 + commitCount)
        var new = group.owedByteCount + byteCount
        if let record = transaction.record {
            new += record.content.count
            copied += openByteCount / pageByteCount
        } else {
            // All of it may be new, and what is owed is a part of it.
            new = max(new, openByteCount)
        }
        let changed = 16 + min(copied, group.usedPageCount) + 2 * new / pageByteCount
        return Int(state.space.pageCount) + max(0, changed - availablePageCount)
    }

    /// The free pages that runs of the group are sure to find, those that are put aside included.
    private var availablePageCount: Int {
        let scattered = group.scatteredPageCount ?? state.space.scatteredPageCount
        group.scatteredPageCount = scattered
        return max(0, state.space.availablePageCount - scattered)
    }
}

extension StorageFile {
    /// Whether the file is long enough for one more commit that is left without pages; for whoever has the log's turn.
    ///
    /// It is made longer at the beginning of a group only, and none begins on a device that is nearly full. Where the file is too short, the
    /// commit has its pages at once, with those before it, which have left room for them.
    func hasPages(_ space: OwedSpace) -> Bool {
        if space.withEnd > reservation.pageCapacity { return false }
        let isBeginning = !owesPages.load(ordering: .relaxed)
        if isBeginning, !hasAmpleSpace { return false }
        if isBeginning, !isLongEnough(for: space.sufficient), !isGrowthRefused, !isWrittenAhead {
            do throws(StorageError) {
                try growAhead(to: min(space.wanted, reservation.pageCapacity) * pageByteCount)
            } catch {
                // It is told by a commit that needs it; the length that the file has may be enough.
                if hasStopped { return false }
                let byteCount = byteCount
                // What the device says that it has left is an estimate, and costs nothing to ask for.
                if error.code == .full, error.errorNumber != nil { growth.withLock { $0.refusedByteCount = byteCount } }
            }
        }
        return isSecured(space.withEnd)
    }

    /// Whether the file's device has much more space left than a group may need behind what is secured for it, which goes by an estimate.
    ///
    /// That is asked at the beginning of a group, and the answer holds for some more; while there is little each one asks. What the device does
    /// not say, as a quota, shows when pages are made.
    private var hasAmpleSpace: Bool {
        growth.withLock { growth in
            if growth.ampleGroupCount > 0 {
                growth.ampleGroupCount -= 1
                return true
            }
            if let free = data.freeByteCount, free < 16 * StorageFile.growthStep(byteCount: byteCount) { return false }
            growth.ampleGroupCount = 64
            return true
        }
    }

    /// Whether the disk had no space to make the file longer ahead of need, and the file has the same length still.
    ///
    /// To find that out again costs as many zeros as there is space for. A commit that needs it makes it longer where it can.
    private var isGrowthRefused: Bool {
        let byteCount = byteCount
        return growth.withLock { $0.refusedByteCount == byteCount }
    }

    /// Whether a transaction has written ahead of its commit, and is not published.
    private var isWrittenAhead: Bool {
        growth.withLock { $0.spilledVersion } > state.withLock { $0.published.version }
    }

    /// Whether the file has so many pages, which are not cut off from then on while pages are owed.
    private func isSecured(_ count: Int) -> Bool {
        growth.withLock { growth in
            // What a transaction has written ahead of its commit is neither flushed nor without holes.
            guard growth.spilledVersion <= state.withLock({ $0.published.version }), isLongEnough(for: count) else {
                return false
            }
            let before = owesPages.load(ordering: .relaxed) ? growth.securedByteCount : 0
            growth.securedByteCount = max(before, count * pageByteCount)
            return true
        }
    }

    /// Whether the file is so long, as far as that is known.
    func isLongEnough(for count: Int) -> Bool { byteCount / pageByteCount >= count }

    /// Makes the file longer ahead of need, and no longer than that.
    ///
    /// - Parameters:
    ///   - end: So many bytes it is to have at least.
    ///   - needed: So many are enough where the disk has no space for those; 0 where they are not.
    /// - Throws: The failure; where it is one of the flush, writing has stopped.
    private func growAhead(to end: Int, atLeast needed: Int = 0) throws(StorageError) {
        let result = growth.withLock { (_) -> Result<Void, StorageError> in
            var step = PublishingPlan.Step.writing
            do throws(StorageError) {
                let byteCount = try data.currentByteCount()
                _ = try grow(from: byteCount, to: max(end, byteCount), flushing: true, atLeast: needed, &step)
                return .success(())
            } catch {
                // Pages of versions before wait for the same flush.
                if step == .flushingLength { stopWriting(after: error) }
                return .failure(error)
            }
        }
        try result.get()
    }

    /// Makes the file long enough for a commit that is to be sealed and published with others which were acknowledged, before any of that:
    /// it then fails alone where there is no space.
    ///
    /// - Parameters:
    ///   - count: So many pages the file needs for all of them.
    ///   - group: Their group.
    /// - Throws: The failure.
    func secure(_ count: Int, for group: WriterGroup) throws(StorageError) {
        // What lies behind the last page that there can be is refused where it is taken.
        let count = min(count, reservation.pageCapacity)
        if group.hasSpilled {
            // No hole is left before its end: it is flushed with the pages of what was written ahead.
            return try writeAhead(of: group) { (growth, byteCount) throws(StorageError) in
                try data.fillHoles(of: &growth, behind: &byteCount, to: count * pageByteCount)
            }
        }
        if isLongEnough(for: count) { return }
        let (byteCount, needed) = (byteCount, count * pageByteCount)
        try growAhead(to: max(needed, byteCount + StorageFile.growthStep(byteCount: byteCount)), atLeast: needed)
    }
}
