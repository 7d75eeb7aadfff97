import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

/// A closed file with every kind of page.
struct SampleDatabase {
    static let classes = [
        ClassSchema(
            name: "Item",
            properties: [
                PropertySchema(name: "id", kind: .int, isPrimaryKey: true),
                PropertySchema(name: "name", kind: .string, isIndexed: true),
                PropertySchema(name: "weight", kind: .double),
                PropertySchema(name: "hash", kind: .uuid),
                PropertySchema(name: "photo", kind: .data, isOptional: true),
                PropertySchema(name: "numbers", kind: .int, collection: .list),
                PropertySchema(name: "others", kind: .object, collection: .list, targetClass: "Item"),
                PropertySchema(name: "next", kind: .object, targetClass: "Item"),
                PropertySchema(name: "tag", kind: .object, targetClass: "Tag"),
            ]
        ),
        ClassSchema(name: "Tag", properties: [PropertySchema(name: "text", kind: .string)]),
    ]
    static let rowCount: Int64 = 3_000
    static let tagCount: Int64 = 20

    let directory = TemporaryDirectory()
    var path: String { directory.path("test.realm") }

    init(seed: UInt64 = 1) throws {
        var options = StorageOptions()
        options.durability = .none
        let file = try StorageFile.open(path: path, options: options)
        try TestDatabase.reconcile(DatabaseSchema(classes: Self.classes, version: 3), in: file)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let model = try ModelView(snapshot: file.beginRead())
        var random = SplitMix64(seed: seed)
        for part in Int64(0)..<6 {
            try model.begin(file.beginWrite())
            let items = try #require(try model.table(named: "Item"))
            let tags = try #require(try model.table(named: "Tag"))
            if part == 0 {
                for number in 0..<Self.tagCount {
                    try tags.set("text", try tags.insert(), .string("tag \(number)"))
                }
            }
            for id in (part * 500)..<(part * 500 + 500) {
                let key = try items.insert(primaryKey: .int(id * 3))
                try items.set("name", key, .string("item \(random.next())"))
                try items.set("weight", key, .double(Double(id) + 0.25))
                try items.set("hash", key, .uuid(UUIDBytes(high: random.next(), low: random.next())))
                if id % 40 == 0 {
                    try items.set("photo", key, .data([UInt8](repeating: UInt8(id % 200), count: 3_000)))
                }
                if id % 500 == 7 {
                    for number in 0..<2_000 {
                        try items.listAppend(items.ordinal("numbers"), key: key, .int(Int64(number)))
                    }
                }
                if key > 0 {
                    try items.set("next", key, .link(key - 1))
                    try items.listAppend(items.ordinal("others"), key: key, .link(key / 2))
                }
                try items.set("tag", key, .link(id % Self.tagCount))
            }
            try file.publish([model.prepareCommit()])
            try model.endTransaction(advancingTo: file.beginRead())
        }
    }

    /// The runs of a version, by kind.
    func runs() throws -> [PageKind: [PageReference]] {
        let snapshot = try StorageFile.open(path: path).beginRead()
        var result: [PageKind: [PageReference]] = [:]
        try ModelVerifier.forEachReachablePage(in: snapshot) { (run) throws(StorageError) in
            let page = try snapshot.view.pointer(to: run)
            guard let kind = PageKind(rawValue: page.load(fromByteOffset: 16, as: UInt8.self)) else { return }
            result[kind, default: []].append(run)
        }
        return result
    }

    /// The items of a model as text, by key.
    static func describe(_ model: ModelView) throws -> [Int64: [String]] {
        let table = try #require(try model.table(named: "Item"))
        var rows: [Int64: [String]] = [:]
        var cursor = table.leaves()
        while let leaf = try cursor.next() {
            for row in 0..<leaf.rowCount {
                let key = leaf.key(at: row)
                let location = RowLocation(leaf: leaf, row: row)
                rows[key] = try table.schema.properties.enumerated()
                    .map { ordinal, property in
                        property.collection == .none
                            ? "\(try table.value(ordinal, at: location))"
                            : "\(try table.list(ordinal, at: location, key: key).values())"
                    }
            }
        }
        return rows
    }
}
