import Figures
import Foundation
import People

/// A database as the workloads see it: open, and used by one thread or actor.
///
/// Whatever is measured per operation is one call for many operations, so that no contestant pays for this protocol. A
/// function returns nil where an engine has no such thing.
protocol Engine: AnyObject, SendableMetatype {
    /// The name in the table and the key in the JSON.
    static var name: String { get }
    /// What the names of an engine's files end with, behind the path that is passed.
    static var fileSuffixes: [String] { get }

    /// Opens a file, or creates it with the tables of persons.
    ///
    /// Where it is not durable, a commit does not wait for the device. Where it is brief, little is read once: an engine
    /// that can choose takes no large cache and mapping for that.
    init(path: String, isDurable: Bool, isBrief: Bool, isolation: isolated (any Actor)?) throws

    /// Creates a file with the persons up to a number, complete in its main file once it is closed.
    static func makeStandard(at path: String, count: Int, isolation: isolated (any Actor)?) throws

    /// Creates a file from the standard one, after many transactions that delete, insert and change random persons.
    static func makeChurned(
        at path: String,
        from standard: String,
        count: Int,
        isolation: isolated (any Actor)?
    ) throws

    /// Moves what is in other files to the main one.
    func checkpoint() throws

    /// Inserts persons in one transaction.
    func insert(_ ids: some RandomAccessCollection<Int>) throws
    /// Sets the age of persons in one transaction.
    func update(_ ids: [Int], age: Int) throws
    /// Deletes persons in one transaction; those that are gone are left out.
    func delete(_ ids: [Int]) throws
    /// Deletes all persons younger than an age in one transaction, by a query where there are queries.
    func deleteAll(youngerThan age: Int) throws

    /// Looks persons up by primary key in the newest version, and adds up what two of their properties say.
    func lookUp(_ ids: [Int]) throws -> Int
    /// The number of all persons.
    func countOfRows() throws -> Int
    /// Adds up the ages of all persons in the program.
    func sumOfRows() throws -> Int
    /// Adds up the ages of all persons in the engine.
    func sumByEngine() throws -> Int?
    /// The number of persons that meet a condition.
    func count(_ condition: Condition) throws -> Int
    /// Finds persons by their email, and adds up their ages.
    func find(emails: [String]) throws -> Int
    /// Sorts all persons by age and score, and adds up the numbers of the first ones; limited where there are limits.
    func sumOfSorted(first count: Int, isLimited: Bool) throws -> Int?
    /// Takes the newest version for reading, reads the age of a person from it, and gives it back.
    func readNewestVersion(_ id: Int) throws -> Int

    /// A file of dogs and their owners.
    static func makeKennel(at path: String, isolation: isolated (any Actor)?) throws -> (any Kennel)?
    /// A file of documents.
    static func makeLibrary(at path: String, isDurable: Bool, isolation: isolated (any Actor)?) throws -> any Library
    /// Measures what only this engine has; `note` takes the figures of other rows that come with it.
    @MainActor
    static func measureAlone(
        _ row: RowIdentifier,
        in workload: Workload,
        note: (Double, RowIdentifier) -> Void
    ) async throws -> Double?
}

/// What is counted in the rows W5.
enum Condition {
    case agedThirtiesAndScored
    case aged33
    case named(String)
    case namePrefix(String)
    case nameContains(String)
}

/// A file of dogs, each with an owner.
protocol Kennel: AnyObject {
    /// Adds owners, and dogs that belong to them in turns.
    func insert(owners: Int, dogs: Int) throws
    /// Adds up the ages of the owners of all dogs.
    func sumOfOwnerAges() throws -> Int
    /// Adds up the ages of the dogs of all owners.
    func sumOfDogAges() throws -> Int
}

/// A file of documents of a kilobyte each.
protocol Library: AnyObject {
    /// Adds documents in one transaction.
    func insert(_ ids: Range<Int>) throws
    /// Looks documents up, and adds up their numbers of views and the bytes of their texts.
    func read(_ ids: [Int]) throws -> Int
    /// Sets the number of views of documents in one transaction.
    func update(_ ids: [Int], views: Int) throws
}

extension Engine {
    static func makeStandard(at path: String, count: Int, isolation: isolated (any Actor)?) throws {
        let engine = try Self(path: path, isDurable: false, isBrief: false, isolation: isolation)
        try engine.insert(0..<count)
        try engine.checkpoint()
    }

    // Half of the persons are others then, under keys that lie anywhere; a fifth has another age.
    static func makeChurned(
        at path: String,
        from standard: String,
        count: Int,
        isolation: isolated (any Actor)?
    ) throws {
        try FileManager.default.copyItem(atPath: standard, toPath: path)
        let engine = try Self(path: path, isDurable: false, isBrief: false, isolation: isolation)
        let rounds = 50
        let each = max(1, count / 100)
        for round in 0..<rounds {
            let numbers = round * each..<(round + 1) * each
            // Each even number once, in no order.
            try engine.delete(numbers.map { $0 * 7_919 % max(1, count / 2) * 2 })
            try engine.insert(numbers.map { PersonData.scatteredKey($0) })
            try engine.update(numbers.map { PersonData.randomKey($0, below: count) | 1 }, age: round)
        }
        try engine.checkpoint()
    }

    func checkpoint() throws {}

    static func makeKennel(at path: String, isolation: isolated (any Actor)?) throws -> (any Kennel)? { nil }

    @MainActor
    static func measureAlone(
        _ row: RowIdentifier,
        in workload: Workload,
        note: (Double, RowIdentifier) -> Void
    ) async throws -> Double? { nil }

    static func removeFiles(at path: String) {
        for suffix in fileSuffixes { unlink(path + suffix) }
    }

    static func byteCount(at path: String) -> Int {
        fileSuffixes.reduce(0) { sum, suffix in
            var status = stat()
            return stat(path + suffix, &status) == 0 ? sum + Int(status.st_blocks) * 512 : sum
        }
    }

    /// Drops the files from the page cache.
    static func evict(at path: String) {
        for suffix in fileSuffixes {
            let descriptor = Glibc.open(path + suffix, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            fsync(descriptor)
            posix_fadvise(descriptor, 0, 0, Int32(POSIX_FADV_DONTNEED))
            close(descriptor)
        }
    }
}
