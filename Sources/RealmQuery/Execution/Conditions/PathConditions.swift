import RealmModel
import RealmStorage

/// The values at the end of a path against constants.
final class PathCondition: Condition {
    private let reader: PathReader
    private let valueTest: ValueTest
    /// Whether every value must pass, instead of one.
    private let requiresAll: Bool
    private let label: String

    init(_ reader: PathReader, test: ValueTest, requiresAll: Bool, label: String) {
        self.reader = reader
        valueTest = test
        self.requiresAll = requiresAll
        self.label = label
    }

    override var cost: Double { reader.cost + valueTest.cost }

    override func test(_ location: RowLocation, key: Int64, _ context: QueryContext) throws -> Bool {
        var result = requiresAll
        try reader.forEach(location, key: key, context) { value in
            if try valueTest.passes(value, context) == requiresAll { return true }
            result = !requiresAll
            return false
        }
        return result
    }

    override func describe(into lines: inout [String], indentation: String) {
        let quantifier = requiresAll ? "every " : reader.isMany ? "some " : ""
        lines.append("\(indentation)\(quantifier)\(label) \(valueTest.explanation)")
    }
}

/// The values at the end of one path against those at the end of another.
final class PairCondition: Condition {
    private let left: PathReader
    private let right: PathReader
    private let comparison: ValueComparison
    private let requiresAll: Bool
    private let label: String

    init(
        _ left: PathReader,
        _ right: PathReader,
        comparison: ValueComparison,
        requiresAll: Bool,
        label: String
    ) {
        self.left = left
        self.right = right
        self.comparison = comparison
        self.requiresAll = requiresAll
        self.label = label
    }

    override var cost: Double { left.cost + right.cost + 10 }

    override func test(_ location: RowLocation, key: Int64, _ context: QueryContext) throws -> Bool {
        var result = requiresAll
        try left.forEach(location, key: key, context) { first in
            try right.forEach(location, key: key, context) { second in
                if comparison.holds(first, second) == requiresAll { return true }
                result = !requiresAll
                return false
            }
            return result == requiresAll
        }
        return result
    }

    override func describe(into lines: inout [String], indentation: String) {
        lines.append(indentation + label)
    }
}
