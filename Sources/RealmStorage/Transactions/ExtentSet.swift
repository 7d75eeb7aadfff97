/// Extents in ascending order of their pages, no two of which overlap or touch.
///
/// They are kept in blocks of bounded size, so that an insertion or a removal moves a few hundred of them at most, however many
/// there are; each block knows how long its longest extent can be, so that a search for a long one passes over whole blocks.
struct ExtentSet: Sendable {
    /// Where an extent is; stale after any change.
    struct Index: Equatable {
        var block: Int
        var offset: Int
    }

    private struct Block: Sendable {
        var extents: [Extent]
        /// At least the length of the longest extent; exact after a search that found nothing.
        var longest: UInt32

        /// Notes that an extent has become longer.
        @inline(__always)
        mutating func noteLength(at offset: Int) {
            if extents[offset].pageCount > longest { longest = extents[offset].pageCount }
        }

        /// The first extent with a number of pages.
        @inline(__always)
        mutating func offset(ofExtentWith pages: UInt32) -> Int? {
            if longest < pages { return nil }
            var found: UInt32 = 0
            for (offset, extent) in extents.enumerated() {
                if extent.pageCount >= pages { return offset }
                if extent.pageCount > found { found = extent.pageCount }
            }
            longest = found
            return nil
        }

        /// The first extent with a number of pages in a part of the block.
        @inline(__always)
        func offset(ofExtentWith pages: UInt32, in range: Range<Int>) -> Int? {
            if longest < pages { return nil }
            return range.first { extents[$0].pageCount >= pages }
        }
    }

    /// No block is empty.
    private var blocks: [Block] = []
    private(set) var count = 0
    private(set) var pageCount = 0
    /// Whether pages were added that were there already: what says so is damaged.
    private(set) var isDamaged = false

    private static let blockCapacity = 256

    init() {}

    subscript(index: Index) -> Extent {
        @inline(__always) get { blocks[index.block].extents[index.offset] }
    }

    /// All extents; takes time proportional to their number.
    var extents: [Extent] {
        if blocks.count == 1 { return blocks[0].extents }
        var all: [Extent] = []
        all.reserveCapacity(count)
        for block in blocks { all += block.extents }
        return all
    }

    var last: Extent? { blocks.last?.extents.last }

    /// The first extent.
    var startIndex: Index? { blocks.isEmpty ? nil : Index(block: 0, offset: 0) }

    /// The extent after another one.
    @inline(__always)
    func index(after index: Index) -> Index? {
        if index.offset + 1 < blocks[index.block].extents.count {
            return Index(block: index.block, offset: index.offset + 1)
        }
        return index.block + 1 < blocks.count ? Index(block: index.block + 1, offset: 0) : nil
    }

    /// The first extent that begins at a page or behind it.
    func index(from page: PageNumber) -> Index? {
        let block = self.block(for: page)
        guard block < blocks.count else { return nil }
        let offset = blocks[block].extents.partitioningIndex { $0.page >= page }
        if offset < blocks[block].extents.count { return Index(block: block, offset: offset) }
        return block + 1 < blocks.count ? Index(block: block + 1, offset: 0) : nil
    }

    /// The first of the shortest extents with a number of pages, and fewer than a limit, among so many from a page on; those behind
    /// the last one are the first.
    func index(
        ofShortestWith pages: UInt32,
        below limit: UInt32,
        from page: PageNumber,
        among candidateCount: Int
    ) -> Index? {
        guard var place = index(from: page) ?? startIndex else { return nil }
        var best: Index?
        var length = limit
        var left = min(count, candidateCount)
        while left > 0, length > pages {
            let end = blocks[place.block].extents
                .withUnsafeBufferPointer { extents in
                    let end = min(extents.count, place.offset + left)
                    for offset in place.offset..<end {
                        let candidate = extents[offset].pageCount
                        guard candidate >= pages, candidate < length else { continue }
                        best = Index(block: place.block, offset: offset)
                        length = candidate
                        if length == pages { break }
                    }
                    return end
                }
            left -= end - place.offset
            place = Index(block: place.block + 1 < blocks.count ? place.block + 1 : 0, offset: 0)
        }
        return best
    }

