import OrderedCollections
package import RealmStorage

/// Checks what the model layer promises about a version.
package enum ModelVerifier {
    /// Checks every table, and every index and backlink tree against the rows, both ways.
    ///
    /// - Throws: `StorageError` with code `corrupt` that names class and property.
    package static func verify(_ model: ModelView) throws(StorageError) {
        for schema in model.schema.classes.values {
            guard let table = try model.table(named: schema.name) else { continue }
            try verify(table)
        }
    }

    private static func verify(_ table: TableView) throws(StorageError) {
        if table.writer == nil { try table.clusters.verify(columns: table.schema.columnLayouts, in: table.view) }
        try table.catchUpAll()
        var rows = 0
        var last = Int64.min
        var cursor = table.leaves()
        while let leaf = try cursor.next() {
            for row in 0..<leaf.rowCount {
                guard leaf.key(at: row) > last else { throw table.corrupt("row keys do not ascend.") }
                last = leaf.key(at: row)
                rows += 1
            }
        }
        guard rows == table.count else { throw table.corrupt("it has \(rows) rows and says \(table.count).") }
        guard last < table.nextKey else { throw table.corrupt("a row key is beyond the next key.") }
        for (ordinal, property) in table.schema.properties.enumerated() where property.isStored {
            if property.collection != .none {
                try verifyList(table, ordinal)
            } else if [.string, .bool, .any].contains(property.kind) {
                try verifyValues(table, ordinal)
            }
            guard property.hasTree else { continue }
            if property.makesLinks {
                try verifyLinks(table, ordinal)
            } else {
                try verifyIndex(table, ordinal)
            }
        }
        for source in table.layout.compoundSources { try verifyCompoundIndex(table, source) }
        for source in table.layout.uniqueSources { try verifyUniqueness(table, source) }
    }

    private static func damaged(_ table: TableView, _ source: TreeSource, _ what: String) -> StorageError {
        let names = source.ordinals.map { table.schema.properties[$0].name }
        let label = source.isCompound ? "(" + names.joined(separator: ", ") + ")" : names[0]
        return StorageError(.corrupt, "'\(table.schema.name).\(label)' is damaged: \(what)")
    }

    private static func verifyCompoundIndex(_ table: TableView, _ source: TreeSource) throws(StorageError) {
        let tree = table.tree(at: source.tree)
        try tree.verify(in: table.view)
        let count = try tree.count(in: table.view)
        guard count == table.count else {
            throw damaged(table, source, "its index has \(count) entries for \(table.count) rows.")
        }
        try forEachRow(table) { (key, location) throws(StorageError) in
            let isIndexed = try table.withKeyBuffer { (buffer) throws(StorageError) -> Bool in
                let length = try table.encode(source, at: location, to: buffer)
                let entry = UnsafeRawBufferPointer(
                    start: buffer,
                    count: IndexKey.append(rowKey: key, to: buffer, at: length)
                )
                return try tree.contains(entry, in: table.view)
            }
            guard isIndexed else { throw damaged(table, source, "row \(key) is missing from its index.") }
        }
    }

    /// Checks that neighbours in a unique index differ, unless a value is null.
    private static func verifyUniqueness(_ table: TableView, _ source: TreeSource) throws(StorageError) {
        var before: [UInt8] = []
        var seen: Set<[StoredValue]> = []
        var first: Int64 = 0
        func values(_ row: Int64) throws(StorageError) -> [StoredValue] {
            guard let location = try table.locate(row) else {
                throw damaged(table, source, "its index names row \(row), which does not exist.")
            }
            var values: [StoredValue] = []
            for ordinal in source.ordinals { values.append(try table.value(ordinal, at: location)) }
            return values
        }
        var cursor = table.tree(at: source.tree).cursor(in: table.view)
        var isOnEntry = try cursor.seekFirst()
        while isOnEntry {
            let row = IndexKey.rowKey(at: cursor)
            let key = cursor.key
            let value = key.dropLast(min(key.count, IndexKey.rowKeyByteCount(last: key.last ?? 0)))
            if before.elementsEqual(value) {
                if value.count > 1 {
                    if seen.isEmpty { seen.insert(try values(first)) }
                    let own = try values(row)
                    guard own.contains(.null) || seen.insert(own).inserted else {
                        throw damaged(table, source, "\(TableView.describe(own)) occurs twice although it is unique.")
                    }
                }
            } else {
                before = Array(value)
                seen.removeAll()
                first = row
            }
            isOnEntry = try cursor.next()
        }
    }

    private static func damaged(_ table: TableView, _ property: Int, _ what: String) -> StorageError {
        StorageError(
            .corrupt,
            "'\(table.schema.name).\(table.schema.properties[property].name)' is damaged: \(what)"
        )
    }

    /// Calls a function with every row.
    private static func forEachRow(
        _ table: TableView,
        _ body: (Int64, RowLocation) throws(StorageError) -> Void
    ) throws(StorageError) {
        var cursor = table.leaves()
        while let leaf = try cursor.next() {
            for row in 0..<leaf.rowCount { try body(leaf.key(at: row), RowLocation(leaf: leaf, row: row)) }
        }
    }

    private static func verifyMap(
        _ table: TableView,
        _ property: Int,
        key: Int64,
        _ location: RowLocation
    ) throws(StorageError) {
        let map = try table.map(property, at: location, key: key)
        let slot = table.slots[property]
        var previous: [UInt8]?
        for index in 0..<map.count {
            let entry = try map.entry(at: index)
            let name = Array(entry.key)
            let isInOrder = previous.map { $0.lexicographicallyPrecedes(name) } ?? true
            guard isInOrder, UTF8Validation.isValid(entry.key) else {
                throw damaged(table, property, "the names of row \(key)'s dictionary are not in order.")
            }
            guard !entry.value.isNull || slot.isOptional || slot.isLink, entry.value.isPlausible(slot.kind) else {
                throw damaged(table, property, "the dictionary of row \(key) holds a value that cannot be.")
            }
            previous = name
        }
    }

    private static func verifyList(_ table: TableView, _ property: Int) throws(StorageError) {
        let slot = table.slots[property]
        try forEachRow(table) { (key, location) throws(StorageError) in
            let list = try table.list(property, at: location, key: key)
            var count = 0
            var byteCount = 0
            var isValid = true
            if slot.collection == .map {
                try verifyMap(table, property, key: key, location)
            } else if slot.collection == .set {
                let values = try list.values()
                guard zip(values, values.dropFirst()).allSatisfy({ StoredValue.order($0, $1) < 0 }) else {
                    throw damaged(table, property, "the set of row \(key) is not in order.")
                }
            }
            try list.visit { element in
                count += 1
                if element.isNull, !list.isElementOptional { isValid = false }
                if !element.isPlausible(list.elementKind) { isValid = false }
                byteCount += ListFormat.encodedByteCount(element, list)
            }
            guard count == list.count else { throw damaged(table, property, "a list has the wrong count.") }
            guard isValid else { throw damaged(table, property, "a list of row \(key) holds a value that cannot be.") }
            guard !list.isLarge || byteCount == list.byteCount else {
                throw damaged(table, property, "a list of row \(key) counts its bytes wrongly.")
            }
        }
    }

    private static func verifyValues(_ table: TableView, _ property: Int) throws(StorageError) {
        let slot = table.slots[property]
        try forEachRow(table) { (key, location) throws(StorageError) in
            let column = try table.column(property, in: location.leaf)
            guard try TableView.value(slot, in: column, row: location.row).isPlausible(slot.kind) else {
                throw damaged(table, property, "row \(key) holds a value that cannot be.")
            }
        }
    }

    private static func verifyIndex(_ table: TableView, _ property: Int) throws(StorageError) {
        let slot = table.slots[property]
        let tree = table.tree(at: Int(slot.tree))
        try tree.verify(in: table.view)
        if slot.hasKeyRuns { return try verifyKeyRuns(table, property) }
        guard try tree.count(in: table.view) == table.count else {
            throw damaged(
                table,
                property,
                "its index has \(try tree.count(in: table.view)) entries for \(table.count) rows."
            )
        }
        try forEachRow(table) { (key, location) throws(StorageError) in
            let column = try table.column(property, in: location.leaf)
            let value = try TableView.value(slot, in: column, row: location.row)
            let isIndexed = try table.withKeyBuffer { (buffer) throws(StorageError) -> Bool in
                let length = PendingEntries.encode(value, slot: slot, rowKey: key, to: buffer)
                return try tree.contains(UnsafeRawBufferPointer(start: buffer, count: length), in: table.view)
            }
            guard isIndexed else { throw damaged(table, property, "row \(key) is missing from its index.") }
        }
        guard slot.isPrimaryKey else { return }
        var previous: [UInt8] = []
        var cursor = tree.cursor(in: table.view)
        var isOnEntry = try cursor.seekFirst()
        while isOnEntry {
            let key = cursor.key
            let value = Array(key.dropLast(min(key.count, IndexKey.rowKeyByteCount(last: key.last ?? 0))))
            guard value != previous || value.count > IndexKey.stringByteLimit else {
                throw damaged(table, property, "a primary key occurs twice.")
            }
            previous = value
            isOnEntry = try cursor.next()
        }
    }

    /// Checks that the runs ascend, do not overlap, and name each row once under its primary key.
    private static func verifyKeyRuns(_ table: TableView, _ property: Int) throws(StorageError) {
        var runs: [KeyRun] = []
        var total = 0
        try table.keyRuns(property)
            .forEach(in: KeyRunRange(.unbounded, .unbounded)) { (run) throws(StorageError) -> Bool in
                if let before = runs.last {
                    guard let value = run.value, before.last.map({ $0 < value }) ?? true else {
                        throw damaged(table, property, "the runs of its index do not ascend.")
                    }
                }
                guard run.count <= Int64(table.count - total) else {
                    throw damaged(table, property, "its index has more entries than the table rows.")
                }
                total += Int(run.count)
                runs.append(run)
                return true
            }
        guard total == table.count else {
            throw damaged(table, property, "its index has \(total) entries for \(table.count) rows.")
        }
        try forEachRow(table) { (key, location) throws(StorageError) in
            let column = try table.column(property, in: location.leaf)
            let value = try TableView.value(table.slots[property], in: column, row: location.row)
            guard try table.keyRuns(property).row(of: value) == key else {
                throw damaged(table, property, "row \(key) is missing from its index.")
            }
        }
    }

    private static func verifyLinks(_ table: TableView, _ property: Int) throws(StorageError) {
        let slot = table.slots[property]
        if slot.isLink, try table.model.table(id: slot.targetTable) == nil {
            throw damaged(table, property, "its target class does not exist.")
        }
        let tree = table.tree(at: Int(slot.tree))
        try tree.verify(in: table.view)
        var expected = 0
        try forEachRow(table) { (key, location) throws(StorageError) in
            var counts: [Int64: Int] = [:]
            for target in try links(table, property, at: location, key: key) { counts[target, default: 0] += 1 }
            expected += counts.count
            for (target, count) in counts {
                let link = LinkID(target, slot)
                guard let targets = try table.model.table(id: link.table), try targets.contains(key: link.key) else {
                    throw damaged(table, property, "row \(key) links to row \(link.key), which does not exist.")
                }
                let stored = try table.withKeyBuffer { (buffer) throws(StorageError) -> Int in
                    let entry = IndexKey.backlink(target: target, origin: key, to: buffer)
                    guard let value = try tree.value(for: entry, in: table.view) else { return 0 }
                    return try table.multiplicity(value)
                }
                guard stored == count else {
                    throw damaged(
                        table,
                        property,
                        "row \(key) links \(count) times to row \(target), its backlinks say \(stored)."
                    )
                }
            }
        }
        let stored = try tree.count(in: table.view)
        guard stored == expected else {
            throw damaged(table, property, "it has \(stored) backlinks for \(expected) links.")
        }
    }

    /// The targets of a row's links.
    private static func links(
        _ table: TableView,
        _ property: Int,
        at location: RowLocation,
        key: Int64
    ) throws(StorageError) -> [Int64] {
        do {
            return try table.linkIDs(property, at: location, key: key)
        } catch let error as StorageError {
            throw error
        } catch {
            throw damaged(table, property, "\(error)")
        }
    }

    /// Visits every run of pages that a version's catalog reaches: the catalog itself, clusters, indexes, backlinks,
    /// large lists, overflow values.
    ///
    /// Each run exactly once.
    package static func forEachReachablePage(
        in snapshot: Snapshot,
        _ body: (PageReference) throws(StorageError) -> Void
    ) throws(StorageError) {
        var visited = VisitedPages()
        try forEachReachablePage(in: snapshot, &visited, body)
    }

    /// The same as a walk of the pages that this goes down into: of those below others nothing is read but schemas and the roots of tables.
    package static func forEachReachablePage(
        in snapshot: Snapshot,
        _ visited: inout VisitedPages,
        _ body: (PageReference) throws(StorageError) -> Void
    ) throws(StorageError) {
        try snapshot.catalog.forEachPage(in: snapshot.view, &visited, body)
        let model = try ModelView(snapshot: snapshot)
        for schema in model.schema.classes.values {
            guard let table = try model.table(named: schema.name) else { continue }
            try table.roots.clusters.forEachPage(in: snapshot.view, &visited, body) {
                (leaf: LeafView, visited: inout VisitedPages) throws(StorageError) in
                try forEachListPage(of: table, in: leaf, &visited, body)
            }
            for tree in table.roots.trees { try tree.forEachPage(in: snapshot.view, &visited, body) }
            for tree in try furtherTrees(of: table) { try tree.forEachPage(in: snapshot.view, &visited, body) }
        }
    }

    /// Visits the runs of the large lists whose roots a leaf has.
    private static func forEachListPage(
        of table: TableView,
        in leaf: LeafView,
        _ visited: inout VisitedPages,
        _ body: (PageReference) throws(StorageError) -> Void
    ) throws(StorageError) {
        for property in table.layout.listProperties {
            // A column that is passed over has no root of a list that is not.
            if visited.passesOver(leaf.externalReference(table.column(property))) { continue }
            let column = try table.column(property, in: leaf)
            for row in 0..<leaf.rowCount {
                let bytes = try column.bytes(row)
                guard bytes.first == ListFormat.largeForm, bytes.count == ListFormat.largeByteCount else { continue }
                let root = try ListFormat.root(at: bytes.baseAddress!)
                try SequenceTree(root: root).forEachPage(in: table.view, &visited, body)
            }
        }
    }

    /// The trees of indexes of kinds that this release does not know: whatever their keys are, they are trees.
    private static func furtherTrees(of table: TableView) throws(StorageError) -> [ByteTree] {
        let schema = table.schema
        guard schema.furtherIndexCount > 0,
            let bytes = try CatalogKey.value(
                CatalogKey.table,
                schema.tableID,
                in: table.model.catalog,
                view: table.view
            )
        else { return [] }
        var trees: [ByteTree] = []
        try TableEntry.forEachTree(bytes, orThrow: TableEntry.damaged(schema)) {
            (index, _, root) throws(StorageError) in
            if index >= table.layout.treeCount { trees.append(ByteTree(root: root)) }
        }
        return trees
    }
}
