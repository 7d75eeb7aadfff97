/// One column of one leaf, ready to be read: borrowed pointers, valid as long as the leaf view it came from.
///
/// Inside a write transaction a column view is stale after any write to the table; fetch it again.
/// Rows are not bounds-checked: they must lie in `0..<count`.
@frozen
@usableFromInline
package struct ColumnView {
    /// The representation.
    ///
    /// A column that the leaf does not have at all reads as `.int`; trust the schema instead.
    @usableFromInline package let kind: ColumnKind
    /// Bytes per row.
    ///
    /// For ints 0, 1, 2, 4 (unsigned difference to `minimum`) or 8 (the value itself); doubles also come in the
    /// narrow forms, being whole numbers then; for bytes see `ClusterFormat`.
    @usableFromInline package let width: Int
    /// The number of rows.
    @usableFromInline package let count: Int
    /// Whether every value is the default (zero, empty, or null if there is a null bitmap) and nothing is stored.
    @usableFromInline package let isAbsent: Bool
    /// The null bitmap, bit set = null, readable in whole 64-bit words; nil when no value is null.
    @usableFromInline package let nulls: UnsafePointer<UInt8>?
    /// The values, unaligned.
    @usableFromInline package let data: UnsafeRawPointer
    /// A lower bound of the non-null values of an int column (and the frame of its narrow widths).
    @usableFromInline package let minimum: Int64
    /// An upper bound of the non-null values of an int column; the common length of a bytes column of width 0.
    @usableFromInline package let maximum: Int64
    /// The contents of a bytes column.
    @usableFromInline package let heap: UnsafeRawPointer
    /// Where overflow values are read.
    @usableFromInline package let view: PageView

    @inlinable
    @inline(__always)
    package init(
        kind: ColumnKind,
        width: Int,
        count: Int,
        isAbsent: Bool,
        nulls: UnsafePointer<UInt8>?,
        data: UnsafeRawPointer,
        minimum: Int64,
        maximum: Int64,
        heap: UnsafeRawPointer,
        view: PageView
    ) {
        self.kind = kind
        self.width = width
        self.count = count
        self.isAbsent = isAbsent
        self.nulls = nulls
        self.data = data
        self.minimum = minimum
        self.maximum = maximum
        self.heap = heap
        self.view = view
    }

    /// Whether the value is null.
    @inlinable
    @inline(__always)
    package func isNull(_ row: Int) -> Bool {
        guard let nulls else { return false }
        return nulls[row &>> 3] &>> UInt8(truncatingIfNeeded: row & 7) & 1 != 0
    }

    /// The value of an int column.
    @inlinable
    @inline(__always)
    package func int(_ row: Int) -> Int64 {
        switch width {
        case 8: data.loadUnaligned(fromByteOffset: row &<< 3, as: Int64.self)
        case 1: minimum &+ Int64(data.load(fromByteOffset: row, as: UInt8.self))
        case 2: minimum &+ Int64(data.loadUnaligned(fromByteOffset: row &<< 1, as: UInt16.self))
        case 4: minimum &+ Int64(data.loadUnaligned(fromByteOffset: row &<< 2, as: UInt32.self))
        default: minimum
        }
    }

    /// The value of a double column.
    @inlinable
    @inline(__always)
    package func double(_ row: Int) -> Double {
        if _fastPath(width == 8) { return data.loadUnaligned(fromByteOffset: row &<< 3, as: Double.self) }
        return Double(int(row))
    }

    /// The value of a float column.
    @inlinable
    @inline(__always)
    package func float(_ row: Int) -> Float {
        width == 4 ? data.loadUnaligned(fromByteOffset: row &<< 2, as: Float.self) : 0
    }

    /// The 12 or 16 bytes of a value of a fixed column; 16 bytes may be read in any case.
    @inlinable
    @inline(__always)
    package func fixed(_ row: Int) -> UnsafeRawPointer {
        if _fastPath(width >= 12) { return data + row &* width }
        return LeafView.zeros
    }

    /// The value of a bytes column, empty for null.
    @inlinable
    @inline(__always)
    package func bytes(_ row: Int) throws(StorageError) -> UnsafeRawBufferPointer {
        guard _fastPath(kind == .bytes) else { return try defaultBytes() }
        switch width {
        case 0:
            let length = Int(truncatingIfNeeded: maximum)
            return UnsafeRawBufferPointer(start: heap + row &* length, count: length)
        case 2:
            let start = Int(data.loadUnaligned(fromByteOffset: row &<< 1, as: UInt16.self))
            let end = Int(data.loadUnaligned(fromByteOffset: row &<< 1 &+ 2, as: UInt16.self))
            return UnsafeRawBufferPointer(start: heap + start, count: end &- start)
        case 4:
            let start = data.loadUnaligned(fromByteOffset: row &<< 2, as: UInt32.self)
            if _slowPath(start & ClusterFormat.overflowFlag != 0) { return try overflowBytes(row) }
            let end = data.loadUnaligned(fromByteOffset: row &<< 2 &+ 4, as: UInt32.self) & ~ClusterFormat.overflowFlag
            return UnsafeRawBufferPointer(start: heap + Int(start), count: Int(end &- start))
        default:
            let offset = data.loadUnaligned(fromByteOffset: row &<< 3, as: UInt32.self)
            let length = data.loadUnaligned(fromByteOffset: row &<< 3 &+ 4, as: UInt32.self)
            if _slowPath(length & ClusterFormat.overflowFlag != 0) { return try overflowBytes(row) }
            return UnsafeRawBufferPointer(start: heap + Int(offset), count: Int(length))
        }
    }

    /// A lower bound of the non-null values of a float or double column.
    @inlinable package var minimumDouble: Double {
        kind == .double && width < 8 ? Double(minimum) : Double(bitPattern: UInt64(bitPattern: minimum))
    }

    /// An upper bound of the non-null values of a float or double column.
    @inlinable package var maximumDouble: Double {
        kind == .double && width < 8 ? Double(maximum) : Double(bitPattern: UInt64(bitPattern: maximum))
    }

    /// The number of 64-bit words of a bitmap of the rows.
    @inlinable package var bitmapWordCount: Int { (count &+ 63) &>> 6 }
}
