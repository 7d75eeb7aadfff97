@_spi(Tools) import ActorRealm
import Figures
import Foundation

/// Measures ActorRealm beside its peers and what the hardware gives, interleaved, and prints the medians.
@main
@MainActor
struct Compare {
    private static let usage = """
        usage: compare [--rows W1,W2.serial] [--heavy yes] [--only NAME,NAME] [--objects N] [--rounds R]
                       [--folder PATH] [--json FILE] [--readme FILE] [--block NAME]
               compare --from FILE --readme FILE [--block NAME]
               compare --against BUILD [--rows W1,W2.serial] [--heavy yes] [--objects N] [--rounds R]
                       [--folder PATH] [--json FILE]
               compare --growth yes [--only CONTESTANT,...] [--objects N] [--rounds R] [--folder PATH]

        --rows     The rows to measure; all by default that are not heavy.
        --heavy    Measures the rows that take minutes and gigabytes as well.
        --only     Who takes part, of limit, actorrealm, grdb, sqlite, lmdb, rocksdb and duckdb; all of them by default.
        --objects  Objects in the realm; 1,000,000 by default.
        --rounds   Rounds; medians of them are shown. 5 by default, 10 with --against.
        --folder   A folder on the device to measure; the temporary folder by default.
        --json     Write the figures of all rounds to a file.
        --readme   Fill the block of figures of a README or another page.
        --block    The name of that block, where the page has several.
        --from     Take the figures from a file instead of measuring.
        --against  Measure this build of the library in turns with another one: an executable of this program,
                   or a checkout of the repository in which it was built. Only our own engine takes part.
        --growth   Compare our own figures at N objects (10,000,000 by default) with those at fewer, and those of
                   the peers that --only names.

        Realms keep commits as the variable ACTOR_REALM_LOG says: off, log, or ondemand (as without it). The figures
        say which it was. Rows about a log are absent without one.
        """

    static func main() async {
        do {
            // Children are asked, too: what the environment says of logs counts where somebody has asked.
            _ = try Realm.logMode()
            if CommandLine.arguments.dropFirst().first == "--child" {
                return try await ChildProcess.main(Array(CommandLine.arguments.dropFirst(2)))
            }
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            try await run(options)
        } catch let failure as Options.Failure {
            fail("\(failure)\n\n\(usage)")
        } catch {
            fail("\(error)")
        }
    }

    private static func fail(_ message: String) -> Never {
        log("compare: \(message)")
        exit(1)
    }

    private static func run(_ options: Options) async throws {
        let setting = try LogSetting(word: Realm.logMode())
        if options["--log-setting"] != nil { return print(setting.rawValue) }
        if let list = options["--turn"] { return try await takeTurn(list, options) }
        if let path = options["--against"] { return try await compare(against: path, options) }
        if options["--growth"] != nil {
            let growth = try await withFolder(options) { folder in
                try await GrowthRun.measure(
                    objectCount: try options.number("--objects") ?? 10_000_000,
                    rounds: try options.number("--rounds") ?? 3,
                    folder: folder,
                    peers: options["--only"]?.split(separator: ",") ?? [],
                    log: log
                )
            }
            print("\(growth.table)\n\n\(setting.sentence)")
            if !growth.failures.isEmpty { fail(growth.failures.joined(separator: "\n")) }
            return
        }
        var table: ResultTable
        var failures: [String] = []
        if let path = options["--from"] {
            table = try read(path)
            if let origin = options["--origin"] { table.origin = origin }
        } else {
            (table, failures) = try await measure(options, setting)
        }
        print(table.page)
        if let path = options["--json"] { try write(table, to: path) }
        if let path = options["--readme"] { try PageBlock.fill(path, options["--block"], with: table.page) }
        print(table.missedGoals.map(\.description).joined(separator: "\n"))
        failures += table.beatenLimits + table.missedGoals.filter(\.isFailure).map(\.description)
        if !failures.isEmpty { fail(failures.joined(separator: "\n")) }
    }

