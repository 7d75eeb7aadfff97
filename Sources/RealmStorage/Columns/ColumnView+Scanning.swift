/// Whole-column operations: vector loops per width.
///
/// Everything here handles open clusters and absent columns like any other; a caller needs to know no width.
extension ColumnView {
    /// Writes the values of an int column to `buffer[0..<count]`; those of null rows are unspecified.
    @usableFromInline
    package func expandInts(into buffer: UnsafeMutablePointer<Int64>) {
        let base = minimum
        switch width {
        case 1:
            for row in 0..<count { buffer[row] = base &+ Int64(data.load(fromByteOffset: row, as: UInt8.self)) }
        case 2:
            for row in 0..<count {
                buffer[row] = base &+ Int64(data.loadUnaligned(fromByteOffset: row &* 2, as: UInt16.self))
            }
        case 4:
            for row in 0..<count {
                buffer[row] = base &+ Int64(data.loadUnaligned(fromByteOffset: row &* 4, as: UInt32.self))
            }
        case 8:
            UnsafeMutableRawPointer(buffer).copyMemory(from: data, byteCount: count &* 8)
        default:
            for row in 0..<count { buffer[row] = base }
        }
    }

    /// Writes the values of a double column to `buffer[0..<count]`; those of null rows are unspecified.
    package func expandDoubles(into buffer: UnsafeMutablePointer<Double>) {
        if width == 8 {
            UnsafeMutableRawPointer(buffer).copyMemory(from: data, byteCount: count &* 8)
        } else {
            for row in 0..<count { buffer[row] = Double(int(row)) }
        }
    }

    /// Calls `body` with the values of an int column as 64-bit integers, expanded only where they are narrower.
    @inlinable
    package func withInts<Result>(_ body: (UnsafePointer<Int64>) -> Result) -> Result {
        if width == 8, UInt(bitPattern: data) & 7 == 0 { return body(data.assumingMemoryBound(to: Int64.self)) }
        return withUnsafeTemporaryAllocation(of: Int64.self, capacity: Swift.max(count, 1)) { buffer in
            let values = buffer.baseAddress.unsafelyUnwrapped
            expandInts(into: values)
            return body(UnsafePointer(values))
        }
    }

