import CLMDB

/// An environment with two trees: persons by number, and numbers by email.
@MainActor
final class LMDBEnvironment {
    /// LMDB refused.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// A row: age, score, date, then name and email without lengths.
    static let nameOffset = 24
    static let emailOffset = 40
    static let rowByteCount = 64

    private var handle: OpaquePointer?
    private var persons: MDB_dbi = 0
    private var emails: MDB_dbi = 0

    init(_ path: String) throws {
        try Self.check(mdb_env_create(&handle))
        try Self.check(mdb_env_set_mapsize(handle, 1 << 36))
        try Self.check(mdb_env_set_maxdbs(handle, 2))
        try Self.check(mdb_env_open(handle, path, UInt32(MDB_NOSUBDIR), 0o600))
        var transaction: OpaquePointer?
        try Self.check(mdb_txn_begin(handle, nil, 0, &transaction))
        try Self.check(mdb_dbi_open(transaction, "persons", UInt32(MDB_CREATE | MDB_INTEGERKEY), &persons))
        try Self.check(mdb_dbi_open(transaction, "emails", UInt32(MDB_CREATE), &emails))
        try Self.check(mdb_txn_commit(transaction))
    }

    isolated deinit {
        mdb_env_close(handle)
    }

    func write(_ body: (Transaction) throws -> Void) throws {
        var transaction: OpaquePointer?
        try Self.check(mdb_txn_begin(handle, nil, 0, &transaction))
        try body(Transaction(handle: transaction, persons: persons, emails: emails))
        try Self.check(mdb_txn_commit(transaction))
    }

    func read(_ body: (Transaction) throws -> Void) throws {
        var transaction: OpaquePointer?
        try Self.check(mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction))
        defer { mdb_txn_abort(transaction) }
        try body(Transaction(handle: transaction, persons: persons, emails: emails))
    }

    fileprivate static func check(_ status: Int32) throws {
        guard status == 0 else { throw Failure(description: "LMDB: \(String(cString: mdb_strerror(status)))") }
    }

    /// A transaction, for reading or writing.
    @MainActor
    struct Transaction {
        fileprivate let handle: OpaquePointer?
        fileprivate let persons: MDB_dbi
        fileprivate let emails: MDB_dbi

        func insert(_ person: PersonData) throws {
            var key = person.id
            var row: InlineArray<64, UInt8> = .init(repeating: 0)
            try withUnsafeMutableBytes(of: &row) { row in
                row.storeBytes(of: Int64(person.age), toByteOffset: 0, as: Int64.self)
                row.storeBytes(of: person.score, toByteOffset: 8, as: Double.self)
                row.storeBytes(of: person.createdAt, toByteOffset: 16, as: Double.self)
                for (offset, byte) in person.name.utf8.enumerated() { row[nameOffset + offset] = byte }
                for (offset, byte) in person.email.utf8.enumerated() { row[emailOffset + offset] = byte }
                try withUnsafeMutableBytes(of: &key) { key in
                    var keyValue = MDB_val(mv_size: key.count, mv_data: key.baseAddress)
                    var rowValue = MDB_val(mv_size: row.count, mv_data: row.baseAddress)
                    try check(mdb_put(handle, persons, &keyValue, &rowValue, UInt32(MDB_NOOVERWRITE)))
                    var emailValue = MDB_val(mv_size: 24, mv_data: row.baseAddress.map { $0 + emailOffset })
                    keyValue = MDB_val(mv_size: key.count, mv_data: key.baseAddress)
                    try check(mdb_put(handle, emails, &emailValue, &keyValue, UInt32(MDB_NOOVERWRITE)))
                }
            }
        }

        func row(_ key: Int) throws -> UnsafeRawBufferPointer? {
            var key = key
            return try withUnsafeMutableBytes(of: &key) { key in
                var keyValue = MDB_val(mv_size: key.count, mv_data: key.baseAddress)
                var rowValue = MDB_val()
                let status = mdb_get(handle, persons, &keyValue, &rowValue)
                if status == MDB_NOTFOUND { return nil }
                try check(status)
                return UnsafeRawBufferPointer(start: rowValue.mv_data, count: rowValue.mv_size)
            }
        }

        func forEachRow(_ body: (UnsafeRawBufferPointer) -> Void) throws {
            var cursor: OpaquePointer?
            try check(mdb_cursor_open(handle, persons, &cursor))
            defer { mdb_cursor_close(cursor) }
            var key = MDB_val()
            var row = MDB_val()
            var status = mdb_cursor_get(cursor, &key, &row, MDB_FIRST)
            while status == 0 {
                body(UnsafeRawBufferPointer(start: row.mv_data, count: row.mv_size))
                status = mdb_cursor_get(cursor, &key, &row, MDB_NEXT)
            }
            if status != MDB_NOTFOUND { try check(status) }
        }
    }
}
