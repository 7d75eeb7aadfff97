import RealmTestSupport
import Testing

@testable import RealmModel
@testable import RealmStorage

/// The program whose commits are the records in `Tests/RealmModelTests/Format/Golden`.
///
/// `golden-log.py` beside that folder writes the same records as `Docs/FileFormat.md` says, without any code of the library.
final class GoldenRecords {
    static let classes = [
        ClassSchema(
            name: "Item",
            properties: [
                // Without a column, so that places of properties and columns are not the same.
                PropertySchema(name: "previous", kind: .linkingObjects, targetClass: "Item", originProperty: "next"),
                PropertySchema(name: "id", kind: .int, isPrimaryKey: true),
                PropertySchema(name: "flag", kind: .bool),
                PropertySchema(name: "name", kind: .string),
                PropertySchema(name: "note", kind: .string, isOptional: true),
                PropertySchema(name: "photo", kind: .data, isOptional: true),
                PropertySchema(name: "weight", kind: .double),
                PropertySchema(name: "ratio", kind: .float, isOptional: true),
                PropertySchema(name: "day", kind: .date),
                PropertySchema(name: "object", kind: .objectId),
                PropertySchema(name: "mark", kind: .uuid, isOptional: true),
                PropertySchema(name: "price", kind: .decimal128),
                PropertySchema(name: "anything", kind: .any),
                PropertySchema(name: "next", kind: .object, targetClass: "Item"),
                PropertySchema(name: "numbers", kind: .int, collection: .list),
                PropertySchema(name: "words", kind: .string, collection: .set),
                PropertySchema(name: "labels", kind: .int, collection: .map, isOptional: true),
                PropertySchema(name: "tags", kind: .object, collection: .list, targetClass: "Tag"),
                PropertySchema(name: "history", kind: .string, collection: .list, isOptional: true),
                PropertySchema(name: "part", kind: .object, targetClass: "Part"),
            ]
        ),
        tag(),
        ClassSchema(name: "Part", properties: [PropertySchema(name: "size", kind: .int)], isEmbedded: true),
    ]

    private static func tag(_ others: [PropertySchema] = []) -> ClassSchema {
        ClassSchema(
            name: "Tag",
            properties: [
                PropertySchema(name: "items", kind: .linkingObjects, targetClass: "Item", originProperty: "tags"),
                PropertySchema(name: "text", kind: .string, isPrimaryKey: true),
                PropertySchema(name: "size", kind: .int),
            ] + others
        )
    }

    /// One class has another property, and one is new.
    private static let laterClasses = [
        classes[0], tag([PropertySchema(name: "weight", kind: .double)]), classes[2],
        ClassSchema(
            name: "Note",
            properties: [
                PropertySchema(name: "text", kind: .string, isOptional: true, isIndexed: true),
                PropertySchema(name: "number", kind: .int, isUnique: true),
                PropertySchema(name: "tag", kind: .object, deleteRule: .cascade, targetClass: "Tag"),
                PropertySchema(
                    name: "tags",
                    kind: .object,
                    collection: .list,
                    deleteRule: .deny,
                    targetClass: "Tag"
                ),
            ],
            compoundIndexes: [CompoundIndexSchema(["text", "number"])]
        ),
    ]

    /// The version that the first record is made on top of, and the position before it.
    static let version: UInt64 = 3
    static let position: UInt64 = 2
    static let log = LogIdentifier(low: 0x1122_3344_5566_7788, high: 0x99AA_BBCC_DDEE_FF00)
    static let chain: UInt64 = 0xC4A1_C4A1_C4A1_C4A1
    static let header = LogHeader(
        file: FileIdentifier(low: 0x4649_4C45_4649_4C45, high: 0x0F1E_2D3C_4B5A_6978),
        log: log,
        ringByteCount: 3 * LogHeader.blockByteCount,
        version: version,
        position: position,
        chain: chain
    )

    let database: TestDatabase
    /// What a log is given, in order.
    private(set) var entries: [CommitLog.Entry] = []

    /// Runs the first of six transactions.
    init(count: Int = 6) throws {
        database = try Self.base()
        let steps: [() throws -> Void] = [
            changeEverything, { try self.setFlag(false) }, changeSchema, addNote, { try self.setFlag(true) },
            { try self.setFlag(false, "around the end of the ring") },
        ]
        for step in steps.prefix(count) { try step() }
    }

    /// What a record says of its commit.
    static func heading(_ number: Int, _ metadata: String = "") -> RecordHeading {
        RecordHeading(
            time: 1_700_000_000_000 + Int64(number),
            identity: CommitIdentity(high: 0x0102_0304_0506_0708, low: UInt64(number)),
            metadata: Array(metadata.utf8)
        )
    }

    /// The database on top of which the records are made.
    static func base() throws -> TestDatabase {
        let database = try TestDatabase(classes)
        try database.write { _ in
            let items = try database.table("Item")
            let tags = try database.table("Tag")
            for text in ["red", "green", "blue"] { _ = try tags.insert(primaryKey: .string(text)) }
            for id in 10..<16 as Range<Int64> { _ = try items.insert(primaryKey: .int(id)) }
            try items.set("note", 0, .string("old"))
            for letter in "abcdefgh" {
                let text = StoredValue.string(String(repeating: letter, count: 200))
                try items.listAppend(items.ordinal("history"), key: 1, text)
            }
            try items.set("next", 1, .link(2))
            try items.set("part", 2, .link(database.table("Part").insert()))
            try items.set("anything", 5, .list([.anyLink(table: items.id, key: 2), .int(9)]))
        }
        return database
    }

