import RealmModel
import RealmStorage

/// A condition on one value of a known type, against constants.
///
/// Tests are immutable. `passes` judges a single value, `filter` a whole column of a leaf in one loop.
class ValueTest {
    /// What the test says of null.
    let nullPasses: Bool

    init(nullPasses: Bool) {
        self.nullPasses = nullPasses
    }

    /// The rough time per row in nanoseconds, for testing cheap conditions first.
    var cost: Double { 5 }

    /// Whether a value passes.
    func passes(_ value: BorrowedValue, _ context: QueryContext) throws -> Bool {
        preconditionFailure("ValueTest is abstract")
    }

    /// Removes from `rows` those whose value does not pass.
    func filter(_ column: ColumnView, _ rows: RowSet, _ context: QueryContext) throws {
        preconditionFailure("ValueTest is abstract")
    }

    /// Whether the bounds of a leaf's column tell that no row passes.
    func rejects(_ leaf: LeafView, column: Int) -> Bool { false }

    /// The number of rows of a column that pass, where that is faster than a bitmap; else nil.
    func fastCount(_ column: ColumnView) -> Int? { nil }

    /// The test in words, behind the name of the property.
    var explanation: String { "?" }

    /// Applies a bitmap of passing rows, made without regard to nulls and negation, to `rows`.
    final func apply(_ passing: RowSet, isNegated: Bool, _ column: ColumnView, to rows: RowSet) {
        if isNegated {
            rows.subtract(passing)
            if !nullPasses { removeNulls(column, from: rows) }
        } else if nullPasses, let nulls = column.nulls {
            let nullWords = UnsafeRawPointer(nulls)
            for word in 0..<rows.wordCount {
                rows.words[word] &=
                    passing.words[word] | nullWords.loadUnaligned(fromByteOffset: word * 8, as: UInt64.self)
            }
        } else {
            rows.intersect(passing)
        }
    }

    final func removeNulls(_ column: ColumnView, from rows: RowSet) {
        guard let nulls = column.nulls else { return }
        let nullWords = UnsafeRawPointer(nulls)
        for word in 0..<rows.wordCount {
            rows.words[word] &= ~nullWords.loadUnaligned(fromByteOffset: word * 8, as: UInt64.self)
        }
    }
}

/// `== NULL` and `!= NULL`.
final class NullTest: ValueTest {
    override var cost: Double { 0.1 }

    override func passes(_ value: BorrowedValue, _ context: QueryContext) throws -> Bool {
        value.isNull == nullPasses
    }

    override func filter(_ column: ColumnView, _ rows: RowSet, _ context: QueryContext) throws {
        guard nullPasses else { return removeNulls(column, from: rows) }
        guard let nulls = column.nulls else { return rows.clear() }
        let nullWords = UnsafeRawPointer(nulls)
        for word in 0..<rows.wordCount {
            rows.words[word] &= nullWords.loadUnaligned(fromByteOffset: word * 8, as: UInt64.self)
        }
    }

    override var explanation: String { nullPasses ? "== NULL" : "!= NULL" }
}

/// Passes when both tests do: `BETWEEN` on strings and the like.
final class BothTest: ValueTest {
    private let first: ValueTest
    private let second: ValueTest

    init(_ first: ValueTest, _ second: ValueTest) {
        self.first = first
        self.second = second
        super.init(nullPasses: first.nullPasses && second.nullPasses)
    }

    override var cost: Double { first.cost + second.cost / 2 }

    override func passes(_ value: BorrowedValue, _ context: QueryContext) throws -> Bool {
        try first.passes(value, context) && second.passes(value, context)
    }

    override func filter(_ column: ColumnView, _ rows: RowSet, _ context: QueryContext) throws {
        try first.filter(column, rows, context)
        try second.filter(column, rows, context)
    }

    override func rejects(_ leaf: LeafView, column: Int) -> Bool {
        first.rejects(leaf, column: column) || second.rejects(leaf, column: column)
    }

    override var explanation: String { "\(first.explanation) AND \(second.explanation)" }
}

/// Never holds: a comparison with null that is neither `==` nor `!=`.
final class NeverTest: ValueTest {
    init() {
        super.init(nullPasses: false)
    }

    override var cost: Double { 0 }

    override func passes(_ value: BorrowedValue, _ context: QueryContext) throws -> Bool { false }

    override func filter(_ column: ColumnView, _ rows: RowSet, _ context: QueryContext) throws { rows.clear() }

    override func rejects(_ leaf: LeafView, column: Int) -> Bool { true }

    override var explanation: String { "never" }
}
