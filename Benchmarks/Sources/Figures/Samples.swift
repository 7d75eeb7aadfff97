import Foundation

/// The figures of one contestant in one row, one for each round.
package struct Samples: Codable, Equatable, Sendable {
    package private(set) var figures: [Double]

    /// Makes samples of at least one figure.
    package init(_ figures: [Double]) {
        precondition(!figures.isEmpty, "There are no samples without a figure.")
        self.figures = figures
    }

    package init(from decoder: any Decoder) throws {
        let figures = try [Double](from: decoder)
        guard !figures.isEmpty else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "There is no figure.")
            )
        }
        self.figures = figures
    }

    package func encode(to encoder: any Encoder) throws {
        try figures.encode(to: encoder)
    }

    package mutating func add(_ figure: Double) {
        figures.append(figure)
    }

    package var median: Double { Self.median(figures) }

    package var minimum: Double { figures.min() ?? 0 }

    package var maximum: Double { figures.max() ?? 0 }

    /// How far the rounds are apart; of five and more, without the one that is farthest from their median, since that one may be
    /// what another program did to the machine.
    package var spread: Double {
        let sorted = figures.sorted()
        guard let least = sorted.first, let most = sorted.last else { return 0 }
        if sorted.count < 5 { return most - least }
        return median - least > most - median ? most - sorted[1] : sorted[sorted.count - 2] - least
    }

    /// Whether the medians differ by no more than half as much again as the rounds of the one that scatters more.
    ///
    /// Of rows whose contestants are the same, about one in a hundred comes out as a difference with five rounds, and seven where
    /// rounds jump between two values (simulated).
    package func isLevel(with other: Samples) -> Bool {
        abs(median - other.median) <= 1.5 * max(spread, other.spread)
    }

    package static func median(_ figures: [Double]) -> Double {
        let sorted = figures.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    /// The median, and beside it the least and the most where there are several rounds.
    package var shown: String {
        let text = Self.shown(median)
        return figures.count > 1 ? "\(text) (\(Self.shown(minimum))\u{2013}\(Self.shown(maximum)))" : text
    }

    /// A figure with the digits that mean something.
    package static func shown(_ figure: Double) -> String {
        if figure >= 100 {
            var digits = String(Int(figure.rounded()))
            var end = digits.index(digits.endIndex, offsetBy: -3)
            while end > digits.startIndex {
                digits.insert(",", at: end)
                end = digits.index(end, offsetBy: -3, limitedBy: digits.startIndex) ?? digits.startIndex
            }
            return digits
        }
        return String(format: figure >= 10 ? "%.1f" : figure >= 1 || figure == 0 ? "%.2f" : "%.3f", figure)
    }
}
