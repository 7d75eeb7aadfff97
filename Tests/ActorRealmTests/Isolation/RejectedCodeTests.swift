import Foundation
import RealmTestSupport
import Testing

/// Code that must not compile, with the errors that it must give: the files in `Tests/Rejected`, whose comments say what is
/// expected on their line.
@Suite("The compiler rejects what would cross an isolation", .timeLimit(.minutes(60)))
struct RejectedCodeTests {
    struct Diagnostic: Hashable, CustomStringConvertible {
        let line: Int
        let message: String

        var description: String { "line \(line): \(message)" }
    }

    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Rejected")

    /// The folder of the built modules: that of the running tests.
    private static let products = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    private static func swiftc(_ files: [URL]) throws -> String {
        let process = Process()
        // A file and not a pipe, whose other end processes that other tests spawn would keep open.
        let directory = TemporaryDirectory()
        let path = directory.path("diagnostics")
        try Data().write(to: URL(fileURLWithPath: path))
        let output = try #require(FileHandle(forWritingAtPath: path))
        let checkouts = products.deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("checkouts")
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            [
                "swiftc", "-emit-sil", "-wmo", "-o", "/dev/null", "-swift-version", "6", "-module-name", "Rejected",
                "-I", products.appendingPathComponent("Modules").path,
                "-Xcc", "-fmodule-map-file=\(products.path)/CRealmShims.build/module.modulemap",
                "-Xcc",
                "-fmodule-map-file=\(checkouts.path)/swift-atomics/Sources/_AtomicsShims/include/module.modulemap",
            ] + files.map(\.path)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = output
        try process.run()
        process.waitUntilExit()
        try output.close()
        return try String(contentsOfFile: path, encoding: .utf8)
    }

    /// The errors in a file, by line.
    private static func errors(in output: String, of file: URL) -> [Diagnostic] {
        output.split(separator: "\n")
            .compactMap { line in
                let parts = line.split(separator: ":", maxSplits: 4)
                guard parts.count == 5, parts[0].hasSuffix("/" + file.lastPathComponent), let number = Int(parts[1]),
                    parts[3] == " error"
                else { return nil }
                return Diagnostic(line: number, message: parts[4].trimmingCharacters(in: .whitespaces))
            }
    }

    /// What the comments of a file ask for.
    private static func expectations(in file: URL) throws -> [Diagnostic] {
        let lines = try String(contentsOf: file, encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
        return lines.enumerated()
            .flatMap { index, line in
                line.components(separatedBy: "// error: ").dropFirst()
                    .map { Diagnostic(line: index + 1, message: $0.trimmingCharacters(in: .whitespaces)) }
            }
    }

    @Test(
        "Each line is rejected for its reason, and no other line is",
        arguments: [
            "Sendability.swift", "Isolation.swift", "Crossing.swift", "SendableClosures.swift", "Declarations.swift",
        ]
    )
    func rejected(name: String) throws {
        let file = Self.folder.appendingPathComponent(name)
        let expected = try Self.expectations(in: file)
        #expect(!expected.isEmpty)
        let output = try Self.swiftc([Self.folder.appendingPathComponent("Model.swift"), file])
        let found = Self.errors(in: output, of: file)
        for expectation in expected {
            #expect(
                found.contains { $0.line == expectation.line && $0.message.contains(expectation.message) },
                "\(expectation) is not among \(found)\n\(output.prefix(found.isEmpty ? 2_000 : 0))"
            )
        }
        let lines = Set(expected.map(\.line))
        #expect(found.filter { !lines.contains($0.line) }.isEmpty)
    }

    /// The public types of the library that its sources declare, nested ones with the names of those around them.
    private static func publicTypes() throws -> Set<String> {
        let sources = folder.deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Sources/ActorRealm")
        let declaration =
            /^(?<indent> *)(?:@\w+(?:\([^)]*\))? )*(?<access>public |open |nonisolated )*(?:final |indirect )?(?<kind>class|struct|enum|actor|extension) (?<name>[A-Z][\w.]*)/
        var types: Set<String> = []
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            // The types around the line, with the columns at which they begin.
            var around: [(indent: Int, name: String)] = []
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                guard let match = line.prefixMatch(of: declaration) else { continue }
                let indent = match.indent.count
                around.removeAll { $0.indent >= indent }
                let name = (around.map(\.name) + [String(match.name)]).joined(separator: ".")
                around.append((indent, String(match.name)))
                if match.kind != "extension", match.access != nil { types.insert(name) }
            }
        }
        return types
    }

    @Test("Every public type is among those that may be sent, or among those that may not and say what to send instead")
    func completeness() throws {
        let types = try Self.publicTypes()
        #expect(types.count > 60 && types.contains("Realm.AsyncTransaction") && types.contains("ObjectBase"))
        let texts = try ["Sendability.swift", "Accepted.swift"]
            .map { try String(contentsOf: Self.folder.appendingPathComponent($0), encoding: .utf8) }
        let sent = texts.joined()
            .matches(of: /sends\(\(?(?:any )?(?<type>[^)\n]*?)\)?\.self\)/)
            .map { String($0.type).replacing(/<.*>/, with: "") }
        for type in types.sorted() { #expect(sent.contains(type), "\(type) is in neither list") }
    }

    @Test("What may cross compiles without an error or a warning")
    func accepted() throws {
        let files = ["Model.swift", "Accepted.swift"].map { Self.folder.appendingPathComponent($0) }
        let output = try Self.swiftc(files)
        #expect(!output.contains("error:") && !output.contains("warning:"), "\(output)")
    }

    @Test(
        "Models, writes and queries as written for RealmSwift compile",
        arguments: ["Spellings.swift", "ModelSpellings.swift"]
    )
    func spellings(name: String) throws {
        let output = try Self.swiftc([Self.folder.appendingPathComponent(name)])
        #expect(!output.contains("error:"), "\(output.prefix(4_000))")
    }
}
