import Glibc

/// A borrowed byte string whose pointer is never nil, so that it can be handed to `memcmp` and `memcpy`.
struct KeyBytes {
    let start: UnsafeRawPointer
    let count: Int

    @inline(__always)
    init(start: UnsafeRawPointer, count: Int) {
        self.start = start
        self.count = count
    }

    @inline(__always)
    init(_ buffer: UnsafeRawBufferPointer) {
        start = buffer.baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
        count = buffer.count
    }

    /// The bytes after the first `byteCount`.
    @inline(__always)
    func dropFirst(_ byteCount: Int) -> KeyBytes {
        KeyBytes(start: start + byteCount, count: count &- byteCount)
    }

    /// The first `byteCount` bytes.
    @inline(__always)
    func first(_ byteCount: Int) -> KeyBytes {
        KeyBytes(start: start, count: byteCount)
    }

    @inline(__always)
    func starts(with prefix: KeyBytes) -> Bool {
        count >= prefix.count && memcmp(start, prefix.start, prefix.count) == 0
    }

    /// The first four bytes as a big-endian number, a shorter string being filled up with zeros: two strings whose
    /// heads differ are ordered as their heads are.
    @inline(__always)
    var head: UInt32 {
        if count >= 4 { return UInt32(bigEndian: start.loadUnaligned(as: UInt32.self)) }
        var head: UInt32 = 0
        var index = 0
        while index < count {
            head |= UInt32(start.load(fromByteOffset: index, as: UInt8.self)) &<< UInt32(24 &- 8 &* index)
            index &+= 1
        }
        return head
    }

    /// Negative, zero or positive as this string is below, equal to or above another one.
    @inline(__always)
    func compare(to other: KeyBytes) -> Int {
        let order = KeyBytes.order(start, other.start, min(count, other.count))
        return order != 0 ? order : count &- other.count
    }

    /// Negative, zero or positive as one run of bytes is below, equal to or above another one of the same length.
    ///
    /// Keys are short: words are compared in place before a call of `memcmp` would be under way.
    @inline(__always)
    static func order(_ first: UnsafeRawPointer, _ second: UnsafeRawPointer, _ count: Int) -> Int {
        if count < 8 { return count == 0 ? 0 : Int(memcmp(first, second, count)) }
        if count > 64 { return Int(memcmp(first, second, count)) }
        var offset = 0
        while true {
            let left = UInt64(bigEndian: first.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            let right = UInt64(bigEndian: second.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            if left != right { return left < right ? -1 : 1 }
            if offset &+ 8 == count { return 0 }
            offset = min(offset &+ 8, count &- 8)
        }
    }

    /// The number of leading bytes that two strings share.
    func commonPrefixCount(with other: KeyBytes) -> Int {
        let limit = min(count, other.count)
        var index = 0
        while index &+ 8 <= limit {
            let difference =
                UInt64(littleEndian: start.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                ^ UInt64(littleEndian: other.start.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            if difference != 0 { return index &+ difference.trailingZeroBitCount &>> 3 }
            index &+= 8
        }
        while index < limit,
            start.load(fromByteOffset: index, as: UInt8.self)
                == other.start.load(fromByteOffset: index, as: UInt8.self)
        {
            index &+= 1
        }
        return index
    }
}
