import OrderedCollections
import RealmStorage

/// Carries out a plan: first what touches rows of removed properties, under the old schema, then the new classes, then
/// the tables' new trees.
struct SchemaChange {
    let transaction: WriteTransaction
    let model: ModelView
    private var entry: DatabaseEntry
    private var classes: OrderedDictionary<String, ClassDraft>
    private var removedTables: [UInt32] = []

    init(in transaction: WriteTransaction) throws(StorageError) {
        self.transaction = transaction
        model = try ModelView(transaction: transaction)
        entry = try DatabaseEntry(in: transaction.catalog, view: transaction.view) ?? DatabaseEntry()
        // Of a file that a release before has written.
        if entry.indexKey == .none { entry.indexKey = .random() }
        classes = [:]
        for schema in model.schema.classes.values {
            try schema.requireKnownIndexes()
            classes[schema.name] = ClassDraft(stored: schema)
        }
    }

    /// Carries out steps that do not build on each other's rows.
    mutating func apply(_ steps: [SchemaPlan.Step]) throws {
        for step in steps {
            switch step {
            case .removeProperty(let className, let name): try clear(className, name)
            case .replaceProperty(let className, let property, _): try clear(className, property.name)
            case .removeClass(let className):
                try clear(className)
                if let table = try model.table(named: className) {
                    entry.noteRowKeys(before: max(table.nextKey, transaction.leastRowKey(of: table.id)))
                }
            case .setEmbedded(let className, true): try requireOwners(className)
            default: break
            }
        }
        try model.sealTables()
        let addedCount = steps.count { step in
            if case .addClass = step { true } else { false }
        }
        guard addedCount <= UInt32.max - entry.nextTableID else {
            throw StorageError(.limit, "The file has used up the numbers of its tables.")
        }
        for step in steps { change(step) }
        dropDanglingComputedProperties()
        let previous = model.schema
        let storedNames = classes.compactMapValues(\.storedName)
        for (name, draft) in classes where draft.isChanged || draft.isNamed {
            guard name.utf8.count <= 255, draft.layouts.count <= 65_535 else {
                throw StorageError(.limit, "Class '\(name)' has too long a name or too many properties.")
            }
            var schema = draft.schema(named: name)
            // Whatever is made anew has the present form, and the rest of the class with it.
            if draft.isChanged { schema.longStrings = LongStringKeys(key: entry.indexKey) }
            let bytes = schema.storedBytes(namingTargets: { storedNames[$0] ?? $0 })
            try CatalogKey.store(bytes, CatalogKey.classSchema, schema.tableID, in: transaction)
            guard draft.isChanged else { continue }
            try rebuildTrees(of: schema, previous: draft.isNew ? nil : previous.schema(of: draft.tableID))
        }
        for tableID in removedTables {
            try CatalogKey.remove(CatalogKey.classSchema, tableID, in: transaction)
            try CatalogKey.remove(CatalogKey.table, tableID, in: transaction)
        }
        entry.stamp = transaction.version
        try entry.store(in: transaction)
    }

    private mutating func change(_ step: SchemaPlan.Step) {
        switch step.called(asIn: model.schema) {
        case .addClass(let schema):
            classes[schema.name] = ClassDraft(new: schema, tableID: entry.nextTableID)
            entry.nextTableID += 1
        case .recordName(let className, let storedName): recordName(className, of: storedName)
        case .removeClass(let className):
            guard let removed = classes.removeValue(forKey: className) else { return }
            removedTables.append(removed.tableID)
            for (name, draft) in classes {
                for property in draft.properties where property.targetClass == className {
                    classes[name]?.remove(property.name)
                }
            }
        case .addProperty(let className, let property):
            classes[className]?.add(property)
        case .removeProperty(let className, let name):
            classes[className]?.remove(name)
        case .replaceProperty(let className, let property, _):
            classes[className]?.replace(property.name, by: property)
        case .renameProperty(let className, let old, let new):
            classes[className]?.edit(old) { $0.name = new }
        case .replaceComputedProperty(let className, let property):
            classes[className]?
                .edit(property.name) {
                    $0.targetClass = property.targetClass
                    $0.originProperty = property.originProperty
                }
        case .addIndex(let className, let property): classes[className]?.edit(property) { $0.isIndexed = true }
        case .removeIndex(let className, let property): classes[className]?.edit(property) { $0.isIndexed = false }
        case .setUnique(let className, let property, let isUnique):
            classes[className]?
                .edit(property) {
                    $0.isUnique = isUnique
                    if isUnique { $0.isIndexed = true }
                }
        case .addCompoundIndex(let className, let index): classes[className]?.add(index)
        case .removeCompoundIndex(let className, let index): classes[className]?.remove(index)
        case .setDeleteRule(let className, let property, let rule):
            classes[className]?.edit(property) { $0.deleteRule = rule }
        case .removePrimaryKey(let className):
            guard let key = classes[className]?.properties.first(where: \.isPrimaryKey) else { return }
            classes[className]?.edit(key.name) { $0.isPrimaryKey = false }
        case .setPrimaryKey(let className, let property):
            classes[className]?.edit(property) { $0.isPrimaryKey = true }
        case .setEmbedded(let className, let isEmbedded):
            classes[className]?.isEmbedded = isEmbedded
            classes[className]?.isChanged = true
        case .setVersion(let version): entry.schemaVersion = version
        }
    }

