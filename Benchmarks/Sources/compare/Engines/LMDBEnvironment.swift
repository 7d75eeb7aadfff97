import CLMDB
import People
import Synchronization

/// An environment with two trees: persons by number, and numbers by email.
///
/// LMDB allows one environment of a file in a process, which all threads share.
final class LMDBEnvironment: @unchecked Sendable {
    /// LMDB refused.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// A person: age, score, date, then name and email without lengths.
    struct Row {
        static let nameOffset = 24
        static let emailOffset = 40

        let bytes: UnsafeRawBufferPointer

        var age: Int { Int(bytes.loadUnaligned(fromByteOffset: 0, as: Int64.self)) }
        var score: Double { bytes.loadUnaligned(fromByteOffset: 8, as: Double.self) }
        var name: UnsafeRawBufferPointer { .init(rebasing: bytes[Self.nameOffset..<Self.emailOffset]) }
        var email: UnsafeRawBufferPointer { .init(rebasing: bytes[Self.emailOffset...]) }
    }

    private struct Weak {
        weak var environment: LMDBEnvironment?
    }

    private static let environments = Mutex<[String: Weak]>([:])

    private var handle: OpaquePointer?
    /// The address of a transaction for reading that nobody uses, or zero; renewing one is cheaper than beginning it.
    private let idleReader = Atomic<UInt>(0)
    private var persons: MDB_dbi = 0
    private var emails: MDB_dbi = 0

    /// Where the map is writable, pages are changed in place, and a stray pointer of the program can damage the file.
    static func open(_ path: String, isDurable: Bool, isMapWritable: Bool = false) throws -> LMDBEnvironment {
        try environments.withLock { environments in
            if let known = environments[path]?.environment { return known }
            let new = try LMDBEnvironment(path, isDurable: isDurable, isMapWritable: isMapWritable)
            environments[path] = Weak(environment: new)
            return new
        }
    }

    private init(_ path: String, isDurable: Bool, isMapWritable: Bool) throws {
        try Self.check(mdb_env_create(&handle))
        try Self.check(mdb_env_set_mapsize(handle, 1 << 36))
        try Self.check(mdb_env_set_maxdbs(handle, 2))
        // As its manual says: no read-ahead where access is random, and readers that do not belong to a thread.
        var flags = MDB_NOSUBDIR | MDB_NORDAHEAD | MDB_NOTLS
        if !isDurable { flags |= MDB_NOSYNC }
        if isMapWritable { flags |= MDB_WRITEMAP }
        try Self.check(mdb_env_open(handle, path, UInt32(flags), 0o600))
        var transaction: OpaquePointer?
        try Self.check(mdb_txn_begin(handle, nil, 0, &transaction))
        try Self.check(mdb_dbi_open(transaction, "persons", UInt32(MDB_CREATE | MDB_INTEGERKEY), &persons))
        try Self.check(mdb_dbi_open(transaction, "emails", UInt32(MDB_CREATE), &emails))
        try Self.check(mdb_txn_commit(transaction))
    }

    deinit {
        if let reader = exchangeIdleReader(nil) { mdb_txn_abort(reader) }
        mdb_env_close(handle)
    }

    func write(_ body: (Transaction) throws -> Void) throws {
        var transaction: OpaquePointer?
        try Self.check(mdb_txn_begin(handle, nil, 0, &transaction))
        try body(Transaction(handle: transaction, persons: persons, emails: emails))
        try Self.check(mdb_txn_commit(transaction))
    }

    private func exchangeIdleReader(_ reader: OpaquePointer?) -> OpaquePointer? {
        OpaquePointer(bitPattern: idleReader.exchange(UInt(bitPattern: reader), ordering: .acquiringAndReleasing))
    }