    /// The last block that begins before a page, or the first one.
    private func block(for page: PageNumber) -> Int {
        blocks.count <= 1 ? 0 : max(0, blocks.partitioningIndex { $0.extents[0].page >= page } - 1)
    }

    /// Whether all pages of an extent are there.
    ///
    /// - Complexity: O(log n).
    func contains(_ extent: Extent) -> Bool {
        let block = blocks.partitioningIndex { $0.extents[0].page > extent.page } - 1
        guard block >= 0 else { return false }
        let offset = blocks[block].extents.partitioningIndex { $0.page > extent.page } - 1
        return blocks[block].extents[offset].contains(extent)
    }

    /// Adds pages that are not there yet, and joins them with their neighbours; others are left out, see ``isDamaged``.
    mutating func insert(_ extent: Extent) {
        guard !blocks.isEmpty else {
            pageCount += Int(extent.pageCount)
            var block = Block(extents: [], longest: extent.pageCount)
            block.extents.reserveCapacity(16)
            block.extents.append(extent)
            blocks.append(block)
            count = 1
            return
        }
        let block = self.block(for: extent.page)
        let offset = blocks[block].extents.partitioningIndex { $0.page >= extent.page }
        let next = offset < blocks[block].extents.count ? (block, offset) : (block + 1, 0)
        if offset > 0 && blocks[block].extents[offset - 1].end > extent.page
            || next.0 < blocks.count && blocks[next.0].extents[next.1].page < extent.end
        {
            isDamaged = true
            return
        }
        pageCount += Int(extent.pageCount)
        let touchesPrevious = offset > 0 && blocks[block].extents[offset - 1].end == extent.page
        if offset == blocks[block].extents.count, block + 1 < blocks.count,
            blocks[block + 1].extents[0].page == extent.end
        {
            // The neighbour behind is in the next block.
            blocks[block + 1].extents[0].page = extent.page
            blocks[block + 1].extents[0].pageCount += extent.pageCount
            if touchesPrevious {
                blocks[block + 1].extents[0].page = blocks[block].extents[offset - 1].page
                blocks[block + 1].extents[0].pageCount += blocks[block].extents[offset - 1].pageCount
                blocks[block + 1].noteLength(at: 0)
                removeOnly(Index(block: block, offset: offset - 1))
            } else {
                blocks[block + 1].noteLength(at: 0)
            }
            return
        }
        let touchesNext =
            offset < blocks[block].extents.count && blocks[block].extents[offset].page == extent.end
        switch (touchesPrevious, touchesNext) {
        case (true, true):
            blocks[block].extents[offset - 1].pageCount += extent.pageCount + blocks[block].extents[offset].pageCount
            blocks[block].extents.remove(at: offset)
            blocks[block].noteLength(at: offset - 1)
            count -= 1
        case (true, false):
            blocks[block].extents[offset - 1].pageCount += extent.pageCount
            blocks[block].noteLength(at: offset - 1)
        case (false, true):
            blocks[block].extents[offset].page = extent.page
            blocks[block].extents[offset].pageCount += extent.pageCount
            blocks[block].noteLength(at: offset)
        case (false, false):
            blocks[block].extents.insert(extent, at: offset)
            blocks[block].noteLength(at: offset)
            count += 1
            if blocks[block].extents.count > Self.blockCapacity { split(block) }
        }
    }

    private mutating func split(_ block: Int) {
        let half = blocks[block].extents.count / 2
        let upper = Array(blocks[block].extents[half...])
        blocks[block].extents.removeSubrange(half...)
        blocks.insert(Block(extents: upper, longest: blocks[block].longest), at: block + 1)
    }

    /// Removes an extent, and returns it.
    @discardableResult
    mutating func remove(at index: Index) -> Extent {
        let extent = self[index]
        pageCount -= Int(extent.pageCount)
        removeOnly(index)
        return extent
    }

    private mutating func removeOnly(_ index: Index) {
        count -= 1
        blocks[index.block].extents.remove(at: index.offset)
        if blocks[index.block].extents.isEmpty {
            blocks.remove(at: index.block)
        } else if blocks[index.block].extents.count < Self.blockCapacity / 8 {
            join(index.block)
        }
    }

