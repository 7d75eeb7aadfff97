import Foundation

/// Compares our figures at many objects with those at few: nothing may depend on how large the file is.
@MainActor
enum Growth {
    /// Figures for each object, at a tenth of the objects and at all of them.
    private static let perObject: [RowIdentifier] = [
        .insert, .insertBytes, .lookup, .sumObjects, .findByIndex, .update, .delete, .deleteByQuery,
    ]
    /// Figures for each commit, at a thousand objects and at all of them.
    private static let perCommit: [RowIdentifier] = [.serial, .commitBytes, .noSync]

    /// Measures, and describes the ratios in a table; more than 1 is worse.
    static func measure(objectCount: Int, rounds: Int, folder: String, log: (String) -> Void) async throws -> String {
        let large = Workload(objectCount: objectCount, folder: folder + "/large", commitBase: objectCount)
        let small = Workload(objectCount: objectCount / 10, folder: folder + "/small")
        for workload in [small, large] {
            try FileManager.default.createDirectory(atPath: workload.folder, withIntermediateDirectories: true)
        }
        let few = EngineContestant<RealmEngine>(small)
        let many = EngineContestant<RealmEngine>(large)
        var figures: [RowIdentifier: (few: [Double], many: [Double])] = [:]
        for round in 1...rounds {
            for row in perObject + perCommit {
                for contestant in [few, many] {
                    guard let figure = try await contestant.measure(row) else { continue }
                    log("round \(round) \(row.rawValue) at \(contestant.workload.objectCount): \(figure) \(row.unit)")
                    if contestant === few {
                        figures[row, default: ([], [])].few.append(figure)
                    } else {
                        figures[row, default: ([], [])].many.append(figure)
                    }
                }
            }
        }
        var lines = [
            "| | workload | few objects | \(objectCount) objects | times as much | at most |",
            "|---|---|---:|---:|---:|---:|",
        ]
        for row in perObject + perCommit {
            guard let figures = figures[row] else { continue }
            let few = ResultTable.median(figures.few)
            let many = ResultTable.median(figures.many)
            let ratio = row.isHigherBetter ? few / many : many / few
            let isCommit = perCommit.contains(row)
            let cells = [
                row.rawValue, "\(row.title), \(row.unit)",
                "\(ResultTable.shown(few)) at \(isCommit ? small.commitBase : small.objectCount)",
                ResultTable.shown(many), ResultTable.shown(ratio), isCommit ? "1.3" : "1.5",
            ]
            lines.append("| " + cells.joined(separator: " | ") + " |")
        }
        return lines.joined(separator: "\n")
    }
}
