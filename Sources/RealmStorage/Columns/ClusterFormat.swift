/// The byte layout of cluster pages.
///
/// All numbers are little-endian; a run begins with its `PageHeader`.
///
/// A cluster node (`PageKind.clusterNode`, level 0):
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 32 | page header |
/// | 32 | 4 | row count, 1...1000 |
/// | 36 | 4 | column count `n`, the row-key column included |
/// | 40 | 8 | first row key, i64 |
/// | 48 | 8 | last row key, i64 |
/// | 56 | 8 | reserved, 0: bitmap of deleted rows |
/// | 64 | 40 n | column descriptors; 0 is the row-key column, property column `c` is descriptor `c + 1` |
/// | ... | ... | inline column data, each starting at a multiple of 8 |
///
/// A column descriptor:
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 1 | location: 0 absent, 1 inline, 2 external (3 memory: never in a file) |
/// | 1 | 1 | kind (`ColumnKind`) |
/// | 2 | 1 | width |
/// | 3 | 1 | flags: bit 0 a null bitmap precedes the data (absent: every value is null) |
/// | 4 | 4 | byte length of the column's data, null bitmap included |
/// | 8 | 16 | inline: offset u32 in the node, 0; external: `PageReference` of a column run |
/// | 24 | 8 | minimum |
/// | 32 | 8 | maximum |
///
/// A column run (`PageKind.column`):
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 32 | page header |
/// | 32 | 8 | bytes 0..<8 of the column's descriptor (location 2) |
/// | 40 | 4 | row count |
/// | 44 | 4 | 0 |
/// | 48 | 8 | minimum |
/// | 56 | 8 | maximum |
/// | 64 | ... | the column's data |
///
/// Column data: a null bitmap if flag 0 is set (`ceil(rows / 64) * 8` bytes, bit set = null), then by kind
///
/// | kind | width | data | minimum, maximum |
/// |---|---|---|---|
/// | int | 0 | nothing: every value is the minimum | least and greatest value |
/// | int | 1, 2, 4 | unsigned difference to the minimum per row | least and greatest value |
/// | int | 8 | the values themselves | least and greatest value |
/// | float | 4 | the values | as doubles; -inf, +inf when there is a NaN |
/// | double | 0, 1, 2, 4 | as int: every value is a whole number | as integers |
/// | double | 8 | the values | as doubles; -inf, +inf when there is a NaN |
/// | fixed12 | 12 | the values, then 4 zero bytes | 0 |
/// | fixed16 | 16 | the values | 0 |
/// | bytes | 0 | the values, all of the same length | 0, that length |
/// | bytes | 2 | rows + 1 start offsets u16, then the values | 0 |
/// | bytes | 4 | rows + 1 start offsets u32, then the values; bit 31 of a row's offset: the value is the `PageReference` of an overflow run | 0 |
///
/// Null rows count neither for minimum and maximum; their data is zero (the minimum for ints) or empty. The row-key column
/// has kind int and no nulls: width 0 says that the keys are consecutive from the first key on, widths 1, 2 and 4 hold the
/// difference to the first key, 8 the keys; it is never external.
///
/// An inner node (`PageKind.clusterInner`, one page, level 1 and up; the entry count is in the page header):
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 32 | page header |
/// | 32 | 127 * 8 | first row key of each child, i64, strictly ascending |
/// | 1048 | 127 * 8 | number of rows in the children up to and including this one, u64 |
/// | 2064 | 127 * 16 | `PageReference` of each child |
@usableFromInline
package enum ClusterFormat {
    /// The greatest number of rows in a cluster: 1,000 eight-byte values, their null bitmap and the headers are two pages.
    @inlinable package static var rowLimit: Int { 1000 }
    /// The number of 64-bit words in a bitmap of `rowLimit` rows.
    @inlinable package static var bitmapWordCount: Int { 16 }
    /// Values longer than this go to overflow runs.
    @inlinable package static var inlineValueLimit: Int { 1024 }

    @inlinable package static var rowCountOffset: Int { 32 }
    @inlinable package static var columnCountOffset: Int { 36 }
    @inlinable package static var firstKeyOffset: Int { 40 }
    @inlinable package static var lastKeyOffset: Int { 48 }
    static let reservedDeletedRowsOffset = 56
    @inlinable package static var descriptorsOffset: Int { 64 }

    @inlinable package static var descriptorByteCount: Int { 40 }
    @inlinable package static var descriptorByteLengthOffset: Int { 4 }
    @inlinable package static var descriptorPlaceOffset: Int { 8 }
    @inlinable package static var descriptorNullsAddressOffset: Int { 16 }
    @inlinable package static var descriptorMinimumOffset: Int { 24 }
    @inlinable package static var descriptorMaximumOffset: Int { 32 }

    @inlinable package static var locationAbsent: UInt64 { 0 }
    @inlinable package static var locationInline: UInt64 { 1 }
    @inlinable package static var locationExternal: UInt64 { 2 }
    /// In the descriptor block of an open cluster: place = address of the data, +8 = address of the null bitmap or 0, the
    /// minimum of a `bytes` column = address of its heap.
    @inlinable package static var locationMemory: UInt64 { 3 }
    @inlinable package static var nullsFlag: UInt64 { 1 << 24 }

    @inlinable package static var runWordOffset: Int { 32 }
    @inlinable package static var runRowCountOffset: Int { 40 }
    @inlinable package static var runMinimumOffset: Int { 48 }
    @inlinable package static var runMaximumOffset: Int { 56 }
    @inlinable package static var runDataOffset: Int { 64 }

    @inlinable package static var innerCapacity: Int { 127 }
    @inlinable package static var innerKeysOffset: Int { 32 }
    @inlinable package static var innerEndsOffset: Int { 1048 }
    @inlinable package static var innerReferencesOffset: Int { 2064 }
    /// Deeper trees are corrupt.
    @inlinable package static var levelLimit: Int { 15 }

    /// The width of a `bytes` column in an open cluster: (offset u32, length u32) pairs.
    @inlinable package static var pairWidth: Int { 8 }
    /// Marks an overflow value in a start offset of width 4 and in the length of a pair.
    @inlinable package static var overflowFlag: UInt32 { 0x8000_0000 }

    /// The bytes of a null bitmap.
    @inlinable
    @inline(__always)
    package static func bitmapByteCount(rows: Int) -> Int {
        ((rows &+ 63) &>> 6) &<< 3
    }
}
