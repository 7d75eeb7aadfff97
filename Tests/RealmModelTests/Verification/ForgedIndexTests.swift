import RealmTestSupport
import Testing

@testable import RealmModel
@testable import RealmStorage

/// Indexes and backlinks that say other than the rows do: what is written through them is an error, and takes nothing away.
@Suite struct ForgedIndexTests {
    private static let classes = [
        ClassSchema(
            name: "Item",
            properties: [
                PropertySchema(name: "id", kind: .string, isPrimaryKey: true),
                PropertySchema(name: "name", kind: .string, isUnique: true),
                PropertySchema(name: "size", kind: .int, isIndexed: true),
                PropertySchema(name: "next", kind: .object, targetClass: "Item"),
                PropertySchema(name: "others", kind: .object, collection: .list, targetClass: "Item"),
                PropertySchema(
                    name: "named",
                    kind: .object,
                    collection: .map,
                    isOptional: true,
                    targetClass: "Item"
                ),
                PropertySchema(name: "value", kind: .any, isOptional: true),
                PropertySchema(name: "part", kind: .object, targetClass: "Part"),
            ]
        ),
        ClassSchema(name: "Part", properties: [PropertySchema(name: "text", kind: .string)], isEmbedded: true),
    ]

    /// Rows 0 to 4, in a file whose indexes are not counted at the end of each transaction.
    private func database() throws -> TestDatabase {
        let database = try TestDatabase(Self.classes, failures: StepFailures())
        try database.write { _ in
            let items = try database.table("Item")
            for number in 0..<5 as Range<Int64> {
                let key = try items.insert(primaryKey: .string("id \(number)"))
                try items.set("name", key, .string("name \(number)"))
                try items.set("size", key, .int(number))
            }
        }
        return database
    }

