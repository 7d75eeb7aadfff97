import RealmStorage

/// Reads the content of a commit record; nothing in it is trusted.
struct RecordReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }

    private var remaining: Int { bytes.count - offset }

    static func damaged(_ what: String) -> StorageError {
        StorageError(.corrupt, "A commit record is damaged: \(what)")
    }

    mutating func byte() throws(StorageError) -> UInt8 {
        guard remaining > 0 else { throw Self.damaged("it is too short.") }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func number() throws(StorageError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = try byte()
            guard shift < 63 || byte <= 1 else { throw Self.damaged("a number is too long.") }
            value |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
            shift += 7
        }
    }

    mutating func signed() throws(StorageError) -> Int64 {
        let value = try number()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// A row key.
    mutating func key() throws(StorageError) -> Int64 {
        guard let key = Int64(exactly: try number()), key < .max else { throw Self.damaged("a row key is too large.") }
        return key
    }

    /// The number of things that follow, each of at least one byte.
    mutating func count() throws(StorageError) -> Int {
        let value = try number()
        guard value <= UInt64(remaining) else { throw Self.damaged("a count is too large.") }
        return Int(value)
    }

    /// A number that fits an index.
    mutating func index() throws(StorageError) -> Int {
        guard let value = Int(exactly: try number()) else { throw Self.damaged("an index is too large.") }
        return value
    }

    mutating func fixed<Value: FixedWidthInteger & BitwiseCopyable>(
        _ type: Value.Type
    ) throws(StorageError) -> Value {
        Value(littleEndian: try raw(MemoryLayout<Value>.size).loadUnaligned(as: Value.self))
    }

    mutating func raw(_ byteCount: Int) throws(StorageError) -> UnsafeRawBufferPointer {
        guard byteCount <= remaining else { throw Self.damaged("it is too short.") }
        defer { offset += byteCount }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + byteCount])
    }

    mutating func counted() throws(StorageError) -> UnsafeRawBufferPointer { try raw(try count()) }

    /// Runs of keys, ascending and apart.
    mutating func runs() throws(StorageError) -> [Range<Int64>] {
        var runs: [Range<Int64>] = []
        var end: Int64 = 0
        for index in 0..<(try count()) {
            let (first, overflow) = end.addingReportingOverflow(try key())
            let length = try key()
            guard !overflow, length > 0, index == 0 || first > end, first <= .max - 1 - length else {
                throw Self.damaged("its row keys do not ascend.")
            }
            end = first + length
            runs.append(first..<end)
        }
        return runs
    }
}
