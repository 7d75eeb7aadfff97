import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmModel

/// What a record has to tell, with its bits.
@Suite("The rules of commit records")
struct RecordRulesTests {
    static let number = PropertySchema(name: "number", kind: .int)

    /// Values that equal others, or nothing, and have bits of their own.
    private static let values: [[(name: String, value: StoredValue)]] = [
        [
            ("double", .double(Double(bitPattern: 0x7FF8_0000_0000_0123))),
            ("float", .float(Float(bitPattern: 0x7FC0_0321))),
            // 1.0, and below 1.00.
            ("decimal", .decimal(DecimalBytes(high: 0x303E_0000_0000_0000, low: 10))),
            ("text", .string("\u{E9}")),
            ("anything", .double(-0.0)),
        ],
        [
            ("double", .double(-0.0)),
            ("float", .float(-0.0)),
            ("decimal", .decimal(DecimalBytes(high: 0x303C_0000_0000_0000, low: 100))),
            ("text", .string("e\u{301}")),
            ("anything", .float(Float(bitPattern: 0xFFC0_0001))),
        ],
    ]

    @Test("Rule 38: values arrive with their bits, lists by what was done to them, and what goes makes room first")
    func bits() throws {
        let recorded = try RecordedDatabase([
            ClassSchema(
                name: "Value",
                properties: [
                    PropertySchema(name: "id", kind: .int, isPrimaryKey: true),
                    PropertySchema(name: "double", kind: .double),
                    PropertySchema(name: "float", kind: .float),
                    PropertySchema(name: "decimal", kind: .decimal128),
                    PropertySchema(name: "text", kind: .string),
                    PropertySchema(name: "anything", kind: .any),
                    PropertySchema(name: "numbers", kind: .double, collection: .list),
                ]
            )
        ])
        var keys: [Int64] = []
        func write(_ body: (TableView) throws -> Void) throws {
            try recorded.write { model in try body(#require(try model.table(named: "Value"))) }
        }
        func requireBits(_ rows: [[(name: String, value: StoredValue)]], _ when: String) throws {
            try recorded.requireEqual(when)
            let replica = try recorded.replicated()
            let table = try #require(try replica.table(named: "Value"))
            for (key, row) in zip(keys, rows) {
                for (name, value) in row {
                    let found = try table.value(table.ordinal(name), key: key)
                    #expect(MixedFormat.encode(found) == MixedFormat.encode(value), "\(name) of row \(key), \(when)")
                }
            }
            withExtendedLifetime(replica) {}
        }
        try write { table in
            for (id, row) in Self.values.enumerated() {
                keys.append(try table.insert(primaryKey: .int(Int64(id))))
                for (name, value) in row { try table.set(name, keys[id], value) }
                try table.listAssign(table.ordinal("numbers"), key: keys[id], (0..<2_000).map { .double(Double($0)) })
            }
        }
        try requireBits(Self.values, "in new rows")
        let others = Array(Self.values.reversed())
        try write { table in
            for (id, row) in others.enumerated() { for (name, value) in row { try table.set(name, keys[id], value) } }
            let numbers = table.ordinal("numbers")
            try table.listInsert(numbers, key: keys[0], at: 1, .double(-0.0))
            try table.listRemove(numbers, key: keys[0], at: 3)
            try table.listInsert(numbers, key: keys[0], at: 1, .double(Double(bitPattern: 0x7FF8_0000_0000_0456)))
            try table.listRemove(numbers, key: keys[0], at: 0)
        }
        try requireBits(others, "in rows that are there")
        // Its key is free before the row comes that takes it.
        try write { table in
            try table.delete(key: keys[1])
            keys[1] = try table.insert(primaryKey: .int(1))
            for (name, value) in Self.values[1] { try table.set(name, keys[1], value) }
        }
        try requireBits([others[0], Self.values[1]], "behind a row with the same key")
    }

    @Test("Rule 39: a property that was assigned the value that it had is told of, and a replay tells of it again")
    func selfAssignment() throws {
        let text = PropertySchema(name: "text", kind: .string)
        let recorded = try RecordedDatabase([ClassSchema(name: "Note", properties: [Self.number, text])])
        var key: Int64 = -1
        try recorded.write { model in
            let notes = try #require(try model.table(named: "Note"))
            key = try notes.insert()
            try notes.set("number", key, .int(7))
            try notes.set("text", key, .string("same"))
        }
        let notes = try recorded.database.table("Note")
        for (name, value) in [("number", StoredValue.int(7)), ("text", .string("same"))] {
            let start = try recorded.replica.beginRead()
            try recorded.write { model in try #require(try model.table(named: "Note")).set(name, key, value) }
            let found = try recorded.replica.changes(after: start.version, through: recorded.replica.beginRead())
            let modified = try #require(found?.tables[notes.id]).modified
            #expect(modified.map(\.key) == [key])
            #expect(modified.map(\.columns.columns) == [[notes.ordinal(name)]])
            // What changed since a version is known for as long as somebody reads it.
            withExtendedLifetime(start) {}
        }
        try recorded.requireEqual("behind assignments that changed nothing")
    }

    @Test("What a transaction did before it was copied is in its record")
    func copiedTransaction() throws {
        let recorded = try RecordedDatabase([
            ClassSchema(name: "Note", properties: [Self.number]),
            ClassSchema(
                name: "Bag",
                properties: [PropertySchema(name: "numbers", kind: .int, collection: .list)]
            ),
        ])
        try recorded.write { model in
            let notes = try #require(try model.table(named: "Note"))
            try notes.set("number", try notes.insert(), .int(7))
            let bags = try #require(try model.table(named: "Bag"))
            let bag = try bags.insert()
            try bags.listAssign(0, key: bag, (0..<2_000).map { .int($0) })
            _ = try model.sealEarly()
            try bags.listAppend(0, key: bag, .int(-1))
        }
        try recorded.requireEqual("after a transaction that was copied")
    }

    @Test("What a transaction did before it changed the schema is in its record")
    func changedSchema() throws {
        let note = ClassSchema(name: "Note", properties: [Self.number])
        let bag = ClassSchema(
            name: "Bag",
            properties: [PropertySchema(name: "numbers", kind: .int, collection: .list)]
        )
        let recorded = try RecordedDatabase([note, bag])
        try recorded.write { model in
            let notes = try #require(try model.table(named: "Note"))
            for _ in 0..<3 { _ = try notes.insert() }
            let bags = try #require(try model.table(named: "Bag"))
            try bags.listAssign(0, key: try bags.insert(), (0..<2_000).map { .int($0) })
        }
        try recorded.write { model in
            let notes = try #require(try model.table(named: "Note"))
            try notes.set("number", 1, .int(7))
            try notes.delete(key: 0)
            let bags = try #require(try model.table(named: "Bag"))
            try bags.listAppend(0, key: 0, .int(-1))
            let more = ClassSchema(name: "Note", properties: [Self.number, PropertySchema(name: "more", kind: .int)])
            let stored = try SchemaReconciler.storedSchema(of: model.snapshot)
            let declared = DatabaseSchema(classes: [more, bag], version: 2)
            try model.changeSchema(try SchemaReconciler.plan(stored: stored, declared: declared))
            try notes.set("more", 2, .int(8))
            try notes.set("more", try notes.insert(), .int(9))
            try bags.listRemove(0, key: 0, at: 5)
        }
        try recorded.requireEqual("after another schema")
        #expect(try recorded.replicated().table(named: "Note")?.value(0, key: 1) == .int(7))
        try recorded.write { model in try #require(try model.table(named: "Bag")).listAppend(0, key: 0, .int(-2)) }
        try recorded.requireEqual("after the next commit")
    }

    @Test("A change of a large list that failed is in no record, and is not committed")
    func failedSplice() throws {
        let failures = StepFailures()
        let database = try TestDatabase(
            [ClassSchema(name: "Bag", properties: [PropertySchema(name: "texts", kind: .string, collection: .list)])],
            failures: failures
        )
        try database.write { model in
            let bags = try #require(try model.table(named: "Bag"))
            try bags.listAssign(0, key: try bags.insert(), (0..<2_000).map { .string("text \($0)") })
        }
        try database.file.lockForWriting()
        defer { database.file.unlockForWriting() }
        var failed = 0
        while true {
            let transaction = try database.file.beginWrite()
            transaction.recording = .record
            try database.model.begin(transaction)
            defer { database.model.rollback() }
            let bags = try database.table("Bag")
            _ = try bags.insert()
            failures.arm(after: failed)
            let text = String(repeating: "x", count: 20_000)
            var error: StorageError?
            do {
                try bags.listInsert(0, key: 0, at: 1_000, .string(text))
            } catch let failure as StorageError {
                error = failure
            }
            failures.arm(after: nil)
            guard error != nil else { break }
            failed += 1
            #expect(throws: StorageError.self) { try database.model.record(RecordHeading()) }
            #expect(throws: StorageError.self) { try database.model.prepareCommit() }
        }
        #expect(failed > 1)
    }

    @Test("What was assigned before a transaction was copied must be unique still")
    func uniqueBehindCopy() throws {
        let database = try TestDatabase([
            ClassSchema(name: "Account", properties: [PropertySchema(name: "number", kind: .int, isUnique: true)])
        ])
        try database.write { model in
            let accounts = try #require(try model.table(named: "Account"))
            for number in 1...2 {
                let key = try accounts.insert()
                try accounts.set("number", key, .int(Int64(number)))
                try accounts.requireUnique(key: key)
            }
        }
        try database.file.lockForWriting()
        defer { database.file.unlockForWriting() }
        try database.model.begin(database.file.beginWrite())
        defer { database.model.rollback() }
        try database.table("Account").set("number", 1, .int(1))
        _ = try database.model.sealEarly()
        #expect(throws: ModelError.self) { try database.model.checkUniqueness() }
    }

    @Test("A class that the file has under another name is told as the file has it")
    func storedNames() throws {
        func classes(_ name: String, _ more: [PropertySchema] = []) -> [ClassSchema] {
            [
                ClassSchema(name: name, properties: [Self.number], formerNames: name == "Inner" ? [] : ["Inner"]),
                ClassSchema(
                    name: "Holder",
                    properties: [PropertySchema(name: "held", kind: .object, targetClass: name)] + more
                ),
            ]
        }
        let recorded = try RecordedDatabase(classes("Inner"))
        try recorded.write { model in
            let inner = try #require(try model.table(named: "Inner"))
            let holders = try #require(try model.table(named: "Holder"))
            try holders.set("held", try holders.insert(), .link(try inner.insert()))
        }
        try recorded.reconcile(classes("Outer_Inner"), version: 1)
        try recorded.requireEqual("with a recorded name")
        try recorded.reconcile(classes("Outer_Inner", [Self.number]), version: 2)
        try recorded.requireEqual("with another property")
    }

    @Test("Records of several commits are applied as one transaction", arguments: RandomRecordsTests.seeds)
    func oneTransaction(seed: UInt64) throws {
        let recorded = try RecordedDatabase(WideOperations.classes)
        let other = try RecordedDatabase(WideOperations.classes)
        var operations = WideOperations(random: SplitMix64(seed: seed))
        for step in 0..<6 {
            let first = recorded.contents.count
            for _ in 0..<8 {
                try recorded.write { model in
                    for _ in 0..<1 + operations.random.below(40) { try operations.runOne(in: model) }
                }
            }
            try other.applyAtOnce(Array(recorded.contents[first...]))
            let replica = try other.replicated()
            try DatabaseComparison.requireEqual(recorded.replicated(), replica, "step \(step) of seed \(seed)")
            try ModelVerifier.verify(replica)
        }
    }
}
