import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

/// What it costs to insert a row whose string shares all that an index holds of it with many others.
///
/// Each string is too long for its column, so that it lies in pages of its own: whoever compares it with another row's has to read these. The
/// steps that an insert takes are counted, and not its time: each run of pages that is read is one.
@Suite("Strings that begin alike")
struct LongStringCostTests {
    /// Where the string stands.
    enum Place: String, CaseIterable, Sendable {
        case primaryKey, unique, indexed
    }

    private static func classes(_ place: Place) -> [ClassSchema] {
        [
            ClassSchema(
                name: "Row",
                properties: [
                    PropertySchema(
                        name: "text",
                        kind: .string,
                        isPrimaryKey: place == .primaryKey,
                        isIndexed: place == .indexed,
                        isUnique: place == .unique
                    )
                ]
            )
        ]
    }

    private static func text(_ number: Int) -> StoredValue {
        .string(String(repeating: "x", count: 256) + "\(number)" + String(repeating: "y", count: 1_800))
    }

    /// Inserts a row, and has it checked as an insert of the public interface is.
    private func insert(_ number: Int, _ place: Place, into database: TestDatabase) throws {
        let table = try database.table("Row")
        if place == .primaryKey {
            _ = try table.insert(primaryKey: Self.text(number))
            return
        }
        let key = try table.insert()
        try table.set("text", key, Self.text(number))
        try table.requireUnique(key: key)
    }

    /// The steps of one insert, with its commit, beside a number of rows: pages that are read, taken and written.
    private func stepCount(_ place: Place, beside count: Int) throws -> Int {
        let failures = StepFailures()
        let database = try TestDatabase(Self.classes(place), failures: failures)
        try database.write { _ in for number in 0..<count { try insert(number, place, into: database) } }
        database.file.doubtEveryPage()
        failures.arm(after: nil)
        try database.write { _ in try insert(count, place, into: database) }
        let taken = failures.outcome.taken
        let table = try database.table("Row")
        for number in [0, count] {
            #expect(try table.indexedKeys(property: 0, equalTo: Self.text(number)) == [Int64(number)])
        }
        if place != .indexed {
            #expect(throws: ModelError.self) {
                try database.write { _ in try insert(7, place, into: database) }
            }
        }
        return taken
    }

    @Test("An insert looks at no more rows where ten times as many begin like it", arguments: Place.allCases)
    func inserting(_ place: Place) throws {
        let few = try stepCount(place, beside: 60)
        let many = try stepCount(place, beside: 600)
        // The index has a level more, whose pages are read, and copied or divided. A look at the other rows is hundreds of steps.
        #expect(many < few + 60, "\(few) steps beside 60 rows, \(many) beside 600")
    }
}
