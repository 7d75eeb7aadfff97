package import RealmModel
import RealmStorage

/// A predicate made ready to run on one class: names resolved, types checked, conditions ordered by cost.
///
/// A compiled query belongs to the model view of its table and follows it from version to version, inside write
/// transactions too. It keeps no results and never changes, so on a frozen view it may run on several threads at once.
package final class CompiledQuery {
    /// The class that is queried.
    package let table: TableView
    /// What is asked of each row.
    package let predicate: Predicate
    let condition: Condition
    /// When scans are divided among threads.
    let division: ScanDivision
    private let linkSlotCount: Int
    private let subqueryCount: Int

    /// Resolves a predicate.
    ///
    /// - Throws: `QueryError` when the predicate does not fit the schema; `StorageError` when the file is damaged.
    package init(_ predicate: Predicate, table: TableView, division: ScanDivision = .whereItPays) throws {
        self.table = table
        self.division = division
        self.predicate = predicate
        var compiler = PredicateCompiler(model: table.model)
        condition = try compiler.compile(predicate, for: table)
        linkSlotCount = compiler.linkSlotCount
        subqueryCount = compiler.subqueryCount
    }

    /// Whether a key, an index or backlinks lead to the rows, as things stand.
    var usesIndex: Bool {
        get throws { try constant == nil && AccessPath(condition, table: table) != nil }
    }

    /// Whether the predicate visits other objects.
    var followsLinks: Bool { linkSlotCount > 0 || subqueryCount > 0 }

    /// What one run needs.
    func makeContext() -> QueryContext {
        QueryContext(linkSlotCount: linkSlotCount, subqueryCount: subqueryCount)
    }

    /// The value of a predicate that does not depend on the row.
    private var constant: Bool? { (condition as? ConstantCondition)?.value }

    /// The number of rows that match.
    package func count() throws -> Int {
        if let constant { return constant ? table.count : 0 }
        if let access = try AccessPath(condition, table: table) {
            if access.residual == nil { return try access.keys().count }
            var count = 0
            try run(access) { _, rows in
                count += rows.count
                return true
            }
            return count
        }
        let counts = try divided { range in
            var count = 0
            try scan(range, makeContext()) { leaf, context in
                if let fast = try condition.fastCount(leaf) {
                    count += fast
                    return
                }
                let rows = context.makeSet(rowCount: leaf.rowCount)
                defer { context.release(rows) }
                rows.fill()
                try condition.filter(rows, in: leaf, context)
                count += rows.count
            }
            return count
        }
        return counts.reduce(0, +)
    }

    /// The rows that match, ascending by key, or the first so many of them.
    package func keys(limit: Int = .max) throws -> [Int64] {
        var keys: [Int64] = []
        if limit <= 0 { return keys }
        let access = constant == nil ? try AccessPath(condition, table: table) : nil
        if let access, access.residual == nil {
            let found = try access.keys()
            return found.count <= limit ? found : Array(found.prefix(limit))
        }
        if access == nil, constant == nil, limit == .max { return try allKeys() }
        try forEachLeaf(through: access) { leaf, rows in
            let room = limit - keys.count
            if room >= rows.count {
                rows.visit { keys.append(leaf.key(at: $0)) }
                return keys.count < limit
            }
            rows.visit { if keys.count < limit { keys.append(leaf.key(at: $0)) } }
            return false
        }
        return keys
    }

    /// The rows that match, by a scan.
    private func allKeys() throws -> [Int64] {
        var parts = try divided { range in
            var keys: [Int64] = []
            try scan(range, makeContext()) { leaf, context in
                let rows = context.makeSet(rowCount: leaf.rowCount)
                defer { context.release(rows) }
                rows.fill()
                try condition.filter(rows, in: leaf, context)
                rows.visit { keys.append(leaf.key(at: $0)) }
            }
            return keys
        }
        if parts.count == 1 { return parts.removeLast() }
        return Array(parts.joined())
    }

    /// The first row that matches, in key order.
    package func first() throws -> Int64? {
        try keys(limit: 1).first
    }

    /// Whether no row matches.
    package var isEmpty: Bool {
        get throws { try first() == nil }
    }

    /// Whether a row exists and matches.
    package func matches(key: Int64) throws -> Bool {
        guard let location = try table.locate(key) else { return false }
        if let constant { return constant }
        return try condition.test(location, key: key, makeContext())
    }

    /// Those of the given rows that exist and match, in the order and as often as they are given.
    package func filter(_ keys: [Int64]) throws -> [Int64] {
        let context = makeContext()
        var leaf: LeafView?
        return try keys.filter { key in
            if let known = leaf, let row = known.row(of: key) {
                return try condition.test(RowLocation(leaf: known, row: row), key: key, context)
            }
            guard let location = try table.locate(key) else { return false }
            leaf = location.leaf
            return try condition.test(location, key: key, context)
        }
    }

    /// The rows that match in an order, or the first of them.
    package func keys(sortedBy order: CompiledSort, limit: Int = .max) throws -> [Int64] {
        try order.sorted(matching: self, limit: limit)
    }

    /// Calls a function with every leaf that has matching rows, ascending, until it returns false.
    func forEachLeaf(_ body: (LeafView, RowSet) throws -> Bool) throws {
        try forEachLeaf(through: constant == nil ? AccessPath(condition, table: table) : nil, body)
    }

    private func forEachLeaf(
        through access: AccessPath?,
        _ body: (LeafView, RowSet) throws -> Bool
    ) throws {
        if constant == false { return }
        if let access { return try run(access, body) }
        let context = makeContext()
        var leaves = table.leaves()
        while let leaf = try leaves.next() {
            if condition.rejects(leaf) { continue }
            let rows = context.makeSet(rowCount: leaf.rowCount)
            defer { context.release(rows) }
            rows.fill()
            try condition.filter(rows, in: leaf, context)
            if rows.isEmpty { continue }
            guard try body(leaf, rows) else { return }
        }
    }

    /// Walks the rows of an access path leaf by leaf and tests what is left to test.
    private func run(_ access: AccessPath, _ body: (LeafView, RowSet) throws -> Bool) throws {
        let context = makeContext()
        let keys = try access.keys()
        var index = 0
        while index < keys.count {
            guard let location = try table.locate(keys[index]) else {
                index += 1
                continue
            }
            let leaf = location.leaf
            let rows = context.makeSet(rowCount: leaf.rowCount)
            defer { context.release(rows) }
            rows.clear()
            rows.insert(location.row)
            index += 1
            let last = leaf.rowCount > 0 ? leaf.key(at: leaf.rowCount - 1) : Int64.min
            while index < keys.count, keys[index] <= last {
                if let row = leaf.row(of: keys[index]) { rows.insert(row) }
                index += 1
            }
            try access.residual?.filter(rows, in: leaf, context)
            if rows.isEmpty { continue }
            guard try body(leaf, rows) else { return }
        }
    }

    /// How the query runs, for people: the access path, then the conditions in the order they are tested.
    package func describe() -> String {
        var lines = ["\(table.schema.name) where \(predicate)"]
        let access = constant == nil ? try? AccessPath(condition, table: table) : nil
        if let access {
            lines.append("rows from: \(access.source.explanation(in: table))")
            if let residual = access.residual {
                lines.append("then tested:")
                residual.describe(into: &lines, indentation: "  ")
            }
        } else if let constant {
            lines.append(constant ? "all rows" : "no row")
        } else {
            let pieces = scanPieceCount
            let division = pieces > 1 ? ", in \(pieces) pieces that threads share" : ""
            lines.append("scan of \(table.count) rows, leaf by leaf\(division):")
            condition.describe(into: &lines, indentation: "  ")
        }
        return lines.joined(separator: "\n")
    }
}
