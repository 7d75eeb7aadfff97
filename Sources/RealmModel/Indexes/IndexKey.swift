import RealmStorage

/// The order-preserving keys of index and backlink trees.
///
/// An index key is an encoded value followed by the row key in its short form, a backlink key the target's row key
/// followed by the origin's, 8 bytes each, big-endian. Encoded values, ordered as unsigned bytes:
///
/// | value | bytes |
/// |---|---|
/// | null | 00 |
/// | int, bool | 01, the 64-bit value with its sign bit flipped, big-endian |
/// | date, double, float | 01, the bits of the double, big-endian: all flipped if negative, else the sign bit flipped; -0.0 as 0.0, every NaN as the quiet one, which comes last |
/// | ObjectId, UUID | 01, the 12 or 16 bytes |
/// | string, data | 01, the bytes with 00 written as 00 FF, then 00 00 |
/// | string, data beyond 256 bytes | 01, the first 256 bytes with 00 written as 00 FF, then 00 02, and the hash of all of it |
/// | the same in a class that a release before has stored | 01, the first 256 bytes with 00 written as 00 FF, then 00 01 |
///
/// The key of a compound index is the encoded values of its properties, one behind the other; the 256 bytes are divided
/// among its strings.
///
/// The hash is SipHash-2-4 under the file's own key, big-endian. So long strings stand together behind what they have in common, in no
/// order, and whoever chooses them cannot have many of them stand in one place.
///
/// No encoded value is a prefix of another one. Values that only differ after 256 bytes and have the same hash, or none, are equal
/// here and are told apart by their rows.
///
/// The short form of a row key is a big-endian number of `n` bytes, 2 to 9, whose highest three bits and whose lowest
/// three bits are `n - 2`, with the row key between them; `n` is as small as it can be. So short forms are ordered like
/// row keys, and can be read from either end.
enum IndexKey {
    /// The number of bytes of a string that stand in its key.
    static let stringByteLimit = 256
    /// Room for any key: the values of a compound index, whose strings together have no more bytes than one alone, and a
    /// row key, with what is written beyond a short one.
    static let maximumByteCount = 2 * stringByteLimit + CompoundIndexSchema.propertyCounts.upperBound * 17 + 16

    /// What stands behind the beginning of a string that is cut off: without a hash, with one, and behind all that have one.
    private static let cutOff: UInt8 = 1
    private static let hashed: UInt8 = 2
    private static let behindHashed: UInt8 = 3
    /// The number of bytes of a hash.
    static let hashByteCount = 8

    /// Writes the encoded form of a value and returns its length.
    @inline(__always)
    static func encode(
        _ value: BorrowedValue,
        _ slot: PropertySlot,
        to out: UnsafeMutableRawPointer,
        limit: Int = stringByteLimit
    ) -> Int {
        switch value {
        case .null:
            out.storeBytes(of: 0, as: UInt8.self)
            return 1
        case .int(let value):
            return encode(value, to: out)
        case .float(let value):
            return encode(bits: orderedBits(Double(value)), to: out)
        case .double(let value):
            return encode(bits: orderedBits(value), to: out)
        case .bytes(let bytes):
            if slot.kind == .string || slot.kind == .data { return encode(string: bytes, slot, to: out, limit: limit) }
            out.storeBytes(of: 1, as: UInt8.self)
            (out + 1).copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
            return 1 + bytes.count
        }
    }

    /// Writes the encoded form of an int and returns its length.
    @inline(__always)
    static func encode(_ value: Int64, to out: UnsafeMutableRawPointer) -> Int {
        encode(bits: UInt64(bitPattern: value) ^ 1 << 63, to: out)
    }

    /// Writes a bound before all entries of a value, or behind them, and returns its length; a string that does not stand whole in
    /// the key has those that begin like it between its bounds, too.
    static func encode(
        bound value: BorrowedValue,
        _ slot: PropertySlot,
        isAfter: Bool,
        to out: UnsafeMutableRawPointer,
        limit: Int = stringByteLimit
    ) -> Int {
        if case .bytes(let bytes) = value, slot.kind == .string || slot.kind == .data, slot.hashesLongStrings,
            isTruncated(bytes, limit: limit)
        {
            let length = encode(stringPrefix: bytes, to: out, limit: limit)
            let end = UInt16(isAfter ? behindHashed : hashed) << 8
            out.storeBytes(of: end.littleEndian, toByteOffset: length, as: UInt16.self)
            return length + 2
        }
        let length = encode(value, slot, to: out, limit: limit)
        return isAfter ? appendUpperBound(to: out, at: length) : length
    }