    // MARK: Transactions

    /// Everything that a record of rows can say.
    private func changeEverything() throws {
        try write("every change") {
            let items = try database.table("Item")
            let tags = try database.table("Tag")
            let parts = try database.table("Part")
            try changeValues(of: items)
            try changeCollections(of: items)
            let part = try parts.insert()
            try items.set("part", 0, .link(part))
            try parts.set("size", part, .int(7))

            let history = items.ordinal("history")
            try items.listInsert(history, key: 1, at: 2, StoredValue.string("new"))
            try items.listRemove(history, key: 1, at: 0)
            try items.listReplace(history, key: 1, at: 3, with: StoredValue.null)
            try items.listRemove(history, key: 1, in: 4..<6)
            // The value that it has.
            try items.set("weight", 3, .double(0))
            // Row 1 links to the first of them, a value in row 5, too, and it owns a part.
            for key in [2, 4] as [Int64] { try items.delete(key: key) }

            let tag = try tags.insert(primaryKey: .string("violet"))
            try tags.set("size", tag, .int(5))
            let first = try items.insert(primaryKey: .int(-7))
            let second = try items.insert(primaryKey: .int(0))
            try items.set("anything", first, .anyLink(table: tags.id, key: tag))
            try items.set("next", first, .link(second))
            let squares = (0..<130 as Range<Int64>).map { StoredValue.int($0 * $0 - 5) }
            try items.listAssign(items.ordinal("numbers"), key: first, squares)
        }
    }

    private func changeValues(of items: TableView) throws {
        try items.set("flag", 0, .bool(true))
        try items.set("name", 0, .string("né\u{0}w"))
        try items.set("note", 0, .null)
        try items.set("photo", 0, .data([0, 1, 255]))
        try items.set("weight", 0, .double(-0.0))
        try items.set("ratio", 0, .float(1.5))
        try items.set("day", 0, .date(-1.25))
        try items.set("object", 0, .objectId(ObjectIDBytes(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C)))
        try items.set("mark", 0, .uuid(UUIDBytes(high: 0x1011_1213_1415_1617, low: 0x1819_1A1B_1C1D_1E1F)))
        try items.set("price", 0, .decimal(DecimalBytes(high: 0x3040_0000_0000_0000, low: 25)))
        let entries = [
            StoredEntry(key: "a", value: .list([.int(1), .null, .string("x")])),
            StoredEntry(key: "b", value: .anyLink(table: 2, key: 1)),
        ]
        try items.set("anything", 0, .dictionary(entries))
        try items.set("next", 0, .link(5))
    }

    private func changeCollections(of items: TableView) throws {
        try items.listAssign(items.ordinal("numbers"), key: 0, [.int(1), .int(-2), .int(3)])
        try items.setAssign(items.ordinal("words"), key: 0, [.string("b"), .string("a"), .string("")])
        let labels = [StoredEntry(key: "one", value: .int(1)), StoredEntry(key: "two", value: .null)]
        try items.mapAssign(items.ordinal("labels"), key: 0, labels)
        try items.listAssign(items.ordinal("tags"), key: 0, [.link(2), .link(0), .link(2)])
        try items.listAssign(items.ordinal("history"), key: 0, [.null, .string("x")])
    }

    private func setFlag(_ flag: Bool, _ metadata: String = "") throws {
        try write(metadata) { try database.table("Item").set("flag", 0, .bool(flag)) }
    }

    private func changeSchema() throws {
        let file = database.file
        let base = try file.beginRead()
        let plan = try SchemaReconciler.plan(
            stored: SchemaReconciler.storedSchema(of: base),
            declared: DatabaseSchema(classes: Self.laterClasses, version: 2)
        )
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite()
        do {
            try SchemaReconciler.apply(plan, in: transaction)
            let heading = Self.heading(entries.count, "another schema")
            let content = try SchemaRecord.content(of: transaction, since: base, heading)
            try file.publish([transaction.prepareCommit()])
            note(.schema, content)
        } catch {
            transaction.rollback()
            throw error
        }
        try database.model.advance(to: file.beginRead())
    }

    private func addNote() throws {
        try write {
            let notes = try database.table("Note")
            let key = try notes.insert()
            try notes.set("text", key, .string("a note"))
            try notes.set("number", key, .int(1))
            try notes.set("tag", key, .link(3))
            try notes.listAppend(notes.ordinal("tags"), key: key, StoredValue.link(0))
        }
    }

    private func write(_ metadata: String = "", _ body: () throws -> Void) throws {
        let (file, model) = (database.file, database.model)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite()
        transaction.recording = .record
        try model.begin(transaction)
        do {
            try body()
            let record = try #require(try model.record(Self.heading(entries.count, metadata)))
            try file.publish([model.prepareCommit()])
            try model.endTransaction(advancingTo: file.beginRead())
            note(record.kind, record.content)
        } catch {
            model.rollback()
            throw error
        }
    }

    private func note(_ kind: CommitRecord.Kind, _ content: [UInt8]) {
        entries.append(
            CommitLog.Entry(
                kind: kind,
                position: Self.position + 1 + UInt64(entries.count),
                version: database.file.newestVersion,
                content: content
            )
        )
    }
}
