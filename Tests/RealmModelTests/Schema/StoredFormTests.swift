import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmModel

@Suite struct StoredFormTests {
    static let schema: ClassSchema = {
        var properties = [
            PropertySchema(name: "id", kind: .uuid, isPrimaryKey: true),
            PropertySchema(name: "größe", kind: .int, isOptional: true, isIndexed: true),
            PropertySchema(name: "tags", kind: .string, collection: .list, isOptional: true),
            PropertySchema(name: "parent", kind: .object, targetClass: "Node"),
            PropertySchema(name: "children", kind: .linkingObjects, targetClass: "Node", originProperty: "parent"),
        ]
        for index in 0..<4 { properties[index].column = index }
        var schema = ClassSchema(name: "Node", properties: properties)
        schema.tableID = 3
        schema.columnLayouts = properties[..<4].map(\.layout)
        return schema
    }()

    @Test("A class reads back from its bytes")
    func readsBack() throws {
        let bytes = Self.schema.storedBytes
        let read = try bytes.withUnsafeBytes { try ClassSchema(tableID: 3, load: $0) }
        #expect(read == Self.schema)
    }

    @Test("A class with more columns than a release writes is damaged")
    func columns() throws {
        var schema = Self.schema
        let layout = ColumnLayout(kind: .int, isNullable: false)
        schema.columnLayouts += Array(repeating: layout, count: 65_535 - schema.columnLayouts.count)
        #expect(try Self.read(schema.storedBytes).columnLayouts.count == 65_535)
        schema.columnLayouts.append(layout)
        let error = #expect(throws: StorageError.self) { try Self.read(schema.storedBytes) }
        #expect(error?.code == .corrupt)
    }

