import Figures
import Testing

@Suite("What a build prints for a driver")
struct TurnTests {
    @Test("Figures come back as they were")
    func roundTrip() throws {
        let output = try Turn.line(183.25, of: .lookup) + "\n" + Turn.line(0, of: .updateGrowth) + "\n"
        #expect(try Turn.figures(of: output) == [.lookup: 183.25, .updateGrowth: 0])
    }

    @Test("A row that only the other build knows is left out")
    func unknownRow() throws {
        let output = #"{"figure":1,"format":1,"row":"W99.future"}"# + "\n" + (try Turn.line(2, of: .noSync))
        #expect(try Turn.figures(of: output) == [.noSync: 2])
    }

    @Test(
        "A line that is no figure, or one of another format, is an error",
        arguments: ["usage: compare", #"{"figure":1,"format":2,"row":"W3.lookup"}"#, #"{"row":"W3.lookup"}"#]
    )
    func otherOutput(_ text: String) {
        #expect(throws: Turn.Failure.self) { try Turn.figures(of: text) }
    }
}

@Suite("The command line")
struct OptionsTests {
    @Test("A number that is none is an error and not the default")
    func numbers() throws {
        #expect(try Options(["--rounds", "3"]).number("--rounds") == 3)
        #expect(try Options([]).number("--rounds") == nil)
        for text in ["0", "-1", "many", ""] {
            #expect(throws: Options.Failure.self) { try Options(["--rounds", text]).number("--rounds") }
        }
    }

    @Test("An unknown option, an option without a value, and a list that names no row are errors")
    func failures() {
        #expect(throws: Options.Failure.self) { try Options(["--agianst", "build"]) }
        #expect(throws: Options.Failure.self) { try Options(["--against"]) }
        #expect(throws: Options.Failure.self) { try Options(["--rows", "W99"]).rows() }
    }

    @Test("A name or a group names rows, and the group leaves heavy ones out")
    func rows() throws {
        #expect(try Options(["--rows", "W3.lookup,W16"]).rows() == [.lookup, .read])
        let observing = try Options(["--rows", "W12"]).rows()
        #expect(observing.contains(.notify) && !observing.contains(.notifyLarge))
        #expect(try Options(["--rows", "W12", "--heavy", "yes"]).rows().contains(.notifyLarge))
        #expect(try Options(["--rows", "W12.rows10m"]).rows() == [.notifyLarge])
    }

    @Test("Rows about the slowest commits are heavy and come from one run; those about a log are no others'")
    func slowestCommits() throws {
        let rows: [RowIdentifier] = [.serialMedian, .serialPercentile99, .serialTail, .serialLongest]
        #expect(rows.map(\.rawValue) == ["W2.p50", "W2.p99", "W2.p999", "W2.max"])
        #expect(rows.allSatisfy { $0.source == .serialMedian && $0.isHeavy && !$0.needsLog })
        let needing = RowIdentifier.allCases.filter(\.needsLog)
        #expect(needing == [.tailWithoutCheckpoints, .openKilled])
        #expect(needing.allSatisfy { $0.isHeavy })
        #expect(try Options(["--rows", "W2.p999"]).rows() == [.serialTail])
    }

    @Test("A row's figure comes from its own measurement or from that of a row with one of its own")
    func sources() {
        for row in RowIdentifier.allCases { #expect(row.source.source == row.source) }
    }
}
