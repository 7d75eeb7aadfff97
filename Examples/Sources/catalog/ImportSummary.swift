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
        let figures = "\(Figures.grouped(added)) added, \(Figures.grouped(updated)) updated, \(Figures.grouped(removed)) removed"
        return unchanged == 0 ? figures : figures + ", \(Figures.grouped(unchanged)) unchanged"
    }
}
