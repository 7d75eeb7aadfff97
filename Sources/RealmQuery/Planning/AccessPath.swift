import RealmModel

/// The way to a query's rows through a key, an index or backlinks, where that is cheaper than a scan.
struct AccessPath {
    let source: KeySource
    /// What is still to be tested of each row; nil when the source is the answer.
    let residual: Condition?
    private let table: TableView

    /// Chooses the source with the fewest rows among those of the parts that must all hold, and of the indexes that answer
    /// several of them; nil when a scan is better.
    init?(_ condition: Condition, table: TableView) throws {
        self.table = table
        let parts = (condition as? AndCondition)?.parts ?? [condition]
        var best: (parts: [Int], source: KeySource, rows: Int)?
        func consider(_ source: KeySource, _ answered: [Int]) throws {
            // A row reached through an index costs about as much as 32 rows of an int column, or 6 of a string column.
            let cost = answered.reduce(0) { $0 + parts[$1].cost }
            let limit = max(64, cost < 2 ? table.count / 32 : table.count / 6)
            let rows = try source.estimate(in: table, limit: min(limit, best?.rows ?? limit))
            guard rows <= limit else { return }
            if let best, (rows, -answered.count) >= (best.rows, -best.parts.count) { return }
            best = (answered, source, rows)
        }
        for (place, part) in parts.enumerated() {
            if let source = part.source { try consider(source, [place]) }
        }
        if parts.count > 1 || table.indexes.contains(where: \.isCompound) {
            let constraints = PropertyConstraints(parts)
            for joined in constraints.joinedRanges where table.hasIndex(joined.property) {
                try consider(.range(joined.property, joined.lower, joined.upper), joined.parts)
            }
            if !constraints.isEmpty {
                for index in table.indexes where index.isCompound {
                    guard let (range, answered) = constraints.range(of: index) else { continue }
                    try consider(.compound(range), answered)
                }
            }
        }
        guard let best else { return nil }
        source = best.source
        var rest = parts
        if best.source.isExact {
            for place in Set(best.parts).sorted(by: >) { rest.remove(at: place) }
        }
        residual = rest.isEmpty ? nil : rest.count == 1 ? rest[0] : AndCondition(rest)
    }

    /// The rows of the source, ascending.
    func keys() throws -> [Int64] { try source.keys(in: table) }
}
