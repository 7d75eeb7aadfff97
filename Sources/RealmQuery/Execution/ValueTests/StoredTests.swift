import RealmModel
import RealmStorage

/// A test that looks at each value as a whole: of decimals, and of values of any kind.
class StoredValueTest: ValueTest {
    let kind: PropertyKind

    init(_ kind: PropertyKind, nullPasses: Bool) {
        self.kind = kind
        super.init(nullPasses: nullPasses)
    }

    override var cost: Double { 80 }

    /// Whether a value that is not null passes.
    func passes(_ value: StoredValue, _ context: QueryContext) throws -> Bool {
        preconditionFailure("StoredValueTest is abstract")
    }

    final override func passes(_ value: BorrowedValue, _ context: QueryContext) throws -> Bool {
        if value.isNull { return nullPasses }
        let stored = StoredValue(value, kind: kind)
        return stored.isNull ? nullPasses : try passes(stored, context)
    }

    final override func filter(_ column: ColumnView, _ rows: RowSet, _ context: QueryContext) throws {
        try rows.keep { try passes(column.borrowed($0, as: kind.columnKind), context) }
    }
}

/// A value compared with one constant.
///
/// Numbers of all types compare by their exact values; values that cannot be compared are different, and so is NaN, a
/// date's too. Those, objects, lists and dictionaries are in no order.
final class StoredComparisonTest: StoredValueTest {
    private let operation: ComparisonOperator
    private let constant: StoredValue

    init(_ kind: PropertyKind, _ operation: ComparisonOperator, _ constant: StoredValue) {
        self.operation = operation
        self.constant = constant
        super.init(kind, nullPasses: operation == .notEqual)
    }

    override func passes(_ value: StoredValue, _ context: QueryContext) throws -> Bool {
        Self.holds(operation, value, constant)
    }

    /// Whether an operator other than those of strings holds between two values.
    static func holds(_ operation: ComparisonOperator, _ left: StoredValue, _ right: StoredValue) -> Bool {
        guard let order = compare(left, right) else { return operation == .notEqual }
        switch operation {
        case .equal: return order == 0
        case .notEqual: return order != 0
        default: break
        }
        switch left {
        case .null, .link, .anyLink, .list, .dictionary: return false
        default: break
        }
        return switch operation {
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        default: false
        }
    }

    /// How two values compare; nil when they do not.
    private static func compare(_ left: StoredValue, _ right: StoredValue) -> Int? {
        if left.isNaN || right.isNaN { return nil }
        if left.isNumber && right.isNumber { return StoredValue.order(left, right) }
        switch (left, right) {
        case (.null, .null), (.bool, .bool), (.string, .string), (.data, .data), (.date, .date),
            (.objectId, .objectId), (.uuid, .uuid), (.anyLink, .anyLink), (.link, .link), (.list, .list),
            (.dictionary, .dictionary):
            return StoredValue.order(left, right)
        default: return nil
        }
    }

    override var explanation: String { "\(operation.spelling) a constant" }
}

/// A value of any kind that is a string, or data, and passes a test of strings.
final class StoredTextTest: StoredValueTest {
    private let test: BytesTest
    private let isText: Bool

    init(_ operation: ComparisonOperator, _ constant: [UInt8], isText: Bool, options: StringComparisonOptions) {
        test = BytesTest(operation, constant, options: options)
        self.isText = isText
        super.init(.any, nullPasses: operation == .notEqual)
    }

    override func passes(_ value: StoredValue, _ context: QueryContext) throws -> Bool {
        switch value {
        case .string where isText, .data where !isText: try value.withBorrowed { try test.passes($0, context) }
        default: nullPasses
        }
    }

    override var explanation: String { test.explanation }
}

/// A value of any kind that is one of some strings, whose case or accents make no difference.
final class StoredTextSetTest: StoredValueTest {
    private let test: BytesSetTest

    init(_ constants: [[UInt8]], nullPasses: Bool, options: StringComparisonOptions) {
        test = BytesSetTest(constants, nullPasses: nullPasses, options: options)
        super.init(.any, nullPasses: nullPasses)
    }

    override func passes(_ value: StoredValue, _ context: QueryContext) throws -> Bool {
        guard case .string = value else { return false }
        return try value.withBorrowed { try test.passes($0, context) }
    }

    override var explanation: String { test.explanation }
}

/// A value that is one of a set.
final class StoredSetTest: StoredValueTest {
    private let values: Set<StoredValue>

    init(_ kind: PropertyKind, _ values: [StoredValue], nullPasses: Bool) {
        self.values = Set(values.filter { !$0.isNaN })
        super.init(kind, nullPasses: nullPasses)
    }

    override func passes(_ value: StoredValue, _ context: QueryContext) throws -> Bool {
        values.contains(value)
    }

    override var explanation: String { "in \(values.count) values" }
}
