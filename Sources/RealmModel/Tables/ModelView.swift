package import RealmStorage

/// A database at one version: of a snapshot, or of the write transaction that it is in.
///
/// It is moved in place (`advance`, `begin`, `endTransaction`), and its table views with it. It is not Sendable and
/// takes no locks, with one exception: a view that is never moved (a frozen one, or one made for a computation in the
/// background) may be read from any thread, several at once, because nothing but the list of its table views ever
/// changes and that is locked.
package final class ModelView {
    /// The version that is read outside a transaction.
    package private(set) var snapshot: Snapshot
    /// The open transaction; reads see it.
    package private(set) var transaction: ModelTransaction?
    /// The schema as the file stores it at this version.
    package private(set) var schema: DatabaseSchema
    /// A word whose value changes whenever row locations, leaf views and list views read before may be stale: when the
    /// view moves to another version, a transaction begins or ends, or rows move inside one.
    package let generation: UnsafeMutablePointer<UInt64>

    /// Stands a view on a snapshot.
    ///
    /// - Parameter schema: The schema of another view of the same file, to be shared when it still is this version's.
    package init(snapshot: Snapshot, schema: DatabaseSchema? = nil) throws(StorageError) {
        self.snapshot = snapshot
        self.schema = schema ?? DatabaseSchema(classes: [])
        generation = .allocate(capacity: 1)
        generation.initialize(to: 1)
    }

    deinit {
        generation.deallocate()
    }

    /// A view of its own on the version that this one reads outside a transaction: for freezing, or for another thread.
    package func duplicate() throws(StorageError) -> ModelView { preconditionFailure("stub") }

    /// Where pages are read.
    package var view: PageView { preconditionFailure("stub") }

    /// The version that is read: the transaction's own inside one.
    package var version: UInt64 { preconditionFailure("stub") }

    /// Whether a transaction is open.
    package var isInTransaction: Bool { transaction != nil }

    /// The table of a class; nil when the file has no such class.
    package func table(named className: String) throws(StorageError) -> TableView? { preconditionFailure("stub") }

    /// The table of a number; nil when the file has no such table.
    package func table(id: UInt32) throws(StorageError) -> TableView? { preconditionFailure("stub") }

    /// Moves to another version. Not inside a transaction.
    package func advance(to snapshot: Snapshot) throws(StorageError) { preconditionFailure("stub") }

    /// Begins to read and write through a transaction, which may stand on a newer version than the snapshot.
    package func begin(_ transaction: WriteTransaction) throws(StorageError) { preconditionFailure("stub") }

    /// Seals every touched table into the catalog and prepares the commit. Reads still see the transaction, until
    /// `endTransaction` or `rollback`.
    package func prepareCommit() throws(StorageError) -> PreparedCommit { preconditionFailure("stub") }

    /// Forgets the transaction; reads see the snapshot again.
    package func rollback() { preconditionFailure("stub") }

    /// Leaves the transaction after `prepareCommit`.
    ///
    /// - Parameter snapshot: The version to stand on, normally the one just committed; nil to read the old snapshot
    ///   until the commit is durable and `advance(to:)` is called.
    package func endTransaction(advancingTo snapshot: Snapshot? = nil) throws(StorageError) {
        preconditionFailure("stub")
    }

    /// Deletes all rows of all classes, inside a transaction.
    package func deleteAll() throws { preconditionFailure("stub") }
}
