import Foundation

/// Measures ActorRealm beside its peers and what the hardware gives, interleaved, and prints the medians.
@main
@MainActor
struct Compare {
    private static let usage = """
        usage: compare [--rows W1,W2.serial] [--objects N] [--rounds R] [--folder PATH] [--json FILE] [--readme FILE]
               compare --from FILE --readme FILE

        --rows     The rows to measure; all by default.
        --objects  Objects in the realm; 1,000,000 by default.
        --rounds   Rounds; medians of them are shown. 5 by default.
        --folder   A folder on the device to measure; the temporary folder by default.
        --json     Write the medians to a file.
        --readme   Fill the block of figures of a README.
        --from     Take the medians from a file instead of measuring.
        """

    static func main() async {
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            try await run(options)
        } catch {
            FileHandle.standardError.write(Data("compare: \(error)\n\n\(usage)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ options: Options) async throws {
        let table: ResultTable
        let source: String
        if let path = options["--from"] {
            table = try JSONDecoder().decode(ResultTable.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
            source = options["--origin"] ?? path
        } else {
            table = try await measure(options)
            source =
                "\(options.number("--objects") ?? 1_000_000) objects, medians of "
                + "\(options.number("--rounds") ?? 5) rounds, on \(Machine.description)."
            print(table.markdown)
            print("\n\(source)")
        }
        if let path = options["--json"] {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            try encoder.encode(table).write(to: URL(fileURLWithPath: path))
        }
        if let path = options["--readme"] {
            try ReadmeBlock.fill(path, with: table, origin: source)
        }
    }

    private static func measure(_ options: Options) async throws -> ResultTable {
        let parent = options["--folder"] ?? FileManager.default.temporaryDirectory.path
        let folder = parent + "/compare-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let workload = Workload(objectCount: options.number("--objects") ?? 1_000_000, folder: folder)
        let contestants: [any Contestant] = [
            RawLimit(workload), Ours(workload), GRDBContestant(workload), SQLite(workload), LMDB(workload),
        ]
        var table = ResultTable()
        for round in 1...(options.number("--rounds") ?? 5) {
            for row in RowIdentifier.rows(named: options["--rows"]) {
                for contestant in contestants {
                    guard let figure = try await contestant.measure(row) else { continue }
                    let name = type(of: contestant).name
                    table.add(figure, of: name, to: row)
                    FileHandle.standardError.write(
                        Data("round \(round) \(row.rawValue) \(name) \(figure) \(row.unit)\n".utf8)
                    )
                }
            }
        }
        return table
    }
}

/// The options of the command line, each with a value.
struct Options {
    /// An argument that is not understood.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private static let names: Set<String> = [
        "--rows", "--objects", "--rounds", "--folder", "--json", "--readme", "--from", "--origin",
    ]
    private var values: [String: String] = [:]

    init(_ arguments: [String]) throws {
        var remaining = arguments[...]
        while let name = remaining.popFirst() {
            guard Self.names.contains(name), let value = remaining.popFirst() else {
                throw Failure(description: "\(name) is not an option, or lacks its value.")
            }
            values[name] = value
        }
    }

    subscript(name: String) -> String? { values[name] }

    func number(_ name: String) -> Int? { values[name].flatMap { Int($0) }.map { max(1, $0) } }
}
