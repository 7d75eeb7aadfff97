import RealmModel
import RealmStorage

/// What running a query took.
package struct QueryProfile: Sendable {
    /// The way to the rows: an index, a primary key, backlinks or a scan, in words.
    package var access: String
    /// Whether the rows come from an index, a key or backlinks rather than from a scan.
    package var usesIndex: Bool
    /// The conditions that rows are tested for, in the order of their cost; empty when the access path is the answer.
    package var conditions: [String]
    /// The number of rows that were looked at.
    package var examined: Int
    /// The number of rows left out because the bounds of their leaf rule them out.
    package var skipped: Int
    /// The number of rows that match.
    package var matched: Int
}

extension CompiledQuery {
    /// Runs the query and counts.
    package func profile() throws -> QueryProfile {
        var profile = QueryProfile(
            access: "scan of \(table.schema.name)",
            usesIndex: false,
            conditions: [],
            examined: 0,
            skipped: 0,
            matched: 0
        )
        if let constant = (condition as? ConstantCondition)?.value {
            profile.access = constant ? "all rows of \(table.schema.name)" : "no rows"
            profile.matched = constant ? table.count : 0
            return profile
        }
        if let access = try AccessPath(condition, table: table) {
            profile.access = access.source.explanation(in: table)
            profile.usesIndex = true
            if let residual = access.residual { residual.describe(into: &profile.conditions, indentation: "") }
            profile.examined = try access.keys().count
            profile.matched = try count()
            return profile
        }
        let pieces = scanPieceCount
        if pieces > 1 { profile.access += ", in \(pieces) pieces that threads share" }
        condition.describe(into: &profile.conditions, indentation: "")
        let context = makeContext()
        var leaves = table.leaves()
        while let leaf = try leaves.next() {
            if condition.rejects(leaf) {
                profile.skipped += leaf.rowCount
                continue
            }
            profile.examined += leaf.rowCount
            let rows = context.makeSet(rowCount: leaf.rowCount)
            defer { context.release(rows) }
            rows.fill()
            try condition.filter(rows, in: leaf, context)
            profile.matched += rows.count
        }
        return profile
    }
}
