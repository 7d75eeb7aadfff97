import RealmStorage

/// The bytes of a list in its row (little-endian).
///
/// No bytes at all are an empty list.
///
/// A small list, at most 1,024 bytes in all:
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 1 | form, 1 |
/// | 1 | 1 | element kind (`PropertyKind`), bit 7 when elements may be null; of a dictionary that of data, with bit 6 set |
/// | 2 | 2 | number of elements `n` |
/// | 4 | (n + 7) / 8 | bit set = null; only when elements may be null |
/// | | n w | elements of a fixed width `w`: int, date, double and link 8, float 4, bool 1, ObjectId 12, UUID 16 |
/// | | 2 n | for strings and data instead: the end of each element in the bytes that follow |
/// | | ... | for strings and data: the elements one after the other |
///
/// A large list:
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 1 | form, 2 |
/// | 1 | 1 | element kind, as above |
/// | 2 | 6 | 0 |
/// | 8 | 8 | number of elements |
/// | 16 | 8 | sum of the elements' lengths in the sequence |
/// | 24 | 16 | root of the `SequenceTree` |
///
/// An element of a sequence: the bytes of the fixed width, or none for null; of a string or data its bytes, with a byte
/// 0 (null) or 1 before them when elements may be null.
///
/// A set is a list whose elements ascend, each once. A dictionary is a list of entries, whose names ascend as bytes: an
/// entry is the length of the name (2 bytes), the name, and the value as an element of a sequence.
enum ListFormat {
    static let smallForm: UInt8 = 1
    static let largeForm: UInt8 = 2
    static let headerByteCount = 4
    static let largeByteCount = 40
    static let rootOffset = 24
    /// A list whose encoding is longer becomes a sequence.
    static let inlineByteLimit = 1024
    /// A sequence whose elements are no longer than this in all becomes a small list again.
    static let shrinkByteLimit = 512

    /// No elements are longer together: sums of their lengths never overflow.
    static let greatestByteCount: UInt64 = 1 << 56

    /// The root of a large list, given where its bytes begin.
    ///
    /// The bytes in a row have that of a list as it is in the file. Those of one that is being changed may have another: what the
    /// transaction knows of it counts then.
    static func root(at base: UnsafeRawPointer) throws(StorageError) -> PageReference {
        let root = PageReference(load: base + rootOffset)
        // Without a checksum it could be any page that the open transaction writes to.
        guard root.checksum != 0 else { throw damaged("its root has no checksum.") }
        return root
    }

    /// The width of a fixed-width element, 0 for strings and data.
    static func width(of kind: PropertyKind) -> Int {
        switch kind {
        case .int, .date, .double, .object, .linkingObjects: 8
        case .float: 4
        case .bool: 1
        case .objectId: 12
        case .uuid, .decimal128: 16
        case .string, .data, .any: 0
        }
    }

    static func kindByte(_ slot: PropertySlot) -> UInt8 {
        slot.kind.rawValue | (slot.isOptional ? 0x80 : 0) | (slot.collection == .map ? 0x40 : 0)
    }

    /// The length of a small list's encoding.
    static func byteCount(width: Int, isOptional: Bool, count: Int, heapByteCount: Int) -> Int {
        headerByteCount + (isOptional ? (count + 7) / 8 : 0) + count * (width == 0 ? 2 : width) + heapByteCount
    }

    /// Writes a fixed-width element.
    @inline(__always)
    static func store(_ value: BorrowedValue, width: Int, to out: UnsafeMutableRawPointer) {
        switch value {
        case .null: (out).initializeMemory(as: UInt8.self, repeating: 0, count: width)
        case .int(let value):
            if width == 1 {
                out.storeBytes(of: value == 0 ? 0 : 1, as: UInt8.self)
            } else {
                out.storeBytes(of: value.littleEndian, as: Int64.self)
            }
        case .double(let value): out.storeBytes(of: value.bitPattern.littleEndian, as: UInt64.self)
        case .float(let value): out.storeBytes(of: value.bitPattern.littleEndian, as: UInt32.self)
        case .bytes(let bytes): out.copyMemory(from: bytes.baseAddress!, byteCount: width)
        }
    }

    /// Reads a fixed-width element.
    @inline(__always)
    static func load(_ kind: PropertyKind, width: Int, from bytes: UnsafeRawPointer) -> BorrowedValue {
        switch kind {
        case .bool: .int(bytes.load(as: UInt8.self) == 0 ? 0 : 1)
        case .float: .float(Float(bitPattern: UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self))))
        case .double, .date:
            .double(Double(bitPattern: UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))))
        case .objectId, .uuid, .decimal128: .bytes(UnsafeRawBufferPointer(start: bytes, count: width))
        default: .int(Int64(littleEndian: bytes.loadUnaligned(as: Int64.self)))
        }
    }

    /// Calls a function with a value as an element of a sequence.
    static func withElement<R>(
        _ value: BorrowedValue,
        width: Int,
        isOptional: Bool,
        _ body: (UnsafeRawBufferPointer) throws(StorageError) -> R
    ) throws(StorageError) -> R {
        if width == 0 {
            guard case .bytes(let bytes) = value else {
                var null: UInt8 = 0
                return try withUnsafeBytes(of: &null, body)
            }
            if !isOptional { return try body(bytes) }
            return try withUnsafeTemporaryAllocation(byteCount: bytes.count + 1, alignment: 1) {
                (buffer) throws(StorageError) -> R in
                buffer[0] = 1
                if bytes.count > 0 {
                    (buffer.baseAddress! + 1).copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
                }
                return try body(UnsafeRawBufferPointer(buffer))
            }
        }
        var storage = (UInt64(0), UInt64(0))
        return try withUnsafeMutableBytes(of: &storage) { (buffer) throws(StorageError) -> R in
            if value.isNull { return try body(UnsafeRawBufferPointer(rebasing: buffer[..<0])) }
            store(value, width: width, to: buffer.baseAddress!)
            return try body(UnsafeRawBufferPointer(rebasing: buffer[..<width]))
        }
    }

    /// Reads an element of a sequence; nil when its length is impossible.
    static func value(
        _ bytes: UnsafeRawBufferPointer,
        kind: PropertyKind,
        width: Int,
        isOptional: Bool
    ) -> BorrowedValue? {
        if width == 0 {
            if !isOptional { return .bytes(bytes) }
            guard let first = bytes.first else { return nil }
            return first == 0 ? .null : .bytes(UnsafeRawBufferPointer(rebasing: bytes[1...]))
        }
        if bytes.isEmpty && isOptional { return .null }
        return bytes.count == width ? load(kind, width: width, from: bytes.baseAddress!) : nil
    }

    /// The length of an element in a sequence.
    static func encodedByteCount(_ value: BorrowedValue, _ list: ListView) -> Int {
        let width = width(of: list.elementKind)
        if width > 0 { return value.isNull ? 0 : width }
        guard case .bytes(let bytes) = value else { return 1 }
        return bytes.count + (list.isElementOptional ? 1 : 0)
    }

    static func damaged(_ what: String) -> StorageError { StorageError(.corrupt, "A list is damaged: \(what)") }
}