    /// The number of non-null values of an int column with `lower <= value <= upper`.
    package func countInts(from lower: Int64, through upper: Int64) -> Int {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: ClusterFormat.bitmapWordCount) { buffer in
            guard let words = buffer.baseAddress else { return 0 }
            filterInts(from: lower, through: upper, into: words)
            var total = 0
            for index in 0..<bitmapWordCount { total &+= words[index].nonzeroBitCount }
            return total
        }
    }

    /// Sets in `bitmap[0..<bitmapWordCount]` the bits of the rows of an int column that are not null and lie in
    /// `lower...upper`; all other bits are cleared.
    package func filterInts(from lower: Int64, through upper: Int64, into bitmap: UnsafeMutablePointer<UInt64>) {
        guard lower <= upper else { return clear(bitmap) }
        if width == 8 {
            let span = UInt64(bitPattern: upper &- lower)
            forEachWord(into: bitmap, of: UInt64.self) { $0 &- UInt64(bitPattern: lower) <= span ? 1 : 0 }
            return removeNulls(from: bitmap)
        }
        // In the frame of reference the range is low...high of unsigned differences to the minimum.
        guard upper >= minimum else { return clear(bitmap) }
        let limit: UInt64 = width == 0 ? 0 : UInt64.max &>> UInt64(64 &- width &* 8)
        let low = lower <= minimum ? 0 : UInt64(bitPattern: lower &- minimum)
        let high = Swift.min(UInt64(bitPattern: upper &- minimum), limit)
        guard low <= high else { return clear(bitmap) }
        let span = high &- low
        switch width {
        case 1:
            let (low, span) = (UInt8(low), UInt8(span))
            forEachWord(into: bitmap, of: UInt8.self) { $0 &- low <= span ? 1 : 0 }
        case 2:
            let (low, span) = (UInt16(low), UInt16(span))
            forEachWord(into: bitmap, of: UInt16.self) { $0 &- low <= span ? 1 : 0 }
        case 4:
            let (low, span) = (UInt32(low), UInt32(span))
            forEachWord(into: bitmap, of: UInt32.self) { $0 &- low <= span ? 1 : 0 }
        default:
            fill(bitmap)
        }
        removeNulls(from: bitmap)
    }

    /// Like `filterInts`, for `lower <= value && value <= upper` on a double column; NaN is in no range.
    package func filterDoubles(from lower: Double, through upper: Double, into bitmap: UnsafeMutablePointer<UInt64>) {
        guard lower <= upper else { return clear(bitmap) }
        if width != 8 {
            // Whole numbers, exact as doubles or not: compare as integers, clamped to what an Int64 can be.
            let low = lower.rounded(.up)
            let high = upper.rounded(.down)
            guard low <= high, low < 0x1p63, high >= -0x1p63 else { return clear(bitmap) }
            return filterInts(
                from: low < -0x1p63 ? .min : Int64(low),
                through: high >= 0x1p63 ? .max : Int64(high),
                into: bitmap
            )
        }
        // Comparing 64-bit lanes and packing them to bytes costs more than shifting bits here.
        var start = 0
        for index in 0..<bitmapWordCount {
            var word: UInt64 = 0
            let rows = Swift.min(64, count &- start)
            for row in 0..<rows {
                let value = data.loadUnaligned(fromByteOffset: (start &+ row) &* 8, as: Double.self)
                let bit: UInt64 = (value >= lower ? 1 : 0) & (value <= upper ? 1 : 0)
                word |= bit &<< UInt64(truncatingIfNeeded: row)
            }
            bitmap[index] = word
            start &+= 64
        }
        removeNulls(from: bitmap)
    }

    /// The sum of the non-null values of an int column, wrapping around.
    package func sumInts() -> Int64 {
        var sum: Int64 = 0
        // The stored bytes of a null row are zero in every width.
        switch width {
        case 1:
            for row in 0..<count { sum &+= Int64(data.load(fromByteOffset: row, as: UInt8.self)) }
        case 2:
            for row in 0..<count { sum &+= Int64(data.loadUnaligned(fromByteOffset: row &* 2, as: UInt16.self)) }
        case 4:
            for row in 0..<count { sum &+= Int64(data.loadUnaligned(fromByteOffset: row &* 4, as: UInt32.self)) }
        case 8:
            for row in 0..<count { sum &+= data.loadUnaligned(fromByteOffset: row &* 8, as: Int64.self) }
            return sum
        default:
            break
        }
        return sum &+ minimum &* Int64(count &- countNulls())
    }

    /// The number of null rows.
    package func countNulls() -> Int {
        guard nulls != nil else { return 0 }
        var total = 0
        for index in 0..<bitmapWordCount { total &+= nullWord(index).nonzeroBitCount }
        return total
    }

    /// 64 rows of the null bitmap, rows beyond `count` cleared.
    @inlinable
    package func nullWord(_ index: Int) -> UInt64 {
        guard let nulls else { return 0 }
        let word = UnsafeRawPointer(nulls).loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self)
        let rows = count &- index &* 64
        return rows >= 64 ? word : word & ((1 &<< UInt64(rows)) &- 1)
    }

    /// Clears the bits of null rows in a bitmap of the rows.
    package func removeNulls(from bitmap: UnsafeMutablePointer<UInt64>) {
        guard nulls != nil else { return }
        for index in 0..<bitmapWordCount { bitmap[index] &= ~nullWord(index) }
    }

    private func clear(_ bitmap: UnsafeMutablePointer<UInt64>) {
        bitmap.update(repeating: 0, count: bitmapWordCount)
    }

    private func fill(_ bitmap: UnsafeMutablePointer<UInt64>) {
        for index in 0..<bitmapWordCount {
            let rows = count &- index &* 64
            bitmap[index] = rows >= 64 ? ~0 : (1 &<< UInt64(rows)) &- 1
        }
    }

    /// Fills a bitmap with what `matches` says, 1 or 0, for each value.
    ///
    /// One loop writes a byte per row, which the compiler turns into vector instructions; eight multiplications then
    /// gather the bytes' low bits in a word.
    @inline(__always)
    private func forEachWord<Value: BitwiseCopyable>(
        into bitmap: UnsafeMutablePointer<UInt64>,
        of type: Value.Type,
        _ matches: (Value) -> UInt8
    ) {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 16) { buffer in
            guard let scratch = buffer.baseAddress else { return }
            var start = 0
            var index = 0
            while start &+ 64 <= count {
                let values = data + start &* MemoryLayout<Value>.stride
                for row in 0..<64 {
                    let value = values.loadUnaligned(fromByteOffset: row &* MemoryLayout<Value>.stride, as: Value.self)
                    scratch.storeBytes(of: matches(value), toByteOffset: row, as: UInt8.self)
                }
                bitmap[index] = Self.gather(scratch)
                start &+= 64
                index &+= 1
            }
            let rest = count &- start
            guard rest > 0 else { return }
            scratch.initializeMemory(as: UInt8.self, repeating: 0, count: 64)
            let values = data + start &* MemoryLayout<Value>.stride
            for row in 0..<rest {
                let value = values.loadUnaligned(fromByteOffset: row &* MemoryLayout<Value>.stride, as: Value.self)
                scratch.storeBytes(of: matches(value), toByteOffset: row, as: UInt8.self)
            }
            bitmap[index] = Self.gather(scratch)
        }
    }

    /// The low bits of 64 bytes.
    @inline(__always)
    private static func gather(_ bytes: UnsafeMutableRawPointer) -> UInt64 {
        var word: UInt64 = 0
        for index in 0..<8 {
            let eight = bytes.load(fromByteOffset: index &* 8, as: UInt64.self)
            word |= ((eight &* 0x0102_0408_1020_4080) &>> 56) &<< UInt64(index &* 8)
        }
        return word
    }
}
