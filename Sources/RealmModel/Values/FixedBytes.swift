/// The twelve bytes of an ObjectId, ordered bytewise.
@frozen
package struct ObjectIDBytes: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// The first eight bytes as a big-endian number.
    package var high: UInt64
    /// The last four bytes as a big-endian number.
    package var low: UInt32

    @inlinable
    package init(high: UInt64, low: UInt32) {
        self.high = high
        self.low = low
    }

    /// Reads the bytes from anywhere.
    @inlinable
    package init(load bytes: UnsafeRawPointer) {
        high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        low = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
    }

    /// Writes the bytes.
    @inlinable
    package func store(to bytes: UnsafeMutableRawPointer) {
        bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
        bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt32.self)
    }

    /// The number of bytes.
    @inlinable package static var byteCount: Int { 12 }

    @inlinable
    package static func < (left: Self, right: Self) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

/// The sixteen bytes of a UUID, ordered bytewise.
@frozen
package struct UUIDBytes: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// The first eight bytes as a big-endian number.
    package var high: UInt64
    /// The last eight bytes as a big-endian number.
    package var low: UInt64

    @inlinable
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads the bytes from anywhere.
    @inlinable
    package init(load bytes: UnsafeRawPointer) {
        high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    /// Writes the bytes.
    @inlinable
    package func store(to bytes: UnsafeMutableRawPointer) {
        bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
        bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }

    /// The number of bytes.
    @inlinable package static var byteCount: Int { 16 }

    @inlinable
    package static func < (left: Self, right: Self) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}
