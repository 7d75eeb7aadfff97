import RealmTestSupport
import Testing

@testable import RealmModel
@testable import RealmStorage

/// What rows and indexes of a file from a stranger may say, where validation of pages does not look: writing to it is an error.
@Suite struct HostileWritesTests {
    private static let classes = [
        ClassSchema(
            name: "Item",
            properties: [
                PropertySchema(name: "id", kind: .int, isPrimaryKey: true),
                PropertySchema(name: "names", kind: .string, collection: .list),
                PropertySchema(name: "others", kind: .object, collection: .list, targetClass: "Item"),
            ]
        )
    ]

    /// Two rows, the first one with a large list of five texts of 600 bytes.
    private func database() throws -> (database: TestDatabase, keys: [Int64]) {
        let database = try TestDatabase(Self.classes)
        var keys: [Int64] = []
        try database.write { _ in
            let items = try database.table("Item")
            for id in 0..<2 as Range<Int64> { keys.append(try items.insert(primaryKey: .int(id))) }
            for _ in 0..<5 {
                let text = String(repeating: "x", count: 600)
                try items.listAppend(items.ordinal("names"), key: keys[0], .string(text))
            }
        }
        return (database, keys)
    }

    private func isCorrupt(_ error: any Error) -> Bool { (error as? StorageError)?.code == .corrupt }

    // MARK: Lists

    /// Has the list of the first row say that its elements are so long together.
    private func lie(_ byteCount: UInt64, in database: TestDatabase, _ key: Int64) throws {
        try database.write { _ in
            let items = try database.table("Item")
            let location = try items.row(of: key)
            let column = try items.column(items.ordinal("names"), in: location.leaf)
            var bytes = [UInt8](try column.bytes(location.row))
            try #require(bytes.count == ListFormat.largeByteCount)
            bytes.withUnsafeMutableBytes { $0.baseAddress!.storeLittle(byteCount, at: 16) }
            try bytes.withUnsafeBytes { try items.setListBytes($0, items.ordinal("names"), key: key) }
        }
    }

