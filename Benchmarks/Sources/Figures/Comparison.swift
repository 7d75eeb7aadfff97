import Foundation

/// One row of two builds that were measured in turns: this, other, this, other, …, this.
///
/// Each figure of the other build stands between two of this one. Their middle is what it is compared with, so that a
/// machine that becomes slower or faster meanwhile harms both. How far this build is from itself, from one turn of it to
/// the next, tells how large a difference has to be to mean something.
package struct Comparison: Sendable {
    /// What the figures say of this build.
    package enum Verdict: Equatable, Sendable {
        /// The difference lies inside the spread of this build against itself.
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
        ResultTable.median(
            other.indices.map { (scaled(this[$0]) + scaled(this[$0 + 1])) / 2 - scaled(other[$0]) }
        )
    }

    /// How far medians of this build against itself are apart by chance, in the same measure.
    private var noise: Double {
        Self.noise(other.indices.map { scaled(this[$0 + 1]) - scaled(this[$0]) })
    }

    /// This build's figure as a multiple of the other one's; the difference where there is no ratio.
    package var ratio: Double { isRatio ? exp(effect) : effect }

    /// The spread of this build against itself as a share, such as 0.03; the difference where there is no ratio.
    package var spread: Double { isRatio ? exp(noise) - 1 : noise }

    package var verdict: Verdict {
        guard other.count >= Self.leastRounds else { return .tooFewRounds }
        if abs(effect) <= max(noise, isRatio ? Self.negligible : 0) { return .level }
        return (effect > 0) == isHigherBetter ? .better : .worse
    }

    /// What 99 of 100 medians of the differences do not exceed when each difference gets a sign by chance.
    ///
    /// It would be chance which of two turns of one build is called the other build's, so the signs are chance. All
    /// assignments of signs are tried where they are few, and else as many of a fixed random series.
    static func noise(_ differences: [Double]) -> Double {
        let patterns = 4_096
        let areAll = differences.count <= 12
        var random = SplitMix(state: 27)
        var medians = (0..<(areAll ? 1 << differences.count : patterns))
            .map { number in
                let signs = areAll ? [UInt64(number)] : (0...differences.count / 64).map { _ in random.next() }
                return abs(
                    ResultTable.median(
                        differences.indices.map {
                            signs[$0 / 64] >> UInt64($0 % 64) & 1 == 0 ? differences[$0] : -differences[$0]
                        }
                    )
                )
            }
        medians.sort()
        return medians[min(medians.count - 1, Int((Double(medians.count) * 0.99).rounded(.up)) - 1)]
    }

    private struct SplitMix: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
    }
}
