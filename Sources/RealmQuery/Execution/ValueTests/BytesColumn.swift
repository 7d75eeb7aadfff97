#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif
import RealmStorage

/// The values of a bytes column that lie one behind the other, as those of a stored leaf without long values do.
struct ContiguousHeap {
    let heap: UnsafeRawPointer
    /// The start of each row, and the end of the last; nil when all rows have `commonLength`.
    let offsets: UnsafeRawPointer?
    let commonLength: Int
    let rowCount: Int

    @inline(__always)
    func start(of row: Int) -> Int {
        guard let offsets else { return row &* commonLength }
        return Int(offsets.loadUnaligned(fromByteOffset: row &<< 1, as: UInt16.self))
    }

    /// Marks the rows that contain some bytes, two at least, by searching all rows in one go.
    ///
    /// Sixteen places are tried at once: their first byte and their last.
    func findRows(containing needle: UnsafeRawBufferPointer, into found: RowSet) {
        found.clear()
        let length = needle.count
        let end = start(of: rowCount)
        guard length > 1, length <= end, let pattern = needle.baseAddress else { return }
        let first = SIMD16<UInt8>(repeating: needle[0])
        let last = SIMD16<UInt8>(repeating: needle[length - 1])
        /// The row that the search has come to; places only grow.
        var row = 0
        @inline(__always)
        func check(_ place: Int) {
            guard memcmp(heap + place, pattern, length) == 0 else { return }
            if offsets == nil {
                row = place / commonLength
            } else {
                while start(of: row &+ 1) <= place { row &+= 1 }
            }
            if place &+ length <= start(of: row &+ 1) { found.insert(row) }
        }
        var place = 0
        let vectorEnd = end - length - 15
        while place <= vectorEnd {
            let heads = heap.loadUnaligned(fromByteOffset: place, as: SIMD16<UInt8>.self)
            let tails = heap.loadUnaligned(fromByteOffset: place &+ length &- 1, as: SIMD16<UInt8>.self)
            let both = unsafeBitCast((heads .== first) .& (tails .== last), to: SIMD2<UInt64>.self)
            if both[0] | both[1] != 0 {
                for half in 0..<2 {
                    var bits = both[half] & 0x0101_0101_0101_0101
                    while bits != 0 {
                        check(place &+ half &* 8 &+ bits.trailingZeroBitCount &>> 3)
                        bits &= bits &- 1
                    }
                }
            }
            place &+= 16
        }
        while place &+ length <= end {
            if (heap + place).load(as: UInt8.self) == needle[0] { check(place) }
            place &+= 1
        }
    }
}

extension ColumnView {
    /// The heap when every value lies in it, in the order of the rows.
    var contiguousHeap: ContiguousHeap? {
        if isAbsent || kind != .bytes { return nil }
        switch width {
        case 0 where maximum > 0:
            return ContiguousHeap(
                heap: heap,
                offsets: nil,
                commonLength: Int(truncatingIfNeeded: maximum),
                rowCount: count
            )
        case 2:
            return ContiguousHeap(heap: heap, offsets: data, commonLength: 0, rowCount: count)
        default: return nil
        }
    }

    /// Keeps the rows that are not null and whose bytes pass.
    @inline(__always)
    func keep(_ rows: RowSet, where passes: (UnsafeRawPointer, Int) -> Bool) throws {
        if nulls == nil, let contiguous = contiguousHeap {
            if contiguous.offsets == nil {
                let length = contiguous.commonLength
                rows.keep { passes(heap + $0 &* length, length) }
            } else {
                rows.keep { row in
                    let start = contiguous.start(of: row)
                    return passes(heap + start, contiguous.start(of: row &+ 1) &- start)
                }
            }
            return
        }
        try rows.keep { row in
            let bytes = try bytes(row)
            guard !isNull(row) else { return false }
            // An empty value has no address; any will do for no bytes.
            return passes(bytes.baseAddress ?? heap, bytes.count)
        }
    }
}
