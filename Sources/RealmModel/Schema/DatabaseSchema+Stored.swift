import OrderedCollections
package import RealmStorage

extension DatabaseSchema {
    /// The schema of a file without one.
    static let empty = DatabaseSchema(classes: [])

    /// The stamp of a version's schema; 0 when none was ever stored.
    package static func stamp(of snapshot: Snapshot) throws(StorageError) -> UInt64 {
        try DatabaseEntry(in: snapshot.catalog, view: snapshot.view)?.stamp ?? 0
    }

    /// Reads the schema that a catalog holds; nil when none was ever stored.
    ///
    /// - Parameters:
    ///   - catalog: The root of everything in the file.
    ///   - view: Where its pages are read.
    ///   - known: A schema of the same file, returned as it is when nothing changed since.
    ///   - previous: A schema of the same file: what it calls classes goes on where the file does not say otherwise.
    /// - Throws: `StorageError` when the catalog is damaged.
    init?(
        in catalog: ByteTree,
        view: PageView,
        known: DatabaseSchema? = nil,
        previous: DatabaseSchema? = nil
    ) throws(StorageError) {
        guard let entry = try DatabaseEntry(in: catalog, view: view) else { return nil }
        if let known, known.stamp == entry.stamp, known.stamp != 0 {
            self = known
            return
        }
        var classes: [ClassSchema] = []
        var cursor = catalog.cursor(in: view)
        var isOnEntry = try CatalogKey.with(CatalogKey.classSchema, 0) { (key) throws(StorageError) in
            try cursor.seek(key)
        }
        while isOnEntry {
            let key = cursor.key
            guard key.first == CatalogKey.classSchema else { break }
            guard key.count == 5 else { throw StorageError(.corrupt, "A class in the catalog has a damaged key.") }
            let tableID = UInt32(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
            var schema = try ClassSchema(tableID: tableID, load: try cursor.value)
            schema.longStrings.key = entry.indexKey
            classes.append(schema)
            isOnEntry = try cursor.next()
        }
        let names = Set(classes.map { $0.storedName ?? $0.name })
        guard names.count == classes.count,
            classes.allSatisfy({ schema in
                schema.tableID > 0 && schema.tableID < entry.nextTableID
                    && schema.properties.allSatisfy { !$0.isLink || names.contains($0.targetClass ?? "") }
            })
        else { throw StorageError(.corrupt, "The schema in the catalog is damaged.") }
        self.init(classes: Self.called(classes, as: previous ?? known), version: entry.schemaVersion)
        stamp = entry.stamp
    }

    /// The bytes of a class's catalog entry, in which the classes that it links to have the names that the file has them under.
    func storedBytes(of schema: ClassSchema) -> [UInt8] {
        schema.storedBytes(namingTargets: { classes[$0]?.storedName ?? $0 })
    }
}