    private mutating func recordName(_ className: String, of storedName: String) {
        guard classes[className] == nil, var draft = classes[storedName] else { return }
        draft.storedName = storedName
        draft.isNameRecorded = true
        draft.isNamed = true
        classes = OrderedDictionary(
            uniqueKeysWithValues: classes.map { ($0 == storedName ? className : $0, $0 == storedName ? draft : $1) }
        )
        for name in classes.keys { classes[name]?.retarget(from: storedName, to: className) }
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

    /// Writes a table's entry for a changed class: known trees, dropped ones freed, new ones built from the rows.
    private func rebuildTrees(of schema: ClassSchema, previous: ClassSchema?) throws {
        var clusters = ClusterTree(nextKey: entry.firstRowKey)
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
            clusters = try TableEntry.clusters(bytes, orThrow: TableEntry.damaged(schema))
            try TableEntry.forEachTree(bytes, orThrow: TableEntry.damaged(schema)) {
                (_, column, root) throws(StorageError) in
                known[column] = ByteTree(root: root)
            }
        }
        let newSlots = schema.properties.map { PropertySlot($0, tree: 0, in: model.schema, schema.longStrings) }
        let (tags, sources) = schema.treeSources(slots: newSlots)
        var roots: [(column: Int, root: PageReference)] = []
        for property in schema.properties where property.hasTree {
            // By column and not by name: a renamed property keeps its tree.
            let before = previous?.properties.first { $0.column == property.column }
            let source = sources.first { !$0.isCompound && $0.slots[0].column == property.column }
            // Rows are asked, and not an index that may leave some of them out.
            let isNewKey = property.isPrimaryKey && before?.isPrimaryKey != true
            let isNewRule = property.hasUniqueIndex && before?.hasUniqueIndex != true
            let tree: ByteTree
            if let before, !(isNewKey || isNewRule), before.hasTree, before.hasKeyRuns == property.hasKeyRuns,
                before.kind == property.kind, before.collection == property.collection,
                let old = known[property.column], try hasPresentForm(old, source, previous)
            {
                known[property.column] = nil
                tree = old
            } else if let source {
                tree = try builtTree(of: source, in: schema, clusters)
            } else {
                tree = ByteTree()
            }
            roots.append((property.column, tree.root))
            guard let previous else { continue }
            if isNewKey, !property.hasKeyRuns {
                try requireUnique(tree, over: [property], in: previous) {
                    .duplicatePrimaryKeys(className: schema.name, property: property.name, value: $0)
                }
            } else if isNewRule {
                try requireUnique(tree, over: [property], in: previous) {
                    .duplicateValues(className: schema.name, properties: [property.name], value: $0)
                }
            }
        }
        let previousIndexes = previous?.compoundIndexColumns ?? []
        for (place, (index, source)) in zip(schema.compoundIndexes, sources.filter(\.isCompound)).enumerated() {
            let columns = source.slots.map { Int($0.column) }
            let before = previousIndexes.firstIndex(of: columns)
            let isNewRule = index.isUnique && (before.map { previous?.compoundIndexes[$0].isUnique != true } ?? true)
            let tree: ByteTree
            if let tag = isNewRule ? nil : before.map(TreeTag.compound), let old = known[tag],
                try hasPresentForm(old, source, previous)
            {
                known[tag] = nil
                tree = old
            } else {
                tree = try builtTree(of: source, in: schema, clusters)
            }
            roots.append((tags[roots.count], tree.root))
            guard let previous, isNewRule else { continue }
            assert(roots[roots.count - 1].column == TreeTag.compound(place))
            try requireUnique(tree, over: index.properties.compactMap { schema[$0] }, in: previous) {
                .duplicateValues(className: schema.name, properties: index.properties, value: $0)
            }
        }
        for var tree in known.values { try tree.removeAll(in: transaction) }
        try CatalogKey.store(
            TableEntry.bytes(clusters: clusters, trees: roots),
            CatalogKey.table,
            schema.tableID,
            in: transaction
        )
    }

    /// Whether a tree of a class holds what one would hold that is made now: a release before stored long strings without their hash.
    private func hasPresentForm(
        _ tree: ByteTree,
        _ source: TreeSource?,
        _ previous: ClassSchema?
    ) throws(StorageError) -> Bool {
        guard let source, let previous, !previous.longStrings.isHashed,
            source.slots.contains(where: { $0.kind == .string })
        else { return true }
        var cursor = tree.cursor(in: transaction.view)
        var isOnEntry = try cursor.seekFirst()
        while isOnEntry {
            if cursor.keyByteCount > source.stringByteLimit,
                IndexKey.byteCount(of: source.slots.count, source, in: cursor.key) == nil
            {
                return false
            }
            isOnEntry = try cursor.next()
        }
        return true
    }

    /// The tree over rows that are there already; an empty one for links, whose column is empty.
    private func builtTree(of source: TreeSource, in schema: ClassSchema, _ clusters: ClusterTree) throws -> ByteTree {
        var tree = ByteTree()
        guard !source.slots[0].makesLinks, clusters.rowCount > 0 else { return tree }
        var cursor = clusters.leaves(in: transaction.view)
        func column(_ leaf: LeafView, _ slot: PropertySlot) throws(StorageError) -> ColumnView {
            let column = try leaf.column(Int(slot.column), isNullable: slot.isNullable)
            guard column.isAbsent || column.kind == slot.columnKind else { throw TableEntry.damaged(schema) }
            return column
        }
        if source.hasKeyRuns {
            try KeyRuns.build(source.slots[0], &cursor, into: &tree, in: transaction) { (leaf) throws(StorageError) in
                try column(leaf, source.slots[0])
            }
        } else {
            var entries = PendingEntries(source)
            try entries.collect(&cursor, from: .min, in: transaction, column: column)
            try entries.insert(into: &tree, in: transaction)
        }
        try tree.seal(in: transaction)
        return tree
    }
}

extension ClassSchema {
    /// The physical columns of each compound index.
    var compoundIndexColumns: [[Int]] { compoundIndexes.map { ordinals(of: $0).map { properties[$0].column } } }
}
