import RealmStorage

extension TableView {
    /// The table's writer; opened by the first write of a transaction.
    @inline(__always)
    func openWriter() throws(StorageError) -> ClusterWriter {
        if let writer { return writer }
        return try beginWriting()
    }

    @inline(never)
    private func beginWriting() throws(StorageError) -> ClusterWriter {
        let transaction = openTransaction
        let writer = ClusterWriter(
            tree: clusters,
            columns: schema.columnLayouts,
            transaction: transaction.storage,
            generation: model.generation
        )
        self.writer = writer
        firstNewKey = clusters.nextKey
        liveKey = -1
        knowsMaximum = false
        forgetPending()
        for property in 0..<slotCount where slots[property].isDeferrable {
            pendingFrom[Int(slots[property].tree)] = clusters.nextKey
        }
        transaction.touched.append(self)
        return writer
    }

    /// The open transaction; without one a write is a programmer's error.
    var openTransaction: ModelTransaction {
        guard let transaction = model.transaction else {
            // Not preconditionFailure, which drops its message in optimised builds.
            fatalError("Objects can only be changed inside a write transaction. Begin one first.")
        }
        precondition(!transaction.isPrepared, "The transaction is being committed and takes no more writes.")
        return transaction
    }

    /// Stores rows, trees and their roots in the transaction's catalog.
    func seal(in transaction: ModelTransaction) throws(StorageError) {
        guard let writer else { return }
        try catchUpAll()
        clusters = try writer.seal()
        for tree in 0..<treeCount { try trees[tree].seal(in: transaction.storage) }
        try storeEntry(in: transaction.storage)
        forgetTransaction()
    }

    /// Writes the table's catalog entry.
    func storeEntry(in transaction: WriteTransaction) throws(StorageError) {
        var roots: [(column: Int, root: PageReference)] = []
        for property in 0..<slotCount where slots[property].tree >= 0 {
            roots.append((Int(slots[property].column), trees[Int(slots[property].tree)].root))
        }
        try CatalogKey.store(
            TableEntry.bytes(clusters: clusters, trees: roots),
            CatalogKey.table,
            id,
            in: transaction
        )
    }
}
