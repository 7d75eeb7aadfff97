import Figures
import Foundation
import Testing

@Suite("The table of the README")
struct ReadmeTests {
    private let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private func read(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    @Test(
        "A page shows what the file of its run says, five rounds of each row",
        arguments: [
            ("README.md", nil, "compare.json", 50), ("Docs/Performance.md", "the slowest commits", "tail.json", 1),
            ("Docs/Performance.md", "small commits with the log", "compare-log.json", 6),
        ]
    )
    func table(page: String, block: String?, results: String, leastRows: Int) throws {
        let data = Data(try read("Benchmarks/Results/\(results)").utf8)
        let table = try JSONDecoder().decode(ResultTable.self, from: data)
        let text = try read(page)
        let filled = try #require(PageBlock.filled(text, block, with: table.page))
        #expect(table.rows.count >= leastRows)
        #expect(table.rows.allSatisfy { $0.figures.values.allSatisfy { $0.figures.count >= Comparison.leastRounds } })
        let (shown, measured) = (text.components(separatedBy: "\n"), filled.components(separatedBy: "\n"))
        #expect(shown.count == measured.count)
        #expect(zip(shown, measured).filter { $0 != $1 }.map(\.0).isEmpty)
    }

    @Test("A page may have several blocks, each of which is filled by its name")
    func namedBlocks() {
        let page =
            "<!-- figures: begin -->\n1\n<!-- figures: end -->\n<!-- figures of b: begin -->\n2\n<!-- figures of b: end -->"
        #expect(PageBlock.filled(page, with: "3") == page.replacingOccurrences(of: "1", with: "3"))
        #expect(PageBlock.filled(page, "b", with: "3") == page.replacingOccurrences(of: "2", with: "3"))
        #expect(PageBlock.filled(page, "c", with: "3") == nil)
    }

    @Test("A block is replaced as a whole, and a page without one has none")
    func block() {
        var table = ResultTable(origin: "one round")
        table.add(200, of: "actorrealm", to: .lookup)
        let page = "before\n<!-- figures: begin -->\nold\n<!-- figures: end -->\nafter"
        let filled = PageBlock.filled(page, with: table.page)
        #expect(
            filled
                == "before\n<!-- figures: begin -->\n\(table.markdown)\n\none round\n<!-- figures: end -->\nafter"
        )
        #expect(filled.flatMap { PageBlock.filled($0, with: table.page) } == filled)
        #expect(PageBlock.filled("before\nafter", with: table.page) == nil)
        #expect(PageBlock.filled("<!-- figures: end --><!-- figures: begin -->", with: table.page) == nil)
    }
}
