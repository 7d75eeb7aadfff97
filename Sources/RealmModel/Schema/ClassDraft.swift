import RealmStorage

/// A class while it changes.
struct ClassDraft {
    var tableID: UInt32
    var isEmbedded: Bool
    /// The name in the file, where the program uses another one.
    var storedName: String?
    /// Whether the file says what the program calls the class.
    var isNameRecorded = false
    var properties: [PropertySchema]
    var layouts: [ColumnLayout]
    var longStrings = LongStringKeys()
    /// The compound indexes, by the columns of their properties.
    private(set) var indexes: [(columns: [Int], isUnique: Bool)] = []
    var isNew = false
    /// Whether what the program calls the class is to be recorded, and nothing else of it has to change.
    var isNamed = false
    var isChanged = false

    /// A class that the file gets.
    init(new schema: ClassSchema, tableID: UInt32) {
        self.tableID = tableID
        isEmbedded = schema.isEmbedded
        storedName = schema.storedName
        isNameRecorded = schema.isNameRecorded
        properties = []
        layouts = []
        isNew = true
        isChanged = true
        for property in schema.properties { add(property) }
        for index in schema.compoundIndexes { add(index) }
    }

    /// A class as the file has it.
    init(stored schema: ClassSchema) {
        tableID = schema.tableID
        isEmbedded = schema.isEmbedded
        storedName = schema.storedName
        isNameRecorded = schema.isNameRecorded
        properties = schema.properties
        layouts = schema.columnLayouts
        longStrings = schema.longStrings
        indexes = schema.compoundIndexes.map { index in
            (schema.ordinals(of: index).map { schema.properties[$0].column }, index.isUnique)
        }
    }

    func schema(named name: String) -> ClassSchema {
        var schema = ClassSchema(
            name: name,
            properties: properties,
            compoundIndexes: indexes.map { CompoundIndexSchema(names(of: $0.columns), isUnique: $0.isUnique) },
            isEmbedded: isEmbedded
        )
        schema.tableID = tableID
        schema.columnLayouts = layouts
        schema.longStrings = longStrings
        schema.storedName = storedName
        schema.isNameRecorded = isNameRecorded
        return schema
    }

    /// Gives a property a column: one that a removed property of the same form left behind, empty, or a new one.
    mutating func add(_ property: PropertySchema) {
        properties.append(placed(property))
        isChanged = true
    }

    /// Puts a property with a column of its own into the place of another one.
    mutating func replace(_ name: String, by property: PropertySchema) {
        guard let index = properties.firstIndex(where: { $0.name == name }) else { return }
        dropIndexes(over: properties[index])
        properties[index] = placed(property)
        isChanged = true
    }

    mutating func remove(_ name: String) {
        if let property = properties.first(where: { $0.name == name }) { dropIndexes(over: property) }
        properties.removeAll { $0.name == name }
        isChanged = true
    }

    private func names(of columns: [Int]) -> [String] {
        columns.compactMap { column in properties.first { $0.column == column }?.name }
    }

    mutating func add(_ index: CompoundIndexSchema) {
        let columns = index.properties.compactMap { name in properties.first { $0.name == name }?.column }
        indexes.removeAll { $0.columns == columns }
        indexes.append((columns, index.isUnique))
        isChanged = true
    }

    mutating func remove(_ index: CompoundIndexSchema) {
        indexes = indexes.filter { names(of: $0.columns) != index.properties }
        isChanged = true
    }

    /// Drops the compound indexes that a property is part of, before it goes.
    private mutating func dropIndexes(over property: PropertySchema) {
        if property.isStored { indexes.removeAll { $0.columns.contains(property.column) } }
    }

    mutating func edit(_ name: String, _ body: (inout PropertySchema) -> Void) {
        guard let index = properties.firstIndex(where: { $0.name == name }) else { return }
        body(&properties[index])
        isChanged = true
    }

    /// Calls a class that properties link to by another name, under which the file has it as before.
    mutating func retarget(from old: String, to new: String) {
        for index in properties.indices where properties[index].targetClass == old {
            properties[index].targetClass = new
        }
    }

    private mutating func placed(_ property: PropertySchema) -> PropertySchema {
        var property = property
        property.column = -1
        guard property.isStored else { return property }
        let used = Set(properties.map(\.column))
        if let free = layouts.indices.first(where: { !used.contains($0) && layouts[$0] == property.layout }) {
            property.column = free
        } else {
            property.column = layouts.count
            layouts.append(property.layout)
        }
        return property
    }
}
