import Figures
import Foundation

/// Measures this build of the library and another one in turns.
struct Against {
    private let this: Build
    private let other: Build
    private let objectCount: Int
    private let rounds: Int
    private let log: (String) -> Void

    init(other path: String, objectCount: Int, rounds: Int, folder: String, log: @escaping (String) -> Void) throws {
        let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
        this = try Build(name: "this", executable: own, folder: folder)
        other = try Build(name: "other", executable: Build.executable(at: path), folder: folder)
        self.objectCount = objectCount
        self.rounds = rounds
        self.log = log
    }

    /// How the realms of both keep commits, in words.
    var logSettings: String {
        get throws { LogSetting.words(ofThis: try this.logSetting() ?? .off, other: try other.logSetting()) }
    }

    /// Measures rows; `body` is given each one that both builds know as soon as it is there.
    ///
    /// Rows that one measurement answers are measured together. Returns how many measurements failed.
    func run(_ rows: [RowIdentifier], _ body: (Comparison, RowIdentifier) throws -> Void) throws -> Int {
        var failures = 0
        for source in RowIdentifier.allCases {
            let together = rows.filter { $0.source == source }
            if together.isEmpty { continue }
            do {
                for (row, comparison) in try compare(together) { try body(comparison, row) }
            } catch let failure as Build.Failure {
                log("compare: \(failure)")
                failures += 1
            }
        }
        return failures
    }

    private func compare(_ rows: [RowIdentifier]) throws -> [(RowIdentifier, Comparison)] {
        // What a first turn finds is different: the files are made in it.
        for build in [other, this] { _ = try build.measure(rows, objectCount: objectCount) }
        var figures: (this: [[RowIdentifier: Double]], other: [[RowIdentifier: Double]]) = ([], [])
        figures.this.append(try turn(of: this, rows, "round 0"))
        for round in 1...rounds {
            figures.other.append(try turn(of: other, rows, "round \(round)"))
            figures.this.append(try turn(of: this, rows, "round \(round)"))
        }
        return rows.compactMap { row in
            let this = figures.this.compactMap { $0[row] }
            let other = figures.other.compactMap { $0[row] }
            // The limit and rows of the peers are not a build's, and an older build does not know all of ours.
            guard this.count == rounds + 1, other.count == rounds else {
                if this.count + other.count > 0 { log("\(row.rawValue) is not measured by both builds.") }
                return nil
            }
            return (row, Comparison(this: this, other: other, isHigherBetter: row.isHigherBetter))
        }
    }

    private func turn(of build: Build, _ rows: [RowIdentifier], _ round: String) throws -> [RowIdentifier: Double] {
        let figures = try build.measure(rows, objectCount: objectCount)
        for row in rows {
            if let figure = figures[row] { log("\(round) \(row.rawValue) \(build.name) \(figure) \(row.unit)") }
        }
        return figures
    }
}
