package import RealmModel
package import RealmStorage

/// Finds out what changed between two versions by comparing their rows, for when the file no longer keeps the record.
///
/// Leaves that both versions share are skipped, so the work depends on what changed here too; a property written with
/// the value that it had goes unnoticed.
package enum VersionComparison {
    /// What changed from one version to another one of the same file.
    package static func changes(from old: ModelView, to new: ModelView) throws -> ChangeSet {
        var result = ChangeSet()
        for schema in new.schema.classes.map({ $0.value }) {
            guard let table = try new.table(id: schema.tableID) else { continue }
            let changes = try compare(try old.table(id: schema.tableID), table)
            if !changes.isEmpty { result.tables[schema.tableID] = changes }
        }
        return result
    }

    private static func compare(_ old: TableView?, _ new: TableView) throws -> TableChanges {
        var changes = TableChanges()
        guard let old else {
            try forEachRow(of: new) { changes.inserted.append($0) }
            return changes
        }
        let properties = PropertyPair.all(of: old.schema, new.schema)
        var before = try Rows(old)
        var after = try Rows(new)
        while let newLocation = after.location {
            guard let oldLocation = before.location else {
                changes.inserted.append(after.key)
                try after.next()
                continue
            }
            if oldLocation.leaf.base == newLocation.leaf.base, before.row == after.row {
                try before.skipLeaf()
                try after.skipLeaf()
            } else if before.key < after.key {
                changes.deleted.append(before.key)
                try before.next()
            } else if after.key < before.key {
                changes.inserted.append(after.key)
                try after.next()
            } else {
                let columns = try differences(properties, old, oldLocation, new, newLocation, key: after.key)
                if !columns.isEmpty {
                    changes.modified.append(TableChanges.Modification(key: after.key, columns: columns))
                }
                try before.next()
                try after.next()
            }
        }
        while before.location != nil {
            changes.deleted.append(before.key)
            try before.next()
        }
        return changes
    }

    /// A stored property of the later version, and where the earlier one has it.
    private struct PropertyPair {
        let old: Int
        let new: Int
        let collection: CollectionKind
        /// Whether it was of the same kind: values of others cannot be compared.
        let isAlike: Bool

        /// The properties that both versions have: another process may have changed the class in between, which moves them.
        static func all(of old: ClassSchema, _ new: ClassSchema) -> [PropertyPair] {
            new.properties.enumerated()
                .compactMap { ordinal, property in
                    guard property.isStored, let place = old.ordinal(of: property.name) else { return nil }
                    let former = old.properties[place]
                    return PropertyPair(
                        old: place,
                        new: ordinal,
                        collection: property.collection,
                        isAlike: former.isStored && former.kind == property.kind
                            && former.collection == property.collection && former.targetClass == property.targetClass
                    )
                }
        }
    }

    private static func differences(
        _ properties: [PropertyPair],
        _ old: TableView,
        _ oldLocation: RowLocation,
        _ new: TableView,
        _ newLocation: RowLocation,
        key: Int64
    ) throws -> ColumnSet {
        var columns = ColumnSet()
        for property in properties {
            let isEqual =
                if !property.isAlike {
                    false
                } else if property.collection == .none {
                    try old.value(property.old, at: oldLocation)
                        .isIdentical(to: new.value(property.new, at: newLocation))
                } else if property.collection == .map {
                    try old.map(property.old, key: key).entries()
                        .areIdentical(to: new.map(property.new, key: key).entries())
                } else {
                    try old.list(property.old, at: oldLocation, key: key).values()
                        .areIdentical(to: new.list(property.new, at: newLocation, key: key).values())
                }
            if !isEqual { columns.insert(property.new) }
        }
        return columns
    }

    private static func forEachRow(of table: TableView, _ body: (Int64) -> Void) throws {
        var rows = try Rows(table)
        while rows.location != nil {
            body(rows.key)
            try rows.next()
        }
    }

    /// A walk over the rows of a table.
    private struct Rows {
        private var cursor: LeafCursor
        private var leaf: LeafView?
        private(set) var row = 0

        init(_ table: TableView) throws {
            cursor = table.leaves()
            leaf = try cursor.next()
        }

        var location: RowLocation? { leaf.map { RowLocation(leaf: $0, row: row) } }

        var key: Int64 { leaf!.key(at: row) }

        mutating func next() throws {
            row += 1
            if let leaf, row >= leaf.rowCount { try skipLeaf() }
        }

        mutating func skipLeaf() throws {
            leaf = try cursor.next()
            row = 0
        }
    }
}
