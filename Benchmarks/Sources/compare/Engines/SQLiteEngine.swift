import CSQLite
import People

/// SQLite through its C API, with prepared statements.
final class SQLiteEngine: Engine {
    static let name = "sqlite"
    static let fileSuffixes = ["", "-wal", "-shm"]

    private let connection: SQLiteConnection

    init(path: String, isDurable: Bool, isBrief: Bool, isolation: isolated (any Actor)?) throws {
        connection = try SQLiteConnection(path, isDurable: isDurable, isBrief: isBrief, schema: SQL.schema)
    }

    static func makeKennel(at path: String, isolation: isolated (any Actor)?) throws -> (any Kennel)? {
        try SQLiteKennel(path)
    }

    static func makeLibrary(at path: String, isDurable: Bool, isolation: isolated (any Actor)?) throws -> any Library {
        try SQLiteLibrary(path, isDurable: isDurable)
    }

    func checkpoint() throws {
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    func insert(_ ids: some RandomAccessCollection<Int>) throws {
        let statement = try connection.prepare(SQL.insertion)
        try connection.transaction {
            for id in ids { try statement.run(PersonData(id)) }
        }
    }

    func update(_ ids: [Int], age: Int) throws {
        let statement = try connection.prepare(SQL.update)
        try connection.transaction {
            for id in ids { try statement.run(age, id) }
        }
    }

    func delete(_ ids: [Int]) throws {
        let statement = try connection.prepare(SQL.deletion)
        try connection.transaction {
            for id in ids { try statement.run(id) }
        }
    }

    func deleteAll(youngerThan age: Int) throws {
        try connection.transaction { try connection.prepare(SQL.deletionByAge).run(age) }
    }

    func lookUp(_ ids: [Int]) throws -> Int {
        let statement = try connection.prepare(SQL.ageAndName)
        var sum = 0
        try connection.transaction("BEGIN") {
            for id in ids {
                try statement.withRow(id) { row in
                    sum &+= Int(sqlite3_column_int64(row, 0))
                    if let name = sqlite3_column_text(row, 1) { sum &+= String(cString: name).utf8.count }
                }
            }
        }
        return sum
    }

    func countOfRows() throws -> Int { try connection.prepare(SQL.countOfAll).sum() }

    func sumOfRows() throws -> Int { try connection.prepare(SQL.ages).sum() }

    func sumByEngine() throws -> Int? { try connection.prepare(SQL.sum).sum() }

    func count(_ condition: Condition) throws -> Int {
        let (sql, text) = SQL.count(condition)
        let statement = try connection.prepare(sql)
        return if let text { try statement.sum(text) } else { try statement.sum() }
    }

    func find(emails: [String]) throws -> Int {
        let statement = try connection.prepare(SQL.ageByEmail)
        var sum = 0
        try connection.transaction("BEGIN") {
            for email in emails { sum &+= try statement.sum(email) }
        }
        return sum
    }

    func sumOfSorted(first count: Int, isLimited: Bool) throws -> Int? {
        try connection.prepare(isLimited ? SQL.sorted + " LIMIT \(count)" : SQL.sorted).sum(first: count)
    }

    func readNewestVersion(_ id: Int) throws -> Int {
        var age = 0
        try connection.transaction("BEGIN") { age = try connection.prepare(SQL.age).sum(id) }
        return age
    }
}

/// Dogs and owners in SQLite.
final class SQLiteKennel: Kennel {
    private let connection: SQLiteConnection

    init(_ path: String) throws {
        connection = try SQLiteConnection(path, isDurable: false, schema: SQL.kennel)
    }

    func insert(owners: Int, dogs: Int) throws {
        let owner = try connection.prepare("INSERT INTO owner VALUES (?, 'somebody', ?)")
        let dog = try connection.prepare("INSERT INTO dog VALUES (?, ?, ?)")
        try connection.transaction {
            for id in 0..<owners { try owner.run(id, PersonData(id).age) }
            for id in 0..<dogs { try dog.run(id, id % 20, id % owners) }
        }
    }

    func sumOfOwnerAges() throws -> Int { try connection.prepare(SQL.ownerAges).sum() }

    func sumOfDogAges() throws -> Int {
        let owners = try connection.prepare(SQL.ownerIDs)
        let ages = try connection.prepare(SQL.dogAges)
        var sum = 0
        try owners.forEachNumber { sum &+= try ages.sum($0) }
        return sum
    }
}
