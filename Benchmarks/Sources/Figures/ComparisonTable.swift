import Foundation

/// The rows of two builds that were measured in turns.
package struct ComparisonTable: Encodable {
    private struct Row: Encodable {
        var id: String
        var unit: String
        var better: String
        var this: [Double]
        var other: [Double]
        /// This build's figure as a multiple of the other one's, or the difference where one of them is not above zero.
        var ratio: Double?
        var difference: Double?
        var spread: Double
        var verdict: String
    }

    /// The objects, the rounds and the machine.
    private let origin: String
    private var rows: [Row] = []

    package init(origin: String) {
        self.origin = origin
    }

    package static let heading = """
        | | workload | other (least to most) | this (least to most) | this / other | a build against itself | this is |
        |---|---|---:|---:|---:|---:|---|
        """

    /// Adds a row, and returns its line in Markdown.
    package mutating func add(_ comparison: Comparison, of row: RowIdentifier) -> String {
        let verdict = Self.text(of: comparison)
        rows.append(
            Row(
                id: row.rawValue,
                unit: row.unit,
                better: row.isHigherBetter ? "higher" : "lower",
                this: comparison.this,
                other: comparison.other,
                ratio: comparison.isRatio ? comparison.ratio : nil,
                difference: comparison.isRatio ? nil : comparison.ratio,
                spread: comparison.spread,
                verdict: verdict
            )
        )
        let ratio = comparison.isRatio ? String(format: "%.3f", comparison.ratio) : ""
        let spread =
            comparison.isRatio
            ? String(format: "%.1f %%", comparison.spread * 100) : Samples.shown(comparison.spread)
        return "| \(row.rawValue) | \(row.title), \(row.unit) | \(Samples(comparison.other).shown) | "
            + "\(Samples(comparison.this).shown) | \(ratio) | \u{B1} \(spread) | \(verdict) |"
    }

    private static func text(of comparison: Comparison) -> String {
        let amount =
            comparison.isRatio
            ? String(format: "%.1f %%", abs(comparison.ratio - 1) * 100) : Samples.shown(abs(comparison.ratio))
        return switch comparison.verdict {
        case .level: "level"
        case .better: "better by \(amount)"
        case .worse: "worse by \(amount)"
        case .tooFewRounds: "measured in fewer than \(Comparison.leastRounds) rounds"
        }
    }
}
