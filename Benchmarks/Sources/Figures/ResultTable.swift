import Foundation

/// A run: what each contestant made in each row and round.
package struct ResultTable: Codable {
    /// A row with all its figures.
    package struct Row: Codable {
        package var id: String
        package var unit: String
        package var better: String
        /// The figures of the rounds, by contestant.
        package var figures: [String: Samples]

        /// The row as this program knows it.
        fileprivate var identifier: RowIdentifier? { RowIdentifier(rawValue: id) }
        fileprivate var isHigherBetter: Bool { better == "higher" }
        fileprivate var ours: Samples? { figures["actorrealm"] }
        fileprivate var limit: Samples? { figures["limit"] }

        /// The peer that does best.
        fileprivate var bestPeer: Samples? {
            let peers = ResultTable.peers.compactMap { figures[$0] }
            return isHigherBetter ? peers.max { $0.median < $1.median } : peers.min { $0.median < $1.median }
        }
    }

    private static let peers = ["grdb", "sqlite", "lmdb", "rocksdb"]
    /// Shown, and in no goal: it is another kind of engine, for questions about whole columns, and it is driven from Python.
    private static let others = ["duckdb"]
    private static let titles = [
        "actorrealm": "ActorRealm", "grdb": "GRDB", "sqlite": "SQLite", "lmdb": "LMDB", "limit": "limit",
        "rocksdb": "RocksDB", "duckdb": "DuckDB (Python)",
    ]

    /// The objects, the rounds and the machine.
    package var origin: String
    /// How our realms kept commits; nil in files that are older than the choice.
    package var log: LogSetting?
    package private(set) var rows: [Row] = []

    package init(origin: String, log: LogSetting? = nil) {
        self.origin = origin
        self.log = log
    }

    package mutating func add(_ figure: Double, of contestant: String, to row: RowIdentifier) {
        let index = rows.firstIndex { $0.id == row.rawValue } ?? rows.endIndex
        if index == rows.endIndex {
            rows.append(
                Row(id: row.rawValue, unit: row.unit, better: row.isHigherBetter ? "higher" : "lower", figures: [:])
            )
        }
        if rows[index].figures[contestant]?.add(figure) == nil {
            rows[index].figures[contestant] = Samples([figure])
        }
    }

    /// The table, where it was measured and how realms kept commits, as a page shows them.
    package var page: String { "\(markdown)\n\n\(origin)" + (log.map { " " + $0.sentence } ?? "") }

    /// The table as Markdown, with what is asked of us and how far the limit is.
    package var markdown: String {
        let names = (["actorrealm"] + Self.peers + Self.others + ["limit"])
            .filter { name in
                rows.contains { $0.figures[name] != nil }
            }
        var lines = [
            "| | workload | " + names.map { Self.titles[$0] ?? $0 }.joined(separator: " | ")
                + " | beside the best peer | target |",
            "|---|---|" + String(repeating: "---:|", count: names.count + 2),
        ]
        for row in rows {
            guard let identifier = row.identifier else { continue }
            let figures = names.map { row.figures[$0]?.shown ?? "" }
            let target = self.target(row)
                .map { target in
                    let sign = identifier.isHigherBetter ? "\u{2265}" : "\u{2264}"
                    let isMet = row.ours.map { identifier.isHigherBetter ? $0.median >= target : $0.median <= target }
                    return "\(sign) \(Samples.shown(target))\(isMet == false ? " (missed)" : "")"
                }
            lines.append(
                "| \(row.id) | \(identifier.title), \(row.unit) | "
                    + figures.joined(separator: " | ") + " | \(Self.advantage(row)) | \(target ?? "") |"
            )
        }
        return lines.joined(separator: "\n")
    }

    /// The hardest of a row's goals, in figures of this run.
    private func target(_ row: Row) -> Double? {
        let targets = (row.identifier?.goals ?? []).compactMap { figure(of: $0, in: row) }
        return row.isHigherBetter ? targets.max() : targets.min()
    }

    /// What a goal asks for, in figures of this run; nil where there is nobody to compare with.
    private func figure(of goal: Goal, in row: Row) -> Double? {
        func times(_ factor: Double, _ peer: Samples?) -> Double? {
            peer.map { row.isHigherBetter ? $0.median * factor : $0.median / factor }
        }
        return switch goal {
        case .figure(let figure): figure
        case .ofLimit(let share): row.limit.map { $0.median * share }
        case .timesBest(let factor): times(factor, row.bestPeer)
        case .timesPeer(let name, let factor): times(factor, row.figures[name])
        case .timesOwn(let other, let factor): ours(in: other).map { $0.median * factor }
        }
    }

    private func ours(in identifier: RowIdentifier) -> Samples? {
        rows.first { $0.id == identifier.rawValue }?.ours
    }

    /// The goals that are missed by more than the rounds are apart.
    package var missedGoals: [MissedGoal] {
        rows.flatMap { row -> [MissedGoal] in
            guard let identifier = row.identifier, let ours = row.ours else { return [] }
            return identifier.goals.compactMap { goal in
                guard let target = self.figure(of: goal, in: row) else { return nil }
                let isMet = row.isHigherBetter ? ours.median >= target : ours.median <= target
                // Both sides of a ratio scatter; a figure that is asked for does not.
                if isMet || abs(ours.median - target) <= ours.spread / 2 { return nil }
                return MissedGoal(row: identifier, ours: ours, target: target, goal: goal)
            }
        }
    }

    /// How many times as good our figure is as the best one of a peer, or that the rounds do not tell.
    private static func advantage(_ row: Row) -> String {
        guard let ours = row.ours, let best = row.bestPeer else { return "" }
        if ours.isLevel(with: best) { return "level" }
        guard best.median > 0, ours.median > 0 else { return "" }
        return String(
            format: "%.1fx",
            row.isHigherBetter ? ours.median / best.median : best.median / ours.median
        )
    }

    /// What is wrong with the limits: one that we beat is none.
    ///
    /// Fewer than three rounds do not tell it from a device that was slow for a second.
    package var beatenLimits: [String] {
        rows.compactMap { row in
            guard let ours = row.ours, let limit = row.limit, row.identifier?.isLimited == true,
                min(ours.figures.count, limit.figures.count) >= 3,
                row.isHigherBetter ? ours.median > limit.median : ours.median < limit.median,
                !ours.isLevel(with: limit)
            else { return nil }
            return "\(row.id): \(Samples.shown(ours.median)) \(row.unit) is better than the limit of "
                + "\(Samples.shown(limit.median)), which is therefore none."
        }
    }
}
