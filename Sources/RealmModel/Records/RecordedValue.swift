import RealmStorage

/// A value as it stands in a record, not yet looked at closer than its form.
enum RecordedValue {
    case single(BorrowedValue)
    /// A small list as its row holds it.
    case smallList(UnsafeRawBufferPointer)
    case largeList(count: Int, elements: RecordReader)
    case splices(count: Int, splices: RecordReader)

    /// Reads the value of a property.
    init(of slot: PropertySlot, from reader: inout RecordReader) throws(StorageError) {
        let tag = try reader.byte()
        guard slot.collection != .none else {
            self = .single(try RecordValue.read(tag, of: slot.columnKind, from: &reader))
            return
        }
        switch tag {
        case RecordValue.bytes: self = .smallList(try reader.counted())
        case RecordValue.largeList:
            let count = try reader.count()
            self = .largeList(count: count, elements: reader)
            for _ in 0..<count { _ = try reader.counted() }
        case RecordValue.splices:
            let count = try reader.count()
            self = .splices(count: count, splices: reader)
            for _ in 0..<count { _ = try RecordedSplice(from: &reader) }
        default: throw RecordReader.damaged("a value is not of its property's type.")
        }
    }
}

/// One step of what was done to a large list.
struct RecordedSplice {
    /// Where it begins, and how many elements go.
    let index: Int
    let removed: Int
    /// What takes their place, as its sequence holds it.
    let element: UnsafeRawBufferPointer?

    init(from reader: inout RecordReader) throws(StorageError) {
        index = try reader.index()
        removed = try reader.index()
        switch try reader.byte() {
        case 0: element = nil
        case 1: element = try reader.counted()
        default: throw RecordReader.damaged("a splice has an unknown form.")
        }
    }
}
