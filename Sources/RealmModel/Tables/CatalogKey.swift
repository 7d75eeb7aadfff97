import RealmStorage

/// The model layer's keys in the catalog: a kind byte, then for classes and tables the table's number, big-endian.
///
/// | first byte | entry |
/// |---|---|
/// | 1 | the database: schema version, next table number, schema stamp |
/// | 2 | a class as the file stores it |
/// | 3 | a table's roots: its rows, indexes and backlinks |
enum CatalogKey {
    static let database: UInt8 = 1
    static let classSchema: UInt8 = 2
    static let table: UInt8 = 3

    /// Calls a function with the bytes of a key.
    static func with<R>(
        _ kind: UInt8,
        _ tableID: UInt32,
        _ body: (UnsafeRawBufferPointer) throws(StorageError) -> R
    ) throws(StorageError) -> R {
        var bytes = UInt64(kind) | UInt64(tableID.byteSwapped) << 8
        bytes = bytes.littleEndian
        return try withUnsafeBytes(of: bytes) { (bytes) throws(StorageError) -> R in
            try body(UnsafeRawBufferPointer(rebasing: bytes[0..<(kind == database ? 1 : 5)]))
        }
    }

    static func value(
        _ kind: UInt8,
        _ tableID: UInt32 = 0,
        in catalog: ByteTree,
        view: PageView
    ) throws(StorageError) -> UnsafeRawBufferPointer? {
        try with(kind, tableID) { (key) throws(StorageError) -> UnsafeRawBufferPointer? in
            try catalog.value(for: key, in: view)
        }
    }

    static func store(
        _ bytes: [UInt8],
        _ kind: UInt8,
        _ tableID: UInt32 = 0,
        in transaction: WriteTransaction
    ) throws(StorageError) {
        try withUnsafeTemporaryAllocation(byteCount: bytes.count, alignment: 8) { (value) throws(StorageError) in
            value.copyBytes(from: bytes)
            try store(UnsafeRawBufferPointer(value), kind, tableID, in: transaction)
        }
    }

    /// Stores bytes that lie in no page of the catalog.
    static func store(
        _ bytes: UnsafeRawBufferPointer,
        _ kind: UInt8,
        _ tableID: UInt32,
        in transaction: WriteTransaction
    ) throws(StorageError) {
        try with(kind, tableID) { (key) throws(StorageError) in
            _ = try transaction.catalog.insert(key, value: bytes, in: transaction)
        }
    }

    static func remove(_ kind: UInt8, _ tableID: UInt32, in transaction: WriteTransaction) throws(StorageError) {
        try with(kind, tableID) { (key) throws(StorageError) in
            _ = try transaction.catalog.remove(key, in: transaction)
        }
    }
}