    @inline(__always)
    private static func encode(bits: UInt64, to out: UnsafeMutableRawPointer) -> Int {
        out.storeBytes(of: 1, as: UInt8.self)
        out.storeBytes(of: bits.bigEndian, toByteOffset: 1, as: UInt64.self)
        return 9
    }

    private static func orderedBits(_ value: Double) -> UInt64 {
        if value.isNaN { return Double.nan.bitPattern | 1 << 63 }
        let bits = (value == 0 ? 0.0 : value).bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }

    /// Whether the values of these bytes do not stand whole in the key.
    @inline(__always)
    static func isTruncated(_ bytes: UnsafeRawBufferPointer, limit: Int = stringByteLimit) -> Bool {
        bytes.count > limit
    }

    /// Writes the tag and the escaped beginning of a string, without terminator.
    static func encode(
        stringPrefix bytes: UnsafeRawBufferPointer,
        to out: UnsafeMutableRawPointer,
        limit: Int = stringByteLimit
    ) -> Int {
        out.storeBytes(of: 1, as: UInt8.self)
        var length = 1
        for byte in bytes.prefix(limit) {
            out.storeBytes(of: byte, toByteOffset: length, as: UInt8.self)
            length += 1
            if byte == 0 {
                out.storeBytes(of: 0xFF, toByteOffset: length, as: UInt8.self)
                length += 1
            }
        }
        return length
    }

    private static func encode(
        string bytes: UnsafeRawBufferPointer,
        _ slot: PropertySlot,
        to out: UnsafeMutableRawPointer,
        limit: Int
    ) -> Int {
        var length = 1
        let count = min(bytes.count, limit)
        if containsZero(bytes, count: count) {
            length = encode(stringPrefix: bytes, to: out, limit: limit)
        } else {
            out.storeBytes(of: 1, as: UInt8.self)
            if count > 0 { (out + 1).copyMemory(from: bytes.baseAddress!, byteCount: count) }
            length += count
        }
        if _slowPath(isTruncated(bytes, limit: limit)) { return encodeRest(of: bytes, slot, to: out, at: length) }
        out.storeBytes(of: 0, toByteOffset: length, as: UInt16.self)
        return length + 2
    }

    /// Writes what stands behind the beginning of a long string, and returns the length of all.
    @inline(never)
    private static func encodeRest(
        of bytes: UnsafeRawBufferPointer,
        _ slot: PropertySlot,
        to out: UnsafeMutableRawPointer,
        at length: Int
    ) -> Int {
        out.storeBytes(of: 0, toByteOffset: length, as: UInt8.self)
        guard slot.hashesLongStrings else {
            out.storeBytes(of: cutOff, toByteOffset: length + 1, as: UInt8.self)
            return length + 2
        }
        out.storeBytes(of: hashed, toByteOffset: length + 1, as: UInt8.self)
        let hash = SipHash.hash(bytes, key: slot.hashKey)
        out.storeBytes(of: hash.bigEndian, toByteOffset: length + 2, as: UInt64.self)
        return length + 2 + hashByteCount
    }

    /// What a string's encoded value begins with, its hash left out, when it does not stand whole in it; nil for one that does.
    static func truncatedBeginning(
        _ value: UnsafeRawBufferPointer,
        isHashed: Bool
    ) -> UnsafeRawBufferPointer? {
        // Behind a 00 that does not begin the end stands FF.
        let end = value.count - (isHashed ? hashByteCount : 0)
        guard end >= 2, value[end - 2] == 0, value[end - 1] == (isHashed ? hashed : cutOff) else { return nil }
        return UnsafeRawBufferPointer(rebasing: value[..<end])
    }

    /// The length of the first values in a key; nil when one of them is a string that does not stand whole in it.
    static func byteCount(of count: Int, _ source: TreeSource, in key: UnsafeRawBufferPointer) -> Int? {
        var length = 0
        for slot in source.slots.prefix(count) {
            guard length < key.count, key[length] == 1 else {
                length += 1
                continue
            }
            switch slot.columnKind {
            case .fixed12: length += 13
            case .fixed16: length += 17
            case .int, .float, .double: length += 9
            case .bytes:
                length += 1
                while length + 1 < key.count, key[length] != 0 || key[length + 1] == 0xFF {
                    length += key[length] == 0 ? 2 : 1
                }
                if length + 1 < key.count, key[length + 1] != 0 { return nil }
                length += 2
            }
        }
        return min(length, key.count)
    }

