package import RealmStorage

/// Writes everything that a version holds to a new file, without gaps.
package enum FileCompactor {
    /// Copies a version to a new file.
    ///
    /// - Parameters:
    ///   - snapshot: The version; writers of its file go on.
    ///   - destination: The new file, whose write lock the caller holds.
    /// - Throws: `StorageError` when a page is damaged or the new file cannot be written.
    package static func copy(_ snapshot: Snapshot, to destination: StorageFile) throws(StorageError) {
        try copy(snapshot.catalog, in: snapshot.view, to: destination)
    }

    /// Copies what an open transaction sees to a new file.
    ///
    /// - Parameters:
    ///   - model: A view in a transaction that ``ModelView/canSealEarly``.
    ///   - destination: The new file, whose write lock the caller holds.
    /// - Throws: As for a version. What ``ModelView/sealEarly()`` throws leaves a transaction that can only be rolled back.
    package static func copy(transactionOf model: ModelView, to destination: StorageFile) throws(StorageError) {
        let transaction = try model.sealEarly()
        try copy(transaction.catalog, in: transaction.view, to: destination)
    }

    private static func copy(
        _ catalog: ByteTree,
        in view: PageView,
        to destination: StorageFile
    ) throws(StorageError) {
        var copier = try PageCopier(from: view, to: destination)
        try copy(catalog, in: view, through: &copier)
        try copier.commit()
    }

    /// Copies everything below a catalog through a copier, which its owner commits.
    static func copy(
        _ catalog: ByteTree,
        in view: PageView,
        through copier: inout some CatalogCopier
    ) throws(StorageError) {
        let schema = try DatabaseSchema(in: catalog, view: view) ?? .empty
        var cursor = catalog.cursor(in: view)
        var isOnEntry = try cursor.seekFirst()
        while isOnEntry {
            let key = cursor.key
            if key.first == CatalogKey.table {
                let id = tableID(of: key)
                let entry = try copyTable(try cursor.value, id: id, schema, &copier)
                try CatalogKey.store(entry, CatalogKey.table, id, in: copier.transaction)
            } else {
                try copier.transaction.catalog.insert(key, value: try cursor.value, in: copier.transaction)
            }
            isOnEntry = try cursor.next()
        }
    }

    static func tableID(of key: UnsafeRawBufferPointer) -> UInt32 {
        key.count == 5 ? UInt32(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt32.self)) : 0
    }

    private static func copyTable(
        _ entry: UnsafeRawBufferPointer,
        id: UInt32,
        _ schema: DatabaseSchema,
        _ copier: inout some CatalogCopier
    ) throws(StorageError) -> [UInt8] {
        guard let schema = schema.schema(of: id) else {
            throw StorageError(.corrupt, "The catalog holds a table \(id) that no class has.")
        }
        var (clusters, trees) = try TableEntry.read(entry, of: schema)
        _ = try clusters.map(
            lists: schema.listColumns,
            rootOffset: ListFormat.rootOffset(in:),
            through: &copier
        )
        for index in trees.indices {
            var tree = ByteTree(root: trees[index].root)
            _ = try tree.map(through: &copier)
            trees[index].root = tree.root
        }
        return TableEntry.bytes(clusters: clusters, trees: trees)
    }
}

extension TableEntry {
    /// Reads a whole entry.
    static func read(
        _ entry: UnsafeRawBufferPointer,
        of schema: ClassSchema
    ) throws(StorageError) -> (clusters: ClusterTree, trees: [(column: Int, root: PageReference)]) {
        let clusters = try clusters(entry, orThrow: damaged(schema))
        var trees: [(column: Int, root: PageReference)] = []
        try forEachTree(entry, orThrow: damaged(schema)) { (_, column, root) throws(StorageError) in
            trees.append((column, root))
        }
        return (clusters, trees)
    }
}

/// A mapper that copies to another file, in whose open transaction a catalog is written.
protocol CatalogCopier: RunMapper {
    var transaction: WriteTransaction { get }
}

extension PageCopier: CatalogCopier {}
