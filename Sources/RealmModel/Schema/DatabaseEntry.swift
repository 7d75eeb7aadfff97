import RealmStorage

/// The catalog's entry for the database as a whole (64 bytes, little-endian).
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 2 | layout, 4 |
/// | 2 | 2 | 0 |
/// | 4 | 4 | the number that the next table gets |
/// | 8 | 8 | schema version |
/// | 16 | 8 | schema stamp: the file version that last changed the schema |
/// | 24 | 8 | the row key with which the next table begins: above those of all tables that were removed |
/// | 32 | 16 | the key with which long strings in indexes are hashed |
/// | 48 | 16 | 0 |
///
/// In files whose schema was last changed by a release before, the layout is 2, or 3 where a class has unique properties, compound
/// indexes or delete rules, and the entry ends at 32, or at 24.
struct DatabaseEntry: Equatable {
    static let layout: UInt16 = 4
    /// The layouts of releases before.
    static let formerLayouts: ClosedRange<UInt16> = 2...3
    static let byteCount = 64

    var nextTableID: UInt32 = 1
    var schemaVersion: UInt64 = 0
    var stamp: UInt64 = 0
    /// The row keys below it were given out by tables that are gone: references to their objects must find none in another
    /// table of the same class.
    private(set) var firstRowKey: Int64 = 0
    /// The key of the hashes in indexes; none in a file whose schema a release before has stored.
    var indexKey = SipHash.Key.none

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
        let layout = try reader.integer(UInt16.self)
        guard layout == Self.layout || Self.formerLayouts.contains(layout) else {
            throw StorageError(
                .unsupportedFormat,
                "The file's schema has the layout \(layout), which this version of the library does not know."
            )
        }
        _ = try reader.integer(UInt16.self)
        nextTableID = try reader.integer(UInt32.self)
        schemaVersion = try reader.integer(UInt64.self)
        stamp = try reader.integer(UInt64.self)
        // A class would get a number that is no table's.
        guard nextTableID > 0 else {
            throw StorageError(.corrupt, "The catalog's entry for the database gives out no number of a table.")
        }
        if reader.remaining == 0 { return }
        firstRowKey = try reader.integer(Int64.self)
        guard (0...Self.greatestFirstRowKey).contains(firstRowKey) else {
            throw StorageError(.corrupt, "The catalog's entry for the database has an impossible row key.")
        }
        guard layout == Self.layout else { return }
        indexKey = SipHash.Key(low: try reader.integer(UInt64.self), high: try reader.integer(UInt64.self))
        guard indexKey.low != 0 else { throw reader.truncated }
    }

    func store(in transaction: WriteTransaction) throws(StorageError) {
        transaction.changesSchema = true
        var writer = ByteWriter()
        writer.append(Self.layout)
        writer.append(UInt16(0))
        writer.append(nextTableID)
        writer.append(schemaVersion)
        writer.append(stamp)
        writer.append(firstRowKey)
        writer.append(indexKey.low)
        writer.append(indexKey.high)
        writer.append(UInt64(0))
        writer.append(UInt64(0))
        try CatalogKey.store(writer.bytes, CatalogKey.database, in: transaction)
    }
}
