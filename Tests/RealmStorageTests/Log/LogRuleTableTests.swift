import Foundation
import Testing

/// `Docs/LogRules.md` says of each rule of the log which test is named for it, and which change by hand takes it out.
@Suite("The table of the rules of the log is whole")
struct LogRuleTableTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private struct Row {
        let number: Int
        let cells: [String]
        /// The tests, by the suites that have them.
        let tests: [(suite: String, title: String)]
        let promises: [String]
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    private static func rows() throws -> [Row] {
        try text("Docs/LogRules.md").split(separator: "\n")
            .compactMap { line in
                let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
                guard line.hasPrefix("| "), cells.count == 5, let number = Int(cells[0]) else { return nil }
                var tests: [(suite: String, title: String)] = []
                for match in cells[3].matches(of: /`([A-Za-z]+Tests)`: ((?:"[^"]+"(?:, )?)+)/) {
                    for title in match.2.matches(of: /"([^"]+)"/) {
                        tests.append((suite: String(match.1), title: String(title.1)))
                    }
                }
                let promises = cells[4].matches(of: /"([^"]+)"/).map { String($0.1) }
                return Row(number: number, cells: cells, tests: tests, promises: promises)
            }
    }

    /// The titles of tests, by the suites in whose files they stand.
    private static func titles() throws -> [String: Set<String>] {
        let enumerator = FileManager.default.enumerator(
            at: root.appendingPathComponent("Tests"),
            includingPropertiesForKeys: nil
        )
        var titles: [String: Set<String>] = [:]
        for case let url as URL in try #require(enumerator) where url.pathExtension == "swift" {
            let source = try String(contentsOf: url, encoding: .utf8)
            let found = source.matches(of: /@Test\(\s*"((?:[^"\\]|\\.)*)"/).map { String($0.1) }
            // An extension of a suite stands in a file of its own.
            let suite = url.lastPathComponent.prefix { $0 != "." && $0 != "+" }
            titles[String(suite), default: []].formUnion(found)
        }
        return titles
    }

    /// The suites that are to notice a change by hand, by what it is to show.
    private static func changes() throws -> [String: Set<String>] {
        var suites: [String: Set<String>] = [:]
        for line in try text("Tests/Mutations/known.jsonl").split(separator: "\n") {
            let change = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            guard let promise = change?["promise"] as? String else { continue }
            let tests = change?["test"] as? [String] ?? (change?["test"] as? String).map { [$0] } ?? []
            for test in tests {
                // Behind the name of its target.
                if let suite = test.split(separator: ".").last { suites[promise, default: []].insert(String(suite)) }
            }
        }
        return suites
    }

    @Test("There is a row for each of the 48 rules, in their order, and each says what it asks and how it is kept")
    func numbers() throws {
        let rows = try Self.rows()
        #expect(rows.map(\.number) == Array(1...48))
        for row in rows { #expect(row.cells.allSatisfy { !$0.isEmpty }, "rule \(row.number)") }
    }

    @Test("Each rule has a test that is named for it")
    func tests() throws {
        let titles = try Self.titles()
        for row in try Self.rows() {
            #expect(!row.tests.isEmpty, "rule \(row.number)")
            for test in row.tests {
                #expect(titles[test.suite]?.contains(test.title) == true, "\(test.suite) has no test \"\(test.title)\"")
                // "Rule 7: …", or "Rules 6 and 10: …".
                let numbers = test.title.prefixMatch(of: /Rules? ([0-9]+)(?: and ([0-9]+))?:/)
                let named = numbers.map { [Int($0.1), $0.2.flatMap { Int($0) }] } ?? []
                #expect(named.contains(row.number), "rule \(row.number): \"\(test.title)\"")
            }
        }
    }

    @Test("Each rule has a change by hand that takes it out, which a suite of its row is to notice")
    func promises() throws {
        let changes = try Self.changes()
        for row in try Self.rows() {
            #expect(!row.promises.isEmpty, "rule \(row.number)")
            for promise in row.promises {
                let suites = try #require(changes[promise], "no change by hand is named \"\(promise)\"")
                #expect(!suites.isDisjoint(with: row.tests.map { $0.suite }), "rule \(row.number): \"\(promise)\"")
            }
        }
    }
}
