import Foundation
import GRDB
import People

/// GRDB at its fastest for typed records: a pool, hand-written coding, cached statements.
final class GRDBEngine: Engine {
    static let name = "grdb"
    static let fileSuffixes = SQLiteEngine.fileSuffixes

    /// A row of the table.
    struct Record: FetchableRecord, PersistableRecord, Sendable {
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

    /// The two columns that a look-up reads.
    private struct AgeAndName: FetchableRecord {
        var age: Int
        var name: String

        init(row: Row) {
            age = row[0]
            name = row[1]
        }
    }

    private let pool: DatabasePool

    init(path: String, isDurable: Bool, isBrief: Bool, isolation: isolated (any Actor)?) throws {
        pool = try Self.open(path, isDurable: isDurable, isBrief: isBrief, schema: SQL.schema)
    }

    static func open(_ path: String, isDurable: Bool, isBrief: Bool = false, schema: String) throws -> DatabasePool {
        let isNew = SQL.isNew(path)
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        // Its connections have no mutex of SQLite's by themselves.
        if !isBrief { configuration.prepareDatabase { try $0.execute(sql: SQL.memory) } }
        let pool = try DatabasePool(path: path, configuration: configuration)
        // The pool chooses NORMAL, which gives up durability: it is not what is compared here.
        try pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = \(isDurable ? "FULL" : "OFF")")
            if isNew { try database.execute(sql: schema) }
        }
        return pool
    }

    // The file is SQLite's, which fills it faster.
    static func makeStandard(at path: String, count: Int, isolation: isolated (any Actor)?) throws {
        try SQLiteEngine.makeStandard(at: path, count: count, isolation: isolation)
    }

    static func makeChurned(
        at path: String,
        from standard: String,
        count: Int,
        isolation: isolated (any Actor)?
    ) throws {
        try SQLiteEngine.makeChurned(at: path, from: standard, count: count, isolation: isolation)
    }

    static func makeKennel(at path: String, isolation: isolated (any Actor)?) throws -> (any Kennel)? {
        try GRDBKennel(path)
    }

    static func makeLibrary(at path: String, isDurable: Bool, isolation: isolated (any Actor)?) throws -> any Library {
        try GRDBLibrary(path, isDurable: isDurable)
    }

    func checkpoint() throws {
        try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    }

    func insert(_ ids: some RandomAccessCollection<Int>) throws {
        try pool.write { database in
            for id in ids { try Record(PersonData(id)).insert(database) }
        }
    }

    private func run(_ sql: String, _ arguments: some Sequence<StatementArguments>) throws {
        try pool.write { database in
            let statement = try database.cachedStatement(sql: sql)
            for arguments in arguments { try statement.execute(arguments: arguments) }
        }
    }

    func update(_ ids: [Int], age: Int) throws {
        try run(SQL.update, ids.lazy.map { [age, $0] })
    }

    func delete(_ ids: [Int]) throws {
        try run(SQL.deletion, ids.lazy.map { [$0] })
    }

    func deleteAll(youngerThan age: Int) throws {
        try run(SQL.deletionByAge, CollectionOfOne([age]))
    }

    func lookUp(_ ids: [Int]) throws -> Int {
        try pool.read { database in
            let statement = try database.cachedStatement(sql: SQL.ageAndName)
            return try ids.reduce(0) { sum, id in
                guard let found = try AgeAndName.fetchOne(statement, arguments: [id]) else { return sum }
                return sum &+ found.age &+ found.name.utf8.count
            }
        }
    }

    func countOfRows() throws -> Int { try pool.sum(SQL.countOfAll) }

    func sumOfRows() throws -> Int { try pool.sum(SQL.ages) }

    func sumByEngine() throws -> Int? { try pool.sum(SQL.sum) }

    func count(_ condition: Condition) throws -> Int {
        let (sql, text) = SQL.count(condition)
        return try pool.sum(sql, text.map { [$0] } ?? [])
    }

    func find(emails: [String]) throws -> Int {
        try pool.read { database in
            let statement = try database.cachedStatement(sql: SQL.ageByEmail)
            return try emails.reduce(0) { try $0 &+ (Int.fetchOne(statement, arguments: [$1]) ?? 0) }
        }
    }

    func sumOfSorted(first count: Int, isLimited: Bool) throws -> Int? {
        try pool.sum(isLimited ? SQL.sorted + " LIMIT \(count)" : SQL.sorted, first: count)
    }

    // Cheaper than a snapshot, which opens a connection.
    func readNewestVersion(_ id: Int) throws -> Int {
        try pool.read { try Int.fetchOne($0.cachedStatement(sql: SQL.age), arguments: [id]) ?? 0 }
    }
}

extension DatabasePool {
    /// The sum of the first column over all rows, or the first ones.
    fileprivate func sum(_ sql: String, _ arguments: StatementArguments = [], first count: Int = .max) throws -> Int {
        try read { database in
            let numbers = try Int.fetchCursor(database, sql: sql, arguments: arguments)
            var sum = 0
            var rest = count
            while rest > 0, let number = try numbers.next() {
                sum &+= number
                rest -= 1
            }
            return sum
        }
    }
}

/// Dogs and owners in GRDB; the file is filled by SQLite.
private final class GRDBKennel: Kennel {
    private let path: String
    private let pool: DatabasePool

    init(_ path: String) throws {
        self.path = path
        pool = try GRDBEngine.open(path, isDurable: false, schema: SQL.kennel)
    }

    func insert(owners: Int, dogs: Int) throws {
        try SQLiteKennel(path).insert(owners: owners, dogs: dogs)
    }

    func sumOfOwnerAges() throws -> Int { try pool.sum(SQL.ownerAges) }

    func sumOfDogAges() throws -> Int {
        try pool.read { database in
            let ages = try database.cachedStatement(sql: SQL.dogAges)
            return try Int.fetchAll(database, sql: SQL.ownerIDs)
                .reduce(0) { sum, owner in
                    try Int.fetchAll(ages, arguments: [owner]).reduce(sum, &+)
                }
        }
    }
}
