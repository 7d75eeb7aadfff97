import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

/// The program that makes the files in `Tests/RealmModelTests/Format/Golden`: every kind of tree, value, index and collection, the
/// same in every run.
///
/// A file in that folder was made by the release whose format it has. To make those of a new format, run `GoldenFileTests` with
/// `REALM_GOLDEN` naming a folder. That with an open log is made by `GoldenLoggedProgram`.
struct GoldenDatabase {
    static let classes = [
        ClassSchema(
            name: "Item",
            properties: [
                PropertySchema(name: "id", kind: .int, isPrimaryKey: true),
                PropertySchema(name: "name", kind: .string, isIndexed: true),
                PropertySchema(name: "code", kind: .string, isUnique: true),
                PropertySchema(name: "note", kind: .string, isOptional: true),
                PropertySchema(name: "weight", kind: .double),
                PropertySchema(name: "ratio", kind: .float, isOptional: true),
                PropertySchema(name: "isNew", kind: .bool),
                PropertySchema(name: "day", kind: .date, isIndexed: true),
                PropertySchema(name: "object", kind: .objectId),
                PropertySchema(name: "hash", kind: .uuid, isIndexed: true),
                PropertySchema(name: "price", kind: .decimal128),
                PropertySchema(name: "photo", kind: .data, isOptional: true),
                PropertySchema(name: "numbers", kind: .int, collection: .list),
                PropertySchema(name: "words", kind: .string, collection: .set),
                PropertySchema(name: "labels", kind: .string, collection: .map),
                PropertySchema(name: "anything", kind: .any),
                PropertySchema(name: "next", kind: .object, targetClass: "Item"),
                PropertySchema(name: "tags", kind: .object, collection: .list, targetClass: "Tag"),
                PropertySchema(name: "part", kind: .object, deleteRule: .cascade, targetClass: "Tag"),
            ],
            compoundIndexes: [
                CompoundIndexSchema(["isNew", "name"]), CompoundIndexSchema(["code", "day"], isUnique: true),
            ]
        ),
        ClassSchema(
            name: "Tag",
            properties: [
                PropertySchema(name: "text", kind: .string, isPrimaryKey: true),
                PropertySchema(name: "items", kind: .linkingObjects, targetClass: "Item", originProperty: "tags"),
            ]
        ),
    ]
    static let rowCount: Int64 = 60

    let file: StorageFile
    let model: ModelView

    /// Makes the file: fifty commits, with rows that were changed and deleted again.
    init(at path: String) throws {
        var options = StorageOptions()
        options.durability = .none
        file = try StorageFile.open(path: path, options: options)
        try TestDatabase.reconcile(DatabaseSchema(classes: Self.classes, version: 7), in: file)
        model = try ModelView(snapshot: file.beginRead())
        try write { items, tags in
            for number in 0..<6 { _ = try tags.insert(primaryKey: .string("tag \(number)")) }
            for id in 0..<Self.rowCount { try Self.insert(id, items) }
        }
        for round in Int64(0)..<47 {
            try write { items, _ in
                let key = try #require(try items.find(primaryKey: .int(round * 3)))
                try items.set("weight", key, .double(Double(round) / 4))
                try items.set("name", key, .string(round % 2 == 0 ? Self.longText(round) : "renamed \(round)"))
            }
        }
        try write { items, tags in
            for id in stride(from: Int64(4), to: Self.rowCount, by: 9) {
                try items.delete(key: try #require(try items.find(primaryKey: .int(id * 3))))
            }
            try tags.delete(key: try #require(try tags.find(primaryKey: .string("tag 5"))))
        }
    }

    /// A text that does not stand whole in an index, one of two with the same beginning.
    static func longText(_ number: Int64) -> String {
        String(repeating: "long ", count: 80) + "\(number)"
    }

    private static func insert(_ id: Int64, _ items: TableView) throws {
        let bits = UInt64(bitPattern: id) &* 0x9E37_79B9_7F4A_7C15
        let key = try items.insert(primaryKey: .int(id * 3))
        try items.set("name", key, .string("name \(id % 7)\u{0}é"))
        try items.set("code", key, .string("code \(id)"))
        if id % 3 > 0 { try items.set("note", key, .string(String(repeating: "n", count: Int(id) * 40))) }
        try items.set("weight", key, .double(Double(id) + 0.25))
        if id % 4 > 0 { try items.set("ratio", key, .float(Float(id) / 8)) }
        try items.set("isNew", key, .bool(id % 2 == 0))
        try items.set("day", key, .date(Double(id) * 86_400 - 1_000_000))
        try items.set("object", key, .objectId(ObjectIDBytes(high: bits, low: UInt32(id))))
        try items.set("hash", key, .uuid(UUIDBytes(high: bits, low: ~bits)))
        try items.set("price", key, .decimal(DecimalBytes(high: 0x3040_0000_0000_0000, low: UInt64(id) * 25)))
        if id % 20 == 7 { try items.set("photo", key, .data([UInt8](repeating: UInt8(id), count: 3_000))) }
        for number in 0..<(id == 11 ? 700 : id % 5) {
            try items.listAppend(items.ordinal("numbers"), key: key, .int(number * id))
        }
        for number in 0..<(id % 4) { _ = try items.setInsert(items.ordinal("words"), key: key, .string("w\(number)")) }
        for number in 0..<(id % 3) {
            try items.mapSet(items.ordinal("labels"), key: key, "label \(number)", to: .string("\(id)"))
        }
        try items.set("anything", key, anything(id))
        if key > 0 { try items.set("next", key, .link(key - 1)) }
        for number in 0..<(id % 4) { try items.listAppend(items.ordinal("tags"), key: key, .link(number)) }
        if id == 2 { try items.set("part", key, .link(4)) }
    }

    private static func anything(_ id: Int64) -> StoredValue {
        switch id % 6 {
        case 0: .int(id)
        case 1: .string("any")
        case 2: .list([.int(1), .null, .string("two")])
        case 3: .dictionary([StoredEntry(key: "one", value: .double(1))])
        case 4: .anyLink(table: 2, key: 1)
        default: .null
        }
    }

    private func write(_ body: (TableView, TableView) throws -> Void) throws {
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try model.begin(file.beginWrite())
        try body(
            try #require(try model.table(named: "Item")),
            try #require(try model.table(named: "Tag"))
        )
        try file.publish([model.prepareCommit()])
        try model.endTransaction(advancingTo: file.beginRead())
    }

    /// A folder with the files of the tests.
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Format/Golden")

    /// Puts a file that was stored into a directory.
    static func copy(_ name: String, to directory: TemporaryDirectory) throws -> String {
        let path = directory.path(name)
        try Data(contentsOf: folder.appendingPathComponent(name)).write(to: URL(fileURLWithPath: path))
        return path
    }
}