    /// Joins a block that has become small with the one behind it, if both leave room.
    private mutating func join(_ block: Int) {
        guard block + 1 < blocks.count,
            blocks[block].extents.count + blocks[block + 1].extents.count <= Self.blockCapacity / 2
        else { return }
        let next = blocks.remove(at: block + 1)
        blocks[block].extents += next.extents
        blocks[block].longest = max(blocks[block].longest, next.longest)
    }

    /// Takes pages from the start of an extent, and returns the first.
    mutating func takeFirst(_ pages: UInt32, ofExtentAt index: Index) -> PageNumber {
        let page = blocks[index.block].extents[index.offset].page
        pageCount -= Int(pages)
        if blocks[index.block].extents[index.offset].pageCount == pages {
            removeOnly(index)
        } else {
            blocks[index.block].extents[index.offset].page += pages
            blocks[index.block].extents[index.offset].pageCount -= pages
        }
        return page
    }

    /// The first extent from a page on with a number of pages, else the first one before it; nil when there is none.
    mutating func index(ofExtentWith pages: UInt32, from page: PageNumber) -> Index? {
        guard !blocks.isEmpty else { return nil }
        let first = block(for: page)
        let offset = blocks[first].extents.partitioningIndex { $0.page >= page }
        if let found = blocks[first].offset(ofExtentWith: pages, in: offset..<blocks[first].extents.count) {
            return Index(block: first, offset: found)
        }
        for step in 1...blocks.count {
            let block = first + step < blocks.count ? first + step : first + step - blocks.count
            if let found = blocks[block].offset(ofExtentWith: pages) { return Index(block: block, offset: found) }
        }
        return nil
    }

    /// The lowest extent with a number of pages that begins with room for them below a page.
    mutating func lowestIndex(ofExtentWith pages: UInt32, below limit: PageNumber) -> Index? {
        for block in blocks.indices {
            if blocks[block].extents[0].page >= limit { return nil }
            if let found = blocks[block].offset(ofExtentWith: pages) {
                let page = blocks[block].extents[found].page
                return page < limit && pages <= limit - page ? Index(block: block, offset: found) : nil
            }
        }
        return nil
    }

    mutating func removeLast() -> Extent {
        remove(at: Index(block: blocks.count - 1, offset: blocks[blocks.count - 1].extents.count - 1))
    }
}

extension ExtentSet: Equatable {
    /// Whether both hold the same pages.
    static func == (one: ExtentSet, other: ExtentSet) -> Bool {
        one.count == other.count && one.pageCount == other.pageCount && one.extents == other.extents
    }
}

#if DEBUG
extension ExtentSet {
    /// Extents as they are given, for tests of the check.
    init(unchecked extents: [Extent], pageCount: Int) {
        blocks = [Block(extents: extents, longest: extents.map(\.pageCount).max() ?? 0)]
        count = extents.count
        self.pageCount = pageCount
    }

    /// Extents ascend, none touches the next one, and what is counted is right.
    func checkInvariants() throws(BrokenInvariant) {
        var end = -1
        var pages = 0
        for block in blocks {
            try Invariant.require(!block.extents.isEmpty, "A block of extents is empty")
            try Invariant.require(block.extents.count <= Self.blockCapacity, "A block of extents is too long")
            for extent in block.extents {
                try Invariant.require(
                    Int(extent.page) > end,
                    "The extent at page \(extent.page) touches the one before"
                )
                try Invariant.require(extent.pageCount > 0, "The extent at page \(extent.page) is empty")
                try Invariant.require(extent.pageCount <= block.longest, "A block has a longer extent than it says")
                end = Int(extent.page) + Int(extent.pageCount)
                pages += Int(extent.pageCount)
            }
        }
        let found = blocks.reduce(0) { $0 + $1.extents.count }
        try Invariant.require(count == found, "\(found) extents are counted as \(count)")
        try Invariant.require(pageCount == pages, "\(pages) pages are counted as \(pageCount)")
    }
}
#endif
