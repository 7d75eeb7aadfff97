import RealmStorage

/// A value in a commit record: a byte that says what follows, and the bits as they are.
///
/// | byte | what follows |
/// |---|---|
/// | 0 | nothing: null |
/// | 1 | an integer: zigzag varint |
/// | 2 | a float: 4 bytes |
/// | 3 | a double or a date: 8 bytes |
/// | 4 | a text or bytes, or a small list as its row holds it: their number, then they |
/// | 5, 6 | 12 and 16 bytes |
/// | 7 | a large list: the number of elements, then each as its sequence holds it, behind its length |
/// | 8 | what was done to a large list, in order: the number of splices; for each the index, the number of elements removed, and 0, or 1 and the element put there, behind its length |
enum RecordValue {
    static let null: UInt8 = 0
    static let int: UInt8 = 1
    static let float: UInt8 = 2
    static let double: UInt8 = 3
    static let bytes: UInt8 = 4
    static let fixed12: UInt8 = 5
    static let fixed16: UInt8 = 6
    static let largeList: UInt8 = 7
    static let splices: UInt8 = 8

    /// Writes a single value.
    static func write(_ value: BorrowedValue, of kind: ColumnKind, to writer: inout RecordWriter) {
        switch value {
        case .null: writer.write(byte: null)
        case .int(let value):
            writer.write(byte: int)
            writer.write(signed: value)
        case .float(let value):
            writer.write(byte: float)
            writer.write(fixed: value.bitPattern)
        case .double(let value):
            writer.write(byte: double)
            writer.write(fixed: value.bitPattern)
        case .bytes(let value):
            switch kind {
            case .fixed12:
                writer.write(byte: fixed12)
                writer.write(raw: value)
            case .fixed16:
                writer.write(byte: fixed16)
                writer.write(raw: value)
            default:
                writer.write(byte: bytes)
                writer.write(counted: value)
            }
        }
    }

    /// Reads a single value that a column of a kind can hold.
    static func read(_ tag: UInt8, of kind: ColumnKind, from reader: inout RecordReader) throws(StorageError)
        -> BorrowedValue
    {
        switch (tag, kind) {
        case (null, _): return .null
        case (int, .int): return .int(try reader.signed())
        case (float, .float): return .float(Float(bitPattern: try reader.fixed(UInt32.self)))
        case (double, .double): return .double(Double(bitPattern: try reader.fixed(UInt64.self)))
        case (bytes, .bytes): return .bytes(try reader.counted())
        case (fixed12, .fixed12): return .bytes(try reader.raw(12))
        case (fixed16, .fixed16): return .bytes(try reader.raw(16))
        default: throw RecordReader.damaged("a value is not of its column's type.")
        }
    }

    /// Whether a value is what a new row's column holds: null, zero, empty.
    static func isInitial(_ value: BorrowedValue, _ slot: PropertySlot) -> Bool {
        switch value {
        case .null: true
        case _ where slot.isNullable: false
        case .int(let value): value == 0
        case .float(let value): value.bitPattern == 0
        case .double(let value): value.bitPattern == 0
        case .bytes(let bytes): slot.columnKind == .bytes ? bytes.isEmpty : bytes.allSatisfy { $0 == 0 }
        }
    }
}
