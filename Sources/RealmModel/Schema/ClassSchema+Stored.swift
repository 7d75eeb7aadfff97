import RealmStorage

/// The stored form of a class (little-endian).
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 1 | flags: bit 0 embedded, 1 programs use another name |
/// | 1 | 1 | number of compound indexes `i` |
/// | 2 | 2 | byte length of the class name |
/// | 4 | 4 | number of columns `c` |
/// | 8 | 4 | number of properties `p` |
/// | 12 | ... | the class name |
/// | | 2 c | per physical column: kind u8, nullable u8 |
/// | | ... | `p` properties |
/// | | ... | `i` compound indexes |
/// | | 2, ... | with bit 1: the byte length of the programs' name, and that name |
///
/// A property:
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 1 | kind (`PropertyKind`) |
/// | 1 | 1 | collection (`CollectionKind`) |
/// | 2 | 1 | flags: bit 0 optional, 1 primary key, 2 indexed, 3 unique |
/// | 3 | 1 | delete rule (`DeleteRule`) |
/// | 4 | 4 | physical column i32, -1 for linking objects |
/// | 8 | 2 | byte length of the name |
/// | 10 | 2 | byte length of the target class's name |
/// | 12 | 2 | byte length of the origin property's name |
/// | 14 | ... | the three names |
///
/// A compound index:
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 1 | flags: bit 0 unique |
/// | 1 | 1 | number of properties `n` |
/// | 2 | 4 n | their physical columns, in order |
extension ClassSchema {
    init(tableID: UInt32, load bytes: UnsafeRawBufferPointer) throws(StorageError) {
        var reader = ByteReader(bytes, of: "class \(tableID)")
        let flags = try reader.integer(UInt8.self)
        let indexCount = Int(try reader.integer(UInt8.self))
        let nameByteCount = Int(try reader.integer(UInt16.self))
        let columnCount = Int(try reader.integer(UInt32.self))
        let propertyCount = Int(try reader.integer(UInt32.self))
        let name = try reader.name(byteCount: nameByteCount)
        guard columnCount <= reader.remaining / 2, propertyCount <= reader.remaining / 14 else {
            throw reader.truncated
        }
        var layouts: [ColumnLayout] = []
        for _ in 0..<columnCount {
            guard let kind = ColumnKind(rawValue: try reader.integer(UInt8.self)) else { throw reader.truncated }
            layouts.append(ColumnLayout(kind: kind, isNullable: try reader.integer(UInt8.self) != 0))
        }
        var properties: [PropertySchema] = []
        for _ in 0..<propertyCount {
            properties.append(try Self.property(from: &reader, layouts: layouts))
        }
        let columns = properties.map(\.column).filter { $0 >= 0 }
        guard Set(columns).count == columns.count, Set(properties.map(\.name)).count == properties.count,
            properties.count(where: \.isPrimaryKey) <= 1
        else { throw reader.truncated }
        var indexes: [CompoundIndexSchema] = []
        for _ in 0..<indexCount { indexes.append(try Self.compoundIndex(from: &reader, properties)) }
        guard Set(indexes.map(\.properties)).count == indexes.count else { throw reader.truncated }
        self.init(name: name, properties: properties, compoundIndexes: indexes, isEmbedded: flags & 1 != 0)
        self.tableID = tableID
        columnLayouts = layouts
        guard flags & 2 != 0 else { return }
        let programName = try reader.name(byteCount: Int(try reader.integer(UInt16.self)))
        guard !programName.isEmpty else { throw reader.truncated }
        self = calling(itself: programName, isRecorded: true) { $0 }
    }

    private static func compoundIndex(
        from reader: inout ByteReader,
        _ properties: [PropertySchema]
    ) throws(StorageError) -> CompoundIndexSchema {
        let flags = try reader.integer(UInt8.self)
        let count = Int(try reader.integer(UInt8.self))
        var names: [String] = []
        for _ in 0..<count {
            let column = Int(try reader.integer(UInt32.self))
            guard let property = properties.first(where: { $0.column == column }), property.canBeIndexed else {
                throw reader.truncated
            }
            names.append(property.name)
        }
        guard CompoundIndexSchema.propertyCounts.contains(count), Set(names).count == count else {
            throw reader.truncated
        }
        return CompoundIndexSchema(names, isUnique: flags & 1 != 0)
    }

