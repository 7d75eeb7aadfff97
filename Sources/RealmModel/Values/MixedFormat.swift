/// The bytes of a value of any kind, in a property or element of kind `any` (little-endian).
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 1 | what follows: 0 null, 1 int, 2 bool, 3 float, 4 double, 5 string, 6 data, 7 date, 8 ObjectId, 9 UUID, 10 Decimal128, 11 link, 12 list, 13 dictionary |
/// | 1 | | int, double and date 8 bytes, float 4, bool 1, ObjectId 12, UUID and Decimal128 16; of a string its UTF-8 and of data the bytes, to the end |
///
/// A link: the table's number (4 bytes) and the row key (8). A list: the number of elements (4), then each as its length
/// (4) and its bytes. A dictionary: the number of entries (4), then each as the length of its name (4), the name, the
/// length of its value (4) and the value; names ascend as bytes.
package enum MixedFormat {
    /// How deep lists and dictionaries may nest.
    package static let depthLimit = 100

    enum Tag: UInt8 {
        case null = 0
        case int
        case bool
        case float
        case double
        case string
        case data
        case date
        case objectId
        case uuid
        case decimal
        case link
        case list
        case dictionary
    }

    /// Encodes a value; a link of a typed property has no place here.
    package static func encode(_ value: StoredValue) -> [UInt8] {
        var bytes: [UInt8] = []
        append(value, to: &bytes)
        return bytes
    }

    private static func append(_ value: StoredValue, to bytes: inout [UInt8]) {
        func tag(_ tag: Tag) { bytes.append(tag.rawValue) }
        func word<Value: FixedWidthInteger>(_ value: Value) {
            withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
        }
        switch value {
        case .null, .link: tag(.null)
        case .int(let value):
            tag(.int)
            word(value)
        case .bool(let value):
            tag(.bool)
            bytes.append(value ? 1 : 0)
        case .float(let value):
            tag(.float)
            word(value.bitPattern)
        case .double(let value):
            tag(.double)
            word(value.bitPattern)
        case .string(let value):
            tag(.string)
            bytes.append(contentsOf: value.utf8)
        case .data(let value):
            tag(.data)
            bytes.append(contentsOf: value)
        case .date(let value):
            tag(.date)
            word(value.bitPattern)
        case .objectId(let value):
            tag(.objectId)
            word(value.high.byteSwapped)
            word(value.low.byteSwapped)
        case .uuid(let value):
            tag(.uuid)
            word(value.high.byteSwapped)
            word(value.low.byteSwapped)
        case .decimal(let value):
            tag(.decimal)
            word(value.high.byteSwapped)
            word(value.low.byteSwapped)
        case .anyLink(let table, let key):
            tag(.link)
            word(table)
            word(key)
        case .list(let values):
            tag(.list)
            word(UInt32(values.count))
            for value in values { appendWithLength(value, to: &bytes) }
        case .dictionary(let entries):
            tag(.dictionary)
            word(UInt32(entries.count))
            for entry in entries {
                word(UInt32(entry.key.utf8.count))
                bytes.append(contentsOf: entry.key.utf8)
                appendWithLength(entry.value, to: &bytes)
            }
        }
    }

    private static func appendWithLength(_ value: StoredValue, to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(contentsOf: [0, 0, 0, 0])
        append(value, to: &bytes)
        let length = UInt32(bytes.count - start - 4).littleEndian
        withUnsafeBytes(of: length) { for index in 0..<4 { bytes[start + index] = $0[index] } }
    }

    /// Decodes a value; nil when the bytes are not the encoding of one.
    package static func decode(_ bytes: UnsafeRawBufferPointer, depth: Int = 0) -> StoredValue? {
        guard let first = bytes.first, let tag = Tag(rawValue: first), let base = bytes.baseAddress else { return nil }
        let content = UnsafeRawBufferPointer(rebasing: bytes[1...])
        func word<Value: FixedWidthInteger>(_ type: Value.Type, _ offset: Int = 0) -> Value {
            Value(littleEndian: base.loadUnaligned(fromByteOffset: 1 + offset, as: Value.self))
        }
        switch tag {
        case .null: return content.isEmpty ? .null : nil
        case .int: return content.count == 8 ? .int(word(Int64.self)) : nil
        case .bool: return content.count == 1 && content[0] <= 1 ? .bool(content[0] == 1) : nil
        case .float: return content.count == 4 ? .float(Float(bitPattern: word(UInt32.self))) : nil
        case .double: return content.count == 8 ? .double(Double(bitPattern: word(UInt64.self))) : nil
        case .date: return content.count == 8 ? .date(Double(bitPattern: word(UInt64.self))) : nil
        case .string: return UTF8Validation.isValid(content) ? .string(String(decoding: content, as: UTF8.self)) : nil
        case .data: return .data(Array(content))
        case .objectId: return content.count == 12 ? .objectId(ObjectIDBytes(load: base + 1)) : nil
        case .uuid: return content.count == 16 ? .uuid(UUIDBytes(load: base + 1)) : nil
        case .decimal: return content.count == 16 ? .decimal(DecimalBytes(load: base + 1)) : nil
        case .link: return content.count == 12 ? .anyLink(table: word(UInt32.self), key: word(Int64.self, 4)) : nil
        case .list: return list(content, depth: depth + 1)
        case .dictionary: return dictionary(content, depth: depth + 1)
        }
    }

    private static func list(_ content: UnsafeRawBufferPointer, depth: Int) -> StoredValue? {
        guard depth <= depthLimit, var rest = Reader(content), let count = rest.length() else { return nil }
        var values: [StoredValue] = []
        for _ in 0..<count {
            guard let bytes = rest.bytes(), let value = decode(bytes, depth: depth) else { return nil }
            values.append(value)
        }
        return rest.isAtEnd ? .list(values) : nil
    }

    private static func dictionary(_ content: UnsafeRawBufferPointer, depth: Int) -> StoredValue? {
        guard depth <= depthLimit, var rest = Reader(content), let count = rest.length() else { return nil }
        var entries: [StoredEntry] = []
        for _ in 0..<count {
            guard let name = rest.bytes(), UTF8Validation.isValid(name), let bytes = rest.bytes(),
                let value = decode(bytes, depth: depth)
            else { return nil }
            let key = String(decoding: name, as: UTF8.self)
            if let last = entries.last, !last.key.utf8.lexicographicallyPrecedes(key.utf8) { return nil }
            entries.append(StoredEntry(key: key, value: value))
        }
        return rest.isAtEnd ? .dictionary(entries) : nil
    }

    /// Reads lengths and what they measure; nothing is believed that lies outside.
    private struct Reader {
        private let content: UnsafeRawBufferPointer
        private var offset = 0

        init?(_ content: UnsafeRawBufferPointer) { self.content = content }

        var isAtEnd: Bool { offset == content.count }

        mutating func length() -> Int? {
            guard content.count - offset >= 4 else { return nil }
            defer { offset += 4 }
            return Int(UInt32(littleEndian: content.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        }

        mutating func bytes() -> UnsafeRawBufferPointer? {
            guard let length = length(), length <= content.count - offset else { return nil }
            defer { offset += length }
            return UnsafeRawBufferPointer(rebasing: content[offset..<offset + length])
        }
    }
}

extension StoredValue {
    /// Calls a function with every link in the value, however deep.
    func forEachLink(_ body: (UInt32, Int64) throws -> Void) rethrows {
        switch self {
        case .anyLink(let table, let key): try body(table, key)
        case .list(let values): for value in values { try value.forEachLink(body) }
        case .dictionary(let entries): for entry in entries { try entry.value.forEachLink(body) }
        default: break
        }
    }

    /// The value with some links replaced by null or by others.
    func replacingLinks(_ change: (UInt32, Int64) throws -> StoredValue) rethrows -> StoredValue {
        switch self {
        case .anyLink(let table, let key): try change(table, key)
        case .list(let values): .list(try values.map { try $0.replacingLinks(change) })
        case .dictionary(let entries):
            .dictionary(
                try entries.map { StoredEntry(key: $0.key, value: try $0.value.replacingLinks(change)) }
            )
        default: self
        }
    }

    /// How deep lists and dictionaries nest; 0 for other values.
    package var depth: Int {
        switch self {
        case .list(let values): 1 + (values.map(\.depth).max() ?? 0)
        case .dictionary(let entries): 1 + (entries.map(\.value.depth).max() ?? 0)
        default: 0
        }
    }
}
