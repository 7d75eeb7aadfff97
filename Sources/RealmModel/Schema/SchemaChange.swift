import OrderedCollections
import RealmStorage

/// Carries out a plan: first what touches rows of removed properties, under the old schema, then the new classes, then
/// the tables' new trees.
struct SchemaChange {
    private let transaction: WriteTransaction
    private let model: ModelView
    private var entry: DatabaseEntry
    private var classes: OrderedDictionary<String, ClassDraft>

    /// A class while it changes.
    private struct ClassDraft {
        var tableID: UInt32
        var isEmbedded: Bool
        var properties: [PropertySchema]
        var layouts: [ColumnLayout]
        var isNew = false
        var isChanged = false

        func schema(named name: String) -> ClassSchema {
            var schema = ClassSchema(name: name, properties: properties, isEmbedded: isEmbedded)
            schema.tableID = tableID
            schema.columnLayouts = layouts
            return schema
        }

        /// Gives a property a column: one that a removed property of the same form left behind, empty, or a new one.
        mutating func add(_ property: PropertySchema) {
            var property = property
            property.column = -1
            if property.isStored {
                let used = Set(properties.map(\.column))
                if let free = layouts.indices.first(where: { !used.contains($0) && layouts[$0] == property.layout }) {
                    property.column = free
                } else {
                    property.column = layouts.count
                    layouts.append(property.layout)
                }
            }
            properties.append(property)
            isChanged = true
        }
    }

    init(in transaction: WriteTransaction) throws(StorageError) {
        self.transaction = transaction
        model = try ModelView(transaction: transaction)
        entry = try DatabaseEntry(in: transaction.catalog, view: transaction.view) ?? DatabaseEntry()
        classes = [:]
        for schema in model.schema.classes.values {
            classes[schema.name] = ClassDraft(
                tableID: schema.tableID,
                isEmbedded: schema.isEmbedded,
                properties: schema.properties,
                layouts: schema.columnLayouts
            )
        }
    }

    mutating func apply(_ plan: SchemaPlan) throws {
        for case .removeProperty(let className, let name) in plan.steps { try clear(className, name) }
        try model.sealTables()
        for step in plan.steps { change(step) }
        dropDanglingComputedProperties()
        let previous = model.schema
        for (name, draft) in classes where draft.isChanged {
            guard name.utf8.count <= 255, draft.layouts.count <= 65_535 else {
                throw StorageError(.limit, "Class '\(name)' has too long a name or too many properties.")
            }
            let schema = draft.schema(named: name)
            try CatalogKey.store(schema.storedBytes, CatalogKey.classSchema, schema.tableID, in: transaction)
            try rebuildTrees(of: schema, previous: draft.isNew ? nil : previous[name])
        }
        entry.stamp = transaction.version
        try entry.store(in: transaction)
    }

    private mutating func change(_ step: SchemaPlan.Step) {
        switch step {
        case .addClass(let schema):
            var draft = ClassDraft(
                tableID: entry.nextTableID,
                isEmbedded: schema.isEmbedded,
                properties: [],
                layouts: []
            )
            entry.nextTableID += 1
            draft.isNew = true
            draft.isChanged = true
            for property in schema.properties { draft.add(property) }
            classes[schema.name] = draft
        case .addProperty(let className, let property):
            classes[className]?.add(property)
        case .removeProperty(let className, let name):
            classes[className]?.properties.removeAll { $0.name == name }
            classes[className]?.isChanged = true
        case .replaceComputedProperty(let className, let property):
            edit(className, property.name) {
                $0.targetClass = property.targetClass
                $0.originProperty = property.originProperty
            }
        case .addIndex(let className, let property): edit(className, property) { $0.isIndexed = true }
        case .removeIndex(let className, let property): edit(className, property) { $0.isIndexed = false }
        case .setVersion(let version): entry.schemaVersion = version
        }
    }

    private mutating func edit(_ className: String, _ name: String, _ body: (inout PropertySchema) -> Void) {
        guard let index = classes[className]?.properties.firstIndex(where: { $0.name == name }) else { return }
        body(&classes[className]!.properties[index])
        classes[className]!.isChanged = true
    }