    private static func property(
        from reader: inout ByteReader,
        layouts: [ColumnLayout]
    ) throws(StorageError) -> PropertySchema {
        guard let kind = PropertyKind(rawValue: try reader.integer(UInt8.self)),
            let collection = CollectionKind(rawValue: try reader.integer(UInt8.self))
        else { throw reader.truncated }
        let flags = try reader.integer(UInt8.self)
        guard let deleteRule = DeleteRule(rawValue: try reader.integer(UInt8.self)) else { throw reader.truncated }
        let column = Int(try reader.integer(Int32.self))
        let nameByteCount = Int(try reader.integer(UInt16.self))
        let targetByteCount = Int(try reader.integer(UInt16.self))
        let originByteCount = Int(try reader.integer(UInt16.self))
        let name = try reader.name(byteCount: nameByteCount)
        let target = try reader.name(byteCount: targetByteCount)
        let origin = try reader.name(byteCount: originByteCount)
        var property = PropertySchema(
            name: name,
            kind: kind,
            collection: collection,
            isOptional: flags & 1 != 0,
            isPrimaryKey: flags & 2 != 0,
            isIndexed: flags & 4 != 0,
            isUnique: flags & 8 != 0,
            deleteRule: deleteRule,
            targetClass: target.isEmpty ? nil : target,
            originProperty: origin.isEmpty ? nil : origin
        )
        property.column = column
        guard property.isStored ? layouts.indices.contains(column) && layouts[column] == property.layout : column == -1,
            !property.isLink || property.targetClass != nil,
            !property.hasIndex || property.canBeIndexed,
            deleteRule == .nullify || property.isLink
        else { throw reader.truncated }
        return property
    }

    /// The bytes of the class's catalog entry, where the classes that it links to are stored under the names that they have.
    var storedBytes: [UInt8] { storedBytes(namingTargets: { $0 }) }

    /// The bytes of the class's catalog entry; `storedName` gives the name in the file of a class that programs call otherwise.
    func storedBytes(namingTargets storedName: (String) -> String) -> [UInt8] {
        var writer = ByteWriter()
        let isRenamed = self.storedName != nil && isNameRecorded
        writer.append(UInt8((isEmbedded ? 1 : 0) | (isRenamed ? 2 : 0)))
        writer.append(UInt8(compoundIndexes.count))
        let programName = name
        let name = self.storedName ?? programName
        writer.append(UInt16(name.utf8.count))
        writer.append(UInt32(columnLayouts.count))
        writer.append(UInt32(properties.count))
        writer.append(name)
        for layout in columnLayouts {
            writer.append(layout.kind.rawValue)
            writer.append(UInt8(layout.isNullable ? 1 : 0))
        }
        for property in properties {
            let target = property.targetClass.map(storedName) ?? ""
            writer.append(property.kind.rawValue)
            writer.append(property.collection.rawValue)
            writer.append(
                UInt8(
                    (property.isOptional ? 1 : 0) | (property.isPrimaryKey ? 2 : 0) | (property.isIndexed ? 4 : 0)
                        | (property.isUnique ? 8 : 0)
                )
            )
            writer.append(property.deleteRule.rawValue)
            writer.append(Int32(property.column))
            writer.append(UInt16(property.name.utf8.count))
            writer.append(UInt16(target.utf8.count))
            writer.append(UInt16((property.originProperty ?? "").utf8.count))
            writer.append(property.name)
            writer.append(target)
            writer.append(property.originProperty ?? "")
        }
        for index in compoundIndexes {
            writer.append(UInt8(index.isUnique ? 1 : 0))
            writer.append(UInt8(index.properties.count))
            for ordinal in ordinals(of: index) { writer.append(UInt32(properties[ordinal].column)) }
        }
        if isRenamed {
            writer.append(UInt16(programName.utf8.count))
            writer.append(programName)
        }
        return writer.bytes
    }
}