    /// The code of the error with which a transaction ends.
    private func code(_ database: TestDatabase, _ body: (TableView) throws -> Void) -> StorageError.Code? {
        let error = #expect(throws: StorageError.self) {
            try database.write { model in
                try body(try database.table("Item"))
                try model.checkUniqueness()
            }
        }
        return error?.code
    }

    /// Takes a row away, and leaves what leads to it.
    private func forgeMissing(_ key: Int64, _ className: String = "Item", in database: TestDatabase) throws {
        try database.write { _ in
            let isRemoved = try database.table(className).openWriter().rows.delete(key: key) { _ in }
            #expect(isRemoved)
        }
    }

    // MARK: Indexes

    @Test func `a primary key whose row is not there is not taken for one that exists`() throws {
        let database = try database()
        try forgeMissing(2, in: database)
        let items = try database.table("Item")
        #expect(try items.find(primaryKey: .string("id 2")) == 2)
        #expect(throws: StorageError.self) { try items.existingRow(withPrimaryKey: .string("id 2")) }
        #expect(try items.existingRow(withPrimaryKey: .string("id 3")) == 3)
        #expect(try items.existingRow(withPrimaryKey: .string("id 9")) == nil)
        #expect(code(database) { _ = try $0.insert(primaryKey: .string("id 2")) } == .corrupt)
    }

    @Test func `a unique value whose row is not there is not taken for one that exists`() throws {
        let database = try database()
        try forgeMissing(2, in: database)
        let code = code(database) { items in
            let key = try items.insert(primaryKey: .string("new"))
            try items.set("name", key, .string("name 2"))
            try items.requireUnique(key: key)
        }
        #expect(code == .corrupt)
    }

    @Test func `a unique value that the index gives to a row that has another one is damage`() throws {
        let database = try database()
        try database.write { _ in
            let items = try database.table("Item")
            let writer = try items.openWriter()
            try writer.rows.setBytes(.none, key: 2, column: items.column(items.ordinal("name")))
        }
        let code = code(database) { items in
            let key = try items.insert(primaryKey: .string("new"))
            try items.set("name", key, .string("name 2"))
            try items.requireUnique(key: key)
        }
        #expect(code == .corrupt)
    }

    @Test func `what names a missing row is found while its table is written, and no row that was deleted`() throws {
        let database = try database()
        try forgeMissing(2, in: database)
        try database.write { _ in
            let items = try database.table("Item")
            #expect(items.damage(ofMissing: 2)?.code == .corrupt)
            try items.delete(key: 3)
            let key = try items.insert(primaryKey: .string("new"))
            try items.delete(key: key)
            #expect(items.damage(ofMissing: 3) == nil)
            #expect(items.damage(ofMissing: key) == nil)
            #expect(items.damage(ofMissing: 99) == nil)
            #expect(items.damage(ofMissing: 2)?.code == .corrupt)
        }
    }

    @Test func `an index that has the entry of a row to come is damage, and no wrong argument`() throws {
        let database = try database()
        try database.write { _ in
            let items = try database.table("Item")
            let writer = try items.openWriter()
            let tree = Int(items.slots[items.ordinal("size")].tree)
            let transaction = try items.openTransaction
            let length = PendingEntries.encode(
                .int(7),
                slot: items.slots[items.ordinal("size")],
                rowKey: 300,
                to: transaction.keyBuffer
            )
            let entry = UnsafeRawBufferPointer(start: transaction.keyBuffer, count: length)
            try writer.trees[tree].tree.insert(entry, value: .none, in: transaction.storage)
        }
        let code = code(database) { items in
            // So many that the tree is made anew.
            for number in 5..<1_000 {
                let key = try items.insert(primaryKey: .string("id \(number)"))
                try items.set("name", key, .string("name \(number)"))
                try items.set("size", key, .int(7))
            }
        }
        #expect(code == .corrupt)
    }

    // MARK: Unique rules

    private static func classes(with rule: String = "") -> [ClassSchema] {
        var name = PropertySchema(name: "name", kind: .string, isIndexed: true)
        var size = PropertySchema(name: "size", kind: .int, isIndexed: true)
        if rule == "unique" { name.isUnique = true }
        if rule == "primary key" { name.isPrimaryKey = true }
        if rule == "int primary key" { size.isPrimaryKey = true }
        let index = CompoundIndexSchema(["name", "size"], isUnique: rule == "compound")
        return [ClassSchema(name: "Item", properties: [name, size], compoundIndexes: [index])]
    }

    @Test(arguments: ["unique", "compound", "primary key", "int primary key"])
    func `an index that leaves a row out hides no value that occurs twice`(rule: String) throws {
        let database = try TestDatabase(Self.classes(), failures: StepFailures())
        try database.write { _ in
            let items = try database.table("Item")
            for name in ["a", "b", "b"] {
                let key = try items.insert()
                try items.set("name", key, .string(name))
                try items.set("size", key, .int(Int64(name.utf8.first!)))
            }
        }
        try database.write { _ in
            let items = try database.table("Item")
            let writer = try items.openWriter()
            let transaction = try items.openTransaction
            for source in items.layout.sources {
                try writer.catchUp(source)
                let location = try items.row(of: 2)
                let buffer = transaction.keyBuffer
                let length = try items.encode(source, at: location, to: buffer)
                let entry = UnsafeRawBufferPointer(
                    start: buffer,
                    count: IndexKey.append(rowKey: 2, to: buffer, at: length)
                )
                #expect(try writer.trees[source.tree].tree.remove(entry, in: transaction.storage))
            }
        }
        #expect(throws: ModelError.self) { try database.reconcile(Self.classes(with: rule), version: 2) }
    }

    @Test func `only rows that are there are asked for unique values, however many keys were left out`() throws {
        let database = try database()
        try database.write { _ in
            let items = try database.table("Item")
            let writer = try items.openWriter()
            let uniqueness = try #require(writer.uniqueness)
            writer.rows.skipKeys(to: 2_000)
            let keys = try (0..<3).map { try items.insert(primaryKey: .string("new \($0)")) }
            for key in keys { try items.set("name", key, .string("\(key)")) }
            writer.rows.skipKeys(to: 4_000)
            try items.requireUnique(key: keys[1])
            #expect(try items.uncheckedKeys(uniqueness) == [keys[0], keys[2]])
            try items.checkUniqueness()
            #expect(try items.uncheckedKeys(uniqueness) == [])
        }
    }

    // MARK: Links

    @Test func `a link that owns a row that is not there is damage where it is taken away`() throws {
        let database = try database()
        try database.write { _ in
            let part = try database.table("Part").insert()
            let items = try database.table("Item")
            try items.setLink(items.ordinal("part"), key: 1, to: part)
        }
        try forgeMissing(0, "Part", in: database)
        let parts = try database.table("Part")
        #expect(parts.damage(ofMissing: 0)?.code == .corrupt)
        #expect(throws: StorageError.self) { try parts.requireLinked(0) }
        #expect(code(database) { try $0.setLink($0.ordinal("part"), key: 1, to: nil) } == .corrupt)
        #expect(code(database) { try $0.setNull($0.ordinal("part"), key: 1) } == .corrupt)
        let other = code(database) { items in
            try items.setLink(items.ordinal("part"), key: 1, to: try database.table("Part").insert())
        }
        #expect(other == .corrupt)
    }

    @Test func `a value whose link leads to no row is damage where it is written again`() throws {
        let database = try database()
        let table = try database.table("Item").id
        try database.write { _ in
            let items = try database.table("Item")
            try items.set("value", 0, .list([.anyLink(table: table, key: 4)]))
        }
        try forgeMissing(4, in: database)
        let code = code(database) { items in
            try items.set("value", 0, .list([.anyLink(table: table, key: 4), .int(1)]))
        }
        #expect(code == .corrupt)
        try database.write { _ in
            let items = try database.table("Item")
            #expect(throws: ModelError.self) { try items.set("value", 1, .anyLink(table: table, key: 4)) }
        }
    }

    /// What links to a row, in each of the forms that a property can have.
    private static let links = ["next", "others", "named", "value"]

    private func link(_ name: String, _ items: TableView, from key: Int64, to target: Int64) throws {
        let property = items.ordinal(name)
        switch name {
        case "next": try items.setLink(property, key: key, to: target)
        case "others": try items.listAppend(property, key: key, .link(target))
        case "named": try items.mapSet(property, key: key, "n", to: .link(target))
        default: try items.set(property, key: key, to: .anyLink(table: items.id, key: target))
        }
    }

    @Test(arguments: links)
    func `a backlink that no link belongs to takes no other link away`(name: String) throws {
        let database = try database()
        try database.write { _ in
            let items = try database.table("Item")
            try link(name, items, from: 0, to: 1)
        }
        try database.write { _ in
            let items = try database.table("Item")
            let writer = try items.openWriter()
            let transaction = try items.openTransaction
            let slot = items.slots[items.ordinal(name)]
            let number = items.linkNumber(of: 2, in: slot)
            let entry = IndexKey.backlink(target: number, origin: 0, to: transaction.keyBuffer)
            try writer.trees[Int(slot.tree)].tree.insert(entry, value: .none, in: transaction.storage)
        }
        #expect(code(database) { try $0.delete(key: 2) } == .corrupt)
        let items = try database.table("Item")
        #expect(try items.linkIDs(items.ordinal(name), key: 0).count == 1)
        #expect(try items.backlinkKeys(of: 1, from: items.id, property: items.ordinal(name)) == [0])
    }

    @Test(arguments: [0, 2, 3] as [UInt32])
    func `a backlink that counts other than its list is damage`(count: UInt32) throws {
        let database = try database()
        try database.write { _ in
            let items = try database.table("Item")
            for _ in 0..<(count == 2 ? 3 : 2) { try link("others", items, from: 0, to: 1) }
        }
        try database.write { _ in
            let items = try database.table("Item")
            let transaction = try items.openTransaction
            let entry = IndexKey.backlink(target: 1, origin: 0, to: transaction.keyBuffer)
            try withUnsafeBytes(of: count.littleEndian) { (bytes) throws(StorageError) in
                _ = try items.openWriter().trees[Int(items.slots[items.ordinal("others")].tree)].tree
                    .insert(entry, value: bytes, in: transaction.storage)
            }
        }
        #expect(code(database) { try $0.delete(key: 1) } == .corrupt)
        let items = try database.table("Item")
        #expect(try items.list(items.ordinal("others"), key: 0).count == (count == 2 ? 3 : 2))
    }

    @Test func `a deletion takes away each of the links that one value holds`() throws {
        let database = try database()
        let table = try database.table("Item").id
        try database.write { _ in
            let items = try database.table("Item")
            let links = (0..<3 as Range<Int64>).map { StoredValue.anyLink(table: table, key: $0) }
            let value = StoredValue.list([
                links[1],
                .dictionary([StoredEntry(key: "a", value: links[1]), StoredEntry(key: "b", value: links[2])]),
                .list([links[0], links[1], .int(1)]),
            ])
            for key in [0, 1, 4] as [Int64] { try items.set("value", key, value) }
            for name in ["a", "b", "c"] { try items.mapSet(items.ordinal("named"), key: 0, name, to: .link(1)) }
        }
        try database.write { _ in try database.table("Item").delete(key: 1) }
        let items = try database.table("Item")
        #expect(try items.linkIDs(items.ordinal("value"), key: 0).count == 2)
        #expect(try items.map(items.ordinal("named"), key: 0).entries().map(\.value) == [.null, .null, .null])
        try FileVerifier.verify(database.file.beginRead())
        try database.write { _ in try database.table("Item").delete(key: 0) }
        try FileVerifier.verify(database.file.beginRead())
    }

    @Test(arguments: links)
    func `what a deletion takes away in a sound file is all of it`(name: String) throws {
        let database = try database()
        try database.write { _ in
            let items = try database.table("Item")
            for key in [0, 2, 3] as [Int64] { try link(name, items, from: key, to: 1) }
            if name == "others" { try link(name, items, from: 2, to: 1) }
            try link(name, items, from: 1, to: 1)
            try link(name, items, from: 4, to: 3)
        }
        try database.write { _ in try database.table("Item").delete(key: 1) }
        let table = try database.table("Item")
        let property = table.ordinal(name)
        for key in [0, 2, 3] as [Int64] { #expect(try table.linkIDs(property, key: key) == []) }
        #expect(try table.backlinkKeys(of: 3, from: table.id, property: property) == [4])
        try FileVerifier.verify(database.file.beginRead())
    }
}
