import CSQLite
import People

/// Documents in SQLite.
final class SQLiteLibrary: Library {
    private let connection: SQLiteConnection

    init(_ path: String, isDurable: Bool) throws {
        connection = try SQLiteConnection(path, isDurable: isDurable, schema: SQL.library)
    }

    func insert(_ ids: Range<Int>) throws {
        let statement = try connection.prepare(SQL.documentInsertion)
        try connection.transaction {
            for id in ids { try statement.run(DocumentData(id)) }
        }
    }

    func read(_ ids: [Int]) throws -> Int {
        let statement = try connection.prepare(SQL.document)
        var sum = 0
        try connection.transaction("BEGIN") {
            for id in ids {
                try statement.withRow(id) { row in
                    sum &+= Int(sqlite3_column_int64(row, 0))
                    if let text = sqlite3_column_text(row, 1) { sum &+= String(cString: text).utf8.count }
                }
            }
        }
        return sum
    }

    func update(_ ids: [Int], views: Int) throws {
        let statement = try connection.prepare(SQL.documentUpdate)
        try connection.transaction {
            for id in ids { try statement.run(views, id) }
        }
    }
}
