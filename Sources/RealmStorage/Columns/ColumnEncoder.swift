/// Writes the values of a column in the form that a plan chose.
enum ColumnEncoder {
    /// Writes `plan.byteLength` bytes.
    ///
    /// Where there are nulls the destination is zeroed, since the places of their values are left as they are.
    static func write(_ column: ColumnView, as plan: ColumnPlan, to destination: UnsafeMutableRawPointer) {
        var output = destination
        if plan.hasNulls {
            for index in 0..<column.bitmapWordCount {
                output.storeBytes(of: column.nullWord(index), toByteOffset: index * 8, as: UInt64.self)
            }
            output += ClusterFormat.bitmapByteCount(rows: column.count)
        }
        switch plan.kind {
        case .int:
            writeInts(column, as: plan, to: output) { column.int($0) }
        case .double:
            if plan.width < 8 {
                writeInts(column, as: plan, to: output) { Int64(column.double($0)) }
            } else if column.width == 8 {
                output.copyMemory(from: column.data, byteCount: column.count * 8)
            } else {
                for row in 0..<column.count where !column.isNull(row) {
                    output.storeBytes(of: column.double(row), toByteOffset: row * 8, as: Double.self)
                }
            }
        case .float, .fixed12, .fixed16:
            output.copyMemory(from: column.data, byteCount: column.count * plan.width)
        case .bytes:
            writeBytes(column, as: plan, to: output)
        }
    }

    @inline(__always)
    private static func writeInts(
        _ column: ColumnView,
        as plan: ColumnPlan,
        to output: UnsafeMutableRawPointer,
        _ value: (Int) -> Int64
    ) {
        switch plan.width {
        case 0: break
        case 1: writeFrame(column, plan.minimum, output, UInt8.self, value)
        case 2: writeFrame(column, plan.minimum, output, UInt16.self, value)
        case 4: writeFrame(column, plan.minimum, output, UInt32.self, value)
        default: writeFrame(column, 0, output, UInt64.self, value)
        }
    }

    @inline(__always)
    private static func writeFrame<Word: FixedWidthInteger & BitwiseCopyable>(
        _ column: ColumnView,
        _ base: Int64,
        _ output: UnsafeMutableRawPointer,
        _ type: Word.Type,
        _ value: (Int) -> Int64
    ) {
        let size = MemoryLayout<Word>.size
        if column.nulls == nil {
            for row in 0..<column.count {
                output.storeBytes(
                    of: Word(truncatingIfNeeded: value(row) &- base),
                    toByteOffset: row &* size,
                    as: Word.self
                )
            }
        } else {
            for row in 0..<column.count where !column.isNull(row) {
                output.storeBytes(
                    of: Word(truncatingIfNeeded: value(row) &- base),
                    toByteOffset: row &* size,
                    as: Word.self
                )
            }
        }
    }

    private static func writeBytes(_ column: ColumnView, as plan: ColumnPlan, to output: UnsafeMutableRawPointer) {
        let width = plan.width
        let heap = output + (width == 0 ? 0 : (column.count + 1) * width)
        var end = 0
        // Values that follow each other where they are, as those of appended rows do, are copied together.
        var copied = 0
        var stretch: UnsafeRawPointer?
        for row in 0..<column.count {
            let isOverflow = width == 4 && column.isOverflow(row)
            if width == 2 {
                output.storeBytes(of: UInt16(end), toByteOffset: row &* 2, as: UInt16.self)
            } else if width == 4 {
                let flag = isOverflow ? ClusterFormat.overflowFlag : 0
                output.storeBytes(of: UInt32(end) | flag, toByteOffset: row &* 4, as: UInt32.self)
            }
            if column.isNull(row) { continue }
            let value = column.storedBytes(row)
            guard value.count > 0, let bytes = value.baseAddress else { continue }
            if let start = stretch, bytes != start + (end - copied) {
                (heap + copied).copyMemory(from: start, byteCount: end - copied)
                copied = end
                stretch = bytes
            } else if stretch == nil {
                stretch = bytes
            }
            end += value.count
        }
        if let stretch { (heap + copied).copyMemory(from: stretch, byteCount: end - copied) }
        if width == 2 {
            output.storeBytes(of: UInt16(end), toByteOffset: column.count * 2, as: UInt16.self)
        } else if width == 4 {
            output.storeBytes(of: UInt32(end), toByteOffset: column.count * 4, as: UInt32.self)
        }
    }
}
