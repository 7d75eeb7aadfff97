import RealmStorage

/// The tables that the write transactions of this process keep open from one to the next.
///
/// Used by the transaction that is open, or by whoever seals a group; never by two at once.
final class ModelSession: WriterSession {
    /// The sealed catalog that the tables belong to: when it has another root, somebody else wrote.
    @exclusivity(unchecked) private(set) var catalog: PageReference
    /// The schema of that catalog.
    let schema: DatabaseSchema
    @exclusivity(unchecked) var tables: [UInt32: TableWriter] = [:]
    /// Room for two keys, for the operation that is running.
    let keyBuffer: UnsafeMutableRawPointer
    let otherKeyBuffer: UnsafeMutableRawPointer
    /// Room for an encoded small list, for the operation that is running.
    let listBuffer: UnsafeMutableRawPointer

    init(catalog: PageReference, schema: DatabaseSchema) {
        self.catalog = catalog
        self.schema = schema
        let keys = (IndexKey.maximumByteCount + 7) & ~7
        keyBuffer = .allocate(byteCount: 2 * keys + ListFormat.inlineByteLimit, alignment: 8)
        otherKeyBuffer = keyBuffer + keys
        listBuffer = otherKeyBuffer + keys
    }

    deinit {
        keyBuffer.deallocate()
    }

    /// The session of a transaction: the one that stands on the same catalog, or none.
    static func current(of transaction: WriteTransaction) -> ModelSession? {
        guard let session = transaction.session as? ModelSession, session.catalog == transaction.catalog.root,
            !session.catalog.isDirty
        else { return nil }
        return session
    }

    func seal(in transaction: WriteTransaction) throws(StorageError) {
        for table in tables.values where table.isDirty { try table.seal(in: transaction) }
    }

    func didSeal(catalog: PageReference) {
        self.catalog = catalog
    }
}
