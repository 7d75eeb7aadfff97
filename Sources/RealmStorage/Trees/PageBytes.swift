/// Little-endian numbers in the pages of trees.
enum PageBytes {
    @inline(__always)
    static func load16(_ bytes: UnsafeRawPointer, _ offset: Int) -> Int {
        Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    }

    @inline(__always)
    static func load64(_ bytes: UnsafeRawPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Stores a number that is known to fit 16 bits.
    @inline(__always)
    static func store16(_ value: Int, _ bytes: UnsafeMutableRawPointer, _ offset: Int) {
        bytes.storeBytes(of: UInt16(truncatingIfNeeded: value).littleEndian, toByteOffset: offset, as: UInt16.self)
    }

    @inline(__always)
    static func store64(_ value: UInt64, _ bytes: UnsafeMutableRawPointer, _ offset: Int) {
        bytes.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self)
    }
}
