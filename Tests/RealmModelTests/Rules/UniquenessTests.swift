import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmModel

@Suite struct UniquenessTests {
    static let user = ClassSchema(
        name: "User",
        properties: [
            PropertySchema(name: "email", kind: .string, isUnique: true),
            PropertySchema(name: "first", kind: .string),
            PropertySchema(name: "number", kind: .int, isOptional: true),
        ],
        compoundIndexes: [CompoundIndexSchema(["first", "number"], isUnique: true)]
    )
    static var plain: ClassSchema {
        ClassSchema(
            name: "User",
            properties: user.properties.map {
                PropertySchema(name: $0.name, kind: $0.kind, isOptional: $0.isOptional)
            }
        )
    }

    private func compound(_ table: TableView) throws -> TableIndex {
        try #require(table.indexes.first(where: { $0.isCompound }))
    }

    @discardableResult
    private func add(_ table: TableView, _ email: String, _ first: String, _ number: Int64?) throws -> Int64 {
        let key = try table.insert()
        try table.set("email", key, .string(email))
        try table.set("first", key, .string(first))
        try table.set("number", key, number.map { .int($0) } ?? .null)
        try table.requireUnique(key: key)
        return key
    }

    /// The bytes of memory that this process has.
    private static var residentByteCount: Int {
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
        return (pages.flatMap { $0.count > 1 ? Int($0[1]) : nil } ?? 0) * 4096
    }

    private static func fillFilter() {
        var filter = ValueFilter()
        for number in UInt64(0)..<150_000 { withUnsafeBytes(of: number) { _ = filter.insert($0) } }
    }

