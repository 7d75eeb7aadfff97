import Foundation

/// One row of two builds that were measured in turns: this, other, this, other, …, this.
///
/// Each figure of the other build stands between two of this one. Their middle is what it is compared with, so that a
/// machine that becomes slower or faster meanwhile harms both. How far each build is from itself, from one turn of it to
/// the next, tells how large a difference has to be to mean something.
package struct Comparison: Sendable {
    /// What the figures say of this build.
    package enum Verdict: Equatable, Sendable {
        /// The difference lies inside the spread of one build against itself.
        case level
        case better
        case worse
        /// There are fewer rounds than a verdict takes.
        case tooFewRounds
    }

    /// The rounds that a verdict takes.
    package static let leastRounds = 5
    /// What is never called a difference, as a share.
    private static let negligible = 0.001

    /// The figures of this build, one more than of the other one.
    package let this: [Double]
    /// The figures of the other build.
    package let other: [Double]
    private let isHigherBetter: Bool

    /// Compares figures; there is one more of this build than of the other one, and at least one of that.
    package init(this: [Double], other: [Double], isHigherBetter: Bool) {
        precondition(!other.isEmpty && this.count == other.count + 1, "The turns of two builds have not taken turns.")
        self.this = this
        self.other = other
        self.isHigherBetter = isHigherBetter
    }

    /// Whether figures are compared by their ratio, which is so unless one of them is zero or less.
    package var isRatio: Bool { (this + other).allSatisfy { $0 > 0 } }

    private func scaled(_ figure: Double) -> Double { isRatio ? log(figure) : figure }

    /// How far this build is from the other one: the logarithm of the ratio, or the difference.
    private var effect: Double {
        Samples.median(
            other.indices.map { (scaled(this[$0]) + scaled(this[$0 + 1])) / 2 - scaled(other[$0]) }
        )
    }

    /// How far two builds that are the same come out apart, in the same measure.
    ///
    /// The differences are those of neighbouring turns of one and the same build. Three times what three quarters of them
    /// do not exceed, divided by the root of the rounds: with ten rounds, less than one of a hundred rows of equal builds
    /// differs by more, also where the noise has outliers or two levels (simulated with normal, skewed and such noise).
    private var noise: Double {
        let differences = [this, other]
            .flatMap { figures in zip(figures, figures.dropFirst()).map { abs(scaled($0) - scaled($1)) } }
            .sorted()
        let quartile = differences[(differences.count * 3 + 3) / 4 - 1]
        return 3 * quartile / Double(other.count).squareRoot()
    }

    /// This build's figure as a multiple of the other one's; the difference where there is no ratio.
    package var ratio: Double { isRatio ? exp(effect) : effect }

    /// The spread of one build against itself as a share, such as 0.03; the difference where there is no ratio.
    package var spread: Double { isRatio ? exp(noise) - 1 : noise }

    package var verdict: Verdict {
        guard other.count >= Self.leastRounds else { return .tooFewRounds }
        if abs(effect) <= max(noise, isRatio ? Self.negligible : 0) { return .level }
        return (effect > 0) == isHigherBetter ? .better : .worse
    }
}