    /// Measures rows once for a driver, and keeps the files that others of its turns can use.
    private static func takeTurn(_ list: String, _ options: Options) async throws {
        let folder = options["--folder"] ?? FileManager.default.temporaryDirectory.path
        let workload = Workload(
            objectCount: try options.number("--objects") ?? 1_000_000,
            answers: Answers(),
            folder: folder
        )
        let contestant = EngineContestant<RealmEngine>(workload)
        let names = list.split(separator: ",").map(String.init)
        for row in names.compactMap(RowIdentifier.init(rawValue:)) {
            if let figure = try await contestant.measure(row) { print(try Turn.line(figure, of: row)) }
        }
    }

    private static func compare(against path: String, _ options: Options) async throws {
        let objectCount = try options.number("--objects") ?? 1_000_000
        let rounds = try options.number("--rounds") ?? 10
        let failures = try await withFolder(options) { folder in
            let rows = try options.rows()
            let against = try Against(
                other: path,
                objectCount: objectCount,
                rounds: rounds,
                folder: folder,
                log: log
            )
            let settings = try against.logSettings
            let origin =
                "\(objectCount) objects, \(rounds) rounds in turns, \(settings), on \(Machine.description)."
            var table = ComparisonTable(origin: origin)
            print(ComparisonTable.heading)
            let failures = try against.run(rows) { comparison, row in
                print(table.add(comparison, of: row))
                fflush(nil)
                if let path = options["--json"] { try write(table, to: path) }
            }
            print("\n\(origin)")
            return failures
        }
        if failures > 0 { throw Build.Failure(description: "\(failures) measurements failed.") }
    }

    private static func read(_ path: String) throws -> ResultTable {
        try JSONDecoder().decode(ResultTable.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    }

    private static func write(_ table: some Encodable, to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try (encoder.encode(table) + Data("\n".utf8)).write(to: URL(fileURLWithPath: path))
    }

    private static func log(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }

    /// Runs a body with a folder on the device to measure, and removes the folder.
    private static func withFolder<Result>(
        _ options: Options,
        _ body: (String) async throws -> Result
    ) async throws -> Result {
        let parent = options["--folder"] ?? FileManager.default.temporaryDirectory.path
        let folder = parent + "/compare-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return try await body(folder)
    }

    private static func rocksDB(_ workload: Workload) -> [any Contestant] {
        if let missing = RocksDBStore.missing {
            log("rocksdb is left out: \(missing)")
            return []
        }
        return [RocksDBContestant(workload)]
    }

    /// Measures everything that is asked for; what one contestant cannot do in one row does not end the others' run.
    private static func measure(
        _ options: Options,
        _ setting: LogSetting
    ) async throws -> (ResultTable, failures: [String]) {
        try await withFolder(options) { folder in
            let workload = Workload(
                objectCount: try options.number("--objects") ?? 1_000_000,
                answers: Answers(),
                folder: folder
            )
            let names = options["--only"]?.split(separator: ",")
            let contestants =
                ([
                    RawLimit(workload), EngineContestant<RealmEngine>(workload), EngineContestant<GRDBEngine>(workload),
                    EngineContestant<SQLiteEngine>(workload), EngineContestant<LMDBEngine>(workload),
                    DuckDBContestant(workload, log: log),
                ] + rocksDB(workload) as [any Contestant])
                .filter { names?.contains(Substring($0.name)) ?? true }
            let rows = try options.rows()
                .filter { row in
                    if setting != .off || !row.needsLog { return true }
                    log("\(row.rawValue) is absent: it is about a log, and realms keep none (ACTOR_REALM_LOG=off).")
                    return false
                }
            let rounds = try options.number("--rounds") ?? 5
            var table = ResultTable(
                origin: "\(workload.objectCount) objects, medians of \(rounds) rounds (least\u{2013}most), on "
                    + "\(Machine.description).",
                log: setting
            )
            var failures: [String] = []
            for round in 1...rounds {
                for row in rows {
                    for contestant in contestants {
                        let place = "round \(round) \(row.rawValue) \(contestant.name)"
                        do {
                            let start = ContinuousClock.now
                            guard let figure = try await contestant.measure(row) else { continue }
                            let seconds = String(format: "%.1f", (ContinuousClock.now - start) / .seconds(1))
                            table.add(figure, of: contestant.name, to: row)
                            log("\(place) \(figure) \(row.unit) (\(seconds) s)")
                        } catch {
                            failures.append("\(place): \(error)")
                            log(failures[failures.count - 1])
                        }
                    }
                    if let path = options["--json"] { try write(table, to: path) }
                }
            }
            return (table, failures)
        }
    }
}
