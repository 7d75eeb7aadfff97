import ExampleSupport

/// How many packages came, changed, went and stayed.
struct ImportSummary: Sendable, Equatable, CustomStringConvertible {
    var added = 0
    var updated = 0
    var removed = 0
    var unchanged = 0

    static func += (left: inout ImportSummary, right: ImportSummary) {
        left.added += right.added
        left.updated += right.updated
        left.removed += right.removed
        left.unchanged += right.unchanged
    }

    /// The same without what did not change: what an observer can see.
    var changes: ImportSummary {
        ImportSummary(added: added, updated: updated, removed: removed)
    }

    var processed: Int { added + updated + removed + unchanged }

    var description: String {
        let parts = [(added, "added"), (updated, "updated"), (removed, "removed"), (unchanged, "unchanged")]
        return parts.prefix(unchanged == 0 ? 3 : 4).map { Figures.grouped($0) + " " + $1 }.joined(separator: ", ")
    }
}
