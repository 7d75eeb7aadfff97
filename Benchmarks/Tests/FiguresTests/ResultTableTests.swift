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

    @Test("A row whose rounds are farther apart than the medians is level")
    func level() {
        let markdown = table(.lookup, ["actorrealm": [200, 180, 240], "lmdb": [210, 250, 200]]).markdown
        #expect(markdown.contains("| level |"))
    }

    @Test("The best peer is the one with the highest or the lowest figure, as the row counts")
    func bestPeer() {
        #expect(table(.lookup, ["actorrealm": [100], "lmdb": [500], "sqlite": [200]]).markdown.contains("| 2.0x |"))
        #expect(table(.noSync, ["actorrealm": [100], "lmdb": [500], "sqlite": [200]]).markdown.contains("| 0.2x |"))
    }

    @Test("A limit that we beat is named, one that we reach or that is a yardstick is not")
    func limits() {
        #expect(table(.sumEngine, ["actorrealm": [0.1], "limit": [0.2]]).beatenLimits.count == 1)
        #expect(table(.sumEngine, ["actorrealm": [0.2], "limit": [0.2]]).beatenLimits.isEmpty)
        #expect(table(.sumEngine, ["actorrealm": [0.3], "limit": [0.2]]).beatenLimits.isEmpty)
        #expect(table(.insert, ["actorrealm": [300], "limit": [200]]).beatenLimits.count == 1)
        #expect(table(.insert, ["actorrealm": [300, 300], "limit": [200, 320]]).beatenLimits.isEmpty)
        #expect(table(.tasks, ["actorrealm": [300], "limit": [200]]).beatenLimits.isEmpty)
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
