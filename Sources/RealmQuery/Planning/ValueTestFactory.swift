import RealmModel
import RealmStorage

/// Makes the test of a path's values against constants, after checking that the types fit.
struct ValueTestFactory {
    let path: ResolvedPath
    let options: StringComparisonOptions
    let model: ModelView

    /// Refuses an operator that the type does not have.
    func checkOperator(_ operation: ComparisonOperator) throws {
        let isSupported =
            switch operation {
            case .equal, .notEqual, .in: true
            case .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .within:
                path.kind != .bool && path.kind != .object
            case .beginsWith, .endsWith, .contains: [.string, .data, .any].contains(path.kind)
            case .like: path.kind == .string || path.kind == .any
            }
        guard isSupported else {
            throw QueryError("Operator '\(operation.spelling)' not supported for type '\(path.kind.name)'")
        }
        guard !options.isEmpty else { return }
        guard path.kind == .string || path.kind == .any else {
            throw QueryError(
                "Operator '\(operation.spelling)\(options.spelling)' not supported for type '\(path.kind.name)'"
            )
        }
        switch operation {
        case .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .within:
            throw QueryError("Lexicographical comparisons must be case-sensitive")
        case .like where options.contains(.diacriticInsensitive):
            throw QueryError("Operator 'LIKE' not supported with diacritic-insensitive modifier.")
        default: break
        }
    }

    /// The test for an operator and its right side.
    func test(_ operation: ComparisonOperator, _ value: PredicateValue) throws -> ValueTest {
        try checkOperator(operation)
        switch operation {
        case .in:
            guard case .list(let values) = value else { throw QueryError("IN clause requires an array of items") }
            return try membership(values)
        case .between, .within:
            let word = operation.spelling
            guard case .list(let bounds) = value else { throw QueryError("\(word) requires an array of two constants") }
            guard bounds.count == 2 else {
                throw QueryError(
                    "The array must contain exactly two objects for \(word) operations, not \(bounds.count)"
                )
            }
            guard bounds[0] != .null, bounds[1] != .null else {
                throw QueryError("\(word) bounds cannot be null")
            }
            return try range(from: bounds[0], to: bounds[1], operation == .within ? .less : .lessOrEqual)
        default: return try single(operation, value)
        }
    }

    private func single(_ operation: ComparisonOperator, _ value: PredicateValue) throws -> ValueTest {
        if value == .null {
            switch operation {
            case .equal: return NullTest(nullPasses: true)
            case .notEqual: return NullTest(nullPasses: false)
            default: return NeverTest()
            }
        }
        let nullPasses = operation == .notEqual
        switch path.kind {
        case .int, .bool, .object:
            let range = try intRange(operation, value)
            return IntRangeTest(range.lower, range.upper, isNegated: range.isNegated, nullPasses: nullPasses)
        case .float, .double, .date:
            let range = try doubleRange(operation, value)
            return DoubleRangeTest(
                range.lower,
                range.upper,
                isNegated: range.isNegated,
                nullPasses: nullPasses,
                isFloat: path.kind == .float
            )
        case .string, .data:
            return BytesTest(operation, try bytes(value), options: options)
        case .objectId, .uuid:
            return FixedTest(operation, try words(value), byteCount: path.kind == .uuid ? 16 : 12)
        case .any, .decimal128: return try storedTest(operation, value)
        case .linkingObjects: throw mismatch(value)
        }
    }

    /// The test for values from a bound on that are less than another one, or at most that.
    private func range(
        from lower: PredicateValue,
        to upper: PredicateValue,
        _ end: ComparisonOperator
    ) throws -> ValueTest {
        switch path.kind {
        case .int:
            let first = try intRange(.greaterOrEqual, lower)
            let second = try intRange(end, upper)
            return IntRangeTest(max(first.lower, second.lower), min(first.upper, second.upper))
        case .float, .double, .date:
            let first = try doubleRange(.greaterOrEqual, lower)
            let second = try doubleRange(end, upper)
            return DoubleRangeTest(
                max(first.lower, second.lower),
                min(first.upper, second.upper),
                isFloat: path.kind == .float
            )
        default:
            return BothTest(try single(.greaterOrEqual, lower), try single(end, upper))
        }
    }

