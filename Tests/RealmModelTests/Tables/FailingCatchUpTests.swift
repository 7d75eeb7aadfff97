import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmModel

@Suite("Indexes that could not be brought up to date", .timeLimit(.minutes(60)))
struct FailingCatchUpTests {
    private static let item = ClassSchema(
        name: "Item",
        properties: [
            PropertySchema(name: "id", kind: .int, isPrimaryKey: true),
            PropertySchema(name: "name", kind: .string, isIndexed: true),
        ]
    )

    /// Writes rows, and has the n-th step of a look-up among them fail; the error is swallowed.
    ///
    /// - Returns: Whether a step failed.
    private func lookUp(failing step: Int, _ database: TestDatabase, _ failures: StepFailures) throws -> Bool {
        let table = try database.table("Item")
        for id in 0..<40 {
            let key = try table.insert(intPrimaryKey: Int64(1_000 - id))
            try table.set("name", key, .string("name \(id)"))
        }
        failures.arm(after: step)
        defer { failures.arm(after: nil) }
        do {
            let keys = try table.indexedKeys(property: table.ordinal("name"), equalTo: .string("name 7"))
            #expect(keys.count == 1)
        } catch {}
        return failures.outcome.failed != nil
    }

    @Test("What a look-up could not bring up to date is not committed, alone or in a group", arguments: [false, true])
    func commit(joining: Bool) throws {
        let failures = StepFailures()
        let database = try TestDatabase([Self.item], failures: failures)
        try database.file.lockForWriting()
        defer { database.file.unlockForWriting() }
        var failed = 0
        for step in 0..<200 {
            if joining {
                // One before it, which stays.
                try database.model.begin(database.file.beginWrite(joining: true))
                _ = try database.table("Item").insert(intPrimaryKey: Int64(step))
                try database.model.join()
            }
            try database.model.begin(database.file.beginWrite(joining: joining))
            let hasFailed = try lookUp(failing: step, database, failures)
            if hasFailed {
                failed += 1
                #expect(throws: StorageError.self) {
                    if joining { try database.model.join() } else { _ = try database.model.prepareCommit() }
                }
                database.model.rollback()
            } else if joining {
                try database.model.join()
            } else {
                try database.file.publish([database.model.prepareCommit()])
                try database.model.endTransaction()
            }
            if joining, let sealed = try database.file.sealGroup() { try database.file.publish([sealed]) }
            try database.model.advance(to: database.file.beginRead())
            try ModelVerifier.verify(database.model)
            #expect(try database.table("Item").count == (joining ? step + 1 : 0) + (hasFailed ? 0 : 40))
            if !hasFailed { break }
        }
        #expect(failed > 0)
    }

    @Test("What was checked of unique values is forgotten with its transaction")
    func uniqueness() throws {
        let named = ClassSchema(name: "Item", properties: [PropertySchema(name: "name", kind: .string, isUnique: true)])
        let database = try TestDatabase([named])
        try database.file.lockForWriting()
        defer { database.file.unlockForWriting() }
        let transaction = try database.file.beginWrite()
        try database.model.begin(transaction)
        let table = try database.table("Item")
        for id in 0..<100 {
            let key = try table.insert()
            try table.set("name", key, .string("\(id)"))
            try table.requireUnique(key: key)
        }
        let writer = try #require(table.writer)
        #expect(writer.uniqueness != nil)
        try database.file.publish([database.model.prepareCommit()])
        try database.model.endTransaction(advancingTo: database.file.beginRead())
        #expect(writer.uniqueness == nil)
    }
}
