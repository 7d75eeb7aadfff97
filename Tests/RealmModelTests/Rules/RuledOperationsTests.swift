import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmModel

/// Unique values, compound indexes and delete rules against a plain model.
@Suite struct RuledOperationsTests {
    static let classes: [ClassSchema] = [
        ClassSchema(
            name: "Node",
            properties: [
                PropertySchema(name: "code", kind: .string, isOptional: true, isUnique: true),
                PropertySchema(name: "group", kind: .int),
                PropertySchema(name: "rank", kind: .int, isOptional: true, isIndexed: true),
                PropertySchema(name: "name", kind: .string),
                PropertySchema(name: "next", kind: .object, deleteRule: .cascade, targetClass: "Node"),
                PropertySchema(name: "friends", kind: .object, collection: .list, targetClass: "Node"),
                PropertySchema(
                    name: "parts",
                    kind: .object,
                    collection: .list,
                    deleteRule: .cascade,
                    targetClass: "Part"
                ),
                PropertySchema(name: "lock", kind: .object, deleteRule: .deny, targetClass: "Part"),
                PropertySchema(
                    name: "team",
                    kind: .object,
                    collection: .set,
                    deleteRule: .cascade,
                    targetClass: "Node"
                ),
            ],
            compoundIndexes: [
                CompoundIndexSchema(["group", "rank"], isUnique: true),
                CompoundIndexSchema(["name", "group", "code"]),
                CompoundIndexSchema(["name", "code"], isUnique: true),
            ]
        ),
        ClassSchema(
            name: "Part",
            properties: [
                PropertySchema(name: "number", kind: .int, isUnique: true),
                PropertySchema(name: "home", kind: .object, deleteRule: .cascade, targetClass: "Node"),
            ]
        ),
    ]

    /// One run of random transactions.
    private struct Runner {
        let database: TestDatabase
        var reference = RuledReference(RuledOperationsTests.classes)
        var random: SplitMix64

        mutating func value(_ property: PropertySchema) -> StoredValue {
            if property.isOptional && !property.isLink && random.chance(25) { return .null }
            switch property.kind {
            case .string:
                return .string(
                    random.chance(15)
                        ? String(repeating: "w", count: 100 + random.below(3) * 13) + "\(random.below(3))"
                        : ["", "a", "b\0", "ab", "abc", "é"][random.below(6)] + "\(random.below(6))"
                )
            case .int: return .int(Int64(random.below(12)))
            default:
                let rows = reference.tables[reference.table(named: property.targetClass!)].keys.sorted()
                if rows.isEmpty || random.chance(30) { return .null }
                return .link(rows[random.below(rows.count)])
            }
        }

        mutating func change(_ table: Int, _ key: Int64, _ ordinal: Int) throws {
            let property = reference.schemas[table].properties[ordinal]
            let view = try database.table(reference.schemas[table].name)
            if property.collection == .none {
                let value = value(property)
                try view.set(ordinal, key: key, to: value)
                reference.tables[table][key]![ordinal] = [value]
                return
            }
            var values = (0..<random.below(3)).map { _ in self.value(property) }.filter { !$0.isNull }
            if property.collection == .set {
                try view.setAssign(ordinal, key: key, values)
                values = Array(Set(values)).sorted { StoredValue.order($0, $1) < 0 }
            } else {
                try view.listAssign(ordinal, key: key, values)
            }
            reference.tables[table][key]![ordinal] = values
        }

        /// Goes back to what was, but for the keys: those that were given out are never given out again.
        mutating func rollBack(to before: RuledReference) {
            let next = reference.nextKeys
            reference = before
            reference.nextKeys = next
        }

        mutating func insert(_ table: Int) throws {
            let view = try database.table(reference.schemas[table].name)
            let key = try view.insert()
            let before = reference
            reference.insert(table, key: key)
            for ordinal in reference.schemas[table].properties.indices { try change(table, key, ordinal) }
            if reference.isDuplicate(key, in: table) {
                #expect(throws: ModelError.self) { try view.requireUnique(key: key) }
                try view.discard(key: key)
                rollBack(to: before)
            } else {
                try view.requireUnique(key: key)
            }
        }

        mutating func delete(_ table: Int) throws {
            let view = try database.table(reference.schemas[table].name)
            let rows = reference.tables[table].keys.sorted()
            if rows.isEmpty { return }
            if random.chance(3) {
                guard let going = reference.deletion(of: rows, in: table) else {
                    #expect(throws: ModelError.self) { try view.deleteAll() }
                    return
                }
                try view.deleteAll()
                return reference.delete(going)
            }
            let key = rows[random.below(rows.count)]
            guard let going = reference.deletion(of: [key], in: table) else {
                #expect(throws: ModelError.self) { try view.delete(key: key) }
                return
            }
            let before = database.model.transaction!.changes
            try view.delete(key: key)
            reference.delete(going)
            let after = database.model.transaction!.changes
            #expect(before != after)
        }

        mutating func runOne() throws {
            let table = random.below(2)
            switch random.below(100) {
            case 0..<45: try insert(table)
            case 45..<53: try delete(table)
            default:
                let rows = reference.tables[table].keys.sorted()
                if rows.isEmpty { return }
                let ordinal = random.below(reference.schemas[table].properties.count)
                try change(table, rows[random.below(rows.count)], ordinal)
            }
        }

