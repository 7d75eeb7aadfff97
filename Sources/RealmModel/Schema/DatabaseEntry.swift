import RealmStorage

/// The catalog's entry for the database as a whole (32 bytes, little-endian; 24 in files whose classes were last changed by
/// an older library).
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 2 | layout: 2, or 3 where a class has unique properties, compound indexes or delete rules |
/// | 2 | 2 | 0 |
/// | 4 | 4 | the number that the next table gets |
/// | 8 | 8 | schema version |
/// | 16 | 8 | schema stamp: the file version that last changed the schema |
/// | 24 | 8 | the row key with which the next table begins: above those of all tables that were removed |
struct DatabaseEntry: Equatable {
    /// The layouts: one without and one with rules that every writer must know.
    static let plainLayout: UInt16 = 2
    static let layoutWithRules: UInt16 = 3

    var layout = plainLayout
    var nextTableID: UInt32 = 1
    var schemaVersion: UInt64 = 0
    var stamp: UInt64 = 0
    /// The row keys below it were given out by tables that are gone: references to their objects must find none in another
    /// table of the same class.
    private(set) var firstRowKey: Int64 = 0

    /// No key above this one is believed: what a damaged entry says may cost keys, but never use them up.
    static let greatestFirstRowKey: Int64 = 1 << 60

    init() {}

    /// Notes that a table goes which has given out the row keys below one.
    mutating func noteRowKeys(before key: Int64) {
        firstRowKey = min(max(firstRowKey, key), Self.greatestFirstRowKey)
    }

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
        if reader.remaining == 0 { return }
        firstRowKey = try reader.integer(Int64.self)
        guard (0...Self.greatestFirstRowKey).contains(firstRowKey) else {
            throw StorageError(.corrupt, "The catalog's entry for the database has an impossible row key.")
        }
    }

    func store(in transaction: WriteTransaction) throws(StorageError) {
        var writer = ByteWriter()
        writer.append(layout)
        writer.append(UInt16(0))
        writer.append(nextTableID)
        writer.append(schemaVersion)
        writer.append(stamp)
        writer.append(firstRowKey)
        try CatalogKey.store(writer.bytes, CatalogKey.database, in: transaction)
    }
}
