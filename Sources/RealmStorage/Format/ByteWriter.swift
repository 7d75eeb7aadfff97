/// Appends numbers in LEB128 form and raw bytes to a buffer.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    /// Begins with room for some bytes.
    init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    /// Goes on behind some bytes, with room for more.
    init(behind bytes: [UInt8], capacity: Int) {
        self.bytes.reserveCapacity(bytes.count + capacity)
        self.bytes += bytes
    }

    mutating func write(_ value: UInt64) {
        var value = value
        while value >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        bytes.append(UInt8(value))
    }

    mutating func write(_ value: Int) {
        write(UInt64(value))
    }

    mutating func write(_ value: UInt32) {
        write(UInt64(value))
    }

    mutating func write(_ reference: PageReference) {
        write(reference.page)
        write(reference.pageCount)
        for shift in stride(from: 0, to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: reference.checksum >> UInt64(shift)))
        }
    }

    mutating func write(contentsOf other: [UInt8]) {
        bytes.append(contentsOf: other)
    }
}
