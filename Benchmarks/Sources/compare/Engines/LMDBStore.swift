import CLMDB

/// An environment with trees of integers and bytes; a process opens its file once.
final class LMDBStore {
    private var handle: OpaquePointer?
    private var trees: [MDB_dbi] = []

    /// Opens an environment with a tree for each of the flags.
    init(_ path: String, isDurable: Bool, trees flags: [Int32]) throws {
        try check(mdb_env_create(&handle))
        try check(mdb_env_set_mapsize(handle, 1 << 36))
        try check(mdb_env_set_maxdbs(handle, UInt32(flags.count)))
        let options = MDB_NOSUBDIR | MDB_NORDAHEAD | MDB_NOTLS | (isDurable ? 0 : MDB_NOSYNC)
        try check(mdb_env_open(handle, path, UInt32(options), 0o600))
        try write { transaction in
            for (number, flags) in flags.enumerated() {
                var tree: MDB_dbi = 0
                let flags = UInt32(MDB_CREATE | MDB_INTEGERKEY | flags)
                try check(mdb_dbi_open(transaction.handle, "\(number)", flags, &tree))
                trees.append(tree)
            }
        }
    }

    deinit {
        mdb_env_close(handle)
    }

    func write(_ body: (Transaction) throws -> Void) throws {
        var transaction: OpaquePointer?
        try check(mdb_txn_begin(handle, nil, 0, &transaction))
        try body(Transaction(handle: transaction, trees: trees))
        try check(mdb_txn_commit(transaction))
    }

    func read(_ body: (Transaction) throws -> Void) throws {
        var transaction: OpaquePointer?
        try check(mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction))
        defer { mdb_txn_abort(transaction) }
        try body(Transaction(handle: transaction, trees: trees))
    }

    /// A transaction; trees are known by their place among those that were opened.
    struct Transaction {
        fileprivate let handle: OpaquePointer?
        fileprivate let trees: [MDB_dbi]

        func put(_ key: Int, _ bytes: UnsafeRawBufferPointer, in tree: Int, _ flags: Int32 = 0) throws {
            var (number, value) = (key, MDB_val(bytes))
            try withUnsafeMutableBytes(of: &number) { number in
                var key = MDB_val(UnsafeRawBufferPointer(number))
                try check(mdb_put(handle, trees[tree], &key, &value, UInt32(flags)))
            }
        }

        func get(_ key: Int, in tree: Int) throws -> UnsafeRawBufferPointer? {
            var (number, value) = (key, MDB_val())
            let status = withUnsafeMutableBytes(of: &number) { number in
                var key = MDB_val(UnsafeRawBufferPointer(number))
                return mdb_get(handle, trees[tree], &key, &value)
            }
            if status == MDB_NOTFOUND { return nil }
            try check(status)
            return UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
        }

        /// Calls a function with each key and its bytes, in order; a key comes once for each of its values.
        func forEach(in tree: Int, _ body: (Int, UnsafeRawBufferPointer) throws -> Void) throws {
            var cursor: OpaquePointer?
            try check(mdb_cursor_open(handle, trees[tree], &cursor))
            defer { mdb_cursor_close(cursor) }
            var (key, value) = (MDB_val(), MDB_val())
            var status = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
            while status == 0 {
                try body(key.mv_data.load(as: Int.self), .init(start: value.mv_data, count: value.mv_size))
                status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
            }
            if status != MDB_NOTFOUND { try check(status) }
        }

        /// Calls a function with each value of a key, of keys that it is asked for one after the other.
        func forEachValue(of keys: some Sequence<Int>, in tree: Int, _ body: (Int) throws -> Void) throws {
            var cursor: OpaquePointer?
            try check(mdb_cursor_open(handle, trees[tree], &cursor))
            defer { mdb_cursor_close(cursor) }
            for key in keys {
                var (number, value) = (key, MDB_val())
                try withUnsafeMutableBytes(of: &number) { number in
                    var key = MDB_val(UnsafeRawBufferPointer(number))
                    var status = mdb_cursor_get(cursor, &key, &value, MDB_SET)
                    while status == 0 {
                        try body(value.mv_data.load(as: Int.self))
                        status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT_DUP)
                    }
                    if status != MDB_NOTFOUND { try check(status) }
                }
            }
        }
    }
}

private func check(_ status: Int32) throws {
    guard status == 0 else {
        throw LMDBEnvironment.Failure(description: "LMDB: \(String(cString: mdb_strerror(status)))")
    }
}

extension MDB_val {
    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
        self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }
}
