import CRocksDB
import People

/// RocksDB through its C API: a person is 64 bytes under an 8-byte key, with a second family for the index on the email.
final class RocksDBStore {
    /// RocksDB refused.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private static let (persons, emails): (Int32, Int32) = (0, 1)

    /// Why there is no RocksDB here; nil when there is.
    static var missing: String? { rocks_missing().map { String(cString: $0) } }

    private var handle: OpaquePointer?
    private let isDurable: Bool

    init(_ path: String, isDurable: Bool) throws {
        self.isDurable = isDurable
        try Self.check(rocks_open(path, &handle))
    }

    deinit {
        if let handle { rocks_close(handle) }
    }

    private static func check(_ message: UnsafeMutablePointer<CChar>?) throws {
        guard let message else { return }
        defer { rocks_free(message) }
        throw Failure(description: "RocksDB: \(String(cString: message))")
    }

    /// Inserts persons in one batch; neither their numbers nor their emails may be there.
    func insert(_ ids: Range<Int>) throws {
        let batch = rocks_begin(handle)
        for id in ids {
            let person = PersonData(id)
            var row = Self.row(person)
            var key = id.bigEndian
            var email = person.email
            try email.withUTF8 { email in
                var other: UInt8 = 0
                guard rocks_get(handle, Self.persons, &key, 8, &other, 1) == -1,
                    rocks_get(handle, Self.emails, email.baseAddress, email.count, &other, 1) == -1
                else { throw Failure(description: "RocksDB: person \(id) is there, or cannot be read.") }
                rocks_put(batch, Self.persons, &key, 8, &row, row.count)
                rocks_put(batch, Self.emails, email.baseAddress, email.count, &key, 8)
            }
        }
        try Self.check(rocks_commit(batch, isDurable))
    }

    /// Sets the age of persons in one batch.
    func update(_ ids: [Int], age: Int) throws {
        let batch = rocks_begin(handle)
        var row = [UInt8](repeating: 0, count: 64)
        for id in ids {
            var key = id.bigEndian
            guard rocks_get(handle, Self.persons, &key, 8, &row, row.count) == row.count else { continue }
            withUnsafeBytes(of: age) { age in for index in 0..<8 { row[index] = age[index] } }
            rocks_put(batch, Self.persons, &key, 8, &row, row.count)
        }
        try Self.check(rocks_commit(batch, isDurable))
    }

    /// Writes the log to sorted files; all files become one run of each family where that is asked for.
    func flush(isCompacted: Bool = false) throws { try Self.check(rocks_flush(handle, isCompacted)) }

    /// What is there of persons with these numbers.
    func holdings(_ ids: some Sequence<Int>) -> Holdings {
        let ages = ids.compactMap(age)
        let agesByEmail = Holdings.emails(of: ids).compactMap { id(email: $0).flatMap(age) }
        return Holdings(count: ages.count, ages: ages.reduce(0, +), agesByEmail: agesByEmail.reduce(0, +))
    }

    private func age(_ id: Int) -> Int? {
        var key = id.bigEndian
        var age = 0
        return rocks_get(handle, Self.persons, &key, 8, &age, 8) > 0 ? age : nil
    }

    private func id(email: String) -> Int? {
        var email = email
        var key = 0
        let count = email.withUTF8 { rocks_get(handle, Self.emails, $0.baseAddress, $0.count, &key, 8) }
        return count == 8 ? Int(bigEndian: key) : nil
    }

    private static func row(_ person: PersonData) -> [UInt8] {
        var row: [UInt8] = []
        row.reserveCapacity(64)
        withUnsafeBytes(of: (person.age, person.score, person.createdAt)) { row.append(contentsOf: $0) }
        row.append(contentsOf: person.name.utf8)
        row.append(contentsOf: person.email.utf8)
        return row
    }
}
