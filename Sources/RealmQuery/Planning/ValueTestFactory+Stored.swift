import RealmModel

/// Tests of decimals and of values of any kind.
extension ValueTestFactory {
    /// Whether the path's values are compared as a whole.
    static func isStored(_ kind: PropertyKind) -> Bool { kind == .decimal128 || kind == .any }

    /// The test against one constant that is not null.
    func storedTest(_ operation: ComparisonOperator, _ value: PredicateValue) throws -> ValueTest {
        if path.kind == .any {
            let isTextual =
                switch operation {
                case .beginsWith, .endsWith, .contains, .like: true
                default: !options.isEmpty
                }
            if isTextual {
                switch value {
                case .string(let text):
                    return StoredTextTest(operation, Array(text.utf8), isText: true, options: options)
                case .data(let bytes) where options.isEmpty:
                    return StoredTextTest(operation, bytes, isText: false, options: [])
                default: throw mismatch(value)
                }
            }
        }
        return StoredComparisonTest(path.kind, operation, try storedConstant(value))
    }

    /// The test for membership; nulls among the values are left out.
    func storedMembership(_ values: [PredicateValue], nullPasses: Bool) throws -> ValueTest {
        if path.kind == .any, !options.isEmpty {
            let texts = try values.map { value in
                guard case .string(let text) = value else { throw mismatch(value) }
                return Array(text.utf8)
            }
            return StoredTextSetTest(texts, nullPasses: nullPasses, options: options)
        }
        return StoredSetTest(path.kind, try values.map(storedConstant), nullPasses: nullPasses)
    }

    /// A constant as the property stores values.
    private func storedConstant(_ value: PredicateValue) throws -> StoredValue {
        if path.kind == .decimal128 { return .decimal(DecimalBytes(try decimalConstant(value))) }
        switch value {
        case .int(let value): return .int(value)
        case .float(let value): return .float(value)
        case .double(let value): return .double(value)
        case .decimal(let value): return .decimal(value)
        case .bool(let value): return .bool(value)
        case .string(let value): return .string(value)
        case .data(let value): return .data(value)
        case .date(let value): return .date(value)
        case .objectId(let value): return .objectId(value)
        case .uuid(let value): return .uuid(value)
        case .object(let className, let key):
            guard let table = model.schema[className]?.tableID else { throw mismatch(value) }
            return .anyLink(table: table, key: key)
        default: throw mismatch(value)
        }
    }

    /// A constant takes the type of the property: `price == 1.1` finds the decimal 1.1, which the double of that name is
    /// only near to.
    private func decimalConstant(_ value: PredicateValue) throws -> DecimalNumber {
        switch value {
        case .int(let value): return DecimalNumber(value)
        case .float(let value): return DecimalNumber(value)
        case .double(let value): return DecimalNumber(value)
        case .decimal(let value): return value.number
        case .string(let text):
            guard let number = DecimalNumber(parsing: text) else { throw mismatch(value) }
            return number
        default: throw mismatch(value)
        }
    }
}
