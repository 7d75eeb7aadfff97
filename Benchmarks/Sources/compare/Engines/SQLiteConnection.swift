import CSQLite
import People

/// A connection: WAL, no mutex, a large cache and mapping, and a flush for each commit where commits are to be durable.
final class SQLiteConnection {
    /// SQLite refused.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private var handle: OpaquePointer?
    private var prepared: [String: Statement] = [:]

    init(_ path: String, isDurable: Bool, isBrief: Bool = false, schema: String) throws {
        let isNew = SQL.isNew(path)
        // A connection is used by one thread at a time: it needs no lock.
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        guard sqlite3_open_v2(path, &handle, flags, nil) == SQLITE_OK else { throw failure() }
        sqlite3_busy_timeout(handle, 10_000)
        try execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = \(isDurable ? "FULL" : "OFF");")
        if !isBrief { try execute(SQL.memory) }
        if isNew { try execute(schema) }
    }

    deinit {
        prepared = [:]
        sqlite3_close_v2(handle)
    }

    func execute(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure() }
    }

    /// A statement, prepared once.
    func prepare(_ sql: String) throws -> Statement {
        if let known = prepared[sql] { return known }
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement else { throw failure() }
        let new = Statement(handle: statement)
        prepared[sql] = new
        return new
    }

    func transaction(_ begin: String = "BEGIN IMMEDIATE", _ body: () throws -> Void) throws {
        try prepare(begin).run()
        try body()
        try prepare("COMMIT").run()
    }

    private func failure() -> Failure {
        Failure(description: "SQLite: \(String(cString: sqlite3_errmsg(handle)))")
    }

    /// A prepared statement.
    final class Statement {
        private let handle: OpaquePointer

        init(handle: OpaquePointer) {
            self.handle = handle
        }

        deinit {
            sqlite3_finalize(handle)
        }

        func run(_ numbers: Int...) throws {
            for (index, number) in numbers.enumerated() {
                sqlite3_bind_int64(handle, Int32(index + 1), Int64(number))
            }
            try forEachRow { _ in true }
        }

        func run(_ person: PersonData) throws {
            // The text is bound without a copy: it lives until the step is done.
            try bound(person.name, at: 2) {
                try bound(person.email, at: 5) {
                    sqlite3_bind_int64(handle, 1, Int64(person.id))
                    sqlite3_bind_int64(handle, 3, Int64(person.age))
                    sqlite3_bind_double(handle, 4, person.score)
                    sqlite3_bind_double(handle, 6, person.createdAt)
                    try run()
                }
            }
        }

        func run(_ document: DocumentData) throws {
            try bound(document.text, at: 3) { try run(document.id, document.views) }
        }

        /// The sum of the first column over all rows.
        func sum(_ key: Int) throws -> Int {
            sqlite3_bind_int64(handle, 1, Int64(key))
            return try sum()
        }

        func sum(_ text: String) throws -> Int {
            try bound(text, at: 1) { try sum() }
        }

        func sum(first count: Int = .max) throws -> Int {
            var sum = 0
            var rest = count
            try forEachRow { row in
                sum &+= Int(sqlite3_column_int64(row, 0))
                rest -= 1
                return rest > 0
            }
            return sum
        }

        func forEachNumber(_ body: (Int) throws -> Void) throws {
            try forEachRow { row in
                try body(Int(sqlite3_column_int64(row, 0)))
                return true
            }
        }

        func withRow(_ key: Int, _ body: (OpaquePointer) -> Void) throws {
            sqlite3_bind_int64(handle, 1, Int64(key))
            try forEachRow {
                body($0)
                return true
            }
        }

        private func bound<Result>(_ text: String, at index: Int32, _ body: () throws -> Result) rethrows -> Result {
            var text = text
            return try text.withUTF8 { text in
                text.withMemoryRebound(to: CChar.self) {
                    _ = sqlite3_bind_text(handle, index, $0.baseAddress, Int32($0.count), nil)
                }
                return try body()
            }
        }

        private func forEachRow(_ body: (OpaquePointer) throws -> Bool) throws {
            defer { sqlite3_reset(handle) }
            while true {
                switch sqlite3_step(handle) {
                case SQLITE_ROW: if try !body(handle) { return }
                case SQLITE_DONE: return
                default:
                    throw Failure(description: "SQLite: \(String(cString: sqlite3_errmsg(sqlite3_db_handle(handle))))")
                }
            }
        }
    }
}
