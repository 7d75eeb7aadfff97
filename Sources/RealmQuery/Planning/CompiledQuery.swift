package import RealmModel

/// A predicate made ready to run on one class: names resolved, types checked, the way to the rows chosen.
///
/// A compiled query belongs to the model view of its table and follows it from version to version, inside write
/// transactions too. It keeps no results.
package final class CompiledQuery {
    /// The class that is queried.
    package let table: TableView
    /// What is asked of each row.
    package let predicate: Predicate

    /// Resolves a predicate.
    ///
    /// - Throws: `QueryError` when the predicate does not fit the schema; `StorageError` when the file is damaged.
    package init(_ predicate: Predicate, table: TableView) throws {
        self.table = table
        self.predicate = predicate
    }

    /// The number of rows that match.
    package func count() throws -> Int { preconditionFailure("stub") }

    /// The rows that match, ascending by key.
    package func keys(limit: Int = .max) throws -> [Int64] { preconditionFailure("stub") }

    /// The first row that matches, in key order.
    package func first() throws -> Int64? { preconditionFailure("stub") }

    /// Whether no row matches.
    package var isEmpty: Bool {
        get throws { try first() == nil }
    }

    /// Whether a row exists and matches.
    package func matches(key: Int64) throws -> Bool { preconditionFailure("stub") }

    /// Those of the given rows that exist and match, in the order and as often as they are given.
    package func filter(_ keys: [Int64]) throws -> [Int64] { preconditionFailure("stub") }

    /// The rows that match in an order, or the first of them.
    package func keys(sortedBy order: CompiledSort, limit: Int = .max) throws -> [Int64] {
        preconditionFailure("stub")
    }

    /// How the query runs, for people: the access path, then the conditions in the order they are tested.
    package func describe() -> String { preconditionFailure("stub") }
}
