import Figures
import Foundation
import Testing

@Suite("The table of a run")
struct ResultTableTests {
    private func table(_ row: RowIdentifier, _ figures: [String: [Double]]) -> ResultTable {
        var table = ResultTable(origin: "three rounds")
        for (name, samples) in figures {
            for figure in samples { table.add(figure, of: name, to: row) }
        }
        return table
    }

    @Test("A cell has the median, and beside it the least and the most of the rounds")
    func spread() {
        let markdown = table(.lookup, ["actorrealm": [200, 180, 240], "lmdb": [500, 510, 520]]).markdown
        #expect(markdown.contains("| 200 (180\u{2013}240) | 510 (500\u{2013}520) | 2.5x |"))
    }

    @Test("One round has no spread")
    func oneRound() {
        #expect(table(.lookup, ["actorrealm": [200], "lmdb": [500]]).markdown.contains("| 200 | 500 | 2.5x |"))
    }

    /// The column that tells how we stand beside the best peer.
    private func verdict(_ ours: [Double], _ peer: [Double]) -> Substring? {
        table(.lookup, ["actorrealm": ours, "lmdb": peer]).markdown.split(separator: "|").dropLast().last
    }

    @Test("A row whose rounds are nearly as far apart as the medians, or farther, is level")
    func level() {
        #expect(verdict([200, 180, 240], [210, 250, 200]) == " level ")
        // The medians are 20 apart, the rounds of one 15, and then 10.
        #expect(verdict([200, 195, 210], [180, 178, 185]) == " level ")
        #expect(verdict([200, 195, 205], [180, 178, 185]) == " 0.9x ")
    }

    @Test("One slow or fast round of five does not make a row level, and two do")
    func outlier() {
        #expect(verdict([25.1, 25.0, 25.8, 25.1, 25.2], [18.6, 18.4, 28.8, 18.5, 18.6]) == " 0.7x ")
        #expect(verdict([25.1, 25.0, 11, 25.1, 25.2], [18.6, 18.4, 28.8, 18.5, 18.6]) == " 0.7x ")
        #expect(verdict([25.1, 25.0, 25.8, 25.1, 25.2], [18.6, 18.4, 28.8, 28.8, 18.6]) == " level ")
        // Of fewer rounds none is left out.
        #expect(verdict([25.1, 25.0, 25.8, 25.1], [18.6, 18.4, 28.8, 18.5]) == " level ")
    }

    @Test(
        "Of two that are the same, one in a hundred comes out as different, and seven where rounds jump between two values"
    )
    func equals() {
        var noise = Noise()
        func differing(_ round: () -> Double) -> Double {
            func five() -> Samples { Samples((0..<5).map { _ in round() }) }
            let trials = 10_000
            return Double((0..<trials).count { _ in !five().isLevel(with: five()) }) / Double(trials)
        }
        #expect(differing { 100 + 3 * noise.next() } < 0.02)
        #expect(differing { 100 + noise.next() + (noise.next() > 0.6 ? 40 : 0) } < 0.02)
        #expect(differing { (noise.next() > 0 ? 100 : 110) + noise.next() } < 0.12)
        // What differs by five times its scatter is seen.
        let (slow, fast) = (Samples([100, 101, 99, 100, 102]), Samples([90, 91, 89, 90, 92]))
        #expect(!slow.isLevel(with: fast))
    }

    @Test("The best peer is the one with the highest or the lowest figure, as the row counts")
    func bestPeer() {
        #expect(table(.lookup, ["actorrealm": [100], "lmdb": [500], "sqlite": [200]]).markdown.contains("| 2.0x |"))
        #expect(table(.noSync, ["actorrealm": [100], "lmdb": [500], "sqlite": [200]]).markdown.contains("| 0.2x |"))
    }

    @Test("A limit that we beat is named, one that we reach or that is a yardstick is not")
    func limits() {
        func beaten(_ row: RowIdentifier, _ ours: [Double], _ limit: [Double]) -> Int {
            table(row, ["actorrealm": ours, "limit": limit]).beatenLimits.count
        }
        #expect(beaten(.sumEngine, [0.1, 0.1, 0.1], [0.2, 0.2, 0.2]) == 1)
        #expect(beaten(.sumEngine, [0.2, 0.2, 0.2], [0.2, 0.2, 0.2]) == 0)
        #expect(beaten(.sumEngine, [0.3, 0.3, 0.3], [0.2, 0.2, 0.2]) == 0)
        #expect(beaten(.insert, [300, 300, 300], [200, 200, 200]) == 1)
        #expect(beaten(.insert, [300, 300, 300], [200, 200, 320]) == 0)
        #expect(beaten(.insert, [300, 300], [200, 200]) == 0)
        #expect(beaten(.tasks, [300, 300, 300], [200, 200, 200]) == 0)
    }

