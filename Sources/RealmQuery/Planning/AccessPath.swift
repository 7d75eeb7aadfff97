import RealmModel

/// The way to a query's rows through a key, an index or backlinks, where that is cheaper than a scan.
struct AccessPath {
    let source: KeySource
    /// What is still to be tested of each row; nil when the source is the answer.
    let residual: Condition?
    private let table: TableView

    /// Chooses the source with the fewest rows among the parts that must all hold; nil when a scan is better.
    init?(_ condition: Condition, table: TableView) throws {
        self.table = table
        let parts = (condition as? AndCondition)?.parts ?? [condition]
        var best: (index: Int, source: KeySource, rows: Int)?
        for (index, part) in parts.enumerated() {
            guard let source = part.source else { continue }
            // A row reached through an index costs about as much as 32 rows of an int column, or 6 of a string column.
            let limit = max(64, part.cost < 2 ? table.count / 32 : table.count / 6)
            let rows = try source.estimate(in: table, limit: min(limit, best?.rows ?? limit))
            if rows <= limit, rows < best?.rows ?? .max { best = (index, source, rows) }
        }
        guard let best else { return nil }
        source = best.source
        var rest = parts
        if best.source.isExact { rest.remove(at: best.index) }
        residual = rest.isEmpty ? nil : rest.count == 1 ? rest[0] : AndCondition(rest)
    }

    /// The rows of the source, ascending.
    func keys() throws -> [Int64] { try source.keys(in: table) }
}
