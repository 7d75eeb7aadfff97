import RealmModel
import RealmStorage

/// Finds objects by primary keys that have no index until the migration is done, because it makes or writes them.
final class MigrationKeys {
    /// What is known of one class.
    private struct Known {
        /// Rows that had a value when they were looked at last.
        var rows: [StoredValue: [Int64]] = [:]
        /// The rows that were written since.
        var written: Set<Int64> = []
        /// The rows that were looked at come before this one.
        var end = Int64.min
    }

    private var classes: [String: Known] = [:]

    /// Notes that a row was given another key.
    func wrote(_ key: Int64, _ className: String) { classes[className]?.written.insert(key) }

    /// Forgets a class whose keys have changed altogether.
    func forget(_ className: String) { classes[className] = nil }

    /// The row that has a value in a property.
    ///
    /// - Complexity: O(*n*) the first time, then O(*m*) for *m* rows that were made or given another key since.
    func find(_ value: StoredValue, in table: TableView, _ ordinal: Int, _ className: String) throws -> Int64? {
        var known = classes.removeValue(forKey: className) ?? Known()
        defer { classes[className] = known }
        for key in known.written where try table.contains(key: key) {
            known.rows[try table.value(ordinal, key: key), default: []].append(key)
        }
        known.written.removeAll()
        try read(table, ordinal, &known)
        return try known.rows[value]?
            .first { key in
                try table.contains(key: key) && table.value(ordinal, key: key) == value
            }
    }

    /// Looks at the rows that were made since the last time.
    private func read(_ table: TableView, _ ordinal: Int, _ known: inout Known) throws {
        let end = table.nextKey
        if known.end == end { return }
        var cursor = table.leaves(from: known.end)
        while let leaf = try cursor.next() {
            for row in leaf.lowerBound(of: known.end)..<leaf.rowCount {
                let key = leaf.key(at: row)
                known.rows[try table.value(ordinal, key: key), default: []].append(key)
            }
        }
        known.end = end
    }
}
