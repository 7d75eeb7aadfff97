import RealmModel
import RealmStorage

/// Carries the writes of one change set back to the rows from which links lead to them.
///
/// What it found is kept for whoever asks next.
final class ChangeTracing {
    private struct Level: Hashable {
        var table: UInt32
        var depth: Int
    }

    private let changes: ChangeSet
    private let old: ModelView
    private let new: ModelView
    /// Whether the classes changed on the way, which may have moved properties.
    private let changesSchema: Bool
    /// Whether more than one commit may have changed them: a property may have gone and come back, and have stood elsewhere between.
    private let losesPlaces: Bool
    private var known: [Level: [Int64]] = [:]

    init(changes: ChangeSet, old: ModelView, new: ModelView) {
        self.changes = changes
        self.old = old
        self.new = new
        let isOtherSchema = old.schemaStamp != new.schemaStamp
        changesSchema = isOtherSchema
        if isOtherSchema, let first = old.schemaGeneration, let last = new.schemaGeneration {
            losesPlaces = last != first + 1
        } else {
            losesPlaces = isOtherSchema
        }
    }

    /// The rows of a node's table that were written to, or lead to rows that were.
    func keys(of node: ChangePaths.Node) throws -> [Int64] {
        var result = written(in: node.table, columns: node.columns)
        for step in node.steps {
            switch step {
            case .forward(let property, let child):
                let targets = try keys(of: child)
                try appendOrigins(of: targets, in: child.table, from: node.table, property, to: &result)
            case .backward(let property, let child):
                // Rows that were created or deleted come or go on this side, for all that they link to.
                let origins = try keys(of: child)
                let table = changes.tables[child.table] ?? TableChanges()
                let before = try old.table(id: child.table)
                let after = try new.table(id: child.table)
                let former = formerPlace(of: property, in: child.table)
                for origin in origins + table.inserted { result += try targets(of: origin, in: after, property) }
                for origin in table.deleted { result += try targets(of: origin, in: before, former) }
                // Where the link was written only those count that it leads to more or less often than before.
                for origin in written(in: child.table, columns: ColumnSet(property)) {
                    var counts: [Int64: Int] = [:]
                    for target in try targets(of: origin, in: before, former) { counts[target, default: 0] -= 1 }
                    for target in try targets(of: origin, in: after, property) { counts[target, default: 0] += 1 }
                    for (target, count) in counts where count != 0 { result.append(target) }
                }
            }
        }
        return AscendingKeys.union(result, [])
    }

    /// The rows of a table that were written to, or from which at most `depth` links lead to one that was.
    func keys(in table: UInt32, depth: Int) throws -> [Int64] {
        if let result = known[Level(table: table, depth: depth)] { return result }
        var result = written(in: table, columns: nil)
        if depth > 0, let schema = new.schema.schema(of: table) {
            for (ordinal, property) in schema.properties.enumerated() where property.makesLinks {
                for target in new.schema.tables(linkedBy: property) {
                    let changed = try keys(in: target, depth: depth - 1)
                    try appendOrigins(of: changed, in: target, from: table, ordinal, to: &result)
                }
            }
            result = AscendingKeys.union(result, [])
        }
        known[Level(table: table, depth: depth)] = result
        return result
    }

    private func written(in table: UInt32, columns: ColumnSet?) -> [Int64] {
        guard let modified = changes.tables[table]?.modified else { return [] }
        guard let columns, !mayHaveMoved(in: table) else { return modified.map(\.key) }
        return modified.lazy.filter { !$0.columns.isDisjoint(with: columns) }.map(\.key)
    }

    /// Whether what was written to a table may be recorded by places that its properties have neither before nor behind the step.
    ///
    /// New properties come behind the others, which stay where they are. Where one has gone or has another column, others may have moved
    /// more than once: a migration is one commit, moves properties before its block writes to them, and moves them again behind it.
    private func mayHaveMoved(in table: UInt32) -> Bool {
        if losesPlaces { return true }
        guard changesSchema else { return false }
        let before = old.schema.schema(of: table)?.properties ?? []
        let after = new.schema.schema(of: table)?.properties ?? []
        return !after.starts(with: before) { $0.name == $1.name && $0.column == $1.column }
    }

    /// The properties of a table, where they stand now, of which what was recorded may tell.
    func columns(of table: UInt32, recordedAs written: ColumnSet) -> ColumnSet {
        guard mayHaveMoved(in: table) else { return written }
        var result = ColumnSet()
        let properties = new.schema.schema(of: table)?.properties ?? []
        for (column, property) in properties.enumerated() where property.isStored { result.insert(column) }
        return result
    }

    /// Where a property of a table stood before the step; nil when it did not exist.
    private func formerPlace(of property: Int, in table: UInt32) -> Int? {
        guard changesSchema else { return property }
        guard let now = new.schema.schema(of: table)?.properties, now.indices.contains(property) else { return nil }
        return old.schema.schema(of: table)?.ordinal(of: now[property].name)
    }

    /// Adds the rows that link to `targets` now; links that were there before and are not now were written to.
    private func appendOrigins(
        of targets: [Int64],
        in table: UInt32,
        from origin: UInt32,
        _ property: Int,
        to result: inout [Int64]
    ) throws {
        guard !targets.isEmpty, let table = try new.table(id: table) else { return }
        for target in targets {
            result.append(contentsOf: try table.backlinkKeys(of: target, from: origin, property: property))
        }
    }

    /// The rows that a row links to; none when it does not exist, or has no such links.
    private func targets(of origin: Int64, in table: TableView?, _ property: Int?) throws -> [Int64] {
        guard let table, let property, table.schema.properties.indices.contains(property),
            table.schema.properties[property].isLink, try table.contains(key: origin)
        else { return [] }
        if table.schema.properties[property].collection != .none {
            return try table.linkedKeys(property, key: origin)
        }
        return try table.link(property, key: origin).map { [$0] } ?? []
    }
}