    func read(_ body: (Transaction) throws -> Void) throws {
        var transaction = exchangeIdleReader(nil)
        if let transaction {
            try Self.check(mdb_txn_renew(transaction))
        } else {
            try Self.check(mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction))
        }
        defer {
            mdb_txn_reset(transaction)
            let surplus = exchangeIdleReader(transaction)
            if let surplus { mdb_txn_abort(surplus) }
        }
        try body(Transaction(handle: transaction, persons: persons, emails: emails))
    }

    private static func check(_ status: Int32) throws {
        guard status == 0 else { throw Failure(description: "LMDB: \(String(cString: mdb_strerror(status)))") }
    }

    /// The 24 bytes of an email as numbers that are in the order of the bytes, and whose it is.
    private struct Email: Comparable {
        let first: UInt64
        let second: UInt64
        let third: UInt64
        let id: Int

        init(_ person: PersonData) {
            var text = person.email
            (first, second, third) = text.withUTF8 { bytes in
                let bytes = UnsafeRawBufferPointer(bytes)
                func word(_ number: Int) -> UInt64 {
                    UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8 * number, as: UInt64.self))
                }
                return (word(0), word(1), word(2))
            }
            id = person.id
        }

        static func < (left: Email, right: Email) -> Bool {
            if left.first != right.first { return left.first < right.first }
            if left.second != right.second { return left.second < right.second }
            return left.third < right.third
        }
    }

    /// A transaction, for reading or writing.
    struct Transaction {
        fileprivate let handle: OpaquePointer?
        fileprivate let persons: MDB_dbi
        fileprivate let emails: MDB_dbi

        func insert(_ person: PersonData) throws {
            try put(person, UInt32(MDB_NOOVERWRITE))
            try put(Email(person), UInt32(MDB_NOOVERWRITE))
        }

        /// Inserts persons; a range of them into empty trees by appending, the emails sorted before.
        func insert(_ ids: some RandomAccessCollection<Int>) throws {
            var statistics = MDB_stat()
            try check(mdb_stat(handle, persons, &statistics))
            guard ids.count > 1, statistics.ms_entries == 0, ids is Range<Int> else {
                for id in ids { try insert(PersonData(id)) }
                return
            }
            var emails: [Email] = []
            emails.reserveCapacity(ids.count)
            for id in ids {
                let person = PersonData(id)
                try put(person, UInt32(MDB_APPEND))
                emails.append(Email(person))
            }
            emails.sort()
            for email in emails { try put(email, UInt32(MDB_APPEND)) }
        }

        private func put(_ person: PersonData, _ flags: UInt32) throws {
            var row: InlineArray<64, UInt8> = .init(repeating: 0)
            try withUnsafeMutableBytes(of: &row) { row in
                row.storeBytes(of: Int64(person.age), toByteOffset: 0, as: Int64.self)
                row.storeBytes(of: person.score, toByteOffset: 8, as: Double.self)
                row.storeBytes(of: person.createdAt, toByteOffset: 16, as: Double.self)
                for (offset, byte) in person.name.utf8.enumerated() { row[Row.nameOffset + offset] = byte }
                for (offset, byte) in person.email.utf8.enumerated() { row[Row.emailOffset + offset] = byte }
                try withKey(person.id) { key in
                    var key = key
                    var value = MDB_val(mv_size: row.count, mv_data: row.baseAddress)
                    try check(mdb_put(handle, persons, &key, &value, flags))
                }
            }
        }

        private func put(_ email: Email, _ flags: UInt32) throws {
            // As the bytes lie in the tree.
            var bytes = (email.first.bigEndian, email.second.bigEndian, email.third.bigEndian)
            try withUnsafeMutableBytes(of: &bytes) { bytes in
                try withKey(email.id) { id in
                    var key = MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
                    var id = id
                    try check(mdb_put(handle, emails, &key, &id, flags))
                }
            }
        }

        func update(_ id: Int, age: Int) throws {
            guard let old = try row(id) else { return }
            var row: InlineArray<64, UInt8> = .init(repeating: 0)
            try withUnsafeMutableBytes(of: &row) { row in
                row.copyMemory(from: old.bytes)
                row.storeBytes(of: Int64(age), toByteOffset: 0, as: Int64.self)
                try withKey(id) { key in
                    var key = key
                    var value = MDB_val(mv_size: row.count, mv_data: row.baseAddress)
                    try check(mdb_put(handle, persons, &key, &value, 0))
                }
            }
        }

        func delete(_ id: Int) throws {
            guard let row = try row(id) else { return }
            var email = MDB_val(mv_size: 24, mv_data: UnsafeMutableRawPointer(mutating: row.email.baseAddress))
            try check(mdb_del(handle, emails, &email, nil))
            try withKey(id) { key in
                var key = key
                try check(mdb_del(handle, persons, &key, nil))
            }
        }

        /// The entries of the tree of emails.
        func emailCount() throws -> Int {
            var statistics = MDB_stat()
            try check(mdb_stat(handle, emails, &statistics))
            return statistics.ms_entries
        }

        func row(_ id: Int) throws -> Row? {
            try withKey(id) { try value($0, in: persons).map { Row(bytes: $0) } }
        }

        func id(email: String) throws -> Int? {
            var email = email
            return try email.withUTF8 { email in
                let key = MDB_val(mv_size: email.count, mv_data: UnsafeMutableRawPointer(mutating: email.baseAddress))
                return try value(key, in: emails)?.loadUnaligned(as: Int.self)
            }
        }

        func forEachRow(_ body: (Int, Row) -> Void) throws {
            var cursor: OpaquePointer?
            try check(mdb_cursor_open(handle, persons, &cursor))
            defer { mdb_cursor_close(cursor) }
            var key = MDB_val()
            var row = MDB_val()
            var status = mdb_cursor_get(cursor, &key, &row, MDB_FIRST)
            while status == 0 {
                body(key.mv_data.load(as: Int.self), Row(bytes: .init(start: row.mv_data, count: row.mv_size)))
                status = mdb_cursor_get(cursor, &key, &row, MDB_NEXT)
            }
            if status != MDB_NOTFOUND { try check(status) }
        }

        private func value(_ key: MDB_val, in tree: MDB_dbi) throws -> UnsafeRawBufferPointer? {
            var key = key
            var value = MDB_val()
            let status = mdb_get(handle, tree, &key, &value)
            if status == MDB_NOTFOUND { return nil }
            try check(status)
            return UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
        }

        private func withKey<Result>(_ id: Int, _ body: (MDB_val) throws -> Result) rethrows -> Result {
            var id = id
            return try withUnsafeMutableBytes(of: &id) {
                try body(MDB_val(mv_size: $0.count, mv_data: $0.baseAddress))
            }
        }
    }
}
