import Figures
import Testing

@Suite("Two builds in turns")
struct ComparisonTests {
    private static let steady = [100, 102, 99, 101, 100, 98, 101.0]

    private func verdict(_ this: [Double], _ other: [Double], isHigherBetter: Bool = true) -> Comparison.Verdict {
        Comparison(this: this, other: other, isHigherBetter: isHigherBetter).verdict
    }

    @Test("A difference inside the spread of one build against itself is level")
    func insideTheSpread() {
        #expect(verdict(Self.steady, [101, 99, 100, 102, 99, 100]) == .level)
    }

    @Test("A difference beyond the spread is better or worse, as the row counts", arguments: [true, false])
    func beyondTheSpread(isHigherBetter: Bool) {
        let more = Self.steady.map { $0 * 1.2 }
        let other = [101, 99, 100, 102, 99, 100.0]
        #expect(verdict(more, other, isHigherBetter: isHigherBetter) == (isHigherBetter ? .better : .worse))
        let less = Self.steady.map { $0 / 1.2 }
        #expect(verdict(less, other, isHigherBetter: isHigherBetter) == (isHigherBetter ? .worse : .better))
    }

    @Test("The ratio is that of this build to the other one")
    func ratio() {
        let comparison = Comparison(this: [220, 220, 220], other: [200, 200], isHigherBetter: true)
        #expect(abs(comparison.ratio - 1.1) < 1e-9)
        #expect(abs(comparison.spread) < 1e-9)
    }

    @Test("A machine that becomes slower turn by turn makes no difference between equal builds")
    func drift() {
        // Each turn takes a tenth longer than the one before it.
        let turns = (0..<13).reduce(into: [1_000.0]) { turns, _ in turns.append(turns[turns.count - 1] * 1.1) }
        let this = stride(from: 0, to: 13, by: 2).map { turns[$0] }
        let other = stride(from: 1, to: 13, by: 2).map { turns[$0] }
        let comparison = Comparison(this: this, other: other, isHigherBetter: false)
        #expect(abs(comparison.ratio - 1) < 1e-9)
        #expect(comparison.verdict == .level)
    }

    @Test("One turn that something else disturbed changes no verdict")
    func outlier() {
        var this = Self.steady
        this[2] = 10
        #expect(verdict(this, [101, 99, 100, 102, 99, 100]) == .level)
    }

    @Test("Fewer than five rounds give no verdict")
    func tooFewRounds() {
        #expect(verdict([1, 1, 1, 1, 1], [2, 2, 2, 2]) == .tooFewRounds)
        #expect(verdict([1, 1, 1, 1, 1, 1], [2, 2, 2, 2, 2]) == .worse)
    }

    @Test("Figures that are zero or less are compared by their difference")
    func differences() {
        let comparison = Comparison(this: [3, 3, 3, 3, 3, 3], other: [0, 0, 0, 0, 0], isHigherBetter: false)
        #expect(!comparison.isRatio)
        #expect(comparison.ratio == 3)
        #expect(comparison.verdict == .worse)
        #expect(verdict([0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0], isHigherBetter: false) == .level)
    }

    @Test("A figure that is the same in every turn is a difference as soon as it differs")
    func exactFigures() {
        #expect(verdict([98, 98, 98, 98, 98, 98], [98, 98, 98, 98, 98], isHigherBetter: false) == .level)
        #expect(verdict([97, 97, 97, 97, 97, 97], [98, 98, 98, 98, 98], isHigherBetter: false) == .better)
    }

    @Test("Equal builds on a noisy machine are called different in few of many runs")
    func falseAlarms() {
        var noise = Noise()
        func figure() -> Double { 100 + 10 * noise.next() }
        let runs = 500
        let alarms = (0..<runs)
            .count { _ in
                let this = (0..<11).map { _ in figure() }
                let other = (0..<10).map { _ in figure() }
                return verdict(this, other) != .level
            }
        #expect(alarms <= runs / 20)
    }

    @Test("The table shows medians, the least and the most, and says what this build is")
    func table() throws {
        var table = ComparisonTable(origin: "two builds")
        let comparison = Comparison(
            this: [1_000, 1_010, 990, 1_000, 1_000, 1_000],
            other: [500, 510, 490, 500, 500],
            isHigherBetter: true
        )
        let line = table.add(comparison, of: .noSync)
        #expect(line.contains("| 500 (490\u{2013}510) | 1,000 (990\u{2013}1,010) | 2.0"))
        #expect(line.hasSuffix("| better by 100.0 % |"))
    }
}
