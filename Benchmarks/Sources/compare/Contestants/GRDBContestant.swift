import Foundation
import GRDB

/// GRDB at its fastest for typed records: a pool, `synchronous = FULL`, hand-written coding, cached statements.
@MainActor
final class GRDBContestant: Contestant {
    static let name = "grdb"

    /// A row of the table.
    private struct Record: FetchableRecord, PersistableRecord, Sendable {
        static let databaseTableName = "person"
        var id: Int
        var name: String
        var age: Int
        var score: Double
        var email: String
        var createdAt: Double

        init(_ data: PersonData) {
            id = data.id
            name = data.name
            age = data.age
            score = data.score
            email = data.email
            createdAt = data.createdAt
        }

        init(row: Row) {
            id = row[0]
            name = row[1]
            age = row[2]
            score = row[3]
            email = row[4]
            createdAt = row[5]
        }

        func encode(to container: inout PersistenceContainer) {
            container["id"] = id
            container["name"] = name
            container["age"] = age
            container["score"] = score
            container["email"] = email
            container["createdAt"] = createdAt
        }
    }

    private let workload: Workload
    private var populated: DatabasePool?
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
        case .sumObjects: try sumOverRecords()
        case .sumEngine: try sumByEngine()
        case .tasks, .notify, .read: nil
        }
    }

    private func path(_ name: String) -> String { workload.folder + "/\(name).grdb" }

    private func removeFile(_ name: String) {
        for suffix in ["", "-wal", "-shm"] { unlink(path(name) + suffix) }
    }

    private func open(_ name: String) throws -> DatabasePool {
        let pool = try DatabasePool(path: path(name))
        // The pool chooses NORMAL, which gives up durability: it is not what is compared here.
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        try pool.write { try $0.execute(sql: SQLiteConnection.schema) }
        return pool
    }

    private func populate(_ pool: DatabasePool, _ ids: Range<Int>) throws {
        try pool.write { database in
            for id in ids { try Record(PersonData(id)).insert(database) }
        }
    }

    private func standard() throws -> DatabasePool {
        if let populated { return populated }
        let pool = try open("standard")
        try populate(pool, 0..<workload.objectCount)
        try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        populated = pool
        return pool
    }

    private func insertAll() throws -> Double {
        removeFile("insert")
        defer { removeFile("insert") }
        let pool = try open("insert")
        let start = ContinuousClock.now
        try populate(pool, 0..<workload.objectCount)
        let elapsed = ContinuousClock.now - start
        try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
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
        let pool = try open("serial")
        try populate(pool, 0..<1_000)
        let counter = WrittenBytes()
        let start = ContinuousClock.now
        var commits = 0
        while ContinuousClock.now - start < workload.commitDuration {
            let record = Record(PersonData(1_000 + commits))
            try pool.write { try record.insert($0) }
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
        let pool = try standard()
        let objectCount = workload.objectCount
        let count = 20_000
        let elapsed = try repeated(3) {
            let sum = try pool.read { database in
                var sum = 0
                let statement = try database.cachedStatement(sql: "SELECT * FROM person WHERE id = ?")
                for number in 0..<count {
                    let key = PersonData.randomKey(number, below: objectCount)
                    guard let record = try Record.fetchOne(statement, arguments: [key]) else { continue }
                    sum &+= record.age &+ record.name.utf8.count
                }
                return sum
            }
            consume(sum)
        }
        return elapsed / .nanoseconds(count)
    }

    private func sumOverRecords() throws -> Double {
        let pool = try standard()
        let elapsed = try repeated(3) {
            let sum = try pool.read { database in
                var sum = 0
                let ages = try Int.fetchCursor(database, sql: "SELECT age FROM person ORDER BY id")
                while let age = try ages.next() { sum &+= age }
                return sum
            }
            consume(sum)
        }
        return elapsed / .nanoseconds(workload.objectCount)
    }

    private func sumByEngine() throws -> Double {
        let pool = try standard()
        let elapsed = try repeated(3) {
            consume(try pool.read { try Int.fetchOne($0, sql: "SELECT sum(age) FROM person") })
        }
        return elapsed / .milliseconds(1)
    }
}