    /// Removes computed properties whose forward property is gone.
    private mutating func dropDanglingComputedProperties() {
        for (name, draft) in classes {
            let kept = draft.properties.filter { property in
                if property.isStored { return true }
                let origin = classes[property.targetClass ?? ""]
                let forward = origin?.properties.first { $0.name == property.originProperty }
                return forward?.isLink == true && forward?.targetClass == name
            }
            if kept.count != draft.properties.count {
                classes[name]?.properties = kept
                classes[name]?.isChanged = true
            }
        }
    }

    /// Brings every row's value of a property back to the default, with all that hangs on it, before it is removed.
    private func clear(_ className: String, _ name: String) throws {
        guard let table = try model.table(named: className), let property = table.schema.ordinal(of: name) else {
            return
        }
        let slot = table.slots[property]
        guard slot.column >= 0 else { return }
        for key in try table.allKeys() {
            if slot.collection != .none {
                try table.listRemoveAll(property, key: key)
            } else if slot.isOptional {
                try table.setNull(property, key: key)
            } else {
                try table.writeDefault(property, key: key)
            }
        }
    }

    /// Writes a table's entry for a changed class: known trees, dropped ones freed, new ones built from the rows.
    private func rebuildTrees(of schema: ClassSchema, previous: ClassSchema?) throws {
        var clusters = ClusterTree()
        var known: [Int: ByteTree] = [:]
        if previous != nil {
            guard
                let bytes = try CatalogKey.value(
                    CatalogKey.table,
                    schema.tableID,
                    in: transaction.catalog,
                    view: transaction.view
                )
            else { throw TableEntry.damaged(schema) }
            clusters = try TableEntry.clusters(bytes, of: schema)
            try TableEntry.forEachTree(bytes, of: schema) { (_, column, root) throws(StorageError) in
                known[column] = ByteTree(root: root)
            }
        }
        var roots: [(column: Int, root: PageReference)] = []
        for property in schema.properties where property.hasTree {
            let before = previous?[property.name]
            if before?.hasTree == true, before?.hasKeyRuns == property.hasKeyRuns,
                let tree = known.removeValue(forKey: property.column)
            {
                roots.append((property.column, tree.root))
                continue
            }
            var tree = ByteTree()
            if !property.makesLinks, clusters.rowCount > 0 {
                let slot = PropertySlot(property, tree: 0, in: model.schema)
                var cursor = clusters.leaves(in: transaction.view)
                func column(_ leaf: LeafView) throws(StorageError) -> ColumnView {
                    let column = try leaf.column(property.column, isNullable: slot.isNullable)
                    guard column.isAbsent || column.kind == slot.columnKind else { throw TableEntry.damaged(schema) }
                    return column
                }
                if slot.hasKeyRuns {
                    try KeyRuns.build(slot, &cursor, into: &tree, in: transaction, column: column)
                } else {
                    var entries = PendingEntries(slot: slot)
                    try entries.collect(&cursor, from: .min, in: transaction, column: column)
                    try entries.insert(into: &tree, in: transaction)
                }
                try tree.seal(in: transaction)
            }
            roots.append((property.column, tree.root))
        }
        for var tree in known.values { try tree.removeAll(in: transaction) }
        try CatalogKey.store(
            TableEntry.bytes(clusters: clusters, trees: roots),
            CatalogKey.table,
            schema.tableID,
            in: transaction
        )
    }
}

extension TableView {
    /// Writes zero or nothing.
    func writeDefault(_ property: Int, key: Int64) throws {
        let kind = slots[property].kind
        switch slots[property].columnKind {
        case .int: try write(property, key: key, .int(0), of: kind)
        case .float: try write(property, key: key, .float(0), of: kind)
        case .double: try write(property, key: key, .double(0), of: kind)
        case .bytes: try write(property, key: key, .bytes(UnsafeRawBufferPointer(start: nil, count: 0)), of: kind)
        case .fixed12, .fixed16:
            try withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { buffer in
                buffer.initializeMemory(as: UInt8.self, repeating: 0)
                let count = slots[property].columnKind == .fixed12 ? 12 : 16
                try write(property, key: key, .bytes(UnsafeRawBufferPointer(rebasing: buffer[..<count])), of: kind)
            }
        }
    }
}
