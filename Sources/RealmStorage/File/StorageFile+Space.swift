import Synchronization

/// Giving space at the end of the file back to the file system.
///
/// A version's end moves back over free pages by an ordinary commit (`WriteTransaction.trimEnd`). The file itself is cut
/// later, when both header slots name an end that lies before the cut, and so does the newest version, which may stand in a log: so
/// recovery, whichever slot it takes, finds the
/// length that the slot promises, and a cut that is lost with the power only leaves the file longer. What a checkpoint is being made of
/// promises no more than the newest version: a commit that moves the end back has no record, and waits for the checkpoint. A reader needs the
/// pages that are reachable from its version, and those are never free; so no process touches a page behind the cut.
extension StorageFile {
    /// How much a file of some length grows at once.
    static func growthStep(byteCount: Int) -> Int {
        min(max(byteCount / 2, 128 << 10), 8 << 20)
    }

    /// The longest stretch that one call cuts off, so that no writer waits long behind it.
    private static let longestCut = 64 << 20

    /// Notes what a write transaction found, for `isSpaceWasted`.
    func noteSpace(_ space: SpaceMap) {
        freePageCount.store(space.freePageCount, ordering: .relaxed)
        trailingPageCount.store(space.trailingPageCount, ordering: .relaxed)
    }

    /// Whether a stretch behind the last page in use is worth giving back: more than the file would soon grow again by.
    static func isWorthCutting(_ excess: Int, behind needed: Int) -> Bool {
        excess > growthStep(byteCount: needed) * 3 / 2 + (64 << 10)
    }

    /// Whether there is space to give back, or to gain by moving pages off the end, as far as the last write transaction
    /// knew.
    ///
    /// A few loads.
    package var isSpaceWasted: Bool {
        let (pageCount, byteCount) = state.withLock { (Int($0.published.pageCount), $0.byteCount) }
        let trailing = trailingPageCount.load(ordering: .relaxed) * pageByteCount
        let needed = pageCount * pageByteCount - trailing
        return StorageFile.isWorthCutting(byteCount - needed, behind: needed)
            || StorageFile.isMostlyFree(freePageCount.load(ordering: .relaxed), of: pageCount)
    }

    /// Whether so much of a file is free that pages should be moved off its end.
    static func isMostlyFree(_ freePageCount: Int, of pageCount: Int) -> Bool {
        pageCount > 256 && freePageCount > pageCount / 2
    }

    /// Cuts off what lies behind the ends that both header slots name, and leaves room to grow a little.
    ///
    /// The caller holds the write lock, no transaction is open, and every prepared commit has been published.
    /// - Returns: whether the file became shorter.
    @discardableResult
    package func returnTrailingSpace() throws(StorageError) -> Bool {
        guard let lock, !data.isReadOnly else { return false }
        // What another process has left in a log comes into the slots first.
        if mayFollowLog.load(ordering: .relaxed) { try followLog(lock) }
        let newest = lock.newestVersion
        let result = state.withLock { (state) -> Result<Bool, StorageError> in
            do throws(StorageError) {
                if let stopped = state.stopped { throw stopped }
                try refresh(&state, to: newest)
                try requireLength(of: UInt64(FileHeader.slotPageCount))
                state.byteCount = try data.currentByteCount()
                let slots = try HeaderRecovery.slots(in: reservation.mapping, path: path)
                guard let first = slots[0], let second = slots[1] else { return .success(false) }
                // Behind the newest slot a log goes on, and nothing but that.
                let newestSlot = max(first.version, second.version)
                guard
                    newestSlot == state.published.version
                        || newestSlot < state.published.version && state.published.mark.isOpen
                else { return .success(false) }
                let pageCount = max(first.pageCount, second.pageCount, state.published.pageCount)
                let needed = Int(pageCount) * pageByteCount
                guard StorageFile.isWorthCutting(state.byteCount - needed, behind: needed) else {
                    return .success(false)
                }
                let slack = StorageFile.growthStep(byteCount: needed) / 2
                let end = max((needed + slack + 65535) & ~65535, state.byteCount - StorageFile.longestCut)
                // Before the cut, so that not even a damaged reference leads behind it.
                setPageLimit(atLeast: 0, byteCount: end)
                try data.setByteCount(end)
                state.byteCount = end
                return .success(true)
            } catch {
                return .failure(error)
            }
        }
        let isCut = try result.get()
        growth.withLock { $0.cut(at: byteCount) }
        return isCut
    }

    /// Whether a commit without content would let `returnTrailingSpace` cut more: the older header slot still names a
    /// longer file.
    ///
    /// The caller holds the write lock.
    package var isOlderHeaderLonger: Bool {
        guard let slots = try? HeaderRecovery.slots(in: reservation.mapping, path: path), let first = slots[0],
            let second = slots[1]
        else { return false }
        let newest = first.version > second.version ? first : second
        let needed = Int(newest.pageCount) * pageByteCount
        let other = Int(min(first.version, second.version) == first.version ? first.pageCount : second.pageCount)
        return other > Int(newest.pageCount)
            && StorageFile.isWorthCutting(state.withLock { $0.byteCount } - needed, behind: needed)
    }
}
