import RealmStorage

extension TableView {
    /// A row that is to go.
    package typealias Doomed = (table: TableView, key: Int64)

    /// Deletes a row: links to it become null, lists lose it, embedded children and what its delete rules name go with it.
    ///
    /// - Throws: `ModelError.noSuchRow`, `ModelError.deletionDenied`, or the storage's error.
    package func delete(key: Int64) throws {
        guard try deleteIfPresent(key: key) else { throw ModelError.noSuchRow(className: schema.name, key: key) }
    }

    /// Deletes a row like `delete(key:)`; false when there is no such row.
    package func deleteIfPresent(key: Int64) throws -> Bool {
        if model.schema.deniesDeletions { try model.requireDeletable([(self, key)]) }
        return try deleteUnasked(key: key)
    }

    /// Deletes a row without asking whether a delete rule denies it; false when there is no such row.
    @discardableResult
    package func deleteUnasked(key: Int64) throws -> Bool {
        _ = try openTransaction
        if layout.linkProperties.isEmpty && linkOrigins.isEmpty && layout.listProperties.isEmpty {
            let writer = try openWriter()
            try writer.settle()
            return try remove(key, writer)
        }
        guard try contains(key: key) else { return false }
        var doomed: [Doomed] = [(self, key)]
        while let next = doomed.popLast() {
            // A row may be reached more than once, and links may go round in circles.
            if try next.table.contains(key: next.key) { try next.table.deleteRow(next.key, &doomed) }
        }
        return true
    }

    /// Takes a row back that the open transaction made: unlike with `delete(key:)`, nothing goes with it.
    package func discard(key: Int64) throws {
        var others: [Doomed] = []
        try deleteRow(key, &others)
    }

    /// Whether rows can link to others.
    var makesLinks: Bool { !layout.linkProperties.isEmpty }

    /// Gives up the backlinks that a row makes, before it is discarded together with rows that it links to.
    func releaseLinks(of key: Int64) throws {
        try openWriter().settle()
        try catchUpLinks()
        for property in layout.linkProperties {
            for target in try linkIDs(property, key: key) { try removeBacklink(property, target: target, origin: key) }
        }
    }

    private func deleteRow(_ key: Int64, _ doomed: inout [Doomed]) throws {
        let writer = try openWriter()
        try writer.settle()
        try catchUpLinks()
        for property in layout.linkProperties { try unlinkTargets(of: key, property, &doomed) }
        if !layout.listProperties.isEmpty { try freeSequences(of: key) }
        for origin in linkOrigins { try unlink(key, from: origin) }
        guard try remove(key, writer) else { throw ModelError.noSuchRow(className: schema.name, key: key) }
    }

    /// Removes a row and its index entries; false when there is no such row.
    private func remove(_ key: Int64, _ writer: TableWriter) throws(StorageError) -> Bool {
        let hasIndexes = layout.treeCount > layout.linkProperties.count
        let isRemoved = try writer.rows.delete(key: key) { (location) throws(StorageError) in
            if hasIndexes { try removeFromIndexes(key, at: location, writer) }
        }
        guard isRemoved else { return false }
        writer.rows.transaction.changes.recordDelete(table: id, key: key)
        if writer.liveKey == key { writer.liveKey = -1 }
        // Behind the last look at the row: catching up may move rows and pages.
        if hasIndexes {
            for source in layout.sources { try writer.limitChanges(tree: source.tree) }
        }
        return true
    }

    /// Removes the backlinks that a row makes through a property, and dooms the rows that it owns.
    private func unlinkTargets(of key: Int64, _ property: Int, _ doomed: inout [Doomed]) throws {
        let slot = slots[property]
        let targets = try linkIDs(property, key: key)
        for target in targets { try removeBacklink(property, target: target, origin: key) }
        guard slot.cascades, let table = try model.table(id: slot.targetTable) else { return }
        for target in targets { doomed.append((table, target)) }
    }

