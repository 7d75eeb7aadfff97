import Figures
import Testing

@Suite("A figure that grows with the file by more than is asked fails the run")
struct GrowthTests {
    private func growth(_ row: RowIdentifier, _ few: [Double], _ many: [Double]) -> Growth {
        Growth(row, limit: 1.5, few: Samples(few), many: Samples(many))
    }

    @Test("times and rates: what is worse counts, in every round")
    func limits() {
        // Microseconds for a look-up: more is worse.
        #expect(growth(.lookup, [1, 1.1, 0.9], [1.7, 1.8, 1.9]).isAboveLimit)
        #expect(!growth(.lookup, [1, 1.1, 0.9], [1.3, 1.4, 1.2]).isAboveLimit)
        #expect(!growth(.lookup, [1.7, 1.8, 1.9], [1, 1.1, 0.9]).isAboveLimit)
        // Objects a second: less is worse.
        #expect(growth(.insert, [900, 1000, 1100], [500, 550, 580]).isAboveLimit)
        #expect(!growth(.insert, [500, 550, 580], [900, 1000, 1100]).isAboveLimit)
    }

    @Test("rounds that overlap within the limit tell nothing")
    func noise() {
        let noisy = growth(.lookup, [1, 1, 2], [1.6, 1.6, 1.6])
        #expect(noisy.ratio > 1.5 && !noisy.isAboveLimit)
        #expect("\(growth(.lookup, [1], [2]))".hasPrefix("W3.lookup: 2"))
    }
}
