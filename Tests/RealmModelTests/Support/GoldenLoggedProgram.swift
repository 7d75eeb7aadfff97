import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

/// The program that makes `2-logged.realm` and its log in `Tests/RealmModelTests/Format/Golden`, and the same in plain dictionaries.
///
/// A change of the schema is kept as pages in the middle of it: a recovery begins there, and what follows is in the log alone. A step that
/// is changed here makes the files of that folder those of another program: make them anew then, as `GoldenLoggedTests` says.
enum GoldenLoggedProgram {
    /// What a transaction does.
    enum Change {
        case insert(String, key: Int64, primaryKey: PlainValue? = nil)
        case put(String, Int64, String, PlainValue)
        case append(String, Int64, String, [PlainValue])
        case delete(String, Int64)
    }

    /// What is committed.
    enum Step {
        case commit([Change])
        case group([[Change]])
        case schema([ClassSchema])
    }

    /// The realm file; its log has `.log` behind that.
    static let name = "2-logged.realm"
    /// So many records stand behind the place where a recovery begins.
    static let recordCount = 5

    static let classes = [
        ClassSchema(
            name: "Item",
            properties: [
                PropertySchema(name: "id", kind: .int, isPrimaryKey: true),
                PropertySchema(name: "name", kind: .string, isIndexed: true),
                PropertySchema(name: "code", kind: .int, isOptional: true, isUnique: true),
                PropertySchema(name: "flag", kind: .bool),
                PropertySchema(name: "weight", kind: .double),
                PropertySchema(name: "ratio", kind: .float, isOptional: true),
                PropertySchema(name: "day", kind: .date),
                PropertySchema(name: "object", kind: .objectId),
                PropertySchema(name: "mark", kind: .uuid),
                PropertySchema(name: "price", kind: .decimal128),
                PropertySchema(name: "photo", kind: .data, isOptional: true),
                PropertySchema(name: "anything", kind: .any),
                PropertySchema(name: "next", kind: .object, targetClass: "Item"),
                PropertySchema(name: "part", kind: .object, targetClass: "Part"),
                PropertySchema(name: "numbers", kind: .int, collection: .list),
                PropertySchema(name: "words", kind: .string, collection: .set),
                PropertySchema(name: "labels", kind: .int, collection: .map, isOptional: true),
                PropertySchema(name: "tags", kind: .object, collection: .list, targetClass: "Tag"),
                PropertySchema(name: "previous", kind: .linkingObjects, targetClass: "Item", originProperty: "next"),
            ],
            compoundIndexes: [CompoundIndexSchema(["flag", "name"])]
        ),
        tag(),
        ClassSchema(name: "Part", properties: [PropertySchema(name: "size", kind: .int)], isEmbedded: true),
    ]

    /// One class has another property, and one is new.
    private static let laterClasses = [
        classes[0], tag([PropertySchema(name: "size", kind: .int)]), classes[2],
        ClassSchema(
            name: "Note",
            properties: [
                PropertySchema(name: "text", kind: .string, isOptional: true, isIndexed: true),
                PropertySchema(name: "item", kind: .object, targetClass: "Item"),
            ]
        ),
    ]

    private static func tag(_ others: [PropertySchema] = []) -> ClassSchema {
        ClassSchema(
            name: "Tag",
            properties: [
                PropertySchema(name: "text", kind: .string, isPrimaryKey: true),
                PropertySchema(name: "items", kind: .linkingObjects, targetClass: "Item", originProperty: "tags"),
            ] + others
        )
    }

    // MARK: The program

    static var steps: [Step] {
        [
            .commit(beginning), .commit([item(4, "weight", double(4.5)), .delete("Item", 5)]),
            // What follows is in the log alone.
            .schema(laterClasses), .commit(values + collections + others), .group(members), .commit(ending),
        ]
    }

    private static func item(_ key: Int64, _ property: String, _ value: PlainValue) -> Change {
        .put("Item", key, property, value)
    }

    private static func double(_ value: Double) -> PlainValue { .double(value.bitPattern) }

    private static func link(_ className: String, _ key: Int64) -> PlainValue {
        .link(PlainPlace(className: className, key: key))
    }

    private static var beginning: [Change] {
        var changes: [Change] = []
        for (key, text) in ["red", "green", "blue"].enumerated() {
            changes.append(.insert("Tag", key: Int64(key), primaryKey: .text(text)))
        }
        for key in 0..<8 as Range<Int64> {
            changes.append(.insert("Item", key: key, primaryKey: .int(key + 10)))
            changes.append(item(key, "name", .text("name \(key % 3)")))
            changes.append(item(key, "code", .int(key)))
        }
        // Of this length it has pages of its own.
        changes.append(item(1, "numbers", .list((0..<300 as Range<Int64>).map { PlainValue.int($0 * $0 - 5) })))
        changes.append(item(2, "next", link("Item", 3)))
        changes.append(item(3, "tags", .list([link("Tag", 0), link("Tag", 1), link("Tag", 1)])))
        changes.append(.insert("Part", key: 0))
        changes.append(item(7, "part", link("Part", 0)))
        return changes
    }

