import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmModel

@Suite("Going to the version that a view has just committed")
struct CommittedVersionTests {
    private static let classes = [
        .item(),
        ClassSchema(name: "Other", properties: [PropertySchema(name: "number", kind: .int)]),
    ]

    private func add(_ id: Int64, to model: ModelView) throws {
        guard let table = try model.table(named: "Item") else { return }
        let key = try table.insert(intPrimaryKey: id)
        try table.set("name", key, .string("name \(id)"))
    }

    private func find(_ id: Int64, in model: ModelView) throws -> Int64? {
        try model.table(named: "Item")?.findInt(id)
    }

    @Test("It is not read again: no page of it is")
    func readsNothing() throws {
        let failures = StepFailures()
        let database = try TestDatabase(Self.classes, failures: failures)
        _ = try database.table("Other")
        try database.write { try add(1, to: $0) }
        try database.file.lockForWriting()
        defer { database.file.unlockForWriting() }
        try database.model.begin(database.file.beginWrite())
        try add(2, to: database.model)
        try database.file.publish([try database.model.prepareCommit()])
        let snapshot = try database.file.beginRead()
        try database.model.endTransaction()
        database.file.doubtEveryPage()
        failures.arm(after: 0)
        try database.model.advance(to: snapshot)
        failures.arm(after: nil)
        #expect(try find(2, in: database.model) == 1)
        #expect(try database.table("Item").count == 2)
    }

    @Test("What others have committed meanwhile is read, on the same tables")
    func readsOthers() throws {
        let database = try TestDatabase(Self.classes)
        let other = try TestDatabase(sharing: database)
        try database.write { try add(1, to: $0) }
        try database.file.lockForWriting()
        defer { database.file.unlockForWriting() }
        try database.model.begin(database.file.beginWrite())
        try add(2, to: database.model)
        try database.file.publish([try database.model.prepareCommit()])
        try database.model.endTransaction()
        try other.model.advance(to: database.file.beginRead())
        try other.model.begin(database.file.beginWrite())
        try add(3, to: other.model)
        try database.file.publish([try other.model.prepareCommit()])
        try other.model.endTransaction(advancingTo: database.file.beginRead())
        #expect(try find(2, in: database.model) == nil, "it stands where it stood")
        try database.model.advance(to: database.file.beginRead())
        for id: Int64 in 1...3 { #expect(try find(id, in: database.model) == id - 1) }
    }

    @Test("A commit that was lost is not stood on, whatever is committed in its place")
    func lost() throws {
        let failures = StepFailures()
        let database = try TestDatabase(Self.classes, failures: failures)
        try database.write { try add(1, to: $0) }
        try database.file.lockForWriting()
        defer { database.file.unlockForWriting() }
        try database.model.begin(database.file.beginWrite())
        try add(2, to: database.model)
        let prepared = try database.model.prepareCommit()
        try database.model.endTransaction()
        failures.arm(after: 0)
        #expect(throws: StorageError.self) { try database.file.publish([prepared]) }
        failures.arm(after: nil)
        let other = try TestDatabase(sharing: database)
        try other.model.begin(database.file.beginWrite())
        try add(7, to: other.model)
        try database.file.publish([try other.model.prepareCommit()])
        try other.model.endTransaction(advancingTo: database.file.beginRead())
        try database.model.advance(to: database.file.beginRead())
        #expect(try find(2, in: database.model) == nil)
        #expect(try find(7, in: database.model) != nil)
    }
}
