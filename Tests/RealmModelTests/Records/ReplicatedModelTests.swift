import RealmModel
import RealmTestSupport
import Testing

/// `REALM_RECORD_SEED` and `REALM_RECORD_ROUNDS` choose the seeds, as for `RandomRecordsTests`.
@Suite("A replica that is made of records, beside a plain model")
struct ReplicatedModelTests {
    @Test(
        "After each record the replica, the original and plain dictionaries hold the same, migrations included",
        arguments: RandomRecordsTests.seeds
    )
    func holdsTheSame(seed: UInt64) throws {
        var run = try ReplicatedRun(seed: seed)
        for step in 0..<24 {
            do {
                try run.take(step)
            } catch {
                Issue.record("step \(step) of seed \(seed): \(error)")
                return
            }
        }
        #expect(run.schemas.operationCount > 24)
        run.recorded.tell("records of random schemas", seed: seed, operations: run.schemas.operationCount)
    }

    @Test("Seeds lead to all that a migration can say, and to rows in every class")
    func reachesMigrations() throws {
        var migrations: [RandomMigration] = []
        var kinds: Set<PropertyKind> = []
        var rules: Set<UInt8> = []
        var uniqueCount = 0
        for seed: UInt64 in 1...20 {
            var schemas = try RandomSchemas(random: SplitMix64(seed: seed))
            for _ in 0..<20 {
                migrations.append(schemas.change())
                // A migration without rows is never refused.
                try schemas.plain.migrate(#require(migrations.last))
                // Nor is what it declares.
                let declared = DatabaseSchema(classes: schemas.declared, version: 1)
                _ = try SchemaReconciler.plan(stored: nil, declared: declared)
                for schema in schemas.declared {
                    kinds.formUnion(schema.properties.map(\.kind))
                    rules.formUnion(schema.properties.map(\.deleteRule.rawValue))
                    uniqueCount += PlainModel.uniqueNames(schema).count
                }
            }
        }
        #expect(kinds == Set(PropertyKind.allCases))
        #expect(rules.count == 3)
        #expect(uniqueCount > 0)
        #expect(migrations.contains { !$0.renames.isEmpty })
        #expect(migrations.contains { $0.renamedClass != nil })
        #expect(migrations.contains { $0.removedClass != nil })
    }

    @Test("A record that is left out is noticed, at its row and at its value")
    func missingRecord() throws {
        let item = ClassSchema(name: "Item", properties: [PropertySchema(name: "size", kind: .int)])
        let recorded = try RecordedDatabase([item])
        var plain = PlainModel()
        var migration = RandomMigration()
        migration.declared = [item]
        try plain.migrate(migration)

        func insert(_ model: ModelView) throws { _ = try #require(try model.table(named: "Item")).insert() }
        try recorded.write(insert)
        plain.insert(PlainPlace(className: "Item", key: 0), primaryKey: nil)
        #expect(try plain.difference(from: recorded.database.model) == nil)
        #expect(try plain.difference(from: recorded.replicated()) == nil)

        // Without a record.
        try recorded.database.write { model in
            try #require(try model.table(named: "Item")).set("size", 0, .int(7))
        }
        plain.put(.int(7), item.properties[0], of: PlainPlace(className: "Item", key: 0))
        #expect(try plain.difference(from: recorded.database.model) == nil)
        let value = try plain.difference(from: recorded.replicated())
        #expect(value?.description.hasPrefix("Item.size of row 0: ") == true)

        try recorded.database.write(insert)
        plain.insert(PlainPlace(className: "Item", key: 1), primaryKey: nil)
        #expect(try plain.difference(from: recorded.database.model) == nil)
        let row = try plain.difference(from: recorded.replicated())
        #expect(row?.description.hasPrefix("rows of Item: ") == true)
    }
}
