import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmModel

/// `Docs/FileFormat.md` says what the code does: the tables of the catalog's entries and of lists, beside bytes that the code stores.
@Suite struct CatalogDocumentTests {
    private let document: FormatDocument

    init() throws { document = try FormatDocument() }

    private func bytes(_ number: some FixedWidthInteger) -> [UInt8] { FormatDocument.bytes(number) }

    private func stored(_ reference: PageReference) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: PageReference.byteCount)
        result.withUnsafeMutableBytes { reference.store(to: $0.baseAddress!) }
        return result
    }

    @Test func `keys of the catalog`() {
        #expect(document.text.contains("| `0\(CatalogKey.database)` | the database |"))
        #expect(document.text.contains("| `0\(CatalogKey.classSchema)`, table u32 BE | a class |"))
        #expect(document.text.contains("| `0\(CatalogKey.table)`, table u32 BE | a table's roots |"))
    }

    @Test func `the database`() throws {
        var entry = DatabaseEntry()
        entry.nextTableID = 0x0102_0304
        entry.schemaVersion = 0x1112_1314_1516_1718
        entry.stamp = 0x2122_2324_2526_2728
        entry.noteRowKeys(before: 0x0032_3334_3536_3738)
        entry.indexKey = SipHash.Key(low: 0x4142_4344_4546_4748, high: 0x5152_5354_5556_5758)
        let database = try TestDatabase([])
        let file = database.file
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite()
        do {
            try entry.store(in: transaction)
            try file.publish([transaction.prepareCommit()])
        } catch {
            transaction.rollback()
            throw error
        }
        let indexKey: [UInt8] = bytes(entry.indexKey.low) + bytes(entry.indexKey.high)
        let snapshot = try file.beginRead()
        let value = try CatalogKey.value(CatalogKey.database, in: snapshot.catalog, view: snapshot.view)
        let stored = try #require(value.map { Array($0) })
        withExtendedLifetime(snapshot) {}
        #expect(stored.count == DatabaseEntry.byteCount)
        let differences = try document.differences(
            behind: "#### The database (\(DatabaseEntry.byteCount) bytes)",
            from: stored,
            holding: [
                ("layout, \(DatabaseEntry.layout)", bytes(DatabaseEntry.layout)),
                ("0", [0, 0]),
                ("the number that the next table gets", bytes(entry.nextTableID)),
                ("schema version", bytes(entry.schemaVersion)),
                ("schema stamp", bytes(entry.stamp)),
                ("the row key with which the next table begins", bytes(entry.firstRowKey)),
                ("the key with which long strings", indexKey),
                ("0", [UInt8](repeating: 0, count: 16)),
            ]
        )
        #expect(differences == [])
    }

    @Test func `a class with properties, an index and an attribute`() throws {
        var schema = ClassSchema(
            name: StoredFormTests.schema.name,
            properties: StoredFormTests.schema.properties,
            compoundIndexes: [CompoundIndexSchema(["größe", "id"], isUnique: true)]
        )
        schema.tableID = 3
        schema.columnLayouts = StoredFormTests.schema.columnLayouts
        schema = schema.calling(itself: "Outer_Node", isRecorded: true) { $0 }
        let stored = schema.storedBytes
        let (name, programName) = (Array("Node".utf8), Array("Outer_Node".utf8))
        let marker = "#### A class"
        let differences = try document.differences(
            behind: marker,
            from: stored,
            holding: [
                ("flags: bit 0 embedded, bit 7 set", [0x80]),
                ("number of further indexes", [1]),
                ("byte length of the class name", bytes(UInt16(name.count))),
                ("number of columns", bytes(UInt32(schema.columnLayouts.count))),
                ("number of properties", bytes(UInt32(schema.properties.count))),
                ("long strings in the indexes", [schema.longStrings.isHashed ? 1 : 0]),
                ("encoding of the table's leaves", [0]),
                ("byte length of the class's attributes", bytes(UInt16(4 + programName.count))),
            ]
        )
        #expect(differences == [])
        var place = try offset(of: "the class name", behind: marker)
        #expect(Array(stored[place...].prefix(name.count)) == name)
        place += name.count
        for layout in schema.columnLayouts {
            #expect(Array(stored[place..<place + 2]) == [layout.kind.rawValue, layout.isNullable ? 1 : 0])
            place += 2
        }
        for property in schema.properties { try compare(property, with: stored, at: &place) }

        let index = "\nA further index:"
        let differencesOfIndex = try document.differences(
            behind: index,
            from: stored[place...],
            holding: [
                ("flags: bit 0 unique", [1]), ("number of properties", [2]), ("kind: 1 a compound index", [1]),
                ("encoding of its keys", [0]), ("byte length of its attributes", [0, 0]),
            ]
        )
        #expect(differencesOfIndex == [])
        place += try offset(of: "the physical columns of the properties", behind: index)
        let columns: [UInt8] = bytes(UInt32(1)) + bytes(UInt32(0))
        #expect(Array(stored[place..<place + 8]) == columns)
        place += 8

        let attribute = "Attributes stand one behind the other:"
        let differencesOfAttribute = try document.differences(
            behind: attribute,
            from: stored[place...],
            holding: [("number", bytes(UInt16(1))), ("byte length", bytes(UInt16(programName.count)))]
        )
        #expect(differencesOfAttribute == [])
        place += try offset(of: "what it says", behind: attribute)
        #expect(Array(stored[place...]) == programName)
    }

    private func offset(of text: String, behind marker: String) throws -> Int {
        let row = try document.rows(behind: marker).first { $0.text.hasPrefix(text) }
        return try #require(row, "\(marker) has no \(text)").offset
    }

    private func compare(_ property: PropertySchema, with stored: [UInt8], at place: inout Int) throws {
        let marker = "\nA property:"
        let names = [property.name, property.targetClass ?? "", property.originProperty ?? ""].map { Array($0.utf8) }
        let bits = [property.isOptional, property.isPrimaryKey, property.isIndexed, property.isUnique]
        let flags = bits.enumerated().reduce(UInt8(0)) { $0 | ($1.element ? 1 << UInt8($1.offset) : 0) }
        let differences = try document.differences(
            behind: marker,
            from: stored[place...],
            holding: [
                ("kind: 0 int", [property.kind.rawValue]),
                ("collection: 0 none", [property.collection.rawValue]),
                ("flags: bit 0 optional, bit 1 primary key, bit 2 indexed, bit 3 unique", [flags]),
                ("delete rule", [property.deleteRule.rawValue]),
                ("physical column", bytes(Int32(property.column))),
                ("byte length of the property's name", bytes(UInt16(names[0].count))),
                ("byte length of the target class's name", bytes(UInt16(names[1].count))),
                ("byte length of the origin property's name", bytes(UInt16(names[2].count))),
                ("byte length of the property's attributes", [0, 0]),
            ]
        )
        #expect(differences == [], "\(property.name)")
        place += try offset(of: "the three names", behind: marker)
        let all = Array(names.joined())
        #expect(Array(stored[place...].prefix(all.count)) == all)
        place += all.count
    }

    @Test func `kinds of properties and of collections`() throws {
        let rows = try document.rows(behind: "\nA property:")
        let kinds = try #require(rows.first).text.dropFirst("kind: ".count).split(separator: ", ")
        let numbers = kinds.compactMap { $0.split(separator: " ").first.flatMap { Int($0) } }
        #expect(numbers == PropertyKind.allCases.map { Int($0.rawValue) })
        let collections = CollectionKind.allCases.map { "\($0.rawValue) \($0)" }.joined(separator: ", ")
        #expect(rows.contains { $0.text == "collection: \(collections)" })
    }

    @Test func `a table's roots`() throws {
        let root = PageReference(page: 0x0102_0304, pageCount: 0x0506_0708, checksum: 0x1112_1314_1516_1718)
        let other = PageReference(page: 0x2122_2324, pageCount: 1, checksum: 0x3132_3334_3536_3738)
        let clusters = ClusterTree(root: root, rowCount: 77, nextKey: 1 << 40 | 5)
        let entry = TableEntry.bytes(clusters: clusters, trees: [(column: 5, root: other)])
        let rows: [UInt8] = stored(root) + bytes(Int64(clusters.rowCount)) + bytes(clusters.nextKey)
        let marker = "#### A table's roots"
        let differences = try document.differences(
            behind: marker,
            from: entry,
            holding: [("the rows", rows), ("number of trees", bytes(UInt32(1)))]
        )
        #expect(differences == [])
        let trees = try #require(try document.rows(behind: marker).last)
        #expect(trees.offset == TableEntry.treesOffset)
        #expect(trees.size == "\(TableEntry.treeByteCount) t")
        let tree: [UInt8] = bytes(UInt32(5)) + stored(other)
        #expect(Array(entry[trees.offset...]) == tree)
    }

    @Test func `lists in their rows`() throws {
        let property = PropertySchema(name: "numbers", kind: .int, collection: .list)
        let slot = PropertySlot(property, tree: -1, in: DatabaseSchema(classes: []))
        let memory = UnsafeMutableRawPointer.allocate(byteCount: ListFormat.inlineByteLimit, alignment: 8)
        defer { memory.deallocate() }
        var writer = SmallListWriter(memory, slot: slot, count: 2)
        writer.append(.int(7))
        writer.append(.int(-9))
        let stored = Array(writer.bytes)
        let small = "The bytes of a list in its row."
        let differences = try document.differences(
            behind: small,
            from: stored,
            holding: [
                ("form, \(ListFormat.smallForm)", [ListFormat.smallForm]),
                ("element kind", [ListFormat.kindByte(slot)]), ("number of elements", bytes(UInt16(2))),
            ]
        )
        #expect(differences == [])
        // Without nulls the elements stand where their bits would.
        let place = try offset(of: "bit set = null", behind: small)
        #expect(place == ListFormat.headerByteCount)
        let elements: [UInt8] = bytes(Int64(7)) + bytes(Int64(-9))
        #expect(Array(stored[place...]) == elements)

        let large = try document.rows(behind: "Beyond that, until what is left of it fits into")
        #expect(large.first?.text == "form, \(ListFormat.largeForm)")
        let root = try #require(large.last)
        #expect(root.offset == ListFormat.rootOffset)
        #expect(root.size == "\(PageReference.byteCount)")
        #expect(root.offset + PageReference.byteCount == ListFormat.largeByteCount)
    }
}
