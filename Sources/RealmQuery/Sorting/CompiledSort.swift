import HeapModule
package import RealmModel
import RealmStorage

/// A sort order made ready for one class.
///
/// Nulls come first when ascending, NaN before all numbers; strings are compared byte by byte in UTF-8.
package final class CompiledSort {
    /// The class whose rows are sorted.
    package let table: TableView
    /// What they are sorted by.
    package let order: SortOrder
    private let paths: [SortKeyPath]
    private let linkSlotCount: Int

    /// Resolves a sort order.
    ///
    /// - Throws: `QueryError` when a path does not exist, crosses a collection or ends in something without an order.
    package init(_ order: SortOrder, table: TableView) throws {
        self.table = table
        self.order = order
        var resolver = PathResolver(model: table.model)
        paths = try order.keys.map {
            try SortKeyPath($0.path, table: table, resolver: &resolver, purpose: "sort on", allowsLinks: false)
        }
        linkSlotCount = resolver.slotCount
    }

    /// The rows in order, rows equal in all properties in the order given; rows that do not exist are left out.
    ///
    /// `limit` asks for so many from the start only; a small limit is much cheaper than the whole order.
    package func sorted(_ keys: [Int64], limit: Int = .max) throws -> [Int64] {
        if limit <= 0 { return [] }
        let existing = try existingKeys(keys)
        guard let first = paths.first else { return Array(existing.prefix(limit)) }
        var values = SortValues(kind: first.kind, capacity: existing.count)
        try extract(first, existing, into: &values)
        return try finish(existing, [values], limit: limit)
    }

    /// The rows of a query in order.
    func sorted(matching query: CompiledQuery, limit: Int) throws -> [Int64] {
        guard limit > 0, !paths.isEmpty else { return try query.keys(limit: limit) }
        if let walked = try indexOrder(query, limit: limit)?.keys(limit: limit, query.makeContext()) { return walked }
        var keys: [Int64] = []
        // With a limit the other keys are only looked at for rows that can be among the first.
        let extracted = limit == .max ? paths[...] : paths.prefix(1)
        var values = extracted.map { SortValues(kind: $0.kind, capacity: 0) }
        let context = makeContext()
        try query.forEachLeaf { leaf, rows in
            let before = keys.count
            keys.append(contentsOf: repeatElement(0, count: rows.count))
            keys.withUnsafeMutableBufferPointer { keys in
                var next = before
                rows.visit {
                    keys[next] = leaf.key(at: $0)
                    next &+= 1
                }
            }
            for (index, path) in extracted.enumerated() {
                if let column = path.ownColumn {
                    try values[index]
                        .append(
                            column.table.column(column.property, in: leaf),
                            column.kind,
                            rows
                        )
                } else {
                    try rows.visit { row in
                        try path.withValue(RowLocation(leaf: leaf, row: row), key: leaf.key(at: row), context) {
                            values[index].append($0)
                        }
                    }
                }
            }
            return true
        }
        return try finish(keys, values, limit: limit)
    }

    /// The index that has the order, when that is the way to the rows.
    private func indexOrder(_ query: CompiledQuery, limit: Int) throws -> IndexOrder? {
        var keys: [(property: Int, ascending: Bool)] = []
        for (path, key) in zip(paths, order.keys) {
            guard let column = path.ownColumn, column.table === table else { return nil }
            keys.append((column.property, key.ascending))
        }
        return try IndexOrder(keys, where: query.condition, table: table, limit: limit)
    }

    /// The index that gives the rows of a query in order, in words; nil when they are sorted.
    package func indexExplanation(matching query: CompiledQuery, limit: Int) throws -> String? {
        guard let order = try indexOrder(query, limit: limit) else { return nil }
        return try order.keys(limit: limit, query.makeContext()) == nil ? nil : order.explanation
    }

    /// Whether an index may give all rows of the class in order.
    package var mayUseIndex: Bool {
        guard let column = paths.first?.ownColumn, column.table === table else { return false }
        return table.hasIndex(column.property) || table.isInCompoundIndex(column.property)
    }

    /// How two existing rows compare: below 0 when the first comes first, 0 when they are equal in all properties.
    package func compare(_ first: Int64, _ second: Int64) throws -> Int {
        guard let one = try table.locate(first), let other = try table.locate(second) else { return 0 }
        let context = makeContext()
        for (path, key) in zip(paths, order.keys) {
            let result =
                try path.withValue(one, key: first, context) { left in
                    Result { try path.withValue(other, key: second, context) { BorrowedValue.order(left, $0) } }
                }
                .get()
            if result != 0 { return key.ascending ? result : -result }
        }
        return 0
    }

    private func makeContext() -> QueryContext {
        QueryContext(linkSlotCount: linkSlotCount, subqueryCount: 0)
    }

    /// Sorts rows whose first keys have been extracted.
    ///
    /// With a small limit, only the rows that can be among the first are looked at any further.
    private func finish(_ keys: [Int64], _ extracted: [SortValues], limit: Int) throws -> [Int64] {
        var keys = keys
        var extracted = extracted
        if limit < keys.count / 4 {
            let words = extracted[0].coarseWords(ascending: order.keys[0].ascending)
            let threshold = Self.smallest(limit, of: words)
            var candidates: [Int64] = []
            for (index, word) in words.enumerated() where word <= threshold { candidates.append(keys[index]) }
            keys = candidates
            extracted = []
        }
        var levels: [SortLevel] = []
        for (index, path) in paths.enumerated() {
            if index == extracted.count {
                var values = SortValues(kind: path.kind, capacity: keys.count)
                try extract(path, keys, into: &values)
                extracted.append(values)
            }
            levels += extracted[index].levels(ascending: order.keys[index].ascending)
        }
        let sorted = LevelSorter.order(count: keys.count, by: levels)
        return sorted.prefix(limit).map { keys[$0] }
    }

    /// The largest of the `count` smallest words, by a heap that never holds more.
    private static func smallest(_ count: Int, of words: [UInt64]) -> UInt64 {
        var heap = Heap(words.prefix(count))
        var threshold = heap.max ?? .max
        for word in words.dropFirst(count) where word < threshold {
            heap.replaceMax(with: word)
            threshold = heap.max ?? .max
        }
        return threshold
    }

    private func existingKeys(_ keys: [Int64]) throws -> [Int64] {
        var leaf: LeafView?
        return try keys.filter { key in
            if let leaf, leaf.row(of: key) != nil { return true }
            guard let location = try table.locate(key) else { return false }
            leaf = location.leaf
            return true
        }
    }

    /// Appends the values of one path for rows that exist.
    private func extract(_ path: SortKeyPath, _ keys: [Int64], into values: inout SortValues) throws {
        let context = makeContext()
        var leaf: LeafView?
        var column: ColumnView?
        for key in keys {
            var row = leaf?.row(of: key)
            if row == nil {
                guard let location = try table.locate(key) else { continue }
                leaf = location.leaf
                row = location.row
                if let own = path.ownColumn { column = try own.table.column(own.property, in: location.leaf) }
            }
            guard let leaf, let row else { continue }
            if let column, let own = path.ownColumn {
                values.append(try column.borrowed(row, as: own.kind))
            } else {
                try path.withValue(RowLocation(leaf: leaf, row: row), key: key, context) { values.append($0) }
            }
        }
    }
}
