import RealmModel
import RealmStorage

/// The values of one sort key for a number of rows, extracted once into forms that compare fast.
///
/// The bytes of strings stay where they are in the version's pages; they are valid as long as nothing is written.
struct SortValues {
    private let isBytes: Bool
    private(set) var words: [UInt64] = []
    private var bytes: [UnsafeRawBufferPointer] = []
    private var nulls: [Bool] = []
    private var hasNulls = false
    /// Holds the bytes of keys that were made for sorting.
    private let arena: SortArena?

    init(kind: PropertyKind, capacity: Int) {
        arena = ValueTestFactory.isStored(kind) ? SortArena() : nil
        switch kind.columnKind {
        case .bytes, .fixed12, .fixed16: isBytes = true
        case .int, .float, .double: isBytes = false
        }
        words.reserveCapacity(capacity)
        if isBytes { bytes.reserveCapacity(capacity) }
    }

    mutating func append(_ value: BorrowedValue) {
        if case .null = value { return appendNull() }
        words.append(value.orderWord)
        if isBytes, case .bytes(let buffer) = value { bytes.append(arena?.copy(buffer) ?? buffer) }
        if hasNulls { nulls.append(false) }
    }

    private mutating func appendNull() {
        if !hasNulls {
            hasNulls = true
            nulls = Array(repeating: false, count: words.count)
        }
        nulls.append(true)
        words.append(0)
        if isBytes { bytes.append(UnsafeRawBufferPointer(start: nil, count: 0)) }
    }

    /// Appends rows of a column.
    mutating func append(_ column: ColumnView, _ kind: ColumnKind, _ rows: RowSet) throws {
        if column.nulls == nil, kind == .int || kind == .double {
            let before = words.count
            words.append(contentsOf: repeatElement(0, count: rows.count))
            words.withUnsafeMutableBufferPointer { words in
                var next = before
                if kind == .int {
                    rows.visit {
                        words[next] = BorrowedValue.word(column.int($0))
                        next &+= 1
                    }
                } else {
                    rows.visit {
                        words[next] = BorrowedValue.word(column.double($0))
                        next &+= 1
                    }
                }
            }
            return appendNonNull(words.count - before)
        }
        try rows.visit { append(try column.borrowed($0, as: kind)) }
    }

    private mutating func appendNonNull(_ count: Int) {
        if hasNulls { nulls.append(contentsOf: repeatElement(false, count: count)) }
    }

    /// What to compare, one after the other: null or not, the words, the whole bytes.
    func levels(ascending: Bool) -> [SortLevel] {
        var levels: [SortLevel] = []
        if hasNulls { levels.append(.words(nulls.map { $0 == ascending ? 0 : 1 })) }
        levels.append(.words(ascending ? words : words.map { ~$0 }))
        if isBytes { levels.append(.bytes(bytes, ascending: ascending)) }
        return levels
    }

    /// Words that never order two rows the wrong way round, though they may be equal for different values.
    func coarseWords(ascending: Bool) -> [UInt64] {
        ascending ? words : words.map { ~$0 }
    }
}

/// One thing to compare.
enum SortLevel {
    case words([UInt64])
    case bytes([UnsafeRawBufferPointer], ascending: Bool)
}