    private static func containsZero(_ bytes: UnsafeRawBufferPointer, count: Int) -> Bool {
        if count < 8 { return bytes.prefix(count).contains(0) }
        var offset = 0
        while true {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            if (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080 != 0 { return true }
            if offset + 8 == count { return false }
            // The last eight bytes, some of them for the second time.
            offset = min(offset + 8, count - 8)
        }
    }

    /// Appends the short form of a row key and returns the length of the whole key; 8 bytes beyond may be written.
    @inline(__always)
    static func append(rowKey: Int64, to out: UnsafeMutableRawPointer, at length: Int) -> Int {
        let number = UInt64(bitPattern: rowKey)
        let code = rowKeyCode(number)
        let byteCount = Int(truncatingIfNeeded: code) &+ 2
        var bytes = number &<< 3 | code
        if _slowPath(code == 7) {
            out.storeBytes(of: UInt8(truncatingIfNeeded: 7 << 5 | number &>> 61), toByteOffset: length, as: UInt8.self)
            out.storeBytes(of: bytes.bigEndian, toByteOffset: length &+ 1, as: UInt64.self)
        } else {
            bytes = (bytes | code &<< UInt64(8 &* byteCount &- 3)) &<< UInt64(64 &- 8 &* byteCount)
            out.storeBytes(of: bytes.bigEndian, toByteOffset: length, as: UInt64.self)
        }
        return length &+ byteCount
    }

    /// What a short form of 2 bytes plus this can hold: 10 bits, and 8 more for each further byte.
    @inline(__always)
    private static func rowKeyCode(_ number: UInt64) -> UInt64 {
        let bits = 64 &- number.leadingZeroBitCount
        return bits <= 10 ? 0 : UInt64(truncatingIfNeeded: (bits &- 3) &>> 3)
    }

    /// The length of the short form that ends in a byte.
    @inline(__always)
    static func rowKeyByteCount(last: UInt8) -> Int { Int(last & 7) &+ 2 }

    /// The row key whose short form a cursor's key ends in.
    @inline(__always)
    static func rowKey(at cursor: borrowing ByteTreeCursor) -> Int64 {
        shortRowKey(cursor.lastEightBytes) ?? longRowKey(at: cursor)
    }

    /// The row key whose short form the last eight bytes of a key end in; nil for one that is longer.
    @inline(__always)
    static func shortRowKey(_ end: UInt64) -> Int64? {
        let code = end & 7
        if _slowPath(code == 7) { return nil }
        return Int64(truncatingIfNeeded: (end & (1 &<< (8 &* code &+ 13) &- 1)) &>> 3)
    }

    @inline(never)
    private static func longRowKey(at cursor: borrowing ByteTreeCursor) -> Int64 {
        Int64(truncatingIfNeeded: cursor.lastEightBytes &>> 3 | UInt64(cursor.byte(fromEnd: 8) & 3) &<< 61)
    }

    /// Appends what is above every row key: a bound above all entries of a value.
    @inline(__always)
    static func appendUpperBound(to out: UnsafeMutableRawPointer, at length: Int) -> Int {
        out.storeBytes(of: UInt64.max, toByteOffset: length, as: UInt64.self)
        return length + 8
    }

    /// Writes the key of a backlink.
    @inline(__always)
    static func backlink(target: Int64, origin: Int64, to out: UnsafeMutableRawPointer) -> UnsafeRawBufferPointer {
        out.storeBytes(of: UInt64(bitPattern: target).bigEndian, as: UInt64.self)
        out.storeBytes(of: UInt64(bitPattern: origin).bigEndian, toByteOffset: 8, as: UInt64.self)
        return UnsafeRawBufferPointer(start: out, count: 16)
    }

    /// The int that an encoded value stands for; nil for null and for values of another form.
    static func int(of key: UnsafeRawBufferPointer) -> Int64? {
        guard key.count == 9, key[0] == 1 else { return nil }
        return Int64(
            bitPattern: UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self)) ^ 1 << 63
        )
    }
}
