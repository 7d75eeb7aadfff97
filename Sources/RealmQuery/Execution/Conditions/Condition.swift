import RealmModel
import RealmStorage

/// A predicate resolved against one class: judges single rows, or the rows of a leaf at once.
///
/// Conditions are immutable; what changes during a run lives in its `QueryContext`.
class Condition {
    /// The rough time per row in nanoseconds, for testing cheap conditions first.
    var cost: Double { 0 }

    /// Where all rows that can match are found without looking at each; nil when there is no such place.
    var source: KeySource? { nil }

    /// Where they would be found if the property that the condition is about had an index of its own: for indexes over
    /// several properties; nil when that would not help.
    var candidate: KeySource? { nil }

    /// Whether one row matches.
    func test(_ location: RowLocation, key: Int64, _ context: QueryContext) throws -> Bool {
        preconditionFailure("Condition is abstract")
    }

    /// Removes from `rows` those that do not match.
    func filter(_ rows: RowSet, in leaf: LeafView, _ context: QueryContext) throws {
        try rows.keep { try test(RowLocation(leaf: leaf, row: $0), key: leaf.key(at: $0), context) }
    }

    /// Whether the leaf's bounds tell that none of its rows matches.
    func rejects(_ leaf: LeafView) -> Bool { false }

    /// The number of rows of a whole leaf that match, where that is faster than a bitmap; else nil.
    func fastCount(_ leaf: LeafView) throws -> Int? { nil }

    /// Appends one line per condition to an explanation.
    func describe(into lines: inout [String], indentation: String) {}
}

/// `TRUEPREDICATE` and `FALSEPREDICATE` inside a larger predicate.
final class ConstantCondition: Condition {
    let value: Bool

    init(_ value: Bool) {
        self.value = value
    }

    override func test(_ location: RowLocation, key: Int64, _ context: QueryContext) throws -> Bool { value }

    override func filter(_ rows: RowSet, in leaf: LeafView, _ context: QueryContext) throws {
        if !value { rows.clear() }
    }

    override func rejects(_ leaf: LeafView) -> Bool { !value }

    override func describe(into lines: inout [String], indentation: String) {
        lines.append(indentation + (value ? "all rows" : "no row"))
    }
}
