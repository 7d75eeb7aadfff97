import CSQLite
import Foundation

/// SQLite through its C API, with prepared statements: WAL, and a flush for each commit.
@MainActor
final class SQLite: Contestant {
    static let name = "sqlite"

    private let workload: Workload
    private var populated: SQLiteConnection?
    private var bytesPerObject: Double?
    private var bytesPerCommit: Double?

    init(_ workload: Workload) {
        self.workload = workload
    }

    func measure(_ row: RowIdentifier) async throws -> Double? {
        switch row {
        case .insert: try insertAll()
        case .insertBytes: try size()
        case .serial: try serialCommits()
        case .commitBytes: try writtenBytes()
        case .lookup: try lookUp()
        case .sumObjects: try sumOverRows()
        case .sumEngine: try sumByEngine()
        case .tasks, .notify, .read: nil
        }
    }

    private func path(_ name: String) -> String { workload.folder + "/\(name).sqlite" }

    private func removeFile(_ name: String) {
        for suffix in ["", "-wal", "-shm"] { unlink(path(name) + suffix) }
    }

    private func populate(_ connection: SQLiteConnection, count: Int) throws {
        let insert = try connection.prepare(SQLiteConnection.insertion)
        try connection.execute("BEGIN IMMEDIATE")
        for id in 0..<count { try insert.run(PersonData(id)) }
        try connection.execute("COMMIT")
    }

    private func standard() throws -> SQLiteConnection {
        if let populated { return populated }
        let connection = try SQLiteConnection(path("standard"))
        try populate(connection, count: workload.objectCount)
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        populated = connection
        return connection
    }

    private func insertAll() throws -> Double {
        removeFile("insert")
        defer { removeFile("insert") }
        let connection = try SQLiteConnection(path("insert"))
        let start = ContinuousClock.now
        try populate(connection, count: workload.objectCount)
        let elapsed = ContinuousClock.now - start
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        let attributes = try FileManager.default.attributesOfItem(atPath: path("insert"))
        bytesPerObject = ((attributes[.size] as? NSNumber)?.doubleValue ?? 0) / Double(workload.objectCount)
        return Double(workload.objectCount) / (elapsed / .seconds(1))
    }

    private func size() throws -> Double? {
        if bytesPerObject == nil { _ = try insertAll() }
        return bytesPerObject
    }

    private func serialCommits() throws -> Double {
        removeFile("serial")
        defer { removeFile("serial") }
        let connection = try SQLiteConnection(path("serial"))
        try populate(connection, count: 1_000)
        let insert = try connection.prepare(SQLiteConnection.insertion)
        let begin = try connection.prepare("BEGIN IMMEDIATE")
        let commit = try connection.prepare("COMMIT")
        let counter = WrittenBytes()
        let start = ContinuousClock.now
        var commits = 0
        while ContinuousClock.now - start < workload.commitDuration {
            try begin.run()
            try insert.run(PersonData(1_000 + commits))
            try commit.run()
            commits += 1
        }
        let elapsed = ContinuousClock.now - start
        bytesPerCommit = counter.sinceStart / Double(commits)
        return Double(commits) / (elapsed / .seconds(1))
    }

    private func writtenBytes() throws -> Double? {
        if bytesPerCommit == nil { _ = try serialCommits() }
        return bytesPerCommit
    }

    private func lookUp() throws -> Double {
        let connection = try standard()
        let statement = try connection.prepare("SELECT age, name FROM person WHERE id = ?")
        try connection.execute("BEGIN")
        defer { try? connection.execute("COMMIT") }
        let count = 100_000
        var sum = 0
        let elapsed = try repeated(3) {
            for number in 0..<count {
                let key = PersonData.randomKey(number, below: workload.objectCount)
                try statement.withRow(key) { row in
                    sum &+= Int(sqlite3_column_int64(row, 0))
                    if let name = sqlite3_column_text(row, 1) { sum &+= String(cString: name).utf8.count }
                }
            }
        }
        consume(sum)
        return elapsed / .nanoseconds(count)
    }

    private func sumOverRows() throws -> Double {
        let statement = try standard().prepare("SELECT age FROM person ORDER BY id")
        var sum = 0
        let elapsed = try repeated(3) {
            try statement.forEachRow { sum &+= Int(sqlite3_column_int64($0, 0)) }
        }
        consume(sum)
        return elapsed / .nanoseconds(workload.objectCount)
    }

    private func sumByEngine() throws -> Double {
        let statement = try standard().prepare("SELECT sum(age) FROM person")
        var sum = 0
        let elapsed = try repeated(3) {
            try statement.forEachRow { sum &+= Int(sqlite3_column_int64($0, 0)) }
        }
        consume(sum)
        return elapsed / .milliseconds(1)
    }
}
