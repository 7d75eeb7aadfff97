extension UnsafeRawPointer {
    /// A little-endian number at a byte offset, aligned or not.
    @inlinable @inline(__always)
    package func little<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type, at offset: Int) -> T {
        T(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
    }
}

extension UnsafeMutableRawPointer {
    /// Stores a number little-endian at a byte offset, aligned or not.
    @inlinable @inline(__always)
    package func storeLittle<T: FixedWidthInteger & BitwiseCopyable>(_ value: T, at offset: Int) {
        storeBytes(of: value.littleEndian, toByteOffset: offset, as: T.self)
    }
}
