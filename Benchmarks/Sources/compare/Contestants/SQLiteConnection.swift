import CSQLite

/// A connection with the table of persons.
@MainActor
final class SQLiteConnection {
    /// SQLite refused.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    static let schema = """
        CREATE TABLE IF NOT EXISTS person (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER NOT NULL, score REAL NOT NULL,
            email TEXT NOT NULL, createdAt REAL NOT NULL
        );
        CREATE UNIQUE INDEX IF NOT EXISTS person_email ON person (email);
        """
    static let insertion = "INSERT INTO person VALUES (?, ?, ?, ?, ?, ?)"

    private var handle: OpaquePointer?

    init(_ path: String) throws {
        guard sqlite3_open(path, &handle) == SQLITE_OK else { throw failure() }
        try execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")
        try execute(Self.schema)
    }

    isolated deinit {
        sqlite3_close_v2(handle)
    }

    func execute(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure() }
    }

    func prepare(_ sql: String) throws -> Statement {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement else { throw failure() }
        return Statement(handle: statement)
    }

    private func failure() -> Failure {
        Failure(description: "SQLite: \(String(cString: sqlite3_errmsg(handle)))")
    }

    /// A prepared statement.
    @MainActor
    final class Statement {
        private let handle: OpaquePointer

        init(handle: OpaquePointer) {
            self.handle = handle
        }

        isolated deinit {
            sqlite3_finalize(handle)
        }

        func run() throws {
            try forEachRow { _ in }
        }

        func run(_ person: PersonData) throws {
            // The text is bound without a copy: it lives until the step is done.
            var name = person.name
            var email = person.email
            try name.withUTF8 { name in
                try email.withUTF8 { email in
                    sqlite3_bind_int64(handle, 1, Int64(person.id))
                    name.withMemoryRebound(to: CChar.self) {
                        _ = sqlite3_bind_text(handle, 2, $0.baseAddress, Int32($0.count), nil)
                    }
                    sqlite3_bind_int64(handle, 3, Int64(person.age))
                    sqlite3_bind_double(handle, 4, person.score)
                    email.withMemoryRebound(to: CChar.self) {
                        _ = sqlite3_bind_text(handle, 5, $0.baseAddress, Int32($0.count), nil)
                    }
                    sqlite3_bind_double(handle, 6, person.createdAt)
                    try run()
                }
            }
        }

        func withRow(_ key: Int, _ body: (OpaquePointer) -> Void) throws {
            sqlite3_bind_int64(handle, 1, Int64(key))
            try forEachRow(body)
        }

        func forEachRow(_ body: (OpaquePointer) -> Void) throws {
            defer { sqlite3_reset(handle) }
            while true {
                switch sqlite3_step(handle) {
                case SQLITE_ROW: body(handle)
                case SQLITE_DONE: return
                default:
                    throw Failure(description: "SQLite: \(String(cString: sqlite3_errmsg(sqlite3_db_handle(handle))))")
                }
            }
        }
    }
}
