import RealmStorage

/// The catalog's entry for the database as a whole (24 bytes, little-endian).
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 2 | layout: 2, or 3 where a class has unique properties, compound indexes or delete rules |
/// | 2 | 2 | 0 |
/// | 4 | 4 | the number that the next table gets |
/// | 8 | 8 | schema version |
/// | 16 | 8 | schema stamp: the file version that last changed the schema |
struct DatabaseEntry: Equatable {
    /// The layouts: one without and one with rules that every writer must know.
    static let plainLayout: UInt16 = 2
    static let layoutWithRules: UInt16 = 3

    var layout = plainLayout
    var nextTableID: UInt32 = 1
    var schemaVersion: UInt64 = 0
    var stamp: UInt64 = 0

    init() {}

    init?(in catalog: ByteTree, view: PageView) throws(StorageError) {
        guard let bytes = try CatalogKey.value(CatalogKey.database, in: catalog, view: view) else { return nil }
        var reader = ByteReader(bytes, of: "database entry")
        layout = try reader.integer(UInt16.self)
        guard layout == Self.plainLayout || layout == Self.layoutWithRules else {
            throw StorageError(
                .unsupportedFormat,
                "The file's schema has a layout that this version of the library does not know."
            )
        }
        _ = try reader.integer(UInt16.self)
        nextTableID = try reader.integer(UInt32.self)
        schemaVersion = try reader.integer(UInt64.self)
        stamp = try reader.integer(UInt64.self)
    }

    func store(in transaction: WriteTransaction) throws(StorageError) {
        var writer = ByteWriter()
        writer.append(layout)
        writer.append(UInt16(0))
        writer.append(nextTableID)
        writer.append(schemaVersion)
        writer.append(stamp)
        try CatalogKey.store(writer.bytes, CatalogKey.database, in: transaction)
    }
}
