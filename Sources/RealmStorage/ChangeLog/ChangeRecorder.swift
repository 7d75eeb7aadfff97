/// Records what an open write transaction touches, for the change log.
///
/// Row keys are never reused and grow, so a key at or above the first one inserted by this transaction is new in it.
package final class ChangeRecorder {
    typealias Run = (first: Int64, count: Int64, columns: ColumnSet)

    struct Table {
        /// Runs of consecutive inserted keys, ascending.
        var inserted: [(first: Int64, count: Int64)] = []
        var deleted: Set<Int64> = []
        /// Runs of consecutive keys of which the same columns were written, ascending: whoever goes through a table writes
        /// its rows in their order, and then a million of them take no memory.
        var modified: [Run] = []
        /// The number of rows in `modified`.
        var modifiedCount: Int64 = 0
        /// The runs of whoever went through the table before.
        var earlier: [[Run]] = []
        /// What was written out of order.
        var scattered: [Int64: ColumnSet] = [:]
        var lastKey = Int64.min
        var lastColumns = ColumnSet()

        mutating func flushLast() {
            if !lastColumns.isEmpty { note(lastKey, lastColumns) }
            lastKey = .min
            lastColumns = ColumnSet()
        }

        mutating func note(_ key: Int64, _ columns: ColumnSet) {
            if let last = modified.last {
                let end = last.first + last.count
                if key < end {
                    // A second way through the table, or a row out of order.
                    if modifiedCount < 1_024 || earlier.count == 7 {
                        scattered[key, default: ColumnSet()].formUnion(columns)
                        return
                    }
                    earlier.append(modified)
                    modified = []
                    modifiedCount = 0
                } else if key == end, columns == last.columns {
                    modified[modified.count - 1].count += 1
                    modifiedCount += 1
                    return
                }
            }
            modified.append((key, 1, columns))
            modifiedCount += 1
        }

        var rowCount: Int {
            var count = deleted.count + scattered.count + Int(modifiedCount) + (lastColumns.isEmpty ? 0 : 1)
            for run in inserted { count += Int(run.count) }
            for run in earlier.joined() { count += Int(run.count) }
            return count
        }

        /// What changed, in the shape observers get.
        var changes: TableChanges {
            var changes = TableChanges()
            if inserted.count == 1 {
                changes.inserted.append(inserted[0].first..<inserted[0].first + inserted[0].count)
            } else {
                for run in inserted.sorted(by: { $0.first < $1.first }) {
                    changes.inserted.append(run.first..<run.first + run.count)
                }
            }
            if !deleted.isEmpty {
                let firstInserted = inserted.first?.first ?? .max
                let deleted = RowKeys(deleted.sorted())
                changes.inserted = changes.inserted.subtracting(deleted)
                changes.deleted = RowKeys(deleted.prefix { $0 < firstInserted })
            }
            if lastColumns.isEmpty {
                changes.modified = modifications()
            } else {
                var flushed = self
                flushed.flushLast()
                changes.modified = flushed.modifications()
            }
            return changes
        }

        /// The rows that were written and are still there, ascending.
        func modifications() -> [TableChanges.Modification] {
            if modified.isEmpty, earlier.isEmpty, scattered.isEmpty { return [] }
            var result: [TableChanges.Modification] = []
            result.reserveCapacity(Int(modifiedCount) + scattered.count)
            var scattered = scattered
            func add(_ key: Int64, _ columns: ColumnSet) {
                if deleted.contains(key) { return }
                var columns = columns
                if !scattered.isEmpty, let more = scattered.removeValue(forKey: key) { columns.formUnion(more) }
                result.append(TableChanges.Modification(key: key, columns: columns))
            }
            if earlier.isEmpty {
                for run in modified { for key in run.first..<run.first + run.count { add(key, run.columns) } }
            } else {
                var ways = (earlier + [modified]).map { RunCursor(runs: $0) }
                while let key = ways.lazy.map(\.key).min(), key < .max {
                    var columns = ColumnSet()
                    for way in ways.indices where ways[way].key == key { columns.formUnion(ways[way].next()) }
                    add(key, columns)
                }
            }
            for (key, columns) in scattered where !deleted.contains(key) {
                result.append(TableChanges.Modification(key: key, columns: columns))
            }
            if !scattered.isEmpty { result.sort { $0.key < $1.key } }
            return result
        }
    }

    /// A place in ascending runs.
    private struct RunCursor {
        let runs: [Run]
        private var run = 0
        /// The next row; the greatest number at the end.
        private(set) var key: Int64

        init(runs: [Run]) {
            self.runs = runs
            key = runs.first?.first ?? .max
        }

        /// The columns of the row, and on to the one behind it.
        mutating func next() -> ColumnSet {
            let current = runs[run]
            key += 1
            if key == current.first + current.count {
                run += 1
                key = run < runs.count ? runs[run].first : .max
            }
            return current.columns
        }
    }

    // For each row that is written; nothing is called while one of them is accessed.
    @exclusivity(unchecked) var tables: [UInt32: Table] = [:]
    @exclusivity(unchecked) var currentID: UInt32 = .max
    @exclusivity(unchecked) var current = Table()

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
        for run in later.earlier.joined() + later.modified {
            for key in run.first..<run.first + run.count where key < first { current.note(key, run.columns) }
        }
        for (key, columns) in later.scattered where key < first { current.note(key, columns) }
        if !later.lastColumns.isEmpty, later.lastKey < first { current.note(later.lastKey, later.lastColumns) }
    }

    /// The number of rows that this transaction touched so far, those counted twice that it wrote in several ways.
    ///
    /// - Complexity: O(*r*) for *r* runs of neighbouring rows.
    package var rowCount: Int {
        (currentID == .max ? 0 : current.rowCount) + tables.values.reduce(0) { $0 + $1.rowCount }
    }

    /// What this transaction changed so far, in the shape observers get.
    package var changeSet: ChangeSet {
        var result = ChangeSet()
        if currentID != .max {
            let changes = current.changes
            if !changes.isEmpty { result.tables[currentID] = changes }
        }
        for (id, table) in tables {
            let changes = table.changes
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
