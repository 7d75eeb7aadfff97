package import RealmModel
package import RealmStorage

/// The way from one version to a later one, as observers go it: both, and what changed between them.
///
/// Observers that go the same way share what is found out on it. It belongs to one thread.
package final class ChangeStep {
    package let changes: ChangeSet
    package let old: ModelView
    package let new: ModelView
    /// Whether another process changed the classes on the way, so that what was known of their properties is void.
    package let changesSchema: Bool
    private let touched: TouchedRows
    /// What was asked of it already.
    private var orders: [(place: RowWatch.Place, order: TouchedRows.Order?)] = []
    private(set) lazy var tracing = ChangeTracing(changes: changes, old: old, new: new)

    /// Makes a step; others that go the same way may share the rows.
    package init(_ changes: ChangeSet, from old: ModelView, to new: ModelView, rows: TouchedRows = TouchedRows()) {
        self.changes = changes
        touched = rows
        self.old = old
        self.new = new
        // Each observer asks for it several times.
        changesSchema = old.schemaStamp != new.schemaStamp
    }

    /// The number of rows that were touched.
    package var rowCount: Int { changes.tables.values.reduce(0) { $0 + $1.rowCount } }

    /// What was written to a row that existed before and exists now, as the properties stand behind the step; nil for nothing.
    ///
    /// What was recorded goes by the places that the properties had then. Where a property of the class has gone on the way, or has got
    /// another column, and where more than one commit has changed the classes, these may be any: all properties of a row that was
    /// written are in it. Key paths go by the same.
    package func columns(of key: Int64, in table: UInt32) -> ColumnSet? {
        guard let recorded = changes.tables[table]?.columns(of: key) else { return nil }
        return changesSchema ? tracing.columns(of: table, recordedAs: recorded) : recorded
    }

    /// What changed in a table.
    func changes(in table: UInt32) -> TableChanges { changes.tables[table] ?? TableChanges() }

    /// The rows of a table that were touched, ascending, and lie within a bound before the step or after it.
    func keys(within bound: RowBound, of table: UInt32) throws -> [Int64] {
        let place = RowWatch.Place(table: table, property: bound.property, followsLinks: false)
        return try order(at: place)?.keys(within: bound) ?? []
    }

    /// The rows, ascending, that alone can concern a collection; nil when there are more than are looked at for many
    /// observers, so that all can.
    func keys(within watch: RowWatch) throws -> [Int64]? {
        isProbed(watch.place) ? try order(at: watch.place)?.keys(within: watch.bound) : nil
    }

    /// The words of a property, ascending, that rows of a table had before the step or have after it which were touched or,
    /// if so asked, lead to what was; nil for more rows than are looked at for many observers.
    package func words(at place: RowWatch.Place) throws -> [Int64]? {
        isProbed(place) ? try order(at: place)?.words : nil
    }

    private func isProbed(_ place: RowWatch.Place) -> Bool {
        changes.tables[place.table].map { $0.rowCount <= ChangeStep.largestProbed } ?? true
    }

    /// So many rows are looked at to find out which observers they concern.
    static let largestProbed = 4_096

    private func order(at place: RowWatch.Place) throws -> TouchedRows.Order? {
        for known in orders where known.place == place { return known.order }
        let order = try touched.order(at: place, self)
        orders.append((place, order))
        return order
    }
}

extension TableChanges {
    /// The number of rows that were touched.
    var rowCount: Int { inserted.count + deleted.count + modified.count }

    /// What was written to a row that existed before and exists now; nil for nothing.
    package func columns(of key: Int64) -> ColumnSet? {
        let index = modified.partitioningIndex { $0.key >= key }
        return index < modified.count && modified[index].key == key ? modified[index].columns : nil
    }
}