    /// Takes a row out of the links and lists of one property of a class.
    private func unlink(_ key: Int64, from origin: DatabaseSchema.LinkOrigin) throws {
        guard let table = try model.table(id: origin.tableID), try !table.linkTree(origin.property).isEmpty else {
            return
        }
        var origins: [(key: Int64, count: Int)] = []
        try forEachBacklink(of: key, from: origin.tableID, property: origin.property) { origins.append(($0, $1)) }
        let property = origin.property
        let slot = table.slots[property]
        for (originKey, count) in origins {
            guard let location = try table.locate(originKey) else {
                let name = table.schema.properties[property].name
                throw table.corrupt("a backlink of '\(name)' names row \(originKey), which does not exist.")
            }
            if slot.isDeferrable {
                // The link of the row may lead elsewhere, and be sound.
                let value = try table.borrowedValue(property, at: location)
                guard case .int(key) = value, count == 1 else { throw table.unmatched(property, originKey) }
                try table.write(property, key: originKey, .null, of: .object)
                continue
            }
            let number = linkNumber(of: key, in: slot)
            let isList = slot.kind != .any && slot.collection != .map
            let links =
                isList
                ? try table.list(property, at: location, key: originKey).links()
                : try table.linkIDs(property, at: location, key: originKey)
            let places = links.indices.filter { links[$0] == number }
            guard places.count == count else { throw table.unmatched(property, originKey) }
            let writer = try table.openWriter()
            if !isList { try writer.settle() }
            try table.removeBacklink(property, target: number, origin: originKey)
            if isList {
                for index in places.reversed() {
                    try table.rawSplice(property, key: originKey, index..<index + 1, with: nil)
                }
            } else {
                try table.removeLinks(to: (id, key), property, key: originKey)
            }
        }
    }

    /// The error for backlinks that are other than the links of a row.
    private func unmatched(_ property: Int, _ key: Int64) -> StorageError {
        corrupt("the backlinks of '\(schema.properties[property].name)' do not match the links of row \(key).")
    }

    /// Notes that the row's index entries go, those of compound indexes included.
    private func removeFromIndexes(
        _ key: Int64,
        at location: RowLocation,
        _ writer: TableWriter
    ) throws(StorageError) {
        for property in 0..<layout.slotCount where hasIndex(property) {
            let slot = slots[property]
            let tree = Int(slot.tree)
            guard key < writer.trees[tree].pendingFrom else { continue }
            let value = try Self.value(slot, in: try column(property, in: location.leaf), row: location.row)
            writer.noteChange(tree, removes: true) {
                slot.hasKeyRuns
                    ? IndexKey.encode(value, slot, to: $0)
                    : PendingEntries.encode(value, slot: slot, rowKey: key, to: $0)
            }
        }
        try removeFromCompoundIndexes(key, at: location, writer)
    }

    /// Deletes every row.
    package func deleteAll() throws {
        _ = try openTransaction
        if try isIndependent() {
            try clear()
            return
        }
        let keys = try allKeys()
        if model.schema.deniesDeletions { try model.requireDeletable(keys.map { (self, $0) }) }
        // Rows that go with an earlier one are gone when their turn comes.
        for key in keys { try deleteUnasked(key: key) }
    }

    /// Whether no other row changes when all of this table's rows go.
    private func isIndependent() throws -> Bool {
        if layout.linkProperties.contains(where: { slots[$0].cascades || slots[$0].deleteRule == .deny }) {
            return false
        }
        for origin in linkOrigins where origin.tableID != id {
            guard let table = try model.table(id: origin.tableID) else { continue }
            if try !table.linkTree(origin.property).isEmpty { return false }
        }
        return true
    }

    /// All row keys, ascending.
    func allKeys() throws(StorageError) -> [Int64] {
        var keys: [Int64] = []
        keys.reserveCapacity(forClaimed: count)
        var cursor = leaves()
        while let leaf = try cursor.next() {
            for row in 0..<leaf.rowCount { keys.append(leaf.key(at: row)) }
        }
        return keys
    }

    /// Deletes every row and looks at nothing beyond this table.
    func clear() throws {
        guard count > 0 else { return }
        let writer = try openWriter()
        try writer.settle()
        for key in try allKeys() {
            if !layout.listProperties.isEmpty { try freeSequences(of: key) }
            writer.rows.transaction.changes.recordDelete(table: id, key: key)
        }
        try writer.removeAll()
    }
}