    private static var values: [Change] {
        [
            item(0, "name", .text("renamed")),
            item(0, "flag", .bool(true)),
            item(0, "weight", double(-0.0)),
            item(0, "ratio", .float(Float(1.5).bitPattern)),
            item(0, "day", .date((-1.25).bitPattern)),
            item(0, "object", .objectID(0x0102_0304_0506_0708, 0x090A_0B0C)),
            item(0, "mark", .uuid(0x1011_1213_1415_1617, 0x1819_1A1B_1C1D_1E1F)),
            item(0, "price", .decimal(0x3040_0000_0000_0000, 25)),
            item(0, "photo", .data([0, 1, 255])),
            item(0, "anything", .map(["a": .list([.int(1), .null, .text("x")]), "b": link("Tag", 1)])),
            item(0, "next", link("Item", 6)),
        ]
    }

    private static var collections: [Change] {
        [
            item(0, "numbers", .list([.int(1), .int(-2), .int(3)])),
            item(0, "words", .set([.text("b"), .text("a"), .text("")])),
            item(0, "labels", .map(["one": .int(1), "two": .null])),
            item(0, "tags", .list([link("Tag", 2), link("Tag", 1), link("Tag", 2)])),
        ]
    }

    private static var others: [Change] {
        [
            .insert("Part", key: 1),
            item(0, "part", link("Part", 1)),
            .put("Part", 1, "size", .int(7)),
            // The part goes with the link to it.
            item(7, "part", .null),
            .delete("Item", 4),
            .insert("Item", key: 8, primaryKey: .int(-7)),
            item(8, "numbers", .list((0..<200 as Range<Int64>).map { PlainValue.int($0) })),
            item(8, "anything", link("Tag", 0)),
        ]
    }

    private static var members: [[Change]] {
        [
            [
                .insert("Note", key: 0), .put("Note", 0, "text", .text("a note")),
                .put("Note", 0, "item", link("Item", 8)),
            ],
            [item(6, "code", .null), item(6, "weight", double(.infinity))],
            [.put("Tag", 2, "size", .int(5)), item(6, "code", .int(4))],
        ]
    }

    private static var ending: [Change] {
        [
            .append("Item", 1, "numbers", [.int(-1), .int(1 << 40)]),
            // Two lists and a value of any kind hold it.
            .delete("Tag", 1),
            .insert("Item", key: 9, primaryKey: .int(99)),
        ]
    }

    // MARK: In plain dictionaries

    /// What the file holds in the end, without any code of the library.
    static func plain() throws -> PlainModel {
        var plain = PlainModel()
        for step in [Step.schema(classes)] + steps {
            switch step {
            case .commit(let changes): try apply(changes, to: &plain)
            case .group(let members): for changes in members { try apply(changes, to: &plain) }
            case .schema(let classes):
                var migration = RandomMigration()
                migration.declared = classes
                try plain.migrate(migration)
            }
        }
        return plain
    }

    private static func apply(_ changes: [Change], to plain: inout PlainModel) throws {
        for change in changes {
            switch change {
            case .insert(let name, let key, let primaryKey):
                plain.insert(PlainPlace(className: name, key: key), primaryKey: primaryKey)
            case .put(let name, let key, let property, let value):
                let schema = try #require(plain.schema(name)?[property])
                plain.put(value, schema, of: PlainPlace(className: name, key: key))
            case .append(let name, let key, let property, let more):
                let place = PlainPlace(className: name, key: key)
                let schema = try #require(plain.schema(name)?[property])
                guard case .list(let elements) = plain.value(property, of: place) else {
                    throw PlainDifference("\(name).\(property) is no list")
                }
                plain.put(.list(elements + more), schema, of: place)
            case .delete(let name, let key):
                let going = try #require(plain.deletion(of: [PlainPlace(className: name, key: key)]))
                plain.delete(going)
            }
        }
    }

    // MARK: In a realm

