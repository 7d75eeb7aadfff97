import RealmStorage

/// Collects keys in index order, and puts those whose strings are equal up to the key's limit into the order of their
/// whole strings.
struct IndexRun {
    private let table: TableView
    private let property: Int
    private(set) var keys: [Int64] = []
    /// Where the current run of equal truncated strings begins.
    private var runStart = 0
    private var runPrefix: [UInt8] = []
    private(set) var isInTruncatedRun = false

    private let isHashed: Bool

    init(table: TableView, property: Int) {
        isHashed = table.slots[property].hashesLongStrings
        self.table = table
        self.property = property
    }

    /// Appends the key at a cursor.
    mutating func append(_ key: Int64, at cursor: inout ByteTreeCursor, if isMatch: Bool) throws(StorageError) {
        if cursor.keyByteCount >= 1 + IndexKey.stringByteLimit + 2 {
            let bytes = cursor.key
            let rowKeyByteCount = IndexKey.rowKeyByteCount(last: bytes[bytes.count - 1])
            let value = UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count - rowKeyByteCount)])
            if let beginning = IndexKey.truncatedBeginning(value, isHashed: isHashed) {
                if !isInTruncatedRun || !beginning.elementsEqual(runPrefix) {
                    try endRun()
                    isInTruncatedRun = true
                    runStart = keys.count
                    runPrefix = Array(beginning)
                }
            } else {
                try endRun()
            }
        } else if isInTruncatedRun {
            try endRun()
        }
        if isMatch { keys.append(key) }
    }

    private mutating func endRun() throws(StorageError) {
        guard isInTruncatedRun else { return }
        isInTruncatedRun = false
        guard keys.count - runStart > 1 else { return }
        var strings: [(bytes: [UInt8], key: Int64)] = []
        for key in keys[runStart...] {
            strings.append((try table.string(of: key, property) { Array($0) }, key))
        }
        strings.sort { left, right in
            if left.bytes == right.bytes { return left.key < right.key }
            return left.bytes.lexicographicallyPrecedes(right.bytes)
        }
        keys.replaceSubrange(runStart..., with: strings.map(\.key))
    }

    mutating func finish(limit: Int) throws(StorageError) -> [Int64] {
        try endRun()
        return keys.count > limit ? Array(keys.prefix(limit)) : keys
    }
}
