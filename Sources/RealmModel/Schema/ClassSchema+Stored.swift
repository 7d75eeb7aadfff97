import RealmStorage

/// The stored form of a class (little-endian).
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 1 | flags: bit 0 embedded, bit 7 set |
/// | 1 | 1 | number of further indexes `i` |
/// | 2 | 2 | byte length of the class name |
/// | 4 | 4 | number of columns `c`, at most 65,535 |
/// | 8 | 4 | number of properties `p` |
/// | 12 | 1 | long strings in indexes: 0 their beginning, 1 with a hash behind it |
/// | 13 | 1 | encoding of the table's leaves: 0 |
/// | 14 | 2 | byte length of the class's attributes |
/// | 16 | ... | the class name |
/// | | 2 c | per physical column: kind u8, nullable u8 |
/// | | ... | `p` properties |
/// | | ... | `i` further indexes |
/// | | ... | attributes |
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
/// | 14 | 2 | byte length of its attributes |
/// | 16 | ... | the three names, and the attributes |
///
/// A further index:
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 1 | flags: bit 0 unique |
/// | 1 | 1 | number of properties `n` |
/// | 2 | 1 | kind: 1 in the order of the values of `n` properties; others stand behind these |
/// | 3 | 1 | encoding of its keys: 0 |
/// | 4 | 2 | byte length of its attributes |
/// | 6 | 4 n | the physical columns of the properties, in order |
/// | | ... | attributes |
///
/// An attribute is its number (u16), its length (u16) and that many bytes. Those from 8000 (hexadecimal) on must be known to open the class. That
/// of a class with number 1 is the name that programs use, where it is another one; that of a property with number 1 is what objects get in it
/// from programs that do not know it, as a value of any kind.
///
/// A class that a release before has stored has no bit 7. It has none of bytes 12 to 15, and of properties and indexes nothing that has to do
/// with attributes, kinds and encodings; bit 1 of its flags says that the name that programs use stands at the end, behind its length (u16).
extension ClassSchema {
    /// The greatest number of physical columns.
    static let columnLimit = 65_535
    private static let isPresentForm: UInt8 = 0x80
    private static let orderedKind: UInt8 = 1
    private static let programName: UInt16 = 1
    private static let defaultValue: UInt16 = 1
    private static let firstAttributeToKnow: UInt16 = 0x8000

    init(tableID: UInt32, load bytes: UnsafeRawBufferPointer) throws(StorageError) {
        var reader = ByteReader(bytes, of: "class \(tableID)")
        let flags = try reader.integer(UInt8.self)
        let isFormer = flags & Self.isPresentForm == 0
        let indexCount = Int(try reader.integer(UInt8.self))
        let nameByteCount = Int(try reader.integer(UInt16.self))
        let columnCount = Int(try reader.integer(UInt32.self))
        let propertyCount = Int(try reader.integer(UInt32.self))
        let (isHashed, attributeByteCount) =
            try isFormer ? (false, 0) : Self.encodings(from: &reader, of: tableID)
        let name = try reader.name(byteCount: nameByteCount)
        guard columnCount <= min(Self.columnLimit, reader.remaining / 2), propertyCount <= reader.remaining / 14 else {
            throw reader.truncated
        }
        var layouts: [ColumnLayout] = []
        for _ in 0..<columnCount {
            guard let kind = ColumnKind(rawValue: try reader.integer(UInt8.self)) else { throw reader.truncated }
            layouts.append(ColumnLayout(kind: kind, isNullable: try reader.integer(UInt8.self) != 0))
        }
        var properties: [PropertySchema] = []
        for _ in 0..<propertyCount {
            properties.append(try Self.property(from: &reader, layouts: layouts, isFormer: isFormer))
        }
        let columns = properties.map(\.column).filter { $0 >= 0 }
        guard Set(columns).count == columns.count, Set(properties.map(\.name)).count == properties.count,
            properties.count(where: \.isPrimaryKey) <= 1
        else { throw reader.truncated }
        var indexes: [CompoundIndexSchema] = []
        var furtherIndexCount = 0
        let stored = Dictionary(properties.map { ($0.column, $0) }, uniquingKeysWith: { first, _ in first })
        for _ in 0..<indexCount {
            if let index = try Self.index(from: &reader, stored, isFormer: isFormer) {
                // The numbers of their trees are their places.
                guard furtherIndexCount == 0 else { throw reader.truncated }
                indexes.append(index)
            } else {
                furtherIndexCount += 1
            }
        }
        guard Set(indexes.map(\.properties)).count == indexes.count else { throw reader.truncated }
        self.init(name: name, properties: properties, compoundIndexes: indexes, isEmbedded: flags & 1 != 0)
        self.tableID = tableID
        self.furtherIndexCount = furtherIndexCount
        columnLayouts = layouts
        longStrings.isHashed = isHashed
        var programName: String?
        if isFormer {
            if flags & 2 != 0 { programName = try reader.name(byteCount: Int(try reader.integer(UInt16.self))) }
        } else {
            try Self.attributes(from: &reader, byteCount: attributeByteCount) { number, bytes in
                if number == Self.programName {
                    programName = UTF8Validation.isValid(bytes) ? String(decoding: bytes, as: UTF8.self) : ""
                }
            }
        }
        guard let programName else { return }
        guard !programName.isEmpty, programName.utf8.count <= 255 else { throw reader.truncated }
        self = calling(itself: programName, isRecorded: true) { $0 }
    }

