import RealmModel

/// A part of an index over several properties: what the first ones equal, and what the next one is like.
struct IndexRange {
    let index: TableIndex
    /// What the first properties equal, each combination by itself.
    let prefixes: [[StoredValue]]
    let tail: IndexTail

    /// So many combinations of values are looked up one by one.
    static let combinationLimit = 64

    /// The number of rows, or more; stops counting beyond `limit`.
    func estimate(in table: TableView, limit: Int) throws -> Int {
        var total = 0
        for prefix in prefixes {
            total += try 1 + table.count(in: index, equalTo: prefix, tail: tail)
            if total > limit { break }
        }
        return total
    }

    /// The rows, in the order of the combinations.
    func keys(in table: TableView) throws -> [Int64] {
        if prefixes.count == 1 { return try table.keys(in: index, equalTo: prefixes[0], tail: tail) }
        return try prefixes.flatMap { try table.keys(in: index, equalTo: $0, tail: tail) }
    }

    /// Whether only rows that match come out.
    var isExact: Bool {
        guard !prefixes.contains(where: { $0.contains { index.isTruncated($0) } }) else { return false }
        switch tail {
        case .all: return true
        case .range(let lower, let upper): return !isTruncated(lower) && !isTruncated(upper)
        case .prefix(let bytes): return !index.isTruncated(prefix: bytes)
        }
    }

    private func isTruncated(_ bound: IndexBound) -> Bool {
        switch bound {
        case .unbounded: false
        case .including(let value), .excluding(let value): index.isTruncated(value)
        }
    }

    /// The part in words: `unique index on (room, day), equal room, a range of day`.
    func explanation(in table: TableView) -> String {
        let names = index.ordinals.map { table.schema.properties[$0].name }
        var text = TableIndex.words(names, isUnique: index.isUnique)
        let equal = names.prefix(prefixes.first?.count ?? 0)
        if !equal.isEmpty { text += ", equal " + equal.joined(separator: " and ") }
        if prefixes.count > 1 { text += " (\(prefixes.count) combinations)" }
        switch tail {
        case .all: return text
        case .range: return text + ", a range of \(names[equal.count])"
        case .prefix: return text + ", a prefix of \(names[equal.count])"
        }
    }
}

extension TableIndex {
    /// An index in words: `index on age`, `unique index on (room, day)`.
    static func words(_ names: [String], isUnique: Bool) -> String {
        (isUnique ? "unique index on " : "index on ")
            + (names.count == 1 ? names[0] : "(" + names.joined(separator: ", ") + ")")
    }
}
