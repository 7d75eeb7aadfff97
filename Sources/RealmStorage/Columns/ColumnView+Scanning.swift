/// Whole-column operations: vector loops per width.
///
/// Everything here handles open clusters and absent columns like any other; a caller needs to know no width.
extension ColumnView {
    /// Writes the values of an int column to `buffer[0..<count]`; those of null rows are unspecified.
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
            forEachWord(into: bitmap) { start, rows in
                var word: UInt64 = 0
                for row in 0..<rows {
                    let value = data.loadUnaligned(fromByteOffset: (start &+ row) &* 8, as: Int64.self)
                    word |= (UInt64(bitPattern: value &- lower) <= span ? 1 : 0) &<< UInt64(row)
                }
                return word
            }
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
            forEachVector(into: bitmap) { (vector: SIMD64<UInt8>) in
                (vector &- low .<= span).bits
            }
        case 2:
            let (low, span) = (UInt16(low), UInt16(span))
            forEachVector(into: bitmap) { (vector: SIMD64<UInt16>) in
                (vector &- low .<= span).bits
            }
        case 4:
            let (low, span) = (UInt32(low), UInt32(span))
            forEachVector(into: bitmap) { (vector: SIMD64<UInt32>) in
                (vector &- low .<= span).bits
            }
        default:
            forEachWord(into: bitmap) { _, _ in ~0 }
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
        forEachWord(into: bitmap) { start, rows in
            var word: UInt64 = 0
            for row in 0..<rows {
                let value = data.loadUnaligned(fromByteOffset: (start &+ row) &* 8, as: Double.self)
                let bit: UInt64 = (value >= lower ? 1 : 0) & (value <= upper ? 1 : 0)
                word |= bit &<< UInt64(row)
            }
            return word
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

    /// Fills a bitmap with what `body` says for each stretch of up to 64 rows.
    @inline(__always)
    private func forEachWord(into bitmap: UnsafeMutablePointer<UInt64>, _ body: (Int, Int) -> UInt64) {
        var start = 0
        var index = 0
        while start &+ 64 <= count {
            bitmap[index] = body(start, 64)
            start &+= 64
            index &+= 1
        }
        let rest = count &- start
        if rest > 0 { bitmap[index] = body(start, rest) & ((1 &<< UInt64(rest)) &- 1) }
    }

    /// Fills a bitmap with what `body` says for each vector of 64 narrow values.
    @inline(__always)
    private func forEachVector<Vector: SIMD>(
        into bitmap: UnsafeMutablePointer<UInt64>,
        _ body: (Vector) -> UInt64
    ) {
        let stride = MemoryLayout<Vector>.size / 64
        forEachWord(into: bitmap) { start, rows in
            if _fastPath(rows == 64) {
                return body(data.loadUnaligned(fromByteOffset: start &* stride, as: Vector.self))
            }
            var vector = Vector()
            withUnsafeMutableBytes(of: &vector) { bytes in
                bytes.baseAddress.unsafelyUnwrapped.copyMemory(
                    from: data + start &* stride,
                    byteCount: rows &* stride
                )
            }
            return body(vector)
        }
    }
}

extension SIMDMask where Storage == SIMD64<Int8> {
    /// Lane i as bit i.
    @inline(__always)
    fileprivate var bits: UInt64 {
        let bytes = unsafeBitCast(self, to: SIMD8<UInt64>.self)
        var word: UInt64 = 0
        for index in 0..<8 {
            // Gathers the low bits of eight bytes in the top byte.
            let byte = ((bytes[index] & 0x0101_0101_0101_0101) &* 0x0102_0408_1020_4080) &>> 56
            word |= byte &<< UInt64(index &* 8)
        }
        return word
    }
}

extension SIMDMask where Storage == SIMD64<Int16> {
    /// Lane i as bit i.
    @inline(__always)
    fileprivate var bits: UInt64 {
        let lanes = unsafeBitCast(self, to: SIMD64<Int16>.self)
        return unsafeBitCast(SIMD64<Int8>(truncatingIfNeeded: lanes), to: SIMDMask<SIMD64<Int8>>.self).bits
    }
}

extension SIMDMask where Storage == SIMD64<Int32> {
    /// Lane i as bit i.
    @inline(__always)
    fileprivate var bits: UInt64 {
        let lanes = unsafeBitCast(self, to: SIMD64<Int32>.self)
        return unsafeBitCast(SIMD64<Int8>(truncatingIfNeeded: lanes), to: SIMDMask<SIMD64<Int8>>.self).bits
    }
}
