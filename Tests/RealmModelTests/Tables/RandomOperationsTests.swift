import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct RandomOperationsTests {
    static let classes: [ClassSchema] = [
        ClassSchema(
            name: "Person",
            properties: [
                PropertySchema(name: "id", kind: .int, isPrimaryKey: true),
                PropertySchema(name: "name", kind: .string, isOptional: true, isIndexed: true),
                PropertySchema(name: "age", kind: .int, isIndexed: true),
                PropertySchema(name: "score", kind: .double),
                PropertySchema(name: "isActive", kind: .bool, isOptional: true, isIndexed: true),
                PropertySchema(name: "born", kind: .date, isOptional: true, isIndexed: true),
                PropertySchema(name: "photo", kind: .data, isOptional: true),
                PropertySchema(name: "token", kind: .objectId, isIndexed: true),
                PropertySchema(name: "session", kind: .uuid, isOptional: true, isIndexed: true),
                PropertySchema(name: "weight", kind: .float),
                PropertySchema(name: "friend", kind: .object, targetClass: "Person"),
                PropertySchema(name: "friends", kind: .object, collection: .list, targetClass: "Person"),
                PropertySchema(name: "dogs", kind: .object, collection: .list, targetClass: "Dog"),
                PropertySchema(name: "tags", kind: .string, collection: .list, isOptional: true),
                PropertySchema(name: "numbers", kind: .int, collection: .list),
                PropertySchema(name: "home", kind: .object, targetClass: "Address"),
                PropertySchema(name: "offices", kind: .object, collection: .list, targetClass: "Address"),
            ]
        ),
        ClassSchema(
            name: "Dog",
            properties: [
                PropertySchema(name: "name", kind: .string, isOptional: true, isPrimaryKey: true),
                PropertySchema(name: "owner", kind: .object, targetClass: "Person"),
                PropertySchema(name: "flags", kind: .bool, collection: .list, isOptional: true),
                PropertySchema(name: "codes", kind: .uuid, collection: .list),
                PropertySchema(
                    name: "keepers",
                    kind: .linkingObjects,
                    targetClass: "Person",
                    originProperty: "dogs"
                ),
            ]
        ),
        ClassSchema(
            name: "Address",
            properties: [
                PropertySchema(name: "street", kind: .string, isIndexed: true),
                PropertySchema(name: "dog", kind: .object, targetClass: "Dog"),
                PropertySchema(name: "annex", kind: .object, targetClass: "Address"),
            ],
            isEmbedded: true
        ),
    ]

    @Test("The database and plain dictionaries agree after random operations", arguments: [1, 2, 3, 4] as [UInt64])
    func agreesWithDictionaries(seed: UInt64) throws {
        let database = try TestDatabase(Self.classes)
        var random = SplitMix64(seed: seed)
        var reference = ReferenceDatabase(Self.classes)
        var kept: [(snapshot: Snapshot, reference: ReferenceDatabase)] = []
        for step in 0..<24 {
            var next = reference
            var runner = OperationRunner(database: database, reference: next, random: random)
            let operationCount = 1 + runner.random.below(60)
            if runner.random.chance(15) {
                try database.rollBack { _ in
                    for _ in 0..<operationCount { try runner.runOne() }
                    try runner.compare(with: database.model, "inside step \(step) of seed \(seed)")
                }
                random = runner.random
                // Keys that were given out are never given out again.
                reference.nextKeys = runner.reference.nextKeys
                try compare(reference, database.model, "after rolling back step \(step) of seed \(seed)")
                continue
            }
            let changes = try database.write { _ in
                for _ in 0..<operationCount {
                    try runner.runOne()
                    if runner.random.chance(3) {
                        try runner.compare(with: database.model, "inside step \(step) of seed \(seed)")
                    }
                }
            }
            next = runner.reference
            random = runner.random
            try check(changes, from: reference, to: next, database.model, "step \(step) of seed \(seed)")
            reference = next
            try compare(reference, database.model, "after step \(step) of seed \(seed)")
            try ModelVerifier.verify(database.model)
            if random.chance(20) { kept.append((database.model.snapshot, reference)) }
            if random.chance(10), !kept.isEmpty { kept.remove(at: random.below(kept.count)) }
        }
        for (snapshot, reference) in kept {
            let old = try ModelView(snapshot: snapshot, schema: database.model.schema)
            try compare(reference, old, "in version \(snapshot.version) of seed \(seed)")
            try ModelVerifier.verify(old)
        }
        var pages: Set<PageNumber> = []
        try ModelVerifier.forEachReachablePage(in: database.model.snapshot) { run in
            for page in run.page..<run.page + run.pageCount {
                #expect(pages.insert(page).inserted, "page \(page) is reached twice in seed \(seed)")
            }
        }
        #expect(!pages.isEmpty)
    }

    func compare(_ reference: ReferenceDatabase, _ model: ModelView, _ when: String) throws {
        try OperationRunner.compare(reference, model, when)
    }

    /// Checks that a change set says what differs, and nothing of rows that are new or gone.
    func check(
        _ changes: ChangeSet,
        from old: ReferenceDatabase,
        to new: ReferenceDatabase,
        _ model: ModelView,
        _ when: String
    ) throws {
        for (index, schema) in new.schemas.enumerated() {
            let table = try #require(try model.table(named: schema.name))
            let change = changes.tables[table.id] ?? TableChanges()
            let oldKeys = Set(old.tables[index].keys)
            let newKeys = Set(new.tables[index].keys)
            #expect(Array(change.inserted) == newKeys.subtracting(oldKeys).sorted(), "\(when)")
            #expect(Array(change.deleted) == oldKeys.subtracting(newKeys).sorted(), "\(when)")
            let modified = Dictionary(uniqueKeysWithValues: change.modified.map { ($0.key, $0.columns) })
            #expect(modified.keys.allSatisfy { oldKeys.contains($0) && newKeys.contains($0) }, "\(when)")
            for key in oldKeys.intersection(newKeys) {
                for ordinal in schema.properties.indices
                where old.tables[index][key]![ordinal] != new.tables[index][key]![ordinal] {
                    #expect(
                        modified[key]?.contains(ordinal) == true,
                        "\(when): \(schema.name) \(key) \(schema.properties[ordinal].name)"
                    )
                }
            }
        }
    }
}
