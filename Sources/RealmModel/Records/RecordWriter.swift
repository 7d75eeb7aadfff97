import RealmStorage

/// Collects the content of a commit record: numbers as LEB128 varints, signed ones in zigzag form.
struct RecordWriter {
    private(set) var bytes: [UInt8] = []
    /// The most bytes that are of use.
    var limit = Int.max

    /// Whether something was left out because there was no room for it.
    private var isGivenUp = false

    /// Whether it has become too long to be of use.
    var isTooLong: Bool { isGivenUp || bytes.count > limit }

    /// Whether there is room for so many bytes; where there is none, it is too long from here on.
    mutating func hasRoom(for byteCount: Int) -> Bool {
        if !isGivenUp, byteCount <= limit - bytes.count { return true }
        isGivenUp = true
        return false
    }

    mutating func write(byte: UInt8) { bytes.append(byte) }

    mutating func write(_ value: UInt64) {
        var value = value
        while value >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        bytes.append(UInt8(value))
    }

    mutating func write(_ value: Int) { write(UInt64(value)) }

    mutating func write(signed value: Int64) { write(UInt64(bitPattern: value << 1 ^ value >> 63)) }

    /// Fixed-width little-endian bytes.
    mutating func write<Value: FixedWidthInteger>(fixed value: Value) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Bytes without their number.
    mutating func write(raw other: UnsafeRawBufferPointer) {
        if hasRoom(for: other.count) { bytes.append(contentsOf: other) }
    }

    /// Bytes behind their number.
    mutating func write(counted other: UnsafeRawBufferPointer) {
        write(other.count)
        write(raw: other)
    }

    /// Ascending keys as runs: the gap to the end of the run before, and the length.
    mutating func write(_ keys: RowKeys) {
        let runs = keys.ranges
        write(runs.count)
        var end: Int64 = 0
        for run in runs {
            write(UInt64(bitPattern: run.lowerBound &- end))
            write(UInt64(run.upperBound - run.lowerBound))
            end = run.upperBound
        }
    }
}
