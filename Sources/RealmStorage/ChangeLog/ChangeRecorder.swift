/// Records what an open write transaction touches, for the change log.
///
/// Row keys are never reused and grow, so a key at or above the first one inserted by this transaction is new in it.
package final class ChangeRecorder {
    private struct Table {
        /// Runs of consecutive inserted keys, ascending.
        var inserted: [(first: Int64, count: Int64)] = []
        var deleted: Set<Int64> = []
        var modified: [Int64: ColumnSet] = [:]
        var lastKey = Int64.min
        var lastColumns = ColumnSet()

        mutating func flushLast() {
            if !lastColumns.isEmpty { modified[lastKey, default: ColumnSet()].formUnion(lastColumns) }
            lastKey = .min
            lastColumns = ColumnSet()
        }
    }

    // For each row that is written; nothing is called while one of them is accessed.
    @exclusivity(unchecked) private var tables: [UInt32: Table] = [:]
    @exclusivity(unchecked) private var currentID: UInt32 = .max
    @exclusivity(unchecked) private var current = Table()

    package init() {}

    /// Whether nothing was touched.
    package var isEmpty: Bool {
        currentID == .max && tables.isEmpty
    }

    /// A row was created.
    package func recordInsert(table: UInt32, key: Int64) {
        select(table)
        if let last = current.inserted.last, last.first + last.count == key {
            current.inserted[current.inserted.count - 1].count += 1
        } else {
            current.inserted.append((key, 1))
        }
    }

    /// A row was deleted.
    package func recordDelete(table: UInt32, key: Int64) {
        select(table)
        current.deleted.insert(key)
    }

    /// A property of a row was written, even with an equal value.
    ///
    /// `column` is the property's ordinal.
    package func recordModify(table: UInt32, key: Int64, column: Int) {
        select(table)
        if let first = current.inserted.first, key >= first.first { return }
        if key != current.lastKey {
            current.flushLast()
            current.lastKey = key
        }
        current.lastColumns.insert(column)
    }

    /// Takes over what a later transaction of the same group recorded, which is not used any more.
    func absorb(_ later: ChangeRecorder) {
        if currentID == .max, tables.isEmpty {
            (tables, currentID, current) = (later.tables, later.currentID, later.current)
            return
        }
        if later.currentID != .max { absorb(later.current, of: later.currentID) }
        for (id, table) in later.tables { absorb(table, of: id) }
    }

    private func absorb(_ later: Table, of table: UInt32) {
        select(table)
        for run in later.inserted {
            if let last = current.inserted.last, last.first + last.count == run.first {
                current.inserted[current.inserted.count - 1].count += run.count
            } else {
                current.inserted.append(run)
            }
        }
        if !later.deleted.isEmpty { current.deleted.formUnion(later.deleted) }
        let first = current.inserted.first?.first ?? .max
        current.flushLast()
        if !later.lastColumns.isEmpty, later.lastKey < first {
            current.modified[later.lastKey, default: ColumnSet()].formUnion(later.lastColumns)
        }
        for (key, columns) in later.modified where key < first {
            current.modified[key, default: ColumnSet()].formUnion(columns)
        }
    }

    /// What this transaction changed so far, in the shape observers get.
    package var changeSet: ChangeSet {
        var result = ChangeSet()
        var all = tables
        if currentID != .max { all[currentID] = current }
        for (id, var table) in all {
            table.flushLast()
            var changes = TableChanges()
            for run in table.inserted {
                for key in run.first..<(run.first + run.count) where !table.deleted.contains(key) {
                    changes.inserted.append(key)
                }
            }
            changes.inserted.sort()
            let firstInserted = table.inserted.first?.first ?? .max
            changes.deleted = table.deleted.filter { $0 < firstInserted }.sorted()
            changes.modified = table.modified.filter { !table.deleted.contains($0.key) }
                .map { TableChanges.Modification(key: $0.key, columns: $0.value) }
                .sorted { $0.key < $1.key }
            if !changes.isEmpty { result.tables[id] = changes }
        }
        return result
    }

    private func select(_ table: UInt32) {
        if table == currentID { return }
        if currentID != .max { tables[currentID] = current }
        current = tables.removeValue(forKey: table) ?? Table()
        currentID = table
    }
}
