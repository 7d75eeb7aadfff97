/// A value of any kind, owned: for dynamic paths only, the typed ones do not build it.
package enum StoredValue: Sendable {
    case null
    case int(Int64)
    case bool(Bool)
    case float(Float)
    case double(Double)
    case string(String)
    case data([UInt8])
    /// Seconds since the reference date (2001-01-01 00:00:00 UTC).
    case date(Double)
    case objectId(ObjectIDBytes)
    case uuid(UUIDBytes)
    case decimal(DecimalBytes)
    /// The row key of the linked object; the property says in which table.
    case link(Int64)
    /// A link to a row of any table: only in a property of kind `any`.
    case anyLink(table: UInt32, key: Int64)
    /// A list of values of any kind: only in a property of kind `any`.
    case list([StoredValue])
    /// Values of any kind by name, ascending and each name once: only in a property of kind `any`.
    case dictionary([StoredEntry])

    package var isNull: Bool {
        if case .null = self { return true }
        return false
    }

    /// Whether a property (or element) of the kind can hold this value; null is judged by optionality elsewhere.
    package func isOf(_ kind: PropertyKind) -> Bool {
        switch (self, kind) {
        case (.null, _), (.int, .int), (.bool, .bool), (.float, .float), (.double, .double), (.string, .string),
            (.data, .data), (.date, .date), (.objectId, .objectId), (.uuid, .uuid), (.link, .object),
            (.decimal, .decimal128):
            true
        case (.link, .any): false
        case (_, .any): true
        default: false
        }
    }

    /// Lends the value in the form that a property (or element) of the kind has, without its owner: for the typed paths.
    package func withBorrowed<R>(for kind: PropertyKind, _ body: (BorrowedValue) throws -> R) rethrows -> R {
        guard kind == .any, !isNull else { return try withBorrowed(body) }
        let bytes = MixedFormat.encode(self)
        return try bytes.withUnsafeBytes { try body(.bytes($0)) }
    }

    /// Lends a value of one kind without its owner.
    package func withBorrowed<R>(_ body: (BorrowedValue) throws -> R) rethrows -> R {
        switch self {
        case .anyLink, .list, .dictionary: return try withBorrowed(for: .any, body)
        case .decimal(let value):
            return try withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) {
                value.store(to: $0.baseAddress!)
                return try body(.bytes(UnsafeRawBufferPointer(rebasing: $0[..<16])))
            }
        case .null: return try body(.null)
        case .int(let value), .link(let value): return try body(.int(value))
        case .bool(let value): return try body(.int(value ? 1 : 0))
        case .float(let value): return try body(.float(value))
        case .double(let value), .date(let value): return try body(.double(value))
        case .string(var value): return try value.withUTF8 { try body(.bytes(UnsafeRawBufferPointer($0))) }
        case .data(let value): return try value.withUnsafeBytes { try body(.bytes($0)) }
        case .objectId(let value):
            return try withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) {
                value.store(to: $0.baseAddress!)
                return try body(.bytes(UnsafeRawBufferPointer(rebasing: $0[..<12])))
            }
        case .uuid(let value):
            return try withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) {
                value.store(to: $0.baseAddress!)
                return try body(.bytes(UnsafeRawBufferPointer(rebasing: $0[..<16])))
            }
        }
    }

    /// Owns a borrowed value of a property (or element) of the kind.
    package init(_ value: BorrowedValue, kind: PropertyKind) {
        switch value {
        case .null: self = .null
        case .int(let value):
            switch kind {
            case .bool: self = .bool(value != 0)
            case .object: self = .link(value)
            default: self = .int(value)
            }
        case .float(let value): self = .float(value)
        case .double(let value): self = kind == .date ? .date(value) : .double(value)
        case .bytes(let bytes):
            switch kind {
            case .string: self = .string(String(decoding: bytes, as: UTF8.self))
            case .objectId where bytes.count >= 12: self = .objectId(ObjectIDBytes(load: bytes.baseAddress!))
            case .uuid where bytes.count >= 16: self = .uuid(UUIDBytes(load: bytes.baseAddress!))
            case .decimal128 where bytes.count >= 16: self = .decimal(DecimalBytes(load: bytes.baseAddress!))
            // What cannot be read is named by `verify`.
            case .any: self = MixedFormat.decode(bytes) ?? .null
            default: self = .data(Array(bytes))
            }
        }
    }
}

/// A named value of a dictionary.
package struct StoredEntry: Sendable {
    package var key: String
    package var value: StoredValue

    package init(key: String, value: StoredValue) {
        self.key = key
        self.value = value
    }
}
