/// The page buffers that have memory behind them: those of commits that were written, whose memory the next commits use
/// again, or which is given back to the system once it is much.
///
/// - Complexity: O(1) to insert a page; O(the pages up to the last one / 64) to take all out.
struct ResidentBuffers {
    /// One bit per page.
    private var words: [UInt64] = []
    /// The number of pages, each counted once however many commits wrote it.
    private(set) var pageCount = 0

    /// Notes that the buffers of a run have memory.
    mutating func insert(_ run: PreparedCommit.Run) {
        for page in Int(run.page)..<Int(run.page) + Int(run.pageCount) {
            let index = page >> 6
            let bit: UInt64 = 1 << UInt64(page & 63)
            if index >= words.count {
                words.append(contentsOf: repeatElement(0, count: max(index + 1 - words.count, words.count)))
            }
            if words[index] & bit == 0 {
                words[index] |= bit
                pageCount += 1
            }
        }
    }

    /// Takes out all pages but those that are still used.
    ///
    /// - Parameter isUsed: Whether a page must keep its memory.
    /// - Returns: The stretches of pages taken out, ascending.
    mutating func removeAll(but isUsed: (Int) -> Bool) -> [Extent] {
        var extents: [Extent] = []
        for index in words.indices where words[index] != 0 {
            var rest = words[index]
            while rest != 0 {
                let bit = rest.trailingZeroBitCount
                rest &= rest - 1
                let page = index << 6 + bit
                if isUsed(page) { continue }
                words[index] &= ~(1 << UInt64(bit))
                pageCount -= 1
                if let last = extents.last, Int(last.end) == page {
                    extents[extents.count - 1].pageCount += 1
                } else {
                    extents.append(Extent(page: PageNumber(page), pageCount: 1))
                }
            }
        }
        return extents
    }
}
