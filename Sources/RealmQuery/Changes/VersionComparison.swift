package import RealmModel
package import RealmStorage

/// Finds out what changed between two versions by comparing their rows, for when the file no longer keeps the record.
///
/// Leaves that both versions share are skipped, so the work depends on what changed here too; a property written with
/// an equal value goes unnoticed.
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
                let columns = try differences(old, oldLocation, new, newLocation, key: after.key)
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

    private static func differences(
        _ old: TableView,
        _ oldLocation: RowLocation,
        _ new: TableView,
        _ newLocation: RowLocation,
        key: Int64
    ) throws -> ColumnSet {
        var columns = ColumnSet()
        for (ordinal, property) in new.schema.properties.enumerated() where property.isStored {
            guard old.schema.properties.indices.contains(ordinal) else { continue }
            let isEqual =
                if property.collection == .none {
                    try old.value(ordinal, at: oldLocation) == new.value(ordinal, at: newLocation)
                } else {
                    try old.list(ordinal, at: oldLocation, key: key).values()
                        == new.list(ordinal, at: newLocation, key: key).values()
                }
            if !isEqual { columns.insert(ordinal) }
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
