import Foundation
import Testing

/// `Docs/Conformance.md` and `Docs/Observation.md` name code and tests: they must exist.
@Suite("The list of promises names code and tests that exist")
struct ConformanceTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The source files, by name.
    private static func files() throws -> [String: [URL]] {
        var files: [String: [URL]] = [:]
        for folder in ["Sources", "Tests", "Benchmarks/Sources"] {
            let enumerator = FileManager.default.enumerator(
                at: root.appendingPathComponent(folder),
                includingPropertiesForKeys: nil,
                options: [.skipsHiddenFiles]
            )
            for case let url as URL in try #require(enumerator) {
                files[url.lastPathComponent, default: []].append(url)
            }
        }
        return files
    }

    /// The names under which a source declares tests.
    private static func tests(in source: String) -> Set<Substring> {
        let named = source.matches(of: /@Test\(\s*"((?:[^"\\]|\\.)*)"/).map(\.1)
        return Set(named + source.matches(of: /func `([^`]+)`/).map(\.1))
    }

    @Test("Only what is declared as a test counts as one")
    func declared() {
        let source = """
            @Test("one") func a() {}
            @Test(
                "two", arguments: [1])
            func b(_: Int) {}
            @Test func `three, in words`() { print("four") }
            """
        #expect(Self.tests(in: source) == ["one", "two", "three, in words"])
    }

    @Test("Every file that is named exists, and every test is in its suite's file")
    func names() throws {
        let text = try ["Docs/Conformance.md", "Docs/Observation.md"]
            .map { try String(contentsOf: Self.root.appendingPathComponent($0), encoding: .utf8) }
            .joined()
        let files = try Self.files()
        var named = 0
        for match in text.matches(of: /`([A-Za-z0-9+.\-]+\.(?:swift|py|md))`/) {
            named += 1
            #expect(files[String(match.1)] != nil, "there is no file \(match.1)")
        }
        var tests = 0
        for match in text.matches(of: /`([A-Za-z]+Tests)`: ((?:"[^"]+"(?:, )?)+)/) {
            // Its extensions stand beside it.
            let urls = files.filter { $0.key == "\(match.1).swift" || $0.key.hasPrefix("\(match.1)+") }.flatMap(\.value)
            if urls.isEmpty {
                Issue.record("there is no file \(match.1).swift")
                continue
            }
            let declared = Self.tests(in: try urls.map { try String(contentsOf: $0, encoding: .utf8) }.joined())
            for name in match.2.matches(of: /"([^"]+)"/) {
                tests += 1
                #expect(declared.contains(name.1), "\(match.1) has no test \"\(name.1)\"")
            }
        }
        #expect(named > 50 && tests > 60, "found \(named) files and \(tests) tests")
    }

    @Test("Every row of a table names its code and its test, or says why there is none")
    func rows() throws {
        let text = try String(contentsOf: Self.root.appendingPathComponent("Docs/Conformance.md"), encoding: .utf8)
        var rows = 0
        for line in text.split(separator: "\n") where line.hasPrefix("| ") && !line.hasPrefix("| promise") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            rows += 1
            #expect(cells.count == 3, "\(line)")
            #expect(cells.allSatisfy { !$0.isEmpty }, "\(line)")
            let isProved = cells[2].contains("Tests`") || cells[2].contains(".swift`") || cells[2].contains(".py`")
            #expect(isProved || cells[2].hasPrefix("none: "), "\(line)")
        }
        #expect(rows > 80, "found \(rows) rows")
    }
}