        func compare(_ model: ModelView) throws {
            for (table, schema) in reference.schemas.enumerated() {
                let view = try #require(try model.table(named: schema.name))
                let rows = reference.tables[table]
                try #require(try view.allKeys() == rows.keys.sorted())
                for (key, row) in rows {
                    for (ordinal, property) in schema.properties.enumerated() {
                        let values =
                            property.collection == .none
                            ? [try view.value(ordinal, key: key)] : try view.list(ordinal, key: key).values()
                        try #require(values == row[ordinal], "\(schema.name).\(property.name) of \(key)")
                    }
                }
            }
        }

        /// Asks every compound index for prefixes of the values of rows, and for ranges behind them.
        mutating func compareIndexes(_ model: ModelView) throws {
            let view = try #require(try model.table(named: "Node"))
            let rows = reference.tables[0]
            for index in view.indexes where index.isCompound {
                let ordinals = index.ordinals
                for key in rows.keys.sorted().prefix(12) {
                    let count = random.below(ordinals.count + 1)
                    let wanted = ordinals.prefix(count).map { rows[key]![$0][0] }
                    var lower = IndexBound.unbounded
                    var upper = IndexBound.unbounded
                    if count < ordinals.count {
                        let bounds = [
                            value(reference.schemas[0].properties[ordinals[count]]), rows[key]![ordinals[count]][0],
                        ]
                        if random.chance(60) {
                            lower = random.chance(50) ? .including(bounds[0]) : .excluding(bounds[0])
                        }
                        if random.chance(60) {
                            upper = random.chance(50) ? .including(bounds[1]) : .excluding(bounds[1])
                        }
                    }
                    let expected = rows.filter { _, row in
                        guard ordinals.prefix(count).map({ row[$0][0] }) == wanted else { return false }
                        guard count < ordinals.count else { return true }
                        return Self.isWithin(row[ordinals[count]][0], lower, upper)
                    }
                    let found = try view.keys(in: index, equalTo: wanted, tail: .range(lower, upper))
                    let isTruncated = (wanted + Self.values(lower, upper))
                        .contains { index.isTruncated($0) }
                    if isTruncated {
                        #expect(Set(found).isSuperset(of: expected.keys))
                    } else {
                        #expect(found.sorted() == expected.keys.sorted(), "\(ordinals) \(wanted) \(lower) \(upper)")
                        #expect(
                            try view.count(in: index, equalTo: wanted, tail: .range(lower, upper)) == found.count
                        )
                    }
                }
            }
        }

        private static func values(_ bounds: IndexBound...) -> [StoredValue] {
            bounds.compactMap { bound in
                switch bound {
                case .unbounded: nil
                case .including(let value), .excluding(let value): value
                }
            }
        }

        private static func isWithin(_ value: StoredValue, _ lower: IndexBound, _ upper: IndexBound) -> Bool {
            switch lower {
            case .unbounded: break
            case .including(let bound): if StoredValue.order(value, bound) < 0 { return false }
            case .excluding(let bound): if StoredValue.order(value, bound) <= 0 { return false }
            }
            switch upper {
            case .unbounded: return true
            case .including(let bound): return StoredValue.order(value, bound) <= 0
            case .excluding(let bound): return StoredValue.order(value, bound) < 0
            }
        }
    }

    @Test(
        "Random transactions end as a plain model says",
        arguments: [1, 2, 3, 4, 5, 6, UInt64.random(in: 0 ... .max)]
    )
    func endsAsTheModelSays(seed: UInt64) throws {
        let database = try TestDatabase(Self.classes)
        var runner = Runner(database: database, random: SplitMix64(seed: seed))
        for _ in 0..<60 {
            let before = runner.reference
            let operations = runner.random.below(runner.random.chance(10) ? 120 : 25)
            let isKept = runner.random.chance(85)
            struct Taken: Error {}
            do {
                try database.write { model in
                    for _ in 0..<operations {
                        try runner.runOne()
                        // Queries bring the indexes up to date in the middle of a transaction.
                        if runner.random.chance(10) { try runner.compareIndexes(model) }
                    }
                    try model.checkUniqueness()
                    #expect(!runner.reference.hasDuplicates, "seed \(seed)")
                    if !isKept { throw Taken() }
                }
            } catch ModelError.duplicateValue {
                #expect(runner.reference.hasDuplicates, "seed \(seed)")
                runner.rollBack(to: before)
            } catch is Taken {
                runner.rollBack(to: before)
            }
            try runner.compare(database.model)
            try runner.compareIndexes(database.model)
            try FileVerifier.verify(database.file.beginRead())
        }
        let copy = database.directory.path("copy.realm")
        try StorageFile.build(at: copy, replaces: false, beginning: FileBeginning(version: 1)) {
            try FileCompactor.copy(database.file.beginRead(), to: $0)
        }
        let snapshot = try StorageFile.open(path: copy).beginRead()
        try FileVerifier.verify(snapshot)
        try runner.compare(ModelView(snapshot: snapshot))
        try runner.compareIndexes(ModelView(snapshot: snapshot))
    }
}
