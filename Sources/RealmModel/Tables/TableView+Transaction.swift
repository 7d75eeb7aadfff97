import RealmStorage

extension TableView {
    /// The table's writer; opened by the first write of a transaction.
    @inline(__always)
    func openWriter() throws(StorageError) -> TableWriter {
        if let writer { return writer }
        return try beginWriting()
    }

    @inline(never)
    private func beginWriting() throws(StorageError) -> TableWriter {
        let transaction = try openTransaction
        try layout.schema.requireKnownIndexes()
        let writer: TableWriter
        if let known = transaction.session.tables[id] {
            writer = known
        } else {
            writer = TableWriter(roots, layout: layout, transaction: transaction.storage)
            transaction.session.tables[id] = writer
        }
        begin(writer, in: transaction)
        return writer
    }

    /// Goes on in a transaction with what earlier ones of this process left open, sealed or not.
    func begin(_ writer: TableWriter, in transaction: ModelTransaction) {
        writer.begin(in: transaction.storage, generation: model.generation)
        touch(writer, in: transaction)
    }

    /// Goes on in a transaction that was suspended.
    func resume(_ writer: TableWriter, in transaction: ModelTransaction) {
        writer.resume(in: transaction.storage, generation: model.generation)
        touch(writer, in: transaction)
    }

    private func touch(_ writer: TableWriter, in transaction: ModelTransaction) {
        write(through: writer)
        // Rows that were located in pages may lie in memory from here on.
        model.generation.pointee &+= 1
        transaction.touched.append(self)
    }

    /// Called before a row is changed: what earlier transactions left unsealed is sealed before one of its rows is.
    @inline(__always)
    func settle(before key: Int64) throws(StorageError) {
        guard let writer, _slowPath(writer.mustSettle), key < writer.firstNewKey else { return }
        try writer.settle()
    }

    /// Brings the trees of all link properties up to date.
    func catchUpLinks() throws(StorageError) {
        guard let writer else { return }
        for property in layout.linkProperties where slots[property].isDeferrable {
            try writer.catchUp(tree: Int(slots[property].tree))
        }
    }

    /// Brings every tree up to date.
    func catchUpAll() throws(StorageError) {
        guard let writer else { return }
        for source in layout.sources { try writer.catchUp(source) }
    }

    /// Notes the keys of the rows that the open transaction made: whatever becomes of it, they are never given out again.
    package func spendRowKeys() {
        if let transaction = model.transaction { writer?.noteRowKeys(in: transaction.storage) }
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
