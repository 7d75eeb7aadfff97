import RealmStorage

/// What an open transaction did to a large list, in order; or that the list is to be told as a whole.
struct ListSplices {
    /// The splices as a record holds them.
    var writer = RecordWriter()
    var count = 0
    /// Whether the list became large or small meanwhile, or more was done to it than a record holds: then only the whole says what it holds.
    private(set) var isWhole = false

    /// More is not kept: no record of a commit is as long.
    private static let byteLimit = 64 << 10

    /// Notes that a range was replaced by at most one element.
    mutating func note(_ range: Range<Int>, with element: BorrowedValue?, _ slot: PropertySlot) throws(StorageError) {
        if isWhole { return }
        defer { if writer.bytes.count > Self.byteLimit { tellWhole() } }
        count += 1
        writer.write(range.lowerBound)
        writer.write(range.count)
        guard let element else { return writer.write(byte: 0) }
        writer.write(byte: 1)
        try ListFormat.withElement(element, width: ListFormat.width(of: slot.kind), isOptional: slot.isOptional) {
            (bytes) throws(StorageError) in
            writer.write(counted: bytes)
        }
    }

    /// Has the list told as a whole, and keeps nothing of what was done to it.
    mutating func tellWhole() {
        isWhole = true
        count = 0
        writer = RecordWriter()
    }
}