    /// What a release with format 1 stored.
    private static func formerBytes(_ schema: ClassSchema, programName: String? = nil) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(UInt8((schema.isEmbedded ? 1 : 0) | (programName == nil ? 0 : 2)))
        writer.append(UInt8(schema.compoundIndexes.count))
        writer.append(UInt16(schema.name.utf8.count))
        writer.append(UInt32(schema.columnLayouts.count))
        writer.append(UInt32(schema.properties.count))
        writer.append(schema.name)
        for layout in schema.columnLayouts {
            writer.append(layout.kind.rawValue)
            writer.append(UInt8(layout.isNullable ? 1 : 0))
        }
        for property in schema.properties {
            let names = [property.name, property.targetClass ?? "", property.originProperty ?? ""]
            writer.append(property.kind.rawValue)
            writer.append(property.collection.rawValue)
            let flags = [property.isOptional, property.isPrimaryKey, property.isIndexed, property.isUnique]
            writer.append(flags.enumerated().reduce(UInt8(0)) { $0 | ($1.element ? 1 << UInt8($1.offset) : 0) })
            writer.append(property.deleteRule.rawValue)
            writer.append(Int32(property.column))
            for name in names { writer.append(UInt16(name.utf8.count)) }
            for name in names { writer.append(name) }
        }
        for index in schema.compoundIndexes {
            writer.append(UInt8(index.isUnique ? 1 : 0))
            writer.append(UInt8(index.properties.count))
            for ordinal in schema.ordinals(of: index) { writer.append(UInt32(schema.properties[ordinal].column)) }
        }
        if let programName {
            writer.append(UInt16(programName.utf8.count))
            writer.append(programName)
        }
        return writer.bytes
    }

    private static func read(_ bytes: [UInt8]) throws -> ClassSchema {
        try bytes.withUnsafeBytes { try ClassSchema(tableID: 3, load: $0) }
    }

    @Test("A class that a release before has stored is read, and known to have indexes without hashes")
    func readsFormerClasses() throws {
        for programName in [nil, "Outer_Node"] {
            var expected = Self.schema
            if let programName { expected = expected.calling(itself: programName, isRecorded: true) { $0 } }
            let read = try Self.read(Self.formerBytes(Self.schema, programName: programName))
            #expect(!read.longStrings.isHashed)
            #expect(read != expected)
            expected.longStrings.isHashed = false
            #expect(read == expected)
            // It is stored in the present form, and goes on having them.
            #expect(try Self.read(read.storedBytes) == expected)
        }
    }

    @Test("The name that programs use is an attribute, and what need not be known is stepped over")
    func readsAttributes() throws {
        var schema = Self.schema
        schema = schema.calling(itself: "Outer_Node", isRecorded: true) { $0 }
        var bytes = schema.storedBytes
        #expect(try Self.read(bytes) == schema)
        // One more behind the name.
        bytes += [2, 0, 3, 0, 7, 7, 7]
        bytes[14] += 7
        #expect(try Self.read(bytes) == schema)
        bytes[bytes.count - 6] = 0x80
        let error = #expect(throws: StorageError.self) { try Self.read(bytes) }
        #expect(error?.code == .unsupportedFormat)
    }

    @Test("Encodings that are not known are refused by name", arguments: [12, 13])
    func refusesEncodings(offset: Int) throws {
        var bytes = Self.schema.storedBytes
        bytes[offset] = 9
        let error = #expect(throws: StorageError.self) { try Self.read(bytes) }
        #expect(error?.code == .unsupportedFormat)
        #expect(error?.message.contains("(9)") == true)
    }

    @Test("An index of a kind that is not known is counted, and stands behind those that are")
    func readsFurtherIndexes() throws {
        var schema = Self.schema
        schema = ClassSchema(
            name: schema.name,
            properties: schema.properties,
            compoundIndexes: [CompoundIndexSchema(["größe", "id"], isUnique: true)]
        )
        schema.tableID = 3
        schema.columnLayouts = Self.schema.columnLayouts
        var bytes = schema.storedBytes
        #expect(try Self.read(bytes) == schema)
        let index = bytes.count - 14
        bytes[1] = 2
        bytes += [0, 1, 2, 5, 1, 0, 2, 0, 0, 0, 0xFF]
        var read = try Self.read(bytes)
        #expect(read.furtherIndexCount == 1)
        read.furtherIndexCount = 0
        #expect(read == schema)
        // Before one that is known.
        let known = Array(bytes[index..<index + 14])
        bytes.replaceSubrange(index..<index + 14, with: [])
        #expect(throws: StorageError.self) { try Self.read(bytes + known) }
        bytes = schema.storedBytes
        bytes[index + 3] = 1
        let error = #expect(throws: StorageError.self) { try Self.read(bytes) }
        #expect(error?.code == .unsupportedFormat)
    }

    @Test("A class cut short anywhere is damage, not a crash")
    func refusesShortBytes() throws {
        let bytes = Self.schema.storedBytes
        for count in bytes.indices {
            #expect(throws: StorageError.self, "\(count)") {
                try bytes[..<count].withUnsafeBytes { try ClassSchema(tableID: 3, load: $0) }
            }
        }
    }

    @Test("Any byte of a class may be anything: the class is read or refused", arguments: [1, 2, 3] as [UInt64])
    func survivesFlippedBytes(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<2_000 {
            var bytes = Self.schema.storedBytes
            for _ in 0...random.below(3) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
            let read = try? bytes.withUnsafeBytes { try ClassSchema(tableID: 3, load: $0) }
            if let read {
                for property in read.properties where property.isStored {
                    #expect(read.columnLayouts.indices.contains(property.column), "seed \(seed)")
                }
            }
        }
    }

    @Test("Any byte of a small list may be anything: it is read or refused", arguments: [1, 2, 3] as [UInt64])
    func survivesDamagedLists(seed: UInt64) throws {
        let database = try TestDatabase([Self.list(.string), Self.list(.int)])
        var random = SplitMix64(seed: seed)
        let view = database.model.view
        for kind in [PropertyKind.string, .int] {
            let property = Self.list(kind).properties[0]
            let slot = PropertySlot(property, tree: -1, in: DatabaseSchema(classes: []))
            var (read, refused) = (0, 0)
            for _ in 0..<1_000 {
                var bytes = [UInt8](repeating: 0, count: 4 + random.below(60))
                for index in bytes.indices { bytes[index] = UInt8(random.below(12)) }
                bytes[0] = ListFormat.smallForm
                bytes[1] = ListFormat.kindByte(slot)
                bytes[3] = 0
                bytes.withUnsafeBytes { buffer in
                    let values = try? ListView(buffer, slot: slot, view: view).values()
                    if values == nil { refused += 1 } else { read += 1 }
                }
            }
            #expect(read > 0 && refused > 0, "seed \(seed), \(kind): \(read) read, \(refused) refused")
        }
    }

    static func list(_ kind: PropertyKind) -> ClassSchema {
        ClassSchema(
            name: "Row\(kind.name)",
            properties: [PropertySchema(name: "list", kind: kind, collection: .list, isOptional: true)]
        )
    }

    @Test("A table entry with a wrong number of trees, or a wrong column, is damage")
    func refusesDamagedTableEntries() throws {
        let bytes = TableEntry.bytes(clusters: ClusterTree(), trees: [(7, .none), (8, .none)])
        #expect(bytes.count == TableEntry.treesOffset + 2 * TableEntry.treeByteCount)
        for count in bytes.indices {
            #expect(throws: StorageError.self, "\(count)") {
                try bytes[..<count]
                    .withUnsafeBytes { buffer in
                        try TableEntry.forEachTree(buffer, orThrow: TableEntry.damaged(Self.schema)) { _, _, _ in }
                    }
            }
        }
    }
}
