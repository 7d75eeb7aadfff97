import Foundation
import Testing

/// `Docs/Traps.md` lists what may end the process: everything that does is in it, and each row has a test.
@Suite("The list of what ends the process is whole")
struct TrapTableTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private struct Row {
        let files: [String]
        let count: Int
        let cells: [String]
    }

    private static func rows() throws -> [Row] {
        let text = try String(contentsOf: root.appendingPathComponent("Docs/Traps.md"), encoding: .utf8)
        return text.split(separator: "\n")
            .compactMap { line in
                let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
                guard line.hasPrefix("| `"), cells.count == 5, let count = Int(cells[1]) else { return nil }
                return Row(files: cells[0].matches(of: /`([^`]+)`/).map { String($0.1) }, count: count, cells: cells)
            }
    }

    private static func swiftFiles(in folder: String) throws -> [URL] {
        let enumerator = FileManager.default.enumerator(
            at: root.appendingPathComponent(folder),
            includingPropertiesForKeys: nil
        )
        return try #require(enumerator).compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
    }

    private static let words = [
        "misuse(", "fatalError(", "preconditionFailure(", "precondition(", "trap(", "try!", "as! ",
    ]
    .map { Array($0.utf8) }

    /// The number of places in a file that end the process.
    private static func traps(in file: URL) throws -> Int {
        let bytes = [UInt8](try Data(contentsOf: file))
        var count = 0
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let line = Array(line.drop { $0 == UInt8(ascii: " ") })
            if line.starts(with: "//".utf8) || line.starts(with: "func misuse(".utf8)
                || line.starts(with: "func trap(".utf8)
            {
                continue
            }
            for word in words where line.count >= word.count {
                for start in 0...(line.count - word.count) where line[start] == word[0] {
                    guard line[start..<start + word.count].elementsEqual(word) else { continue }
                    // Not the end of a longer name.
                    let before = start == 0 ? UInt8(ascii: " ") : line[start - 1]
                    let isName =
                        before == UInt8(ascii: "_") || before == UInt8(ascii: ".")
                        || (before | 0x20) >= UInt8(ascii: "a")
                    if !isName { count += 1 }
                }
            }
        }
        return count
    }

    @Test("Each place in the code that ends the process is counted in its row, file by file or folder by folder")
    func counts() throws {
        var expected: [String: Int] = [:]
        for row in try Self.rows() {
            for file in row.files { expected[file, default: 0] += row.count }
        }
        var found: [String: Int] = [:]
        for file in try Self.swiftFiles(in: "Sources/ActorRealm") {
            let count = try Self.traps(in: file)
            if count > 0 { found[file.lastPathComponent, default: 0] += count }
        }
        for module in ["RealmStorage", "RealmModel", "RealmQuery"] {
            for file in try Self.swiftFiles(in: "Sources/\(module)") {
                let count = try Self.traps(in: file)
                let below = file.path.components(separatedBy: "Sources/\(module)/")[1]
                let folder = "\(module)/\(below.split(separator: "/")[0])"
                if count > 0 { found[folder, default: 0] += count }
            }
        }
        for name in Set(expected.keys).union(found.keys).sorted() {
            #expect(found[name] ?? 0 == expected[name] ?? 0, "\(name)")
        }
    }

    @Test("Each row says what may bring it about, what throws or asks instead, and which test shows it")
    func rows() throws {
        let rows = try Self.rows()
        let tests = Dictionary(grouping: try Self.swiftFiles(in: "Tests")) { $0.lastPathComponent }
        var known: [String: String] = [:]
        func source(_ suite: String) throws -> String {
            if let text = known[suite] { return text }
            let text = try (tests["\(suite).swift"] ?? []).map { try String(contentsOf: $0, encoding: .utf8) }.joined()
            known[suite] = text
            return text
        }
        #expect(rows.count > 50)
        for row in rows {
            #expect(row.cells.allSatisfy { !$0.isEmpty }, "\(row.cells[0])")
            var named = 0
            for match in row.cells[4].matches(of: /`([A-Za-z]+Tests)`: ((?:"[^"]+"(?:, )?)+)/) {
                let sources = try source(String(match.1))
                for name in match.2.matches(of: /"([^"]+)"/) {
                    named += 1
                    #expect(
                        sources.contains("\"\(name.1)\"") || sources.contains("`\(name.1)`"),
                        "\(match.1) has no test \"\(name.1)\""
                    )
                }
            }
            #expect(named > 0 || row.cells[4].hasPrefix("none: "), "\(row.cells[0])")
        }
    }
}
