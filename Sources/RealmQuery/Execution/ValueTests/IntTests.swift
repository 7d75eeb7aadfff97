import RealmModel
import RealmStorage

/// An int, bool or link in a closed range, or outside it.
final class IntRangeTest: ValueTest {
    let lower: Int64
    let upper: Int64
    let isNegated: Bool

    init(_ lower: Int64, _ upper: Int64, isNegated: Bool = false, nullPasses: Bool = false) {
        self.lower = lower
        self.upper = upper
        self.isNegated = isNegated
        super.init(nullPasses: nullPasses)
    }

    override var cost: Double { 0.3 }

    @inline(__always)
    private func contains(_ value: Int64) -> Bool { (value >= lower && value <= upper) != isNegated }

    override func passes(_ value: BorrowedValue, _ context: QueryContext) throws -> Bool {
        switch value {
        case .int(let value): contains(value)
        case .null: nullPasses
        default: false
        }
    }

    override func filter(_ column: ColumnView, _ rows: RowSet, _ context: QueryContext) throws {
        if column.isAbsent || rows.count * 16 < rows.rowCount {
            rows.keep { column.isNull($0) ? nullPasses : contains(column.int($0)) }
            return
        }
        let passing = context.makeSet(rowCount: rows.rowCount)
        defer { context.release(passing) }
        column.filterInts(from: lower, through: upper, into: passing.words)
        apply(passing, isNegated: isNegated, column, to: rows)
    }

    override func rejects(_ leaf: LeafView, column: Int) -> Bool {
        if lower > upper { return !isNegated && !nullPasses }
        guard !isNegated, !nullPasses, let bounds = leaf.intBounds(column) else { return false }
        return bounds.maximum < lower || bounds.minimum > upper
    }

    override func fastCount(_ column: ColumnView) -> Int? {
        if isNegated || nullPasses || column.isAbsent { return nil }
        return column.countInts(from: lower, through: upper)
    }

    override var explanation: String {
        let range = lower == upper ? "== \(lower)" : lower > upper ? "in no range" : "in \(lower)...\(upper)"
        return isNegated ? "not \(range)" : range
    }
}

/// An int, bool or link that is one of a set.
final class IntSetTest: ValueTest {
    private let values: [Int64]

    init(_ values: [Int64], nullPasses: Bool) {
        self.values = Array(Set(values)).sorted()
        super.init(nullPasses: nullPasses)
    }

    override var cost: Double { 4 }

    private func contains(_ value: Int64) -> Bool {
        values.withUnsafeBufferPointer { sorted in
            var low = 0
            var high = sorted.count
            while low < high {
                let middle = (low &+ high) &>> 1
                if sorted[middle] < value {
                    low = middle &+ 1
                } else {
                    high = middle
                }
            }
            return low < sorted.count && sorted[low] == value
        }
    }

    override func passes(_ value: BorrowedValue, _ context: QueryContext) throws -> Bool {
        switch value {
        case .int(let value): contains(value)
        case .null: nullPasses
        default: false
        }
    }

    override func filter(_ column: ColumnView, _ rows: RowSet, _ context: QueryContext) throws {
        rows.keep { column.isNull($0) ? nullPasses : contains(column.int($0)) }
    }

    override func rejects(_ leaf: LeafView, column: Int) -> Bool {
        if nullPasses { return false }
        guard let first = values.first, let last = values.last else { return true }
        guard let bounds = leaf.intBounds(column) else { return false }
        return bounds.maximum < first || bounds.minimum > last
    }

    override var explanation: String { "in \(values.count) values" }
}
