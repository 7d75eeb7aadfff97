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

    @Test("The README shows what the file of its run says")
    func table() throws {
        let data = Data(try read("Benchmarks/Results/compare.json").utf8)
        let table = try JSONDecoder().decode(ResultTable.self, from: data)
        let readme = try read("README.md")
        let filled = try #require(PageBlock.filled(readme, with: table.page))
        #expect(table.rows.count > 50)
        let (shown, measured) = (readme.components(separatedBy: "\n"), filled.components(separatedBy: "\n"))
        #expect(shown.count == measured.count)
        #expect(zip(shown, measured).filter { $0 != $1 }.map(\.0).isEmpty)
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
