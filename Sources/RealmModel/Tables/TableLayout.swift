import RealmStorage

/// Where a class keeps what: the columns and trees of its properties, as a version of the file has them.
///
/// It never changes: a schema change makes another one.
// Unchecked because of the slots, which are written in the initializer and nowhere else.
final class TableLayout: @unchecked Sendable {
    let schema: ClassSchema
    /// The properties that link to the class.
    let linkOrigins: [DatabaseSchema.LinkOrigin]
    /// By property ordinal.
    let slots: UnsafeMutablePointer<PropertySlot>
    let slotCount: Int
    /// The number of trees: those of properties, in their order, then the compound indexes.
    let treeCount: Int
    /// The trees' numbers in the table's entry.
    let treeTags: [Int]
    /// What the trees that are functions of the rows are made from.
    let sources: [TreeSource]
    /// The compound indexes among them.
    let compoundSources: [TreeSource]
    /// The unique indexes among them, the primary key's left out.
    let uniqueSources: [TreeSource]
    /// The indexes, those of single properties first.
    let indexes: [TableIndex]
    /// The ordinals of link properties.
    let linkProperties: [Int]
    /// The ordinals of list properties.
    let listProperties: [Int]
    /// The primary key's ordinal; -1 for none.
    let primaryKeyProperty: Int

    init(_ schema: ClassSchema, in database: DatabaseSchema) {
        self.schema = schema
        linkOrigins = database.linkOrigins(to: schema.name)
        slotCount = schema.properties.count
        slots = .allocate(capacity: max(1, slotCount))
        var tree = 0
        for (ordinal, property) in schema.properties.enumerated() {
            (slots + ordinal)
                .initialize(
                    to: PropertySlot(property, tree: property.hasTree ? tree : -1, in: database, schema.longStrings)
                )
            if property.hasTree { tree += 1 }
        }
        treeCount = tree + schema.compoundIndexes.count
        let ordinals = schema.properties.indices
        linkProperties = ordinals.filter { schema.properties[$0].makesLinks }
        listProperties = ordinals.filter { schema.properties[$0].collection != .none && schema.properties[$0].isStored }
        (treeTags, sources) = schema.treeSources(slots: Array(UnsafeBufferPointer(start: slots, count: slotCount)))
        compoundSources = sources.filter(\.isCompound)
        uniqueSources = sources.filter(\.isUnique)
        indexes = sources.filter { !$0.slots[0].isLink }.map { TableIndex($0) }
        for source in compoundSources {
            for ordinal in source.ordinals {
                slots[ordinal].isInCompoundIndex = true
                if source.isUnique { slots[ordinal].isInUniqueIndex = true }
            }
        }
        primaryKeyProperty = schema.primaryKeyOrdinal ?? -1
    }

    deinit {
        slots.deallocate()
    }
}
