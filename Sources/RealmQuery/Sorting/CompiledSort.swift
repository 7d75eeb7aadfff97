package import RealmModel

/// A sort order made ready for one class.
package final class CompiledSort {
    /// The class whose rows are sorted.
    package let table: TableView
    /// What they are sorted by.
    package let order: SortOrder

    /// Resolves a sort order.
    ///
    /// - Throws: `QueryError` when a path does not exist, crosses a collection or ends in something without an order.
    package init(_ order: SortOrder, table: TableView) throws {
        self.table = table
        self.order = order
    }

    /// The rows in order, rows equal in all properties in the order given.
    ///
    /// - Parameter limit: Only so many from the start; a small limit is much cheaper than the whole order.
    package func sorted(_ keys: [Int64], limit: Int = .max) throws -> [Int64] { preconditionFailure("stub") }

    /// How two existing rows compare: below 0 when the first comes first, 0 when they are equal in all properties.
    package func compare(_ first: Int64, _ second: Int64) throws -> Int { preconditionFailure("stub") }
}
