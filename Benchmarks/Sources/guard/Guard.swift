@_spi(Tools) import ActorRealm
import Figures
import Foundation

/// Counts the instructions of the hot paths and compares them with the thresholds that are kept beside the sources.
@main
@MainActor
struct Guard {
    private static let usage = """
        usage: guard --thresholds FILE [--update [--raise NAME]...] [--callgrind]
               guard --calls [--page FILE]

        --thresholds  The file of thresholds: instructions for each operation, and how much more is tolerated.
        --update      Write to the file what got lower, and what is new, instead of comparing.
        --raise NAME  Write this operation's figure although it got higher. The message of the commit says why.
        --callgrind   Count under callgrind although the processor could.
        --calls       Print what each operation allocates and how often it changes reference counts.
        --page        Fill the block of figures of a page with it.

        commit.durable has no log, commit.logged one with pages in each commit, and commit.owed one with pages on demand.
        All other operations are those of realms without flushes, which have none.
        """

    private struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// In a task, because the runtime asks for the executor there, as in every server.
    static func main() async {
        do {
            try run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("guard: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ arguments: [String]) throws {
        let folder = FileManager.default.temporaryDirectory.path + "/guard-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        if arguments == ["--under-callgrind"] {
            guard let counter = Counter() else { throw Failure(description: "This is not callgrind.") }
            return try HotPaths(folder: folder, counter: counter).run()
        }
        if arguments.first == "--calls" {
            guard arguments.count == 1 || arguments.count == 3 && arguments[1] == "--page" else {
                throw Failure(description: usage)
            }
            let table = calls(try measure(in: folder, isForced: true))
            print(table)
            if arguments.count == 3 { try PageBlock.fill(arguments[2], with: table) }
            return
        }
        guard let option = arguments.firstIndex(of: "--thresholds"), option + 1 < arguments.count else {
            throw Failure(description: usage)
        }
        let isUpdate = arguments.contains("--update")
        let file = URL(fileURLWithPath: arguments[option + 1])
        let figures = try measure(in: folder, isForced: arguments.contains("--callgrind"))
        if isUpdate {
            let raised = zip(arguments, arguments.dropFirst()).filter { $0.0 == "--raise" }.map(\.1)
            return try update(file, with: figures, raising: Set(raised))
        }
        try compare(figures, try JSONDecoder().decode(Thresholds.self, from: Data(contentsOf: file)))
    }

    private static func measure(in folder: String, isForced: Bool) throws -> [String: Figure] {
        if !isForced, let counter = Counter() {
            try HotPaths(folder: folder, counter: counter).run()
            return counter.figures
        }
        // Valgrind gives up on the debug information that the compiler writes.
        let plain = folder + "/guard"
        try runTool(["strip", "--strip-debug", "-o", plain, CommandLine.arguments[0]])
        try runTool([
            "valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no",
            "--compress-strings=no", "--callgrind-out-file=\(folder)/callgrind.%p", plain, "--under-callgrind",
        ])
        return try Counter.callgrindFigures(in: folder)
    }

    private static func runTool(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(
                description:
                    "The processor's counters are not to be had here, and \(arguments[0]) failed or is missing."
            )
        }
    }

    /// Thresholds go down by themselves, and up by name only: an update for one operation would else let others creep up.
    private static func update(_ file: URL, with figures: [String: Figure], raising raised: Set<String>) throws {
        if let unknown = raised.first(where: { figures[$0] == nil }) {
            throw Failure(description: "No operation is named \(unknown).")
        }
        var thresholds = try JSONDecoder().decode(Thresholds.self, from: Data(contentsOf: file))
        for line in thresholds.update(with: figures.mapValues(\.instructions), raising: raised) { print(line) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try (encoder.encode(thresholds) + Data("\n".utf8)).write(to: file)
    }

    private static func compare(_ figures: [String: Figure], _ thresholds: Thresholds) throws {
        let report = thresholds.compare(figures.mapValues(\.instructions))
        print(report.lines.joined(separator: "\n"))
        if !report.failures.isEmpty { throw Failure(description: report.failures.joined(separator: "\n")) }
    }

    private static func calls(_ figures: [String: Figure]) -> String {
        var lines = ["| operation | instructions | allocations | of them objects | retains | releases | checks |"]
        lines.append("|---|---:|---:|---:|---:|---:|---:|")
        for (name, figure) in figures.sorted(by: { $0.key < $1.key }) {
            guard let calls = figure.calls else { continue }
            let counts = [calls.allocations, calls.objects, calls.retains, calls.releases, calls.checks]
                .map { String(format: "%.2f", $0) }
            let instructions = String(format: "%.0f", figure.instructions)
            lines.append("| \(name) | \(instructions) | \(counts.joined(separator: " | ")) |")
        }
        return lines.joined(separator: "\n")
    }
}
