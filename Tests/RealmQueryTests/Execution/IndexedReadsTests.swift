import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmQuery

@Suite("What an index leads to is read, and not the whole class")
struct IndexedReadsTests {
    @Test("A query that an index answers in part reads few pages")
    func reads() throws {
        let directory = TemporaryDirectory()
        let failures = StepFailures()
        var options = StorageOptions()
        options.durability = .none
        options.failures = failures
        let file = try StorageFile.open(path: directory.path("test.realm"), options: options)
        let row = ClassSchema(
            name: "Row",
            properties: [
                PropertySchema(name: "group", kind: .int, isIndexed: true), PropertySchema(name: "text", kind: .string),
            ]
        )
        try file.lockForWriting()
        let transaction = try file.beginWrite()
        let plan = try SchemaReconciler.plan(stored: nil, declared: DatabaseSchema(classes: [row]))
        try SchemaReconciler.apply(plan, in: transaction)
        try file.publish([transaction.prepareCommit()])
        let model = try ModelView(snapshot: file.beginRead())
        try model.begin(file.beginWrite())
        let table = try #require(try model.table(named: "Row"))
        for number in Int64(0)..<20_000 {
            let key = try table.insert()
            // Two rows of each, far apart: the bounds of no leaf rule it out.
            try table.set(0, key: key, to: StoredValue.int(number * 7_919 % 10_000))
            try table.set(1, key: key, to: StoredValue.string("text \(number)"))
        }
        try file.publish([try model.prepareCommit()])
        file.unlockForWriting()
        try model.endTransaction(advancingTo: file.beginRead())

        func pagesRead(by text: String, _ expected: Int) throws -> Int {
            let query = try CompiledQuery(try Predicate.parse(text), table: table, division: .always(helpers: 0))
            file.doubtEveryPage()
            failures.arm(after: nil)
            #expect(try query.keys().count == expected)
            return failures.outcome.taken
        }
        let scanned = try pagesRead(by: "text != 'x'", 20_000)
        let led = try pagesRead(by: "group == 7 AND text != 'x'", 2)
        #expect(led > 0 && led * 4 < scanned, "\(led) and \(scanned) pages")
    }
}
