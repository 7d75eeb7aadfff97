import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

/// What salvage writes is intact, also when what it reads has values that no property can have behind checksums that are right.
@Suite struct ImplausibleValueTests {
    private static let classes = [
        ClassSchema(
            name: "Note",
            properties: [
                PropertySchema(name: "id", kind: .string, isPrimaryKey: true),
                PropertySchema(name: "text", kind: .string),
                PropertySchema(name: "label", kind: .string, isOptional: true),
                PropertySchema(name: "flag", kind: .bool),
                PropertySchema(name: "anything", kind: .any, isOptional: true),
                PropertySchema(name: "few", kind: .string, collection: .list),
                PropertySchema(name: "many", kind: .string, collection: .list),
                PropertySchema(name: "names", kind: .string, collection: .map),
            ]
        )
    ]

    @Test func `strings that are none are lost, and what is beside them is not`() throws {
        let database = try TestDatabase(Self.classes)
        try database.write { _ in
            let notes = try database.table("Note")
            for number in 0..<20 {
                // Every fifth note is spoiled below, in all of its values.
                let word = number % 5 == 0 ? "spoil" : "sound"
                let key = try notes.insert(primaryKey: .string("note \(number)"))
                try notes.set("text", key, .string("\(word) text"))
                try notes.set("label", key, .string("\(word) label"))
                try notes.set("flag", key, .bool(true))
                try notes.set("anything", key, .string("\(word) thing"))
                try notes.listAssign(notes.ordinal("few"), key: key, [.string("first"), .string("\(word) item")])
                let many = (0..<2_000).map { StoredValue.string($0 == 1_000 ? "\(word) item" : "item \($0)") }
                try notes.listAssign(notes.ordinal("many"), key: key, many)
                let entries = ["a", "b"].map { StoredEntry(key: $0, value: .string($0 == "b" ? "\(word) name" : "x")) }
                try notes.mapAssign(notes.ordinal("names"), key: key, entries)
            }
        }
        let (report, salvaged) = try salvageSpoiled(database)
        let notes = try #require(report.classes.first)
        #expect(notes.rowsCopied == 20)
        #expect(
            notes.valuesLost == ["text": 4, "label": 4, "anything": 4, "few": 4, "many": 4, "names": 4],
            "the report names what was lost"
        )
        let snapshot = try StorageFile.open(path: salvaged).beginRead()
        try FileVerifier.verify(snapshot)
        // A table is its model's.
        let model = try ModelView(snapshot: snapshot)
        defer { withExtendedLifetime(model) {} }
        let table = try #require(try model.table(named: "Note"))
        for number in 0..<20 {
            let key = try #require(try table.indexedKeys(property: 0, equalTo: .string("note \(number)")).first)
            let isSpoiled = number % 5 == 0
            #expect(try table.value(table.ordinal("text"), key: key) == .string(isSpoiled ? "" : "sound text"))
            #expect(try table.value(table.ordinal("flag"), key: key) == .bool(true))
            #expect(try table.list(table.ordinal("few"), key: key).values().count == (isSpoiled ? 1 : 2))
            #expect(try table.list(table.ordinal("many"), key: key).values().count == (isSpoiled ? 1_999 : 2_000))
            #expect(try table.map(table.ordinal("names"), key: key).entries().count == (isSpoiled ? 1 : 2))
        }
    }

    @Test func `a primary key that is none costs its row, and the report says whose value that was`() throws {
        let database = try TestDatabase([
            ClassSchema(
                name: "Note",
                properties: [
                    PropertySchema(name: "id", kind: .string, isPrimaryKey: true),
                    PropertySchema(name: "number", kind: .int),
                ]
            )
        ])
        try database.write { _ in
            let notes = try database.table("Note")
            for number in 0..<20 {
                let key = try notes.insert(primaryKey: .string("\(number % 5 == 0 ? "spoil" : "sound") \(number)"))
                try notes.set("number", key, .int(Int64(number)))
            }
        }
        let (report, salvaged) = try salvageSpoiled(database)
        let notes = try #require(report.classes.first)
        #expect(notes.rowsCopied == 16)
        #expect(notes.rowsLost == 4)
        #expect(notes.valuesLost == ["id": 4])
        try FileVerifier.verify(StorageFile.open(path: salvaged).beginRead())
    }

    /// Makes each "spoil" of a copy of the file what no text is, and salvages that.
    private func salvageSpoiled(_ database: TestDatabase) throws -> (report: SalvageReport, path: String) {
        let hostile = database.directory.path("hostile.realm")
        let spoiled = Array("spoil".utf8)
        let edits = try PageEditor(path: database.directory.path("test.realm"))
            .reseal(to: hostile) { _, _, page in
                var isEdited = false
                for offset in 32..<4096 - spoiled.count
                where UnsafeRawBufferPointer(start: page + offset, count: spoiled.count).elementsEqual(spoiled) {
                    page.storeBytes(of: 0xFF, toByteOffset: offset, as: UInt8.self)
                    isEdited = true
                }
                return isEdited
            }
        #expect(edits > 0)
        #expect(throws: StorageError.self) { try FileVerifier.verify(StorageFile.open(path: hostile).beginRead()) }
        let salvaged = database.directory.path("salvaged.realm")
        var report: SalvageReport?
        let damaged = try DamagedFile(path: hostile)
        try StorageFile.build(
            at: salvaged,
            replaces: false,
            beginning: FileBeginning(version: damaged.roots[0].version)
        ) {
            report = try Salvager.salvage(damaged, to: $0)
        }
        return (try #require(report), salvaged)
    }
}
