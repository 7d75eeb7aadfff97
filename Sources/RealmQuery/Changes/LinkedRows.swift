import RealmModel
import RealmStorage

/// The rows that values of any kind link to, also in lists and dictionaries in them.
///
/// What is written to such a row, or to one that links lead to from there, counts as a change of the value.
struct LinkedRows: Sendable {
    /// Rows by their tables.
    typealias Rows = [UInt32: Set<Int64>]

    private var rows: Rows = [:]
    /// The tables in which a write can count.
    private(set) var tables: Set<UInt32> = []

    /// No rows.
    init() {}

    init(of values: some Sequence<StoredValue>, schema: DatabaseSchema) {
        var rows: Rows = [:]
        for value in values { value.forEachLink { table, key in rows[table, default: []].insert(key) } }
        for table in rows.keys { tables.formUnion(ChangePaths(everythingIn: table, schema: schema).tables) }
        self.rows = rows
    }

    /// Those of which something was written on a step that counts.
    func changed(in step: ChangeStep) throws -> Rows {
        var changed: Rows = [:]
        guard !rows.isEmpty, step.changes.tables.keys.contains(where: { tables.contains($0) }) else { return changed }
        for (table, keys) in rows {
            let written = try step.tracing.keys(in: table, depth: ChangePaths.defaultDepth)
            let own = written.filter { keys.contains($0) }
            if !own.isEmpty { changed[table] = Set(own) }
        }
        return changed
    }
}

extension StoredValue {
    /// Calls a function with the table and the key of each row that a value of any kind links to.
    fileprivate func forEachLink(_ body: (UInt32, Int64) -> Void) {
        switch self {
        case .anyLink(let table, let key): body(table, key)
        case .list(let values): for value in values { value.forEachLink(body) }
        case .dictionary(let entries): for entry in entries { entry.value.forEachLink(body) }
        default: break
        }
    }

    /// Whether a value of any kind links to one of some rows.
    func leads(to rows: LinkedRows.Rows) -> Bool {
        switch self {
        case .anyLink(let table, let key): rows[table]?.contains(key) ?? false
        case .list(let values): values.contains { $0.leads(to: rows) }
        case .dictionary(let entries): entries.contains { $0.value.leads(to: rows) }
        default: false
        }
    }
}
