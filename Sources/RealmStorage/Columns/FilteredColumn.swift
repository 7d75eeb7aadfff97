/// A column of the base without the values of deleted rows, to be copied from its pages into new ones.
///
/// It keeps the width and the bounds of what it comes from, and has no nulls.
struct FilteredColumn {
    let source: ColumnView
    /// The rows that are left, ascending.
    let rows: [Range<Int>]
    let plan: ColumnPlan

    init(_ source: ColumnView, rows: [Range<Int>]) {
        self.source = source
        self.rows = rows
        let count = rows.reduce(0) { $0 + $1.count }
        var heapByteCount = 0
        if source.kind == .bytes, source.width > 0 {
            for range in rows { heapByteCount += Self.heapRange(of: range, in: source).count }
        }
        plan = ColumnPlan(filtering: source, rows: count, heapByteCount: heapByteCount)
    }

    /// Where the values of some rows stand in the heap of a column with offsets.
    private static func heapRange(of rows: Range<Int>, in column: ColumnView) -> Range<Int> {
        start(rows.lowerBound, in: column)..<start(rows.upperBound, in: column)
    }

    @inline(__always)
    private static func start(_ row: Int, in column: ColumnView) -> Int {
        column.width == 2
            ? Int(column.data.loadUnaligned(fromByteOffset: row &* 2, as: UInt16.self))
            : Int(
                column.data.loadUnaligned(fromByteOffset: row &* 4, as: UInt32.self) & ~ClusterFormat.overflowFlag
            )
    }

    /// Writes the column's data.
    func write(to output: UnsafeMutableRawPointer) {
        if source.kind == .bytes, source.width > 0 { return writeOffsets(to: output) }
        let width = source.kind == .bytes ? Int(source.maximum) : source.width
        var end = output
        for range in rows {
            let byteCount = range.count * width
            end.copyMemory(from: source.data + range.lowerBound * width, byteCount: byteCount)
            end += byteCount
        }
    }

    private func writeOffsets(to output: UnsafeMutableRawPointer) {
        let width = source.width
        let count = rows.reduce(0) { $0 + $1.count }
        let heap = output + (count + 1) * width
        var row = 0
        var end = 0
        for range in rows {
            let stored = Self.heapRange(of: range, in: source)
            (heap + end).copyMemory(from: source.heap + stored.lowerBound, byteCount: stored.count)
            if width == 2 {
                for old in range {
                    let start = Self.start(old, in: source) &- stored.lowerBound &+ end
                    output.storeBytes(
                        of: UInt16(truncatingIfNeeded: start),
                        toByteOffset: row &* 2,
                        as: UInt16.self
                    )
                    row &+= 1
                }
            } else {
                for old in range {
                    let word = source.data.loadUnaligned(fromByteOffset: old &* 4, as: UInt32.self)
                    let start = UInt32(truncatingIfNeeded: Self.start(old, in: source) &- stored.lowerBound &+ end)
                    output.storeBytes(
                        of: start | word & ClusterFormat.overflowFlag,
                        toByteOffset: row &* 4,
                        as: UInt32.self
                    )
                    row &+= 1
                }
            }
            end += stored.count
        }
        if width == 2 {
            output.storeBytes(of: UInt16(truncatingIfNeeded: end), toByteOffset: row * 2, as: UInt16.self)
        } else {
            output.storeBytes(of: UInt32(truncatingIfNeeded: end), toByteOffset: row * 4, as: UInt32.self)
        }
    }
}

extension ColumnPlan {
    /// What becomes of a stored column without nulls when some of its rows go.
    init(filtering source: ColumnView, rows: Int, heapByteCount: Int) {
        kind = source.kind
        width = source.width
        maximum = source.maximum
        switch source.kind {
        case .int, .float, .double, .fixed16:
            minimum = source.minimum
            byteLength = rows * width
        case .fixed12:
            minimum = source.minimum
            byteLength = rows * width + 4
        case .bytes:
            byteLength = width == 0 ? rows * Int(maximum) : (rows + 1) * width + heapByteCount
            // A writer's descriptor may have an address there.
            minimum = 0
        }
    }
}
