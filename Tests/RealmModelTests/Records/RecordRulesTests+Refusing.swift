import RealmStorage
import Testing

@testable import RealmModel

/// What is refused in a record, and what is not.
extension RecordRulesTests {
    /// Applies a record of rows to the replica, and takes it back.
    private func apply(_ content: [UInt8], to recorded: RecordedDatabase) throws {
        let file = recorded.replica
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite()
        transaction.recording = .replay
        let model = try recorded.replicated()
        try model.begin(transaction)
        defer { model.rollback() }
        try content.withUnsafeBytes { _ = try model.replayChanges($0) }
        try model.checkUniqueness()
    }

    /// Applies a record of a schema to the replica, and takes it back.
    private func applySchema(_ content: [UInt8], to recorded: RecordedDatabase) throws {
        let file = recorded.replica
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite()
        transaction.recording = .replay
        defer { transaction.rollback() }
        try content.withUnsafeBytes { _ = try SchemaRecord.replay($0, in: transaction) }
    }

    @Test("A row that another one links to is not deleted")
    func linkedRow() throws {
        let recorded = try RecordedDatabase([
            ClassSchema(
                name: "Place",
                properties: [PropertySchema(name: "next", kind: .object, targetClass: "Place")]
            )
        ])
        try recorded.write { model in
            let places = try #require(try model.table(named: "Place"))
            let first = try places.insert()
            try places.set("next", try places.insert(), .link(first))
        }
        let places = try recorded.database.table("Place")
        let error = #expect(throws: StorageError.self) {
            try apply(deletion(of: [0], rowCount: 1, places), to: recorded)
        }
        #expect(error?.code == .corrupt)
        // With the row that links to it, and without a row that is linked to, it does.
        try apply(deletion(of: [0, 1], rowCount: 0, places), to: recorded)
        try apply(deletion(of: [1], rowCount: 1, places), to: recorded)
    }

    @Test("Rule 41: the number of rows and the next key are compared, and a difference is damage")
    func counts() throws {
        let recorded = try RecordedDatabase([ClassSchema(name: "Note", properties: [Self.number])])
        try recorded.write { model in
            let notes = try #require(try model.table(named: "Note"))
            for _ in 0..<2 { _ = try notes.insert() }
        }
        let notes = try recorded.database.table("Note")
        try apply(deletion(of: [1], rowCount: 1, notes), to: recorded)
        try apply(deletion(of: [1], rowCount: 1, nextKey: 5, notes), to: recorded)
        for (rowCount, nextKey) in [(0, 2), (2, 2), (1, 1)] as [(Int, UInt64)] {
            let error = #expect(throws: StorageError.self, "\(rowCount) rows, \(nextKey)") {
                try apply(deletion(of: [1], rowCount: rowCount, nextKey: nextKey, notes), to: recorded)
            }
            #expect(error?.code == .corrupt)
        }
    }

    /// A record that deletes rows of a table, of which two were ever made, unless it says otherwise.
    private func deletion(of keys: RowKeys, rowCount: Int, nextKey: UInt64 = 2, _ table: TableView) -> [UInt8] {
        var writer = heading(of: table)
        writer.write(nextKey)
        writer.write(rowCount)
        writer.write(keys)
        writer.write(RowKeys())
        writer.write(0)
        return writer.bytes
    }

    /// The beginning of a record that changes one table.
    private func heading(of table: TableView) -> RecordWriter {
        var writer = RecordWriter()
        RecordHeading().write(to: &writer)
        writer.write(table.model.schema.stamp)
        writer.write(1)
        writer.write(UInt64(table.id))
        return writer
    }

    @Test("All rows go at once, also where a long list holds them")
    func deletingAll() throws {
        let recorded = try RecordedDatabase([
            ClassSchema(name: "Song", properties: [Self.number]),
            ClassSchema(
                name: "Album",
                properties: [PropertySchema(name: "songs", kind: .object, collection: .list, targetClass: "Song")]
            ),
        ])
        let count = 5_000
        try recorded.write { model in
            let songs = try #require(try model.table(named: "Song"))
            let albums = try #require(try model.table(named: "Album"))
            let links = try (0..<count).map { _ in StoredValue.link(try songs.insert()) }
            try albums.listAssign(0, key: try albums.insert(), links)
        }
        try recorded.write { try $0.deleteAll() }
        try recorded.requireEqual("after all went")
        #expect(recorded.byteCounts[2] <= 100)
    }

    /// What a record says that writes a dictionary with one entry, of which all bytes are given, into row 0.
    private func dictionary(_ table: TableView, _ name: String, entry: [UInt8]) -> [UInt8] {
        let slot = table.slots[table.ordinal(name)]
        var list: [UInt8] = [ListFormat.smallForm, ListFormat.kindByte(slot.elements), 1, 0, UInt8(entry.count), 0]
        list += entry
        var writer = heading(of: table)
        writer.write(UInt64(1))
        writer.write(1)
        writer.write(RowKeys())
        writer.write(RowKeys())
        writer.write(1)
        writer.write(0)
        writer.write(1)
        writer.write(Int(slot.column))
        writer.write(byte: RecordValue.bytes)
        list.withUnsafeBytes { writer.write(counted: $0) }
        return writer.bytes
    }

    @Test("An entry of a dictionary has a name, and a value of the dictionary's type")
    func entries() throws {
        let recorded = try RecordedDatabase([
            ClassSchema(
                name: "Names",
                properties: [
                    PropertySchema(name: "numbers", kind: .int, collection: .map),
                    PropertySchema(name: "texts", kind: .string, collection: .map),
                    PropertySchema(name: "anything", kind: .any, collection: .map),
                ]
            )
        ])
        try recorded.write { model in _ = try #require(try model.table(named: "Names")).insert() }
        let table = try recorded.database.table("Names")
        let good: [(String, [UInt8])] = [
            ("numbers", [1, 0, 97, 1, 0, 0, 0, 0, 0, 0, 0]),
            ("texts", [1, 0, 97, 98]),
            ("anything", [1, 0, 97, 1, 2, 1]),
        ]
        for (name, entry) in good { try apply(dictionary(table, name, entry: entry), to: recorded) }
        let bad: [(String, [UInt8])] = [
            ("numbers", [1, 0, 97, 1, 2, 3]),
            ("numbers", [1, 0, 97]),
            ("numbers", [1, 0, 255, 1, 0, 0, 0, 0, 0, 0, 0]),
            ("texts", [1, 0, 97, 255]),
            ("anything", [1, 0, 97, 1, 99]),
            ("anything", [1, 0, 97]),
        ]
        for (name, entry) in bad {
            let error = #expect(throws: StorageError.self, "\(name) \(entry)") {
                try apply(dictionary(table, name, entry: entry), to: recorded)
            }
            #expect(error?.code == .corrupt)
        }
    }

    @Test("A schema is applied on top of the one that it was made on top of only, and brings another stamp")
    func otherSchema() throws {
        let classes = [ClassSchema(name: "Note", properties: [Self.number])]
        let recorded = try RecordedDatabase(classes)
        for content in recorded.contents {
            let error = #expect(throws: StorageError.self) { try applySchema(content, to: recorded) }
            #expect(error?.code == .corrupt)
        }
        let stamp = try recorded.replicated().schema.stamp
        for (next, isRefused) in [(stamp, true), (stamp + 1, false), (stamp + 1_000, true)] {
            // All classes go.
            var writer = RecordWriter()
            RecordHeading().write(to: &writer)
            for number in [stamp, UInt64(DatabaseEntry.layout), 2, 1, next, 0, 0] { writer.write(number) }
            if isRefused {
                #expect(throws: StorageError.self) { try applySchema(writer.bytes, to: recorded) }
            } else {
                try applySchema(writer.bytes, to: recorded)
            }
        }
    }

    @Test("A file that has used up the numbers of its tables gets no other one")
    func tableNumbers() throws {
        let database = try TestDatabase([])
        try database.file.lockForWriting()
        let transaction = try database.file.beginWrite()
        var entry = try #require(try DatabaseEntry(in: transaction.catalog, view: transaction.view))
        entry.nextTableID = .max
        try entry.store(in: transaction)
        try database.file.publish([transaction.prepareCommit()])
        database.file.unlockForWriting()
        let error = #expect(throws: StorageError.self) {
            try database.reconcile([ClassSchema(name: "Note", properties: [Self.number])], version: 1)
        }
        #expect(error?.code == .limit)
    }

    @Test("The rows of a schema's record have unique values")
    func uniqueRows() throws {
        func classes(_ more: [PropertySchema]) -> [ClassSchema] {
            let number = PropertySchema(name: "number", kind: .int, isUnique: true)
            return [ClassSchema(name: "Account", properties: [number] + more)]
        }
        let recorded = try RecordedDatabase(classes([]))
        try recorded.write { model in
            let accounts = try #require(try model.table(named: "Account"))
            for number in 1...2 { try accounts.set("number", try accounts.insert(), .int(Int64(number))) }
        }
        let file = recorded.database.file
        let base = try file.beginRead()
        let declared = DatabaseSchema(classes: classes([PropertySchema(name: "more", kind: .int)]), version: 2)
        let plan = try SchemaReconciler.plan(stored: try SchemaReconciler.storedSchema(of: base), declared: declared)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite()
        defer { transaction.rollback() }
        try SchemaReconciler.apply(plan, in: transaction)
        var content = try SchemaRecord.content(of: transaction, since: base, RecordHeading())
        // Per row: it has a value in column 0, an int, in zigzag form.
        #expect(content.suffix(6) == [1, 1, 2, 1, 1, 4])
        try applySchema(content, to: recorded)
        content[content.count - 1] = 2
        let error = #expect(throws: StorageError.self) { try applySchema(content, to: recorded) }
        #expect(error?.code == .corrupt)
    }

    @Test("Keys that are too long are taken from records only")
    func longKeys() throws {
        let recorded = try RecordedDatabase([ClassSchema(name: "Note", properties: [Self.number])])
        try recorded.write { model in _ = try #require(try model.table(named: "Note")).insert() }
        let content = try #require(recorded.contents.last)
        let other = try RecordedDatabase([ClassSchema(name: "Note", properties: [Self.number])])
        let file = other.replica
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite()
        transaction.recording = .replay
        let model = try other.replicated()
        try model.begin(transaction)
        try content.withUnsafeBytes { _ = try model.replayChanges($0) }
        let notes = try #require(try model.table(named: "Note"))
        #expect(notes.takesLongKeys)
        try file.publish([model.prepareCommit()])
        try model.endTransaction(advancingTo: file.beginRead())
        try model.begin(file.beginWrite())
        defer { model.rollback() }
        _ = try notes.insert()
        #expect(!notes.takesLongKeys)
    }
}
