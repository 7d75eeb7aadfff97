import RealmModel
import RealmTestSupport

/// Random operations on the properties that `OperationRunner` does not have: sets, dictionaries, values of any kind, decimals,
/// unique and compound indexes, delete rules.
struct WideOperations {
    static let classes: [ClassSchema] = [
        ClassSchema(
            name: "Shelf",
            properties: [
                PropertySchema(name: "number", kind: .int, isUnique: true),
                PropertySchema(name: "label", kind: .string, isOptional: true, isUnique: true),
                PropertySchema(name: "price", kind: .decimal128, isOptional: true),
                PropertySchema(name: "anything", kind: .any),
                PropertySchema(name: "words", kind: .string, collection: .set, isOptional: true),
                PropertySchema(name: "numbers", kind: .int, collection: .set),
                PropertySchema(name: "neighbours", kind: .object, collection: .set, targetClass: "Shelf"),
                PropertySchema(name: "names", kind: .string, collection: .map, isOptional: true),
                PropertySchema(name: "places", kind: .object, collection: .map, isOptional: true, targetClass: "Book"),
                PropertySchema(name: "things", kind: .any, collection: .list, isOptional: true),
                PropertySchema(name: "marks", kind: .any, collection: .map, isOptional: true),
                PropertySchema(
                    name: "books",
                    kind: .object,
                    collection: .list,
                    deleteRule: .cascade,
                    targetClass: "Book"
                ),
                PropertySchema(name: "parts", kind: .object, collection: .list, targetClass: "Part"),
                PropertySchema(name: "mixed", kind: .any, collection: .set, isOptional: true),
            ],
            compoundIndexes: [
                CompoundIndexSchema(["label", "number"]), CompoundIndexSchema(["number", "label"], isUnique: true),
            ]
        ),
        ClassSchema(
            name: "Book",
            properties: [
                PropertySchema(name: "id", kind: .uuid, isPrimaryKey: true),
                PropertySchema(name: "shelf", kind: .object, targetClass: "Shelf"),
                PropertySchema(name: "weight", kind: .double),
            ]
        ),
        ClassSchema(
            name: "Part",
            properties: [
                PropertySchema(name: "size", kind: .int),
                PropertySchema(name: "made", kind: .object, targetClass: "Book"),
            ],
            isEmbedded: true
        ),
    ]

    var random: SplitMix64
    /// The last number that a shelf got: none has a greater one.
    var count: Int64 = 0

    init(random: SplitMix64) { self.random = random }

    private mutating func row(_ table: TableView) throws -> Int64? {
        table.count == 0 ? nil : try table.key(at: random.below(table.count))
    }

    private mutating func anything(_ model: ModelView, depth: Int = 0) throws -> StoredValue {
        switch random.below(depth > 2 ? 6 : 9) {
        case 0: return .null
        case 1: return .decimal(DecimalBytes(high: UInt64(random.below(1 << 20)), low: random.next()))
        case 2, 3:
            let table = try model.table(named: random.chance(50) ? "Shelf" : "Book")!
            return try row(table).map { .anyLink(table: table.id, key: $0) } ?? .int(3)
        case 4: return .double([.nan, -0.0, 1.5, .infinity][random.below(4)])
        case 5, 6: return .string(random.string())
        case 7: return .list(try (0..<random.below(4)).map { _ in try anything(model, depth: depth + 1) })
        default:
            return .dictionary(
                try (0..<random.below(3))
                    .map { StoredEntry(key: "k\($0)", value: try anything(model, depth: depth + 1)) }
            )
        }
    }

    mutating func runOne(in model: ModelView) throws {
        let shelves = try model.table(named: "Shelf")!
        let books = try model.table(named: "Book")!
        count += 1
        switch random.below(20) {
        case 0, 1:
            let key = try shelves.insert()
            try shelves.set("number", key, .int(count))
            if random.chance(60) { try shelves.set("label", key, .string("label \(count)")) }
            try shelves.requireUnique(key: key)
        case 2, 3:
            let key = try books.insert(primaryKey: .uuid(UUIDBytes(high: random.next(), low: random.next())))
            if let shelf = try row(shelves), random.chance(70) { try books.set("shelf", key, .link(shelf)) }
            try books.set("weight", key, .double(random.number()))
        case 4: if let key = try row(shelves) { try shelves.delete(key: key) }
        case 5: if let key = try row(books) { try books.delete(key: key) }
        case 6 where random.chance(5): try books.deleteAll()
        default:
            guard let key = try row(shelves) else { return }
            try change(key, shelves, books, model)
        }
    }

