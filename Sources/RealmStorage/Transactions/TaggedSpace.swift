/// Retired and free extents by page, for replaying differences: no two of them overlap.
///
/// They are kept in blocks of bounded size, so that each change moves a few hundred of them at most.
struct TaggedSpace {
    /// No block is empty.
    private var blocks: [[RetiredExtent]] = []

    private static let blockCapacity = 256

    /// All extents, ascending.
    var extents: [RetiredExtent] { blocks.flatMap { $0 } }

    /// Adds extents; false when one of them overlaps another.
    mutating func add(_ items: [RetiredExtent]) -> Bool {
        for item in items { guard add(item) else { return false } }
        return true
    }

    private mutating func add(_ item: RetiredExtent) -> Bool {
        guard !blocks.isEmpty else {
            blocks.append([item])
            return true
        }
        let block = self.block(for: item.extent.page)
        let offset = blocks[block].partitioningIndex { $0.extent.page >= item.extent.page }
        if offset > 0, blocks[block][offset - 1].extent.end > item.extent.page { return false }
        let next =
            offset < blocks[block].count
            ? blocks[block][offset] : block + 1 < blocks.count ? blocks[block + 1][0] : nil
        if let next, next.extent.page < item.extent.end { return false }
        blocks[block].insert(item, at: offset)
        if blocks[block].count > Self.blockCapacity {
            let half = blocks[block].count / 2
            blocks.insert(Array(blocks[block][half...]), at: block + 1)
            blocks[block].removeSubrange(half...)
        }
        return true
    }

    /// The last block that begins at a page or before it, or the first one.
    private func block(for page: PageNumber) -> Int {
        max(0, blocks.partitioningIndex { $0[0].extent.page > page } - 1)
    }

    /// Takes out everything behind a new end of the file.
    mutating func cut(at end: PageNumber) {
        while let last = blocks.last?.last, last.extent.end > end {
            let block = blocks.count - 1
            if last.extent.page >= end {
                blocks[block].removeLast()
                if blocks[block].isEmpty { blocks.removeLast() }
            } else {
                blocks[block][blocks[block].count - 1].extent.pageCount = end - last.extent.page
            }
        }
    }

    /// Takes pages out, whatever extents they lie in.
    mutating func remove(_ taken: Extent) {
        guard !blocks.isEmpty else { return }
        var block = self.block(for: taken.page)
        var parts: [RetiredExtent] = []
        while block < blocks.count, blocks[block][0].extent.page < taken.end {
            let first = blocks[block].partitioningIndex { $0.extent.end > taken.page }
            let end = blocks[block].partitioningIndex { $0.extent.page >= taken.end }
            guard first < end else {
                block += 1
                continue
            }
            for item in blocks[block][first..<end] {
                if item.extent.page < taken.page {
                    var left = item
                    left.extent.pageCount = taken.page - item.extent.page
                    parts.append(left)
                }
                if item.extent.end > taken.end {
                    var right = item
                    right.extent.page = taken.end
                    right.extent.pageCount = item.extent.end - taken.end
                    parts.append(right)
                }
            }
            blocks[block].removeSubrange(first..<end)
            if blocks[block].isEmpty { blocks.remove(at: block) } else { block += 1 }
        }
        for part in parts { _ = add(part) }
    }
}
