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
        let transaction = try openTransaction
        if let session = transaction.session.tables[id] {
            // The roots are at hand since the transaction began, and may have changed since.
            resume(session, in: transaction, takingTrees: false)
            return session.writer
        }
        var tree = clusters
        tree.nextKey = max(tree.nextKey, transaction.storage.leastRowKey(of: id))
        let writer = ClusterWriter(
            tree: tree,
            columns: schema.columnLayouts,
            transaction: transaction.storage,
            generation: model.generation
        )
        firstNewKey = tree.nextKey
        liveKey = -1
        knowsMaximum = false
        resetPending(from: tree.nextKey)
        let session = TableSession(
            id: id,
            writer: writer,
            sources: sources,
            tags: treeTags,
            trees: Array(UnsafeBufferPointer(start: trees, count: treeCount)),
            pendingFrom: Array(UnsafeBufferPointer(start: pendingFrom, count: treeCount))
        )
        open(session, in: transaction)
        return writer
    }

    /// Goes on with what earlier transactions of this process left open, sealed or not.
    func resume(_ session: TableSession, in transaction: ModelTransaction, takingTrees: Bool = true) {
        mustSettle = session.isDirty && transaction.storage.isJoined
        session.writer.resume(in: transaction.storage, generation: model.generation, isUnsettled: mustSettle)
        session.writer.skipKeys(to: transaction.storage.leastRowKey(of: id))
        clusters = session.writer.tree
        firstNewKey = clusters.nextKey
        liveKey = -1
        forgetPending()
        for tree in 0..<treeCount {
            if takingTrees { trees[tree] = session.trees[tree] }
            pendingFrom[tree] = session.pendingFrom[tree]
        }
        maximumPrimaryKey = session.maximumPrimaryKey
        knowsMaximum = session.knowsMaximum
        open(session, in: transaction)
    }

    private func open(_ session: TableSession, in transaction: ModelTransaction) {
        writer = session.writer
        self.session = session
        uniqueness = uniqueSources.isEmpty ? nil : Uniqueness(firstNewKey: firstNewKey, sources: uniqueSources.count)
        transaction.session.tables[id] = session
        // Rows that were located in pages may lie in memory from here on.
        model.generation.pointee &+= 1
        wasDirty = session.isDirty
        settledTree = nil
        transaction.touched.append(self)
    }

    private func resetPending(from key: Int64) {
        forgetPending()
        for index in sources.indices { pendingFrom[sources[index].tree] = key }
    }

    /// Called before a row that is not this transaction's own is changed: what earlier ones left unsealed is sealed, so
    /// that a rollback finds it.
    @inline(never)
    func settle() throws(StorageError) {
        guard mustSettle, let writer else { return }
        mustSettle = false
        settledTree = try writer.settle()
        liveKey = -1
    }

    /// Brings the trees up to date, at the end of a transaction that commits: only appended rows may be missing from them then.
    ///
    /// The session knows nothing of it yet, so that everything can be rolled back.
    func prepareToGiveBack() throws(StorageError) {
        guard session != nil, writer != nil else { return }
        for index in sources.indices where lagsBehind[sources[index].tree] {
            try catchUp(tree: sources[index].tree)
        }
        try writer?.boundOpenMemory()
    }

    /// Gives rows and trees back to the session.
    func giveBack() {
        guard let session, let writer else { return }
        for tree in 0..<treeCount {
            session.trees[tree] = trees[tree]
            session.pendingFrom[tree] = pendingFrom[tree]
        }
        session.maximumPrimaryKey = maximumPrimaryKey
        session.knowsMaximum = knowsMaximum
        session.isDirty = true
        writer.detach()
    }

    /// Takes over what the session sealed.
    func takeSealed() {
        guard let session else { return }
        clusters = session.writer.tree
        for tree in 0..<treeCount { trees[tree] = session.trees[tree] }
        forgetTransaction()
    }

    /// Notes the keys of the rows that the open transaction made: whatever becomes of it, they are never given out again.
    package func spendRowKeys() {
        if let transaction = model.transaction { spendRowKeys(in: transaction.storage) }
    }

    /// The same for a transaction that may be over.
    func spendRowKeys(in transaction: WriteTransaction) {
        guard let writer, writer.tree.nextKey > firstNewKey else { return }
        transaction.noteRowKeys(before: writer.tree.nextKey, of: id)
    }

    /// Undoes what the transaction did to the session, before its pages are put back.
    func undo(in transaction: ModelTransaction) throws(StorageError) {
        guard let writer else { return }
        guard wasDirty, transaction.storage.isJoined else {
            transaction.session.tables[id] = nil
            return
        }
        if let settledTree { writer.revert(to: settledTree) }
        if writer.tree.nextKey > firstNewKey {
            // What was sealed with rows of this transaction in it goes for good.
            try transaction.storage.settle { () throws(StorageError) in try writer.truncate(from: firstNewKey) }
        }
        writer.detach()
    }

    /// The open transaction.
    ///
    /// - Throws: `invalidArgument` when there is none that takes writes.
    var openTransaction: ModelTransaction {
        get throws(StorageError) {
            guard let transaction = model.transaction else {
                throw StorageError(
                    .invalidArgument,
                    "Objects can only be changed inside a write transaction. Begin one first."
                )
            }
            guard !transaction.isPrepared else {
                throw StorageError(
                    .invalidArgument,
                    "The transaction is being committed and takes no more writes."
                )
            }
            return transaction
        }
    }
}