    /// Runs the program in a realm that a log makes durable.
    static func run(in folder: TemporaryDirectory) throws -> LoggedDatabase {
        // Half of it is more than what follows the change of the schema: no checkpoint is made behind that.
        let options = LoggedDatabase.options(ringByteCount: 16 * LogHeader.blockByteCount)
        let database = try LoggedDatabase(classes, options: options, in: folder)
        var number = 0
        for step in steps {
            switch step {
            case .commit(let changes):
                try database.write(GoldenRecords.heading(number)) { try apply(changes, to: $0) }
                number += 1
            case .group(let members):
                try commit(members, from: number, to: database)
                number += members.count
            case .schema(let classes):
                try TestDatabase.reconcile(DatabaseSchema(classes: classes, version: 2), in: database.file)
                try database.model.advance(to: database.file.beginRead())
            }
        }
        return database
    }

    /// Commits transactions together, each with a record of its own.
    private static func commit(_ members: [[Change]], from first: Int, to database: LoggedDatabase) throws {
        let (file, model) = (database.file, database.model)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        for (index, changes) in members.enumerated() {
            try database.begin(joining: true)
            do {
                try apply(changes, to: model)
                try model.checkUniqueness()
                try model.keepRecord(GoldenRecords.heading(first + index))
                try model.join()
            } catch {
                model.rollback()
                throw error
            }
        }
        if let prepared = try file.sealGroup() { try file.publish([prepared]) }
        try model.advance(to: file.beginRead())
    }

    private static func apply(_ changes: [Change], to model: ModelView) throws {
        func table(named name: String) throws -> TableView { try #require(try model.table(named: name)) }
        for change in changes {
            switch change {
            case .insert(let name, let key, let primaryKey):
                let value = try primaryKey.map { try $0.stored(asAny: false, in: model) }
                let inserted = try table(named: name).insert(primaryKey: value)
                try #require(inserted == key)
            case .put(let name, let key, let property, let value):
                try put(value, property, key, in: table(named: name), model)
            case .append(let name, let key, let property, let more):
                let found = try table(named: name)
                for element in more {
                    let value = try element.stored(asAny: false, in: model)
                    try found.listAppend(found.ordinal(property), key: key, value)
                }
            case .delete(let name, let key): try table(named: name).delete(key: key)
            }
        }
    }

    private static func put(
        _ value: PlainValue,
        _ property: String,
        _ key: Int64,
        in table: TableView,
        _ model: ModelView
    ) throws {
        let ordinal = table.ordinal(property)
        let isAny = table.kind(of: ordinal) == .any
        switch (table.collection(of: ordinal), value) {
        case (.list, .list(let elements)):
            let values = try elements.map { try $0.stored(asAny: isAny, in: model) }
            try table.listAssign(ordinal, key: key, values)
        case (.set, .set(let elements)):
            let values = try elements.map { try $0.stored(asAny: isAny, in: model) }
            try table.setAssign(ordinal, key: key, values)
        case (.map, .map(let entries)):
            try table.mapAssign(ordinal, key: key, PlainValue.stored(entries, asAny: isAny, in: model))
        default:
            let stored = try value.stored(asAny: isAny, in: model)
            try table.set(ordinal, key: key, to: stored)
        }
    }
}

extension PlainValue {
    /// The value as it is written.
    ///
    /// - Parameters:
    ///   - isAny: Whether its property holds values of any kind, whose links say their class.
    ///   - model: The view that it is written through.
    /// - Returns: The value as a row takes it.
    /// - Throws: What finding the row of a link does.
    fileprivate func stored(asAny isAny: Bool, in model: ModelView) throws -> StoredValue {
        switch self {
        case .null: return .null
        case .int(let value): return .int(value)
        case .bool(let value): return .bool(value)
        case .float(let bits): return .float(Float(bitPattern: bits))
        case .double(let bits): return .double(Double(bitPattern: bits))
        case .text(let text): return .string(text)
        case .data(let bytes): return .data(bytes)
        case .date(let bits): return .date(Double(bitPattern: bits))
        case .objectID(let high, let low): return .objectId(ObjectIDBytes(high: high, low: low))
        case .uuid(let high, let low): return .uuid(UUIDBytes(high: high, low: low))
        case .decimal(let high, let low): return .decimal(DecimalBytes(high: high, low: low))
        case .link(let place):
            guard isAny else { return .link(place.key) }
            let table = try #require(try model.table(named: place.className))
            return .anyLink(table: table.id, key: place.key)
        case .list(let elements): return .list(try elements.map { try $0.stored(asAny: true, in: model) })
        case .map(let entries): return .dictionary(try Self.stored(entries, asAny: true, in: model))
        case .set: throw PlainDifference("A set in a value is none")
        }
    }

    fileprivate static func stored(
        _ entries: [String: PlainValue],
        asAny isAny: Bool,
        in model: ModelView
    ) throws -> [StoredEntry] {
        try entries.sorted { $0.key < $1.key }
            .map { StoredEntry(key: $0.key, value: try $0.value.stored(asAny: isAny, in: model)) }
    }
}
