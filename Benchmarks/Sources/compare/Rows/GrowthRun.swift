import Figures
import Foundation

/// Compares our figures at many objects with those at few: nothing may depend on how large the file is.
@MainActor
enum GrowthRun {
    /// Figures for each object, at a tenth of the objects and at all of them.
    private static let perObject: [RowIdentifier] = [
        .insert, .insertBytes, .lookup, .sumObjects, .findByIndex, .update, .delete, .deleteByQuery,
    ]
    /// Figures for each commit, at a thousand objects and at all of them.
    private static let perCommit: [RowIdentifier] = [.serial, .commitBytes, .noSync]

    private static let rows = perObject + perCommit

    /// The figures of an engine, by row.
    private typealias Figures = [RowIdentifier: (few: [Double], many: [Double])]

    /// Measures our own engine and those peers that are named.
    ///
    /// - Returns: The ratios as a table, more than 1 is worse; and which of ours are above what is asked.
    static func measure(
        objectCount: Int,
        rounds: Int,
        folder: String,
        peers: [Substring],
        log: (String) -> Void
    ) async throws -> (table: String, failures: [String]) {
        let large = Workload(
            objectCount: objectCount,
            answers: Answers(),
            folder: folder + "/large",
            commitBase: objectCount
        )
        let small = Workload(objectCount: objectCount / 10, answers: Answers(), folder: folder + "/small")
        for workload in [small, large] {
            try FileManager.default.createDirectory(atPath: workload.folder, withIntermediateDirectories: true)
        }
        func contestants<E: Engine>(_: E.Type) -> (few: any Contestant, many: any Contestant)? {
            guard E.name == RealmEngine.name || peers.contains(Substring(E.name)) else { return nil }
            return (EngineContestant<E>(small), EngineContestant<E>(large))
        }
        let engines = [
            contestants(RealmEngine.self), contestants(GRDBEngine.self), contestants(SQLiteEngine.self),
            contestants(LMDBEngine.self),
        ]
        .compactMap { $0 }
        var figures: [String: Figures] = [:]
        for round in 1...rounds {
            for row in rows {
                for engine in engines {
                    let name = engine.few.name
                    guard let few = try await engine.few.measure(row), let many = try await engine.many.measure(row)
                    else { continue }
                    log("round \(round) \(row.rawValue) \(name) few: \(few), many: \(many) \(row.unit)")
                    figures[name, default: [:]][row, default: ([], [])].few.append(few)
                    figures[name, default: [:]][row, default: ([], [])].many.append(many)
                }
            }
        }
        return table(figures, engines.map(\.few.name), few: small, many: large)
    }

    private static func table(
        _ figures: [String: Figures],
        _ names: [String],
        few: Workload,
        many: Workload
    ) -> (table: String, failures: [String]) {
        var lines = [
            "| | workload | engine | few objects | \(many.objectCount) objects | times as much | at most |",
            "|---|---|---|---:|---:|---:|---:|",
        ]
        var failures: [String] = []
        for row in rows {
            let isCommit = perCommit.contains(row)
            for name in names {
                guard let figures = figures[name]?[row] else { continue }
                let growth = Growth(
                    row,
                    limit: isCommit ? 1.3 : 1.5,
                    few: Samples(figures.few),
                    many: Samples(figures.many)
                )
                let isOurs = name == RealmEngine.name
                if isOurs, growth.isAboveLimit { failures.append("\(growth)") }
                let cells = [
                    row.rawValue, "\(row.title), \(row.unit)", name,
                    "\(Samples.shown(growth.few.median)) at \(isCommit ? few.commitBase : few.objectCount)",
                    Samples.shown(growth.many.median), Samples.shown(growth.ratio),
                    isOurs ? Samples.shown(growth.limit) : "",
                ]
                lines.append("| " + cells.joined(separator: " | ") + " |")
            }
        }
        return (lines.joined(separator: "\n"), failures)
    }
}