    @Test func `what a transaction knows of many new values takes no memory behind it`() async {
        await #expect(processExitsWith: .success) {
            UniquenessTests.fillFilter()
            let before = UniquenessTests.residentByteCount
            // Each has 4 MB in the end, and as much before it has grown to that.
            for _ in 0..<10 { UniquenessTests.fillFilter() }
            if before == 0 || UniquenessTests.residentByteCount > before + 20 << 20 { exit(1) }
        }
    }

    @Test func `many new rows are checked against each other and against the old ones`() throws {
        let database = try TestDatabase([Self.user])
        try database.write { _ in
            let table = try database.table("User")
            table.pendingRowLimit = 1 << 8
            for number in Int64(0)..<3_000 { try add(table, "\(number)@example.com", "", number) }
            #expect(
                throws: ModelError.duplicateValue(
                    className: "User",
                    properties: ["email"],
                    value: "'1234@example.com'",
                    existing: 1234
                )
            ) { try add(table, "1234@example.com", "x", nil) }
            try table.discard(key: 3_000)
        }
        try database.write { _ in
            let table = try database.table("User")
            #expect(
                throws: ModelError.duplicateValue(
                    className: "User",
                    properties: ["first", "number"],
                    value: "('', 77)",
                    existing: 77
                )
            ) { try add(table, "new@example.com", "", 77) }
            try table.discard(key: 3_001)
            // The values of a row that went are free again, those of one that changed as well.
            try table.delete(key: 5)
            try add(table, "5@example.com", "", 5)
            try table.set("email", 6, .string("six"))
            try add(table, "6@example.com", "six", 6)
            #expect(throws: ModelError.self) { try add(table, "six", "six", 60) }
            try table.discard(key: 3_004)
            try table.checkUniqueness()
        }
        try FileVerifier.verify(database.file.beginRead())
    }

    @Test func `two rows exchange their values, and must differ at the commit only`() throws {
        let database = try TestDatabase([Self.user])
        try database.write { model in
            let table = try database.table("User")
            let first = try add(table, "a", "a", 1)
            let second = try add(table, "b", "b", 2)
            try table.set("email", first, .string("b"))
            #expect(throws: ModelError.self) { try model.checkUniqueness() }
            try table.set("email", second, .string("a"))
            try model.checkUniqueness()
        }
        #expect(throws: ModelError.self) {
            try database.write { model in
                try database.table("User").set("email", 0, .string("a"))
                try model.checkUniqueness()
            }
        }
        try FileVerifier.verify(database.file.beginRead())
    }

    @Test func `what waits for the commit to be checked still waits for it when the schema has changed`() throws {
        let database = try TestDatabase([Self.user])
        try database.write { _ in
            let table = try database.table("User")
            try add(table, "a", "a", 1)
            try add(table, "b", "b", 2)
        }
        let wider = ClassSchema(
            name: "User",
            properties: Self.user.properties + [PropertySchema(name: "more", kind: .int)],
            compoundIndexes: Self.user.compoundIndexes
        )
        func widen(_ model: ModelView) throws {
            let declared = DatabaseSchema(classes: [wider], version: 2)
            let plan = try SchemaReconciler.plan(stored: model.schema, declared: declared)
            #expect(!plan.isEmpty)
            try model.changeSchema(plan)
        }
        let duplicate = ModelError.duplicateValue(
            className: "User",
            properties: ["email"],
            value: "'a'",
            existing: 0
        )
        #expect(throws: duplicate, "of a row that was there") {
            try database.write { model in
                try database.table("User").set("email", 1, .string("a"))
                try widen(model)
                try model.checkUniqueness()
            }
        }
        #expect(throws: duplicate, "of a new row") {
            try database.write { model in
                let table = try database.table("User")
                try table.set("email", try table.insert(), .string("a"))
                try widen(model)
                try model.checkUniqueness()
            }
        }
        // Two rows exchange their values, one before the change and one behind it.
        try database.write { model in
            let table = try database.table("User")
            try table.set("email", 0, .string("b"))
            try widen(model)
            try table.set("email", 1, .string("a"))
            try model.checkUniqueness()
        }
        let table = try database.table("User")
        #expect(try table.value(table.ordinal("email"), key: 0) == .string("b"))
        #expect(try table.value(table.ordinal("email"), key: 1) == .string("a"))
        try FileVerifier.verify(database.file.beginRead())
    }

    @Test func `null is different from every value and from null`() throws {
        let database = try TestDatabase([Self.user])
        try database.write { model in
            let table = try database.table("User")
            for number in 0..<5 { try add(table, "\(number)", "same", nil) }
            try model.checkUniqueness()
        }
        try FileVerifier.verify(database.file.beginRead())
    }

    @Test func `strings of any length are told apart by their last byte`() throws {
        let database = try TestDatabase([Self.user])
        let long = String(repeating: "x", count: 255)
        try database.write { _ in
            let table = try database.table("User")
            try add(table, long + "1", long + "1", 1)
            try add(table, long + "2", long + "2", 1)
            #expect(throws: ModelError.self) { try add(table, long + "2", "", 3) }
            try table.discard(key: 2)
            #expect(throws: ModelError.self) { try add(table, "", long + "1", 1) }
            try table.discard(key: 3)
            // Beyond what stands in the index.
            for end in ["12", "13"] { try add(table, long + end, long + end, 4) }
            #expect(throws: ModelError.self) { try add(table, long + "13", "", 5) }
            try table.discard(key: 6)
            #expect(throws: ModelError.self) { try add(table, "", long + "12", 4) }
            try table.discard(key: 7)
        }
        try FileVerifier.verify(database.file.beginRead())
    }

    @Test func `indexes and rules come and go with the declaration, and the trees with them`() throws {
        let database = try TestDatabase([Self.plain])
        func insert(_ rows: [(String, String, Int64?)]) throws {
            try database.write { _ in
                let table = try database.table("User")
                for (email, first, number) in rows { try add(table, email, first, number) }
            }
        }
        try insert([("a", "x", 1), ("b", "x", 2), ("c", "y", nil), ("d", "y", nil)])
        // No version has to be raised for them.
        try database.reconcile([Self.user], version: 1)
        let table = try database.table("User")
        #expect(table.schema.compoundIndexes == Self.user.compoundIndexes)
        #expect(try table.keys(in: compound(table), equalTo: [.string("x")]) == [0, 1])
        #expect(try table.keys(in: compound(table), equalTo: [.string("y")]) == [2, 3])
        #expect(try table.indexedKeys(property: 0, equalTo: .string("c")) == [2])
        try FileVerifier.verify(database.file.beginRead())
        #expect(throws: ModelError.self) { try insert([("a", "z", 9)]) }
        let again = try SchemaReconciler.plan(
            stored: SchemaReconciler.storedSchema(of: database.file.beginRead()),
            declared: DatabaseSchema(classes: [Self.user], version: 1)
        )
        #expect(again.isEmpty)
        try database.reconcile([Self.plain], version: 1)
        #expect(try database.table("User").indexes.isEmpty)
        try insert([("a", "z", 9)])
        try FileVerifier.verify(database.file.beginRead())
        #expect(
            throws: ModelError.duplicateValues(className: "User", properties: ["email"], value: "'a'")
        ) { try database.reconcile([Self.user], version: 1) }
        try FileVerifier.verify(database.file.beginRead())
    }

    @Test func `rows that have the same values forbid a unique compound index, and the error names them`() throws {
        let database = try TestDatabase([Self.plain])
        try database.write { _ in
            let table = try database.table("User")
            for number in Int64(0)..<40 { try add(table, "\(number)", "n", number % 20 == 7 ? 7 : number) }
        }
        do {
            try database.reconcile([Self.user], version: 1)
            Issue.record("duplicates were accepted")
        } catch let error as ModelError {
            #expect(error == .duplicateValues(className: "User", properties: ["first", "number"], value: "('n', 7)"))
            #expect(error.description.contains("combination 'User.(first, number)' has duplicate values"))
            #expect(error.description.contains("('n', 7)"))
        }
    }

    @Test func `an index over a property that goes, changes or is renamed follows it`() throws {
        let database = try TestDatabase([Self.user])
        try database.write { _ in
            let table = try database.table("User")
            for number in Int64(0)..<50 { try add(table, "\(number)", "n", number) }
        }
        // `number` is required from now on: its values stay, in another column.
        var changed = Self.user.properties
        changed[2].isOptional = false
        try database.reconcile(
            [ClassSchema(name: "User", properties: changed, compoundIndexes: Self.user.compoundIndexes)],
            version: 2
        )
        var table = try database.table("User")
        #expect(try table.keys(in: compound(table), equalTo: [.string("n"), .int(33)]) == [33])
        try FileVerifier.verify(database.file.beginRead())
        // It is gone, and the index with it.
        try database.reconcile([ClassSchema(name: "User", properties: Array(changed.prefix(2)))], version: 3)
        table = try database.table("User")
        #expect(!table.indexes.contains(where: { $0.isCompound }))
        try FileVerifier.verify(database.file.beginRead())
    }

    @Test func `a class says what its indexes and rules must be like`() {
        let schema = ClassSchema(
            name: "Thing",
            properties: [
                PropertySchema(name: "score", kind: .double, isUnique: true),
                PropertySchema(name: "count", kind: .int, deleteRule: .cascade),
                PropertySchema(name: "part", kind: .object, deleteRule: .deny, targetClass: "Detail"),
            ],
            compoundIndexes: [
                CompoundIndexSchema(["count"]), CompoundIndexSchema(["count", "score"]),
                CompoundIndexSchema(["count", "nothing"]), CompoundIndexSchema(["count", "count"]),
            ]
        )
        let detail = ClassSchema(
            name: "Detail",
            properties: [PropertySchema(name: "text", kind: .string)],
            isEmbedded: true
        )
        do {
            _ = try SchemaReconciler.plan(stored: nil, declared: DatabaseSchema(classes: [schema, detail]))
            Issue.record("an invalid declaration was accepted")
        } catch {
            let text = error.description
            for part in [
                "'Thing.score' of type 'double' cannot be indexed", "'Thing.count' of type 'int' is no link",
                "'Thing.part' holds embedded objects", "(count) of 'Thing' must have two to eight properties",
                "(count, score) of 'Thing' names the property 'score' of type 'double'",
                "(count, nothing) of 'Thing' names the property 'nothing', which does not exist",
                "(count, count) of 'Thing' names a property more than once",
            ] {
                #expect(text.contains(part), "\(part) in \(text)")
            }
        }
    }

    @Test func `what a damaged file has twice is salvaged once`() throws {
        let directory = try makeForgedFile()
        let path = directory.path("salvaged.realm")
        var report: SalvageReport?
        let damaged = try DamagedFile(path: directory.path("test.realm"))
        try StorageFile.build(at: path, replaces: false, beginning: FileBeginning(version: damaged.roots[0].version)) {
            report = try Salvager.salvage(damaged, to: $0)
        }
        let snapshot = try StorageFile.open(path: path).beginRead()
        try FileVerifier.verify(snapshot)
        let table = try #require(try ModelView(snapshot: snapshot).table(named: "User"))
        // Of two rows with one email, which may not be null, one is left; of one number, which may be, the second goes.
        #expect(try table.allKeys() == [0, 2, 3])
        #expect(try table.value(2, key: 3) == .null)
        #expect(report?.classes.first?.rowsLost == 2)
        #expect(report?.classes.first?.valuesLost == ["number": 1])
    }

    /// A file that was written without the rules of its class, as damage would have it.
    private func makeForgedFile() throws -> TemporaryDirectory {
        let database = try TestDatabase([Self.plain])
        try database.write { _ in
            let table = try database.table("User")
            for (email, number) in [("a", 1), ("a", 2), ("b", 3), ("c", 3), ("c", 4)] as [(String, Int64)] {
                try add(table, email, "n", number)
            }
        }
        try database.file.lockForWriting()
        let transaction = try database.file.beginWrite()
        let stored = try #require(try SchemaReconciler.storedSchema(of: transaction)?["User"])
        var forged = ClassSchema(
            name: "User",
            properties: stored.properties.enumerated()
                .map { ordinal, property in
                    var property = property
                    property.isUnique = ordinal == 0
                    property.isIndexed = ordinal == 0
                    return property
                },
            compoundIndexes: Self.user.compoundIndexes
        )
        forged.tableID = stored.tableID
        forged.columnLayouts = stored.columnLayouts
        try CatalogKey.store(forged.storedBytes, CatalogKey.classSchema, stored.tableID, in: transaction)
        try database.file.publish([transaction.prepareCommit()])
        database.file.unlockForWriting()
        return database.directory
    }
}