    @Test("The target is the hardest of a row's goals, in figures of the same run")
    func targets() {
        // At least 0.9 of the limit and ahead of the best peer.
        #expect(
            table(.serial, ["actorrealm": [700], "sqlite": [800], "limit": [1_000]]).markdown
                .contains("\u{2265} 900 (missed)")
        )
        #expect(
            table(.serial, ["actorrealm": [960], "sqlite": [950], "limit": [1_000]]).markdown.contains("\u{2265} 950 |")
        )
        // Twice as good as the best peer.
        #expect(table(.lookup, ["actorrealm": [300], "lmdb": [500]]).markdown.contains("\u{2264} 250 (missed)"))
        #expect(table(.lookup, ["actorrealm": [300]]).markdown.hasSuffix("|  |"))
        // Ahead of LMDB, whatever the others make.
        #expect(
            table(.noSync, ["actorrealm": [300], "lmdb": [250], "sqlite": [900]]).markdown.contains("\u{2265} 250 |")
        )
    }

    @Test("A missed goal fails a run where an open issue promises it, with rounds enough, and is printed else")
    func missed() {
        func missed(_ row: RowIdentifier, _ figures: [String: [Double]]) -> [Bool] {
            table(row, figures).missedGoals.map(\.isFailure)
        }
        let five = [Double](repeating: 300, count: 5)
        // Ahead of LMDB is asked for, by an issue.
        #expect(missed(.noSync, ["actorrealm": five, "lmdb": [400, 400, 400, 400, 400]]) == [true])
        #expect(missed(.noSync, ["actorrealm": [300, 300], "lmdb": [400, 400]]) == [false])
        #expect(missed(.noSync, ["actorrealm": five, "lmdb": [250, 250, 250, 250, 250]]).isEmpty)
        // The rounds are farther apart than we are from the goal.
        #expect(missed(.noSync, ["actorrealm": [200, 300, 300, 480, 520], "lmdb": [400]]).isEmpty)
        #expect(missed(.noSync, ["actorrealm": [200, 300, 300, 300, 300], "lmdb": [400]]) == [true])
        // Half of the time of the best peer is asked for, by none.
        #expect(missed(.lookup, ["actorrealm": five, "lmdb": [400], "sqlite": [500]]) == [false])
        #expect(missed(.lookup, ["actorrealm": five, "lmdb": [700], "sqlite": [800]]).isEmpty)
        // A peer that is in no goal.
        #expect(missed(.sumEngine, ["actorrealm": [1], "limit": [1], "duckdb": [0.1]]).isEmpty)
        #expect(missed(.countEqual, ["actorrealm": [1], "sqlite": [20], "duckdb": [1]]).isEmpty)
    }

    @Test("A goal of our own figure in another row is there where that row is, and at most so many times it")
    func ownRow() {
        let five = [Double](repeating: 1_600, count: 5)
        var both = table(.serialTail, ["actorrealm": five, "sqlite": [1]])
        // Without a log there is no run without checkpoints.
        #expect(both.missedGoals.isEmpty)
        #expect(both.markdown.hasSuffix("|  |"))
        both.add(1_100, of: "actorrealm", to: .tailWithoutCheckpoints)
        #expect(both.missedGoals.isEmpty)
        #expect(both.markdown.contains("\u{2264} 1,650 |"))
        for _ in 0..<2 { both.add(1_000, of: "actorrealm", to: .tailWithoutCheckpoints) }
        #expect(both.missedGoals.map(\.row) == [.serialTail])
        #expect(both.missedGoals.map(\.isFailure) == [true])
        let text = both.missedGoals.first?.description ?? ""
        #expect(text.hasSuffix("goal \u{2264} 1,500, 1.50 x our own W2.p999_bare"), "\(text)")
    }

    @Test("A run says how realms kept commits, whatever origin is given to it, and older files say nothing")
    func logSetting() throws {
        for setting in LogSetting.allCases {
            var table = ResultTable(origin: "one round", log: setting)
            table.add(200, of: "actorrealm", to: .lookup)
            var read = try JSONDecoder().decode(ResultTable.self, from: JSONEncoder().encode(table))
            #expect(read.log == setting)
            read.origin = "another machine"
            #expect(read.page.hasSuffix("\n\nanother machine \(setting.sentence)"))
            #expect(setting.sentence.contains("ACTOR_REALM_LOG=\(setting.rawValue)`"))
        }
        let older = try JSONDecoder().decode(ResultTable.self, from: Data(#"{"origin":"old","rows":[]}"#.utf8))
        #expect(older.log == nil)
        #expect(older.page.hasSuffix("\n\nold"))
    }

    @Test("Of two builds in turns each says how it kept commits, and one that knows no log had none")
    func logSettingsOfBuilds() throws {
        #expect(LogSetting.words(ofThis: .off, other: nil) == "without a log")
        #expect(LogSetting.words(ofThis: .log, other: .log) == "with a log, pages in each commit")
        #expect(
            LogSetting.words(ofThis: .ondemand, other: nil)
                == "this build with a log, pages on demand, the other one without a log"
        )
        #expect(try LogSetting(word: "ondemand") == .ondemand)
        #expect(throws: Options.Failure.self) { try LogSetting(word: "on") }
    }

    @Test("All figures of a run come back from its file")
    func file() throws {
        let before = table(.lookup, ["actorrealm": [200, 180, 240], "lmdb": [210, 250, 200]])
        let after = try JSONDecoder().decode(ResultTable.self, from: JSONEncoder().encode(before))
        #expect(after.markdown == before.markdown)
        #expect(after.origin == before.origin)
        #expect(after.rows.first?.figures["actorrealm"]?.figures == [200, 180, 240])
    }

    @Test("A file without a figure is an error")
    func emptyFile() {
        let text = #"{"origin":"","rows":[{"id":"W3.lookup","unit":"ns","better":"lower","figures":{"lmdb":[]}}]}"#
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(ResultTable.self, from: Data(text.utf8)) }
    }
}