    private mutating func change(_ key: Int64, _ shelves: TableView, _ books: TableView, _ model: ModelView) throws {
        func ordinal(_ name: String) -> Int { shelves.ordinal(name) }
        switch random.below(18) {
        case 14:
            let words = (0..<random.below(6)).map { _ in random.value(of: .string, isOptional: true) }
            try shelves.setAssign(ordinal("words"), key: key, words)
        case 15:
            let entries = (0..<random.below(6))
                .map { _ in
                    StoredEntry(key: "name \(random.below(9))", value: random.value(of: .string, isOptional: true))
                }
            try shelves.mapAssign(ordinal("names"), key: key, entries)
        case 16:
            let value = try anything(model, depth: 3)
            for _ in 0..<(random.chance(10) ? 90 : 1) { try shelves.setInsert(ordinal("mixed"), key: key, value) }
            if let book = try row(books) {
                try shelves.setInsert(ordinal("mixed"), key: key, .anyLink(table: books.id, key: book))
            }
        case 17: try changeParts(of: key, shelves, books, model)
        case 0: try shelves.set("anything", key, try anything(model))
        case 1: try shelves.set("price", key, .decimal(DecimalBytes(high: random.next() >> 4, low: random.next())))
        case 2, 3:
            for _ in 0..<(random.chance(10) ? 150 : 2) {
                try shelves.setInsert(ordinal("words"), key: key, random.value(of: .string, isOptional: true))
            }
        case 4:
            let value = StoredValue.int(Int64(random.below(400)))
            if random.chance(60) {
                for offset in 0..<(random.chance(20) ? 200 : 1) {
                    try shelves.setInsert(ordinal("numbers"), key: key, .int(Int64(random.below(100_000) + offset)))
                }
            } else {
                try shelves.setRemove(ordinal("numbers"), key: key, value)
            }
        case 5:
            if let other = try row(shelves) { try shelves.setInsert(ordinal("neighbours"), key: key, .link(other)) }
        case 6, 7:
            let name = "name \(random.below(random.chance(20) ? 300 : 6))"
            if random.chance(25) {
                try shelves.mapRemove(ordinal("names"), key: key, name)
            } else {
                try shelves.mapSet(ordinal("names"), key: key, name, to: random.value(of: .string, isOptional: true))
            }
        case 8:
            guard let book = try row(books) else { return }
            try shelves.mapSet(ordinal("places"), key: key, "place \(random.below(5))", to: .link(book))
        case 9, 10:
            for _ in 0..<(random.chance(10) ? 60 : 1) {
                let value = try anything(model)
                let list = try shelves.list(ordinal("things"), key: key)
                try shelves.listInsert(ordinal("things"), key: key, at: random.below(list.count + 1), value)
            }
        case 11:
            let list = try shelves.list(ordinal("things"), key: key)
            if list.count > 0 { try shelves.listRemove(ordinal("things"), key: key, at: random.below(list.count)) }
        case 12: try shelves.mapSet(ordinal("marks"), key: key, "mark \(random.below(6))", to: try anything(model))
        default:
            for _ in 0..<(random.chance(10) ? 140 : 2) {
                if let book = try row(books) { try shelves.listAppend(ordinal("books"), key: key, .link(book)) }
            }
        }
    }

    private mutating func changeParts(
        of key: Int64,
        _ shelves: TableView,
        _ books: TableView,
        _ model: ModelView
    ) throws {
        let parts = try model.table(named: "Part")!
        let property = shelves.ordinal("parts")
        let count = try shelves.list(property, key: key).count
        if count > 0, random.chance(30) {
            return try shelves.listRemove(property, key: key, at: random.below(count))
        }
        for _ in 0..<(random.chance(5) ? 140 : 1) {
            let part = try parts.insert()
            try shelves.listAppend(property, key: key, .link(part))
            try parts.set("size", part, .int(Int64(random.below(9))))
            if let book = try row(books) { try parts.set("made", part, .link(book)) }
        }
    }
}
