import RealmModel
import RealmStorage

/// A property to sort or group by, resolved: through to-one links to one value.
struct SortKeyPath {
    let reader: PathReader
    let kind: PropertyKind

    /// Resolves a path; `purpose` says what it is for, in messages: "sort on" or "distinct on".
    init(
        _ path: PropertyPath,
        table: TableView,
        resolver: inout PathResolver,
        purpose: String,
        allowsLinks: Bool
    ) throws {
        let resolved: ResolvedPath
        do {
            resolved = try resolver.resolve(path, from: table)
        } catch let error as QueryError {
            throw QueryError("Cannot \(purpose) key path '\(path)': \(error.message)")
        }
        guard !resolved.reader.isMany else {
            throw QueryError("Cannot \(purpose) key path '\(path)': property is a collection or lies behind one")
        }
        guard resolved.reader.isSingleValue, allowsLinks || resolved.kind != .object else {
            throw QueryError(
                "Cannot \(purpose) key path '\(path)': property of type '\(resolved.typeName)' is not supported"
            )
        }
        reader = resolved.reader
        kind = resolved.kind
    }

    /// The table, the ordinal and the column kind when the path is a property of the row itself.
    var ownColumn: (table: TableView, property: Int, kind: ColumnKind)? {
        guard reader.hops.isEmpty, case .value(let table, let property, let kind) = reader.terminal,
            !ValueTestFactory.isStored(self.kind)
        else { return nil }
        return (table, property, kind)
    }

    /// The value of a row, for as long as the function runs.
    func withValue<R>(
        _ location: RowLocation,
        key: Int64,
        _ context: QueryContext,
        _ body: (BorrowedValue) -> R
    ) throws -> R {
        var result: R?
        try reader.forEach(location, key: key, context) { value in
            result = comparable(value, body)
            return false
        }
        return result ?? body(.null)
    }

    /// Hands on a value in a form that compares as the value does.
    private func comparable<R>(_ value: BorrowedValue, _ body: (BorrowedValue) -> R) -> R {
        guard ValueTestFactory.isStored(kind), !value.isNull else { return body(value) }
        let stored = StoredValue(value, kind: kind)
        return stored.isNull ? body(.null) : stored.sortKey(of: kind).withUnsafeBytes { body(.bytes($0)) }
    }
}

extension PathReader {
    /// Whether a path ends in one plain value.
    var isSingleValue: Bool {
        switch terminal {
        case .value: true
        case .entry, .inside: !isMany
        default: false
        }
    }
}

extension BorrowedValue {
    /// A word that orders as the value does: exactly for numbers, by the first eight bytes for bytes.
    ///
    /// Null gives 0.
    @inline(__always)
    var orderWord: UInt64 {
        switch self {
        case .null: 0
        case .int(let value): BorrowedValue.word(value)
        case .float(let value): BorrowedValue.word(Double(value))
        case .double(let value): BorrowedValue.word(value)
        case .bytes(let bytes): BorrowedValue.word(bytes)
        }
    }

    @inline(__always)
    static func word(_ value: Int64) -> UInt64 { UInt64(bitPattern: value) ^ (1 << 63) }

    /// NaN comes before every number; -0 and 0 are the same.
    @inline(__always)
    static func word(_ value: Double) -> UInt64 {
        if value != value { return 1 }
        let bits = (value + 0.0).bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }

    @inline(__always)
    static func word(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        guard let base = bytes.baseAddress else { return 0 }
        if bytes.count >= 8 { return UInt64(bigEndian: base.loadUnaligned(as: UInt64.self)) }
        var word: UInt64 = 0
        for index in 0..<bytes.count { word |= UInt64(bytes[index]) << UInt64(56 - 8 * index) }
        return word
    }

    /// How two values of one type compare; null comes first.
    static func order(_ left: BorrowedValue, _ right: BorrowedValue) -> Int {
        switch (left, right) {
        case (.null, .null): return 0
        case (.null, _): return -1
        case (_, .null): return 1
        case (.bytes(let first), .bytes(let second)): return BytesSetTest.order(first, second).signum()
        default:
            let first = left.orderWord
            let second = right.orderWord
            return first < second ? -1 : first > second ? 1 : 0
        }
    }
}
