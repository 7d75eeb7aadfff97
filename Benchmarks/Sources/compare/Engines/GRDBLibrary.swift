import GRDB
import People

/// Documents in GRDB.
final class GRDBLibrary: Library {
    private struct Record: PersistableRecord {
        static let databaseTableName = "document"
        var data: DocumentData

        init(_ data: DocumentData) {
            self.data = data
        }

        func encode(to container: inout PersistenceContainer) {
            container["id"] = data.id
            container["views"] = data.views
            container["text"] = data.text
        }
    }

    private struct ViewsAndText: FetchableRecord {
        var views: Int
        var text: String

        init(row: Row) {
            views = row[0]
            text = row[1]
        }
    }

    private let pool: DatabasePool

    init(_ path: String, isDurable: Bool) throws {
        pool = try GRDBEngine.open(path, isDurable: isDurable, schema: SQL.library)
    }

    func insert(_ ids: Range<Int>) throws {
        try pool.write { database in
            for id in ids { try Record(DocumentData(id)).insert(database) }
        }
    }

    func read(_ ids: [Int]) throws -> Int {
        try pool.read { database in
            let statement = try database.cachedStatement(sql: SQL.document)
            return try ids.reduce(0) { sum, id in
                guard let found = try ViewsAndText.fetchOne(statement, arguments: [id]) else { return sum }
                return sum &+ found.views &+ found.text.utf8.count
            }
        }
    }

    func update(_ ids: [Int], views: Int) throws {
        try pool.write { database in
            let statement = try database.cachedStatement(sql: SQL.documentUpdate)
            for id in ids { try statement.execute(arguments: [views, id]) }
        }
    }
}
