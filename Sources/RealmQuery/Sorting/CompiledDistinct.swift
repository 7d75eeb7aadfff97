package import RealmModel

/// Keeps the first row of each group of rows that are equal in some properties.
package final class CompiledDistinct {
    /// The class whose rows are grouped.
    package let table: TableView

    /// Resolves the properties to group by.
    ///
    /// - Throws: `QueryError` when a path does not exist or crosses a collection.
    package init(_ paths: [PropertyPath], table: TableView) throws {
        self.table = table
    }

    /// The first row of each group, in the order given.
    package func distinct(_ keys: [Int64]) throws -> [Int64] { preconditionFailure("stub") }
}