    private func membership(_ values: [PredicateValue]) throws -> ValueTest {
        let hasNull = values.contains(.null)
        let constants = values.filter { $0 != .null }
        switch path.kind {
        case .int, .bool, .object:
            let ints: [Int64] = try constants.compactMap {
                let range = try intRange(.equal, $0)
                return range.lower == range.upper ? range.lower : nil
            }
            return IntSetTest(ints, nullPasses: hasNull)
        case .float, .double, .date:
            let doubles: [Double] = try constants.compactMap {
                let range = try doubleRange(.equal, $0)
                return range.lower == range.upper ? range.lower : nil
            }
            return DoubleSetTest(doubles, nullPasses: hasNull, isFloat: path.kind == .float)
        case .string, .data:
            return BytesSetTest(try constants.map(bytes), nullPasses: hasNull, options: options)
        case .objectId, .uuid:
            return FixedSetTest(
                try constants.map(words),
                byteCount: path.kind == .uuid ? 16 : 12,
                nullPasses: hasNull
            )
        case .any, .decimal128: return try storedMembership(constants, nullPasses: hasNull)
        case .linkingObjects:
            throw QueryError("Operator 'IN' not supported for type '\(path.kind.name)'")
        }
    }

    func intRange(_ operation: ComparisonOperator, _ value: PredicateValue) throws -> ConstantRange<Int64> {
        switch (path.kind, value) {
        case (.int, .int(let int)): return ConstantRange<Int64>(operation, int)
        case (.int, .bool(let flag)): return ConstantRange<Int64>(operation, Int64(flag ? 1 : 0))
        case (.int, .double(let double)): return ConstantRange<Int64>(operation, double)
        case (.int, .float(let float)): return ConstantRange<Int64>(operation, Double(float))
        case (.int, .decimal(let decimal)): return ConstantRange<Int64>(operation, decimal.number)
        case (.bool, .bool(let flag)): return ConstantRange<Int64>(operation, Int64(flag ? 1 : 0))
        case (.bool, .int(let int)) where int == 0 || int == 1: return ConstantRange<Int64>(operation, int)
        case (.object, .object(let className, let key)):
            guard model.schema.name(of: className) == path.targetClass else { throw mismatch(value) }
            return ConstantRange<Int64>(operation, key)
        default: throw mismatch(value)
        }
    }

    func doubleRange(_ operation: ComparisonOperator, _ value: PredicateValue) throws -> ConstantRange<Double> {
        switch (path.kind, value) {
        // A constant takes the property's type: `weight == 1.1` finds the float nearest to 1.1.
        case (.float, .int(let int)): return ConstantRange<Double>(operation, Double(Float(int)))
        case (.float, .double(let double)): return ConstantRange<Double>(operation, Double(Float(double)))
        case (.float, .float(let float)): return ConstantRange<Double>(operation, Double(float))
        case (.double, .int(let int)): return ConstantRange<Double>(operation, int)
        case (.double, .double(let double)): return ConstantRange<Double>(operation, double)
        case (.double, .float(let float)): return ConstantRange<Double>(operation, Double(float))
        case (.float, .decimal(let decimal)): return ConstantRange<Double>(operation, Double(decimal.number.float))
        case (.double, .decimal(let decimal)):
            let nearest = decimal.number.double
            // Whole numbers are exact, as ints are. No double is 1.1; the one that it names is meant.
            guard decimal.number.isWhole else { return ConstantRange<Double>(operation, nearest) }
            let order = StoredValue.order(.decimal(decimal), .double(nearest))
            return ConstantRange<Double>(operation, nearest: nearest, order: order)
        case (.date, .date(let seconds)): return ConstantRange<Double>(operation, seconds)
        default: throw mismatch(value)
        }
    }

    func bytes(_ value: PredicateValue) throws -> [UInt8] {
        switch (path.kind, value) {
        case (.string, .string(let text)): Array(text.utf8)
        case (.data, .data(let bytes)): bytes
        default: throw mismatch(value)
        }
    }

    func words(_ value: PredicateValue) throws -> FixedWords {
        switch (path.kind, value) {
        case (.objectId, .objectId(let id)): return FixedWords(id)
        case (.uuid, .uuid(let id)): return FixedWords(id)
        case (.objectId, .string(let text)):
            guard let words = FixedWords(hexadecimal: text, byteCount: 12) else { throw mismatch(value) }
            return words
        case (.uuid, .string(let text)):
            guard let words = FixedWords(hexadecimal: text.filter { $0 != "-" }, byteCount: 16) else {
                throw mismatch(value)
            }
            return words
        default: throw mismatch(value)
        }
    }

    func mismatch(_ value: PredicateValue) -> QueryError {
        let text = value.description
        let shown = text.count <= 100 ? text : text.prefix(100) + "…"
        return QueryError(
            "Cannot compare value '\(shown)' of type '\(value.typeName)' to property '\(path.text)' of type "
                + "'\(path.typeName)'"
        )
    }
}

extension FixedWords {
    /// Reads 24 or 32 hexadecimal digits.
    init?(hexadecimal text: String, byteCount: Int) {
        guard text.utf8.count == byteCount * 2, text.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.dropFirst(16), radix: 16)
        else { return nil }
        self.high = high
        self.low = low
    }
}