    /// What says how a table's indexes and leaves are stored.
    private static func encodings(
        from reader: inout ByteReader,
        of tableID: UInt32
    ) throws(StorageError) -> (isHashed: Bool, attributeByteCount: Int) {
        let longStrings = try reader.integer(UInt8.self)
        let leaves = try reader.integer(UInt8.self)
        guard longStrings <= 1 else { throw unknown("an encoding of index keys", longStrings, tableID) }
        guard leaves == 0 else { throw unknown("an encoding of leaves", leaves, tableID) }
        return (longStrings == 1, Int(try reader.integer(UInt16.self)))
    }

    private static func unknown(_ what: String, _ number: some BinaryInteger, _ tableID: UInt32? = nil) -> StorageError
    {
        StorageError(
            .unsupportedFormat,
            "A class of the file has \(what) (\(number)) that this version of the library does not know; open the file with the version "
                + "that wrote it" + (tableID.map { " [table \($0)]" } ?? "")
        )
    }

    /// Calls a function with each attribute that need not be known.
    private static func attributes(
        from reader: inout ByteReader,
        byteCount: Int,
        _ body: (UInt16, UnsafeRawBufferPointer) -> Void = { _, _ in }
    ) throws(StorageError) {
        let end = reader.offset + byteCount
        while reader.offset < end {
            let number = try reader.integer(UInt16.self)
            let bytes = try reader.take(Int(try reader.integer(UInt16.self)))
            guard number < firstAttributeToKnow else { throw unknown("an attribute", number) }
            body(number, bytes)
        }
        guard reader.offset == end else { throw reader.truncated }
    }

    /// An index besides those of single properties; nil for one of a kind that is not known.
    private static func index(
        from reader: inout ByteReader,
        _ properties: [Int: PropertySchema],
        isFormer: Bool
    ) throws(StorageError) -> CompoundIndexSchema? {
        let flags = try reader.integer(UInt8.self)
        let count = Int(try reader.integer(UInt8.self))
        let kind = try isFormer ? orderedKind : reader.integer(UInt8.self)
        let encoding = try isFormer ? 0 : reader.integer(UInt8.self)
        let attributeByteCount = try isFormer ? 0 : Int(reader.integer(UInt16.self))
        guard kind == orderedKind else {
            _ = try reader.take(4 * count + attributeByteCount)
            return nil
        }
        guard encoding == 0 else { throw unknown("an encoding of index keys", encoding) }
        var names: [String] = []
        for _ in 0..<count {
            let column = Int(try reader.integer(UInt32.self))
            guard let property = properties[column], property.canBeIndexed else {
                throw reader.truncated
            }
            names.append(property.name)
        }
        try attributes(from: &reader, byteCount: attributeByteCount)
        guard CompoundIndexSchema.propertyCounts.contains(count), Set(names).count == count else {
            throw reader.truncated
        }
        return CompoundIndexSchema(names, isUnique: flags & 1 != 0)
    }

    private static func property(
        from reader: inout ByteReader,
        layouts: [ColumnLayout],
        isFormer: Bool
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
        let attributeByteCount = try isFormer ? 0 : Int(reader.integer(UInt16.self))
        let name = try reader.name(byteCount: nameByteCount)
        let target = try reader.name(byteCount: targetByteCount)
        let origin = try reader.name(byteCount: originByteCount)
        var recordedDefault: StoredValue?
        try attributes(from: &reader, byteCount: attributeByteCount) { number, bytes in
            if number == defaultValue { recordedDefault = MixedFormat.decode(bytes) }
        }
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
        if let recordedDefault { property.record(default: recordedDefault) }
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
        let attributes =
            isNameRecorded && self.storedName != nil ? Self.attribute(Self.programName, Array(self.name.utf8)) : []
        writer.append((isEmbedded ? 1 : 0) | Self.isPresentForm)
        writer.append(UInt8(compoundIndexes.count))
        let name = self.storedName ?? self.name
        writer.append(UInt16(name.utf8.count))
        writer.append(UInt32(columnLayouts.count))
        writer.append(UInt32(properties.count))
        writer.append(UInt8(longStrings.isHashed ? 1 : 0))
        writer.append(UInt8(0))
        writer.append(UInt16(attributes.count))
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
            let attributes = property.recordedDefault.value.map {
                Self.attribute(Self.defaultValue, MixedFormat.encode($0))
            }
            writer.append(UInt16(attributes?.count ?? 0))
            writer.append(property.name)
            writer.append(target)
            writer.append(property.originProperty ?? "")
            if let attributes { writer.append(contentsOf: attributes) }
        }
        for index in compoundIndexes {
            writer.append(UInt8(index.isUnique ? 1 : 0))
            writer.append(UInt8(index.properties.count))
            writer.append(Self.orderedKind)
            writer.append(UInt8(0))
            writer.append(UInt16(0))
            for ordinal in ordinals(of: index) { writer.append(UInt32(properties[ordinal].column)) }
        }
        writer.append(contentsOf: attributes)
        return writer.bytes
    }

    private static func attribute(_ number: UInt16, _ bytes: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(number)
        writer.append(UInt16(bytes.count))
        writer.append(contentsOf: bytes)
        return writer.bytes
    }
}
