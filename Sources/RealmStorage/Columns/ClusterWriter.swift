/// A table inside a write transaction.
///
/// Touched clusters are open in memory until `seal()`; reads through the writer see them. Not Sendable: it belongs to the
/// transaction.
package final class ClusterWriter {
    /// The columns of the table.
    package let columns: [ColumnLayout]
    /// The transaction that the writer belongs to.
    package let transaction: WriteTransaction
    /// Bumped whenever a `LeafView` or `RowLocation` handed out before may be stale. Column views are stale after any write.
    package private(set) var generation: UInt64 = 0
    /// The row count and next key are current; the root only after `seal()`.
    package private(set) var tree: ClusterTree

    /// - Parameters:
    ///   - generation: A word that is bumped together with `generation`, for readers who keep it at hand.
    package init(
        tree: ClusterTree, columns: [ColumnLayout], transaction: WriteTransaction,
        generation: UnsafeMutablePointer<UInt64>? = nil
    ) {
        self.tree = tree
        self.columns = columns
        self.transaction = transaction
    }

    /// Appends a row with the next key, all columns default (null where nullable), and returns its key.
    package func append() throws(StorageError) -> Int64 {
        preconditionFailure("stub")
    }

    /// Appends a row with a key of at least `tree.nextKey`.
    package func append(key: Int64) throws(StorageError) {
        preconditionFailure("stub")
    }

    // The row must exist: check with `leaf(containing:)` first where that is not certain. A missing row is a trap.

    package func setInt(_ value: Int64, key: Int64, column: Int) throws(StorageError) { preconditionFailure("stub") }
    package func setDouble(_ value: Double, key: Int64, column: Int) throws(StorageError) { preconditionFailure("stub") }
    package func setFloat(_ value: Float, key: Int64, column: Int) throws(StorageError) { preconditionFailure("stub") }
    /// Sets 12 or 16 bytes.
    package func setFixed(_ value: UnsafeRawPointer, key: Int64, column: Int) throws(StorageError) {
        preconditionFailure("stub")
    }
    package func setBytes(_ value: UnsafeRawBufferPointer, key: Int64, column: Int) throws(StorageError) {
        preconditionFailure("stub")
    }
    package func setNull(key: Int64, column: Int) throws(StorageError) { preconditionFailure("stub") }

    /// Deletes a row; false when there is no such row.
    @discardableResult
    package func delete(key: Int64) throws(StorageError) -> Bool { preconditionFailure("stub") }

    /// Deletes every row; the keys are still not reused.
    package func deleteAll() throws(StorageError) { preconditionFailure("stub") }

    package func leaf(containing key: Int64) throws(StorageError) -> RowLocation? { preconditionFailure("stub") }
    package func position(at index: Int) throws(StorageError) -> RowLocation? { preconditionFailure("stub") }
    package func index(of key: Int64) throws(StorageError) -> Int? { preconditionFailure("stub") }

    /// The leaves in key order, as the transaction sees them.
    package func leaves(from key: Int64 = .min) -> LeafCursor {
        LeafCursor(writer: self, from: key)
    }

    /// Encodes everything that changed and returns the tree of the new version. The writer may go on afterwards.
    package func seal() throws(StorageError) -> ClusterTree { preconditionFailure("stub") }

    /// Frees every page of the table.
    package func destroy() throws(StorageError) { preconditionFailure("stub") }
}
