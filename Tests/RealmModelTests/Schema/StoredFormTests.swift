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