    @Test(arguments: [601, 700, 1_112] as [UInt64])
    func `a list whose elements are longer than it says is not put into its row`(byteCount: UInt64) throws {
        let (database, keys) = try database()
        try lie(byteCount, in: database, keys[0])
        #expect {
            try database.write { _ in
                let items = try database.table("Item")
                try items.listRemove(items.ordinal("names"), key: keys[0], at: 0)
            }
        } throws: {
            isCorrupt($0)
        }
    }

    @Test func `a list that would come to be less than nothing long is refused`() throws {
        let (database, keys) = try database()
        try lie(10, in: database, keys[0])
        #expect {
            try database.write { _ in
                let items = try database.table("Item")
                try items.listReplace(items.ordinal("names"), key: keys[0], at: 0, with: .string(""))
            }
        } throws: {
            isCorrupt($0)
        }
    }

    @Test func `a list that says it is longer than anything is refused`() throws {
        let (database, keys) = try database()
        try lie(UInt64(Int.max), in: database, keys[0])
        let items = try database.table("Item")
        #expect {
            try items.list(items.ordinal("names"), key: keys[0])
        } throws: {
            isCorrupt($0)
        }
    }

    @Test func `a list that leads to a page that is being written is refused`() throws {
        let (database, keys) = try database()
        try database.rollBack { model in
            let items = try database.table("Item")
            let names = items.ordinal("names")
            // Changed here, so that its root has no checksum; the other row says that its list is the same.
            try items.listAppend(names, key: keys[0], .string("y"))
            let open = try items.openSequence(names, key: keys[0])
            try #require(open.tree.root.isDirty)
            try open.withBytes(items.slots[names]) { (bytes) throws(StorageError) in
                try items.setListBytes(bytes, names, key: keys[1])
            }
            #expect(try items.list(names, key: keys[0]).count == 6)
            #expect {
                try items.list(names, key: keys[1])
            } throws: {
                isCorrupt($0)
            }
        }
    }

    @Test func `the name of an entry that has become too long is refused`() throws {
        // Each byte that is no UTF-8 is read as a sign of three bytes.
        let name = String(decoding: [UInt8](repeating: 0xFF, count: 30_000), as: UTF8.self)
        let slot = PropertySlot(
            PropertySchema(name: "map", kind: .int, collection: .map, isOptional: true),
            tree: -1,
            in: DatabaseSchema(classes: [])
        )
        #expect {
            try MapFormat.encode(name, .null, slot)
        } throws: {
            isCorrupt($0)
        }
    }

    // MARK: Indexes

    @Test func `a run of primary keys ends before the greatest row`() {
        func run(row: UInt64, count: UInt8?) -> KeyRun? {
            var key = [UInt8](repeating: 0, count: KeyRun.keyByteCount)
            let length = key.withUnsafeMutableBytes { KeyRun.encode(7, to: $0.baseAddress!) }
            var entry: [UInt8] = []
            var rest = row
            while rest >= 0x80 {
                entry.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            entry.append(UInt8(rest))
            if let count { entry.append(count) }
            return key[..<length].withUnsafeBytes { key in entry.withUnsafeBytes { KeyRun(key: key, entry: $0) } }
        }
        #expect(run(row: UInt64(Int64.max) - 1, count: nil)?.row == Int64.max - 1)
        #expect(run(row: UInt64(Int64.max), count: nil) == nil)
        #expect(run(row: UInt64(Int64.max) - 2, count: 2)?.count == 2)
        #expect(run(row: UInt64(Int64.max) - 1, count: 2) == nil)
    }

    @Test func `a backlink counts no more links than the file has room for`() throws {
        let (database, keys) = try database()
        try database.write { _ in
            let items = try database.table("Item")
            let others = items.ordinal("others")
            for _ in 0..<3 { try items.listAppend(others, key: keys[0], .link(keys[1])) }
        }
        let items = try database.table("Item")
        let others = items.ordinal("others")
        #expect(try items.backlinkCount(of: keys[1], from: items.id, property: others) == 3)
        try database.write { _ in
            let writer = try items.openWriter()
            let transaction = try items.openTransaction
            let key = IndexKey.backlink(target: keys[1], origin: keys[0], to: transaction.keyBuffer)
            try withUnsafeBytes(of: UInt32.max) {
                _ = try writer.trees[Int(items.slots[others].tree)].tree
                    .insert(key, value: $0, in: transaction.storage)
            }
        }
        #expect {
            try items.backlinkCount(of: keys[1], from: items.id, property: others)
        } throws: {
            isCorrupt($0)
        }
        let reader = try BacklinkReader(of: items, from: items, property: others)
        var count = 0
        #expect {
            try reader.forEachKey(of: keys[1]) { _ in
                count += 1
                precondition(count < 1_000_000, "The links never end")
            }
        } throws: {
            isCorrupt($0)
        }
    }

    // MARK: The catalog

    @Test func `a name that is no text is refused`() throws {
        // As a text it would have more bytes than its length can say, when its class is stored again.
        let name = String(repeating: "~", count: 30_000)
        var property = PropertySchema(name: name, kind: .object, targetClass: "Item")
        property.column = 0
        var stored = ClassSchema(name: "Item", properties: [property])
        stored.columnLayouts = [property.layout]
        var bytes = stored.storedBytes
        func load() throws -> ClassSchema { try bytes.withUnsafeBytes { try ClassSchema(tableID: 1, load: $0) } }
        #expect(try load().properties[0].name == name)
        for index in bytes.indices where bytes[index] == UInt8(ascii: "~") { bytes[index] = 0xFF }
        #expect {
            try load()
        } throws: {
            isCorrupt($0)
        }
    }

    @Test func `an index with an entry without a row is made anew where values become unique`() throws {
        let database = try TestDatabase([.item()])
        try database.write { _ in
            let items = try database.table("Item")
            for id in 0..<2 as Range<Int64> {
                try items.set("name", try items.insert(primaryKey: .int(id)), .string("\(id)"))
            }
        }
        try database.write { _ in
            let items = try database.table("Item")
            let writer = try items.openWriter()
            let tree = Int(items.slots[items.ordinal("name")].tree)
            let transaction = try items.openTransaction.storage
            // In the place of another one, so that their number is right.
            try writer.catchUp(tree: tree)
            var cursor = writer.trees[tree].tree.cursor(in: transaction.view)
            try #require(try cursor.seekFirst())
            try [UInt8](cursor.key)
                .withUnsafeBytes { key in
                    _ = try writer.trees[tree].tree.remove(key, in: transaction)
                }
            try writer.trees[tree].tree.insert(.none, value: .none, in: transaction)
        }
        var properties = ClassSchema.item().properties
        properties[1].isUnique = true
        let unique = ClassSchema(name: "Item", properties: properties)
        try database.reconcile([unique], version: 2)
        let items = try database.table("Item")
        #expect(try items.indexedKeys(property: 1, equalTo: .string("0")) == [0])
        try ModelVerifier.verify(database.model)
    }

    @Test func `an entry that gives out no number of a table is refused`() throws {
        let (database, _) = try database()
        try database.file.lockForWriting()
        defer { database.file.unlockForWriting() }
        let transaction = try database.file.beginWrite()
        defer { transaction.rollback() }
        var entry = try #require(try DatabaseEntry(in: transaction.catalog, view: transaction.view))
        entry.nextTableID = 0
        try entry.store(in: transaction)
        #expect {
            try DatabaseEntry(in: transaction.catalog, view: transaction.view)
        } throws: {
            isCorrupt($0)
        }
    }
}
