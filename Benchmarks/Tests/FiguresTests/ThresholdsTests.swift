import Figures
import Testing

@Suite("Thresholds of instructions")
struct ThresholdsTests {
    private let thresholds = Thresholds(tolerance: 0.1, instructions: ["lookup": 1_000, "insert": 7_000])

    @Test("What stays within the tolerance passes, and what is above it is named")
    func tooMany() {
        #expect(thresholds.compare(["lookup": 1_100, "insert": 6_000]).failures.isEmpty)
        let report = thresholds.compare(["lookup": 1_101, "insert": 7_000])
        #expect(report.failures == ["More instructions than before: lookup."])
        #expect(report.lines.first { $0.hasPrefix("lookup") }?.hasSuffix("+10.1 %  TOO MANY") == true)
        #expect(report.lines.first { $0.hasPrefix("insert") }?.hasSuffix("+0.0 %") == true)
    }

    @Test("A figure far below its threshold asks for another one")
    func tooFew() {
        let report = thresholds.compare(["lookup": 799, "insert": 7_000])
        #expect(report.failures.isEmpty)
        #expect(report.lines.first { $0.hasPrefix("lookup") }?.hasSuffix("lower the threshold (--update)") == true)
    }

    @Test("A figure without a threshold and a threshold without a figure are errors, with all others said")
    func missing() {
        let report = thresholds.compare(["lookup": 2_000, "freeze": 1, "delete": 2])
        #expect(
            report.failures == [
                "More instructions than before: lookup.", "Not measured: insert.",
                "Without a threshold (--update): delete, freeze.",
            ]
        )
        #expect(report.lines.count == 3)
    }

    @Test("An update lowers thresholds, adds new ones, raises those it names, and says what it leaves and drops")
    func update() {
        var updated = thresholds
        #expect(updated.update(with: ["lookup": 900.4, "freeze": 5, "insert": 8_000], raising: []).count == 1)
        #expect(updated.instructions == ["lookup": 900, "freeze": 5, "insert": 7_000])
        #expect(updated.update(with: ["insert": 8_000, "freeze": 6], raising: ["insert"]).count == 2)
        #expect(updated.instructions == ["insert": 8_000, "freeze": 5])
    }
}
