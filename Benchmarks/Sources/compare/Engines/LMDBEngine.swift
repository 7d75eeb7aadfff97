import CLMDB
import Figures
import Glibc
import People

/// LMDB through its C API: a person is 64 bytes under an 8-byte key, with a second tree for the index on the email.
final class LMDBEngine: Engine {
    static let name = "lmdb"
    static let fileSuffixes = ["", "-lock"]

    private let environment: LMDBEnvironment

    init(path: String, isDurable: Bool, isBrief: Bool, isolation: isolated (any Actor)?) throws {
        environment = try LMDBEnvironment.open(path, isDurable: isDurable)
    }

    static func makeKennel(at path: String, isolation: isolated (any Actor)?) throws -> (any Kennel)? {
        try LMDBKennel(path)
    }

    static func makeLibrary(at path: String, isDurable: Bool, isolation: isolated (any Actor)?) throws -> any Library {
        try LMDBLibrary(path, isDurable: isDurable)
    }

    func insert(_ ids: some RandomAccessCollection<Int>) throws {
        try environment.write { try $0.insert(ids) }
    }

    func update(_ ids: [Int], age: Int) throws {
        try environment.write { transaction in
            for id in ids { try transaction.update(id, age: age) }
        }
    }

    func delete(_ ids: [Int]) throws {
        try environment.write { transaction in
            for id in ids { try transaction.delete(id) }
        }
    }

    func deleteAll(youngerThan age: Int) throws {
        try environment.write { transaction in
            var ids: [Int] = []
            try transaction.forEachRow { id, row in
                if row.age < age { ids.append(id) }
            }
            for id in ids { try transaction.delete(id) }
        }
    }

    func lookUp(_ ids: [Int]) throws -> Int {
        var sum = 0
        try environment.read { transaction in
            for id in ids {
                guard let row = try transaction.row(id) else { continue }
                sum &+= row.age &+ String(decoding: row.name, as: UTF8.self).utf8.count
            }
        }
        return sum
    }

    func countOfRows() throws -> Int {
        var (persons, emails) = (0, 0)
        try environment.read { transaction in
            try transaction.forEachRow { _, _ in persons += 1 }
            emails = try transaction.emailCount()
        }
        // The index is kept by hand: an entry that is left behind is found by nobody.
        guard emails == persons else {
            throw LMDBEnvironment.Failure(description: "LMDB: \(persons) persons have \(emails) emails.")
        }
        return persons
    }

    func sumOfRows() throws -> Int {
        var sum = 0
        try environment.read { try $0.forEachRow { sum &+= $1.age } }
        return sum
    }

    func sumByEngine() -> Int? { nil }

    func count(_ condition: Condition) throws -> Int {
        switch condition {
        case .agedThirtiesAndScored: try count { $0.age >= 30 && $0.age < 40 && $0.score > 0.5 }
        case .aged33: try count { $0.age == 33 }
        case .named(let name):
            try count(of: name) { $0.count == $1.count && memcmp($0.baseAddress!, $1.baseAddress!, $1.count) == 0 }
        case .namePrefix(let prefix): try count(of: prefix) { memcmp($0.baseAddress!, $1.baseAddress!, $1.count) == 0 }
        case .nameContains(let part):
            try count(of: part) { memmem($0.baseAddress, $0.count, $1.baseAddress, $1.count) != nil }
        }
    }

    private func count(of text: String, _ test: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool) throws -> Int
    {
        try Array(text.utf8).withUnsafeBytes { text in try count { test($0.name, text) } }
    }

    private func count(_ test: (LMDBEnvironment.Row) -> Bool) throws -> Int {
        var count = 0
        try environment.read { try $0.forEachRow { if test($1) { count += 1 } } }
        return count
    }

    func find(emails: [String]) throws -> Int {
        var sum = 0
        try environment.read { transaction in
            for email in emails {
                if let id = try transaction.id(email: email), let row = try transaction.row(id) { sum &+= row.age }
            }
        }
        return sum
    }

    /// By hand: all rows are collected and sorted, or the first ones of what was read are kept.
    func sumOfSorted(first count: Int, isLimited: Bool) throws -> Int? {
        var rows: [(age: Int, score: Double, id: Int)] = []
        func sort() { rows.sort { ($0.age, $0.score) < ($1.age, $1.score) } }
        // The last of the first ones, once there are so many: nothing behind it counts.
        var last: (age: Int, score: Double)?
        try environment.read { transaction in
            try transaction.forEachRow { id, row in
                if let last, (row.age, row.score) >= last { return }
                rows.append((row.age, row.score, id))
                guard isLimited, rows.count == 8 * count else { return }
                sort()
                rows.removeSubrange(count...)
                last = (rows[count - 1].age, rows[count - 1].score)
            }
        }
        sort()
        return rows.prefix(count).reduce(0) { $0 &+ $1.id }
    }

    func readNewestVersion(_ id: Int) throws -> Int {
        var age = 0
        try environment.read { age = try $0.row(id)?.age ?? 0 }
        return age
    }

    @MainActor
    static func measureAlone(
        _ row: RowIdentifier,
        in workload: Workload,
        note: (Double, RowIdentifier) -> Void
    ) async throws -> Double? {
        guard row == .writableMap else { return nil }
        let path = workload.path("mapped", of: LMDBEngine.self)
        removeFiles(at: path)
        defer { removeFiles(at: path) }
        let environment = try LMDBEnvironment.open(path, isDurable: false, isMapWritable: true)
        try environment.write { try $0.insert(0..<workload.commitBase) }
        return try CommitLoop(first: workload.commitBase)
            .run(for: workload.commitDuration) { id in try environment.write { try $0.insert(PersonData(id)) } }
    }
}
