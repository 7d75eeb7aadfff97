package import RealmModel

/// A computation over one property of many rows.
package enum AggregateOperation: Sendable, Hashable {
    case minimum
    case maximum
    case sum
    case average

    /// The operation's name in error messages.
    package var name: String {
        switch self {
        case .minimum: "min"
        case .maximum: "max"
        case .sum: "sum"
        case .average: "average"
        }
    }
}

/// An aggregate made ready for one class. Nulls are left out.
///
/// `sum` gives `.int` (wrapping around) for ints and `.double` for floats and doubles, 0 without rows; `average` gives
/// `.double`, `minimum` and `maximum` the property's own type, and all three `.null` without values.
package final class Aggregation {
    /// The class whose rows are summed up.
    package let table: TableView
    package let operation: AggregateOperation

    /// Resolves the property, which may lie behind to-one links.
    ///
    /// - Throws: `QueryError` when there is no such property or the operation makes no sense for it.
    package init(_ operation: AggregateOperation, of path: PropertyPath, table: TableView) throws {
        self.table = table
        self.operation = operation
    }

    /// The aggregate over all rows.
    package func value() throws -> StoredValue { preconditionFailure("stub") }

    /// The aggregate over the rows that match a query.
    package func value(where query: CompiledQuery) throws -> StoredValue { preconditionFailure("stub") }

    /// The aggregate over given rows, as often as they are given; rows that do not exist are left out.
    package func value(of keys: [Int64]) throws -> StoredValue { preconditionFailure("stub") }
}
