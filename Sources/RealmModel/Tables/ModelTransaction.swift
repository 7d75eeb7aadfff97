package import RealmStorage

/// What a model view needs while it is in a write transaction.
package final class ModelTransaction {
    /// The storage's transaction: rows, indexes and the catalog are written through it.
    package let storage: WriteTransaction

    init(storage: WriteTransaction) {
        self.storage = storage
    }

    /// What the transaction changed so far, by table and property ordinal.
    package var changes: ChangeSet { storage.changes.changeSet }
}
