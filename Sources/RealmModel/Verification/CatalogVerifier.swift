import OrderedCollections
import RealmStorage

/// Checks that the catalog is a catalog: its order, its entries, and that classes and tables belong together.
enum CatalogVerifier {
    static func verify(_ snapshot: Snapshot) throws(StorageError) {
        try snapshot.catalog.verify(in: snapshot.view)
        let schema = try DatabaseSchema(in: snapshot.catalog, view: snapshot.view) ?? .empty
        var tables: Set<UInt32> = []
        var cursor = snapshot.catalog.cursor(in: snapshot.view)
        var isOnEntry = try cursor.seekFirst()
        while isOnEntry {
            let key = cursor.key
            switch key.first {
            case CatalogKey.database where key.count == 1: break
            case CatalogKey.classSchema where key.count == 5: break
            case CatalogKey.table where key.count == 5: tables.insert(FileCompactor.tableID(of: key))
            default: throw StorageError(.corrupt, "The catalog holds an entry that nobody knows.")
            }
            isOnEntry = try cursor.next()
        }
        guard tables == Set(schema.classes.values.map(\.tableID)) else {
            throw StorageError(.corrupt, "The catalog's classes and tables do not belong together.")
        }
        if let further = schema.classes.values.first(where: { $0.furtherIndexCount > 0 }),
            !snapshot.declaresFurtherIndexes
        {
            throw StorageError(
                .corrupt,
                "Class '\(further.name)' has an index of a kind that the file does not say it has."
            )
        }
        guard schema.stamp <= snapshot.version else {
            throw StorageError(.corrupt, "The catalog's schema comes from a later version.")
        }
    }
}
