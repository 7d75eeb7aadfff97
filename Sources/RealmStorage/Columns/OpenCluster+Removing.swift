/// Deleting rows without touching their columns.
///
/// A deleted row keeps its place until the rows are next walked or encoded: only its key goes, so that no look-up finds
/// it. Many deletions in one cluster cost one pass over its columns, and columns that nobody else needed in memory are
/// copied from page to page without the values of the deleted rows.
extension OpenCluster {
    /// The rows that are left.
    var liveRowCount: Int { rowCount - deadCount }

    func isDead(_ row: Int) -> Bool {
        guard let dead else { return false }
        return dead[row >> 6] >> UInt64(row & 63) & 1 != 0
    }

    /// Deletes a row; its values' overflow runs are the caller's to free first.
    func markDead(row: Int) {
        isSealed = false
        let bits: UnsafeMutablePointer<UInt64>
        if let dead {
            bits = dead
        } else {
            bits = memory.allocate(Self.deadByteCount)
                .bindMemory(to: UInt64.self, capacity: ClusterFormat.bitmapWordCount)
            dead = bits
            expandKeys()
        }
        bits[row >> 6] |= 1 << UInt64(row & 63)
        deadCount += 1
        // The row gets the key of the one before: a search finds that one, and never this one. So do the deleted rows
        // behind it, which had this row's key.
        guard let keys else { return }
        let key = row > 0 ? keys[row - 1] : .min
        var row = row
        let count = rowCount
        repeat {
            keys[row] = key
            row += 1
        } while row < count && isDead(row)
    }

    /// The stretches of rows that are left, ascending.
    private func liveRanges() -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        ranges.reserveCapacity(deadCount + 1)
        var start = 0
        for row in 0..<rowCount where isDead(row) {
            if start < row { ranges.append(start..<row) }
            start = row + 1
        }
        if start < rowCount { ranges.append(start..<rowCount) }
        return ranges
    }

    /// Takes the deleted rows out of every column, which brings all of them to memory.
    ///
    /// - Returns: whether rows have moved.
    @discardableResult
    func compact() throws(StorageError) -> Bool {
        guard deadCount > 0 else { return false }
        for index in 0..<columnCount where columns[index].state == .stored { try expand(index, keepsWidth: true) }
        removeDead(liveRanges())
        return true
    }

    /// Takes the deleted rows out before the cluster is encoded.
    ///
    /// - Returns: by column what is left to be copied from the base, nil where memory holds the rows that are left; nothing where
    ///   no row was deleted.
    func compactForEncoding() throws(StorageError) -> [FilteredColumn?] {
        guard deadCount > 0 else { return [] }
        var filtered: [FilteredColumn?] = Array(repeating: nil, count: columnCount)
        let ranges = liveRanges()
        for index in 0..<columnCount where columns[index].state == .stored {
            let source = try leaf.column(index)
            if source.nulls == nil {
                filtered[index] = FilteredColumn(source, rows: ranges)
            } else {
                try expand(index, keepsWidth: true)
            }
        }
        removeDead(ranges)
        return filtered
    }

    /// Brings to memory what ``compactForEncoding()`` has left to be copied from the base, where nothing was encoded.
    func expand(_ filtered: [FilteredColumn?]) {
        for (index, column) in filtered.enumerated() {
            guard let column else { continue }
            columns[index].expand(from: column.source, capacity: rowCapacity, keepsWidth: true, memory: memory)
            columns[index].keepRows(column.rows, of: column.source.count)
            heapByteCount += columns[index].liveByteCount
            publish(index)
        }
    }

    /// Takes the deleted rows out of keys and expanded columns.
    private func removeDead(_ ranges: [Range<Int>]) {
        let count = rowCount
        for index in 0..<columnCount where columns[index].state == .expanded {
            let before = columns[index].liveByteCount
            columns[index].keepRows(ranges, of: count)
            heapByteCount += columns[index].liveByteCount - before
        }
        let left = liveRowCount
        if let keys {
            var end = 0
            for range in ranges {
                (keys + end).update(from: keys + range.lowerBound, count: range.count)
                end += range.count
            }
            (keys + end).update(repeating: 0, count: count - end)
            firstKey = keys[0]
            lastKey = keys[left - 1]
        }
        rowCount = left
        releaseDead()
    }

    func releaseDead() {
        memory.free(dead, Self.deadByteCount)
        dead = nil
        deadCount = 0
    }

    private static var deadByteCount: Int { ClusterFormat.bitmapWordCount * 8 }
}

extension OpenColumn {
    /// Keeps some of the rows of an expanded column, ascending ranges; the slots behind them become the default.
    mutating func keepRows(_ ranges: [Range<Int>], of count: Int) {
        guard let data else { return }
        if layout.kind == .bytes {
            liveByteCount = 0
            for range in ranges {
                for row in range { liveByteCount += Int(pairLength(row) & ~ClusterFormat.overflowFlag) }
            }
        }
        var end = 0
        for range in ranges {
            if end != range.lowerBound {
                (data + end * width).copyMemory(from: data + range.lowerBound * width, byteCount: range.count * width)
                if let nulls {
                    for row in range { Self.setBit(isNull(row), end + row - range.lowerBound, in: nulls) }
                }
            }
            end += range.count
        }
        (data + end * width).initializeMemory(as: UInt8.self, repeating: 0, count: (count - end) * width)
        if let nulls {
            for row in end..<count { Self.setBit(true, row, in: nulls) }
        }
    }
}
