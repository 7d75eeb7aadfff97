import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@Suite("Transactions that are sealed together")
struct GroupedTransactionsTests {
    static let classes = RandomOperationsTests.classes

    @Test(
        "Members of several views build on each other, and the ones that are rolled back leave nothing behind",
        arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64]
    )
    func membersAgreeWithDictionaries(seed: UInt64) throws {
        let first = try TestDatabase(Self.classes)
        let views = [first, try TestDatabase(sharing: first), try TestDatabase(sharing: first)]
        var random = SplitMix64(seed: seed)
        var reference = ReferenceDatabase(Self.classes)
        var kept: [(snapshot: Snapshot, reference: ReferenceDatabase)] = []
        for step in 0..<20 {
            let when = "step \(step) of seed \(seed)"
            let before = reference
            try first.file.lockForWriting()
            defer { first.file.unlockForWriting() }
            for member in 0..<1 + random.below(5) {
                let database = views[random.below(views.count)]
                try database.model.begin(first.file.beginWrite(joining: true))
                try OperationRunner.compare(reference, database.model, "at the beginning of \(member) in \(when)")
                var runner = OperationRunner(database: database, reference: reference, random: random)
                // Many members only add: they are undone in another way than the others.
                let operationCount = runner.random.below(runner.random.chance(50) ? 4 : 25)
                for _ in 0..<operationCount { try runner.runOne() }
                try OperationRunner.compare(runner.reference, database.model, "inside \(member) in \(when)")
                if runner.random.chance(30) {
                    database.model.rollback()
                    // Keys that were given out are never given out again.
                    reference.nextKeys = runner.reference.nextKeys
                } else {
                    try database.model.join()
                    reference = runner.reference
                }
                random = runner.random
                try OperationRunner.compare(before, database.model, "outside \(member) in \(when)")
            }
            if let prepared = try first.file.sealGroup() {
                try first.file.publish([prepared])
                try RandomOperationsTests().check(prepared.changes, from: before, to: reference, first.model, when)
            }
            for view in views where random.chance(60) { try view.model.advance(to: first.file.beginRead()) }
            try first.model.advance(to: first.file.beginRead())
            try OperationRunner.compare(reference, first.model, "after \(when)")
            try ModelVerifier.verify(first.model)
            try FileVerifier.verify(first.model.snapshot)
            for view in views { try view.model.advance(to: first.file.beginRead()) }
            if random.chance(20) { kept.append((first.model.snapshot, reference)) }
        }
        for (snapshot, reference) in kept {
            let old = try ModelView(snapshot: snapshot, schema: first.model.schema)
            try OperationRunner.compare(reference, old, "in version \(snapshot.version) of seed \(seed)")
        }
    }

    @Test("A group whose first transaction is rolled back begins anew")
    func firstMemberIsRolledBack() throws {
        let database = try TestDatabase([
            ClassSchema(name: "Item", properties: [PropertySchema(name: "id", kind: .int, isPrimaryKey: true)])
        ])
        try database.file.lockForWriting()
        defer { database.file.unlockForWriting() }
        for id in 0..<5 {
            try database.model.begin(database.file.beginWrite(joining: true))
            _ = try database.table("Item").insert(intPrimaryKey: Int64(id))
            if id == 0 || id == 3 { database.model.rollback() } else { try database.model.join() }
        }
        let prepared = try #require(try database.file.sealGroup())
        #expect(try database.file.sealGroup() == nil)
        try database.file.publish([prepared])
        try database.model.advance(to: database.file.beginRead())
        let table = try database.table("Item")
        #expect(try (0..<5).map { try table.findInt(Int64($0)) != nil } == [false, true, true, false, true])
        #expect(try table.allRowKeys() == [1, 2, 4], "keys that were given out are never given out again")
    }

    @Test("The schema does not change in a transaction that builds on unsealed ones: it is refused, and they stay")
    func changedSchema() throws {
        let id = PropertySchema(name: "id", kind: .int, isPrimaryKey: true)
        let name = PropertySchema(name: "name", kind: .string)
        let database = try TestDatabase([ClassSchema(name: "Item", properties: [id])])
        let file = database.file
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try database.model.begin(file.beginWrite(joining: true))
        for id in Int64(0)..<500 { _ = try database.table("Item").insert(intPrimaryKey: id) }
        try database.model.join()
        let declared = DatabaseSchema(classes: [ClassSchema(name: "Item", properties: [id, name])], version: 2)
        let plan = try SchemaReconciler.plan(stored: database.model.schema, declared: declared)
        try database.model.begin(file.beginWrite(joining: true))
        _ = try database.table("Item").insert(intPrimaryKey: 1_000)
        let error = #expect(throws: StorageError.self) { try database.model.changeSchema(plan) }
        #expect(error?.code == .invalidArgument)
        database.model.rollback()
        try file.publish([#require(try file.sealGroup())])
        try database.model.advance(to: file.beginRead())
        #expect(try database.table("Item").count == 500)
        try ModelVerifier.verify(database.model)
        try FileVerifier.verify(database.model.snapshot)
    }
}

extension TableView {
    fileprivate func allRowKeys() throws -> [Int64] {
        try (0..<count).compactMap { try key(at: $0) }
    }
}
