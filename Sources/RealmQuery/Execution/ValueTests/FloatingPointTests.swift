import RealmModel
import RealmStorage

/// A float, double or date in a closed range, or outside it.
///
/// NaN is in no range.
final class DoubleRangeTest: ValueTest {
    private let lower: Double
    private let upper: Double
    private let isNegated: Bool
    /// Whether the column holds floats.
    private let isFloat: Bool

    init(_ lower: Double, _ upper: Double, isNegated: Bool = false, nullPasses: Bool = false, isFloat: Bool) {
        self.lower = lower
        self.upper = upper
        self.isNegated = isNegated
        self.isFloat = isFloat
        super.init(nullPasses: nullPasses)
    }

    override var cost: Double { 0.6 }

    @inline(__always)
    private func contains(_ value: Double) -> Bool { (value >= lower && value <= upper) != isNegated }

    override func passes(_ value: BorrowedValue, _ context: QueryContext) throws -> Bool {
        switch value {
        case .double(let value): contains(value)
        case .float(let value): contains(Double(value))
        case .null: nullPasses
        default: false
        }
    }

    override func filter(_ column: ColumnView, _ rows: RowSet, _ context: QueryContext) throws {
        if isFloat {
            rows.keep { column.isNull($0) ? nullPasses : contains(Double(column.float($0))) }
            return
        }
        if column.isAbsent || rows.count * 8 < rows.rowCount {
            rows.keep { column.isNull($0) ? nullPasses : contains(column.double($0)) }
            return
        }
        let passing = context.makeSet(rowCount: rows.rowCount)
        defer { context.release(passing) }
        column.filterDoubles(from: lower, through: upper, into: passing.words)
        apply(passing, isNegated: isNegated, column, to: rows)
    }

    override func rejects(_ leaf: LeafView, column: Int) -> Bool {
        if isNegated || nullPasses { return false }
        if !(lower <= upper) { return true }
        guard !isFloat, let bounds = leaf.doubleBounds(column) else { return false }
        return bounds.maximum < lower || bounds.minimum > upper
    }

    override var explanation: String {
        let range = lower == upper ? "== \(lower)" : lower <= upper ? "in \(lower)...\(upper)" : "in no range"
        return isNegated ? "not \(range)" : range
    }
}

/// A float, double or date that is one of a set.
final class DoubleSetTest: ValueTest {
    private let values: Set<Double>
    private let isFloat: Bool

    init(_ values: [Double], nullPasses: Bool, isFloat: Bool) {
        self.values = Set(values.filter { !$0.isNaN })
        self.isFloat = isFloat
        super.init(nullPasses: nullPasses)
    }

    override var cost: Double { 10 }

    override func passes(_ value: BorrowedValue, _ context: QueryContext) throws -> Bool {
        switch value {
        case .double(let value): values.contains(value)
        case .float(let value): values.contains(Double(value))
        case .null: nullPasses
        default: false
        }
    }

    override func filter(_ column: ColumnView, _ rows: RowSet, _ context: QueryContext) throws {
        rows.keep {
            if column.isNull($0) { return nullPasses }
            return values.contains(isFloat ? Double(column.float($0)) : column.double($0))
        }
    }

    override var explanation: String { "in \(values.count) values" }
}
