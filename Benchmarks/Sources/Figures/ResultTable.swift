import Foundation

/// The medians of a run.
package struct ResultTable: Codable {
    /// A row in the exchange format.
    package struct Row: Codable {
        package var id: String
        package var unit: String
        package var better: String
        package var figures: [String: Double]

        private struct Key: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        init(id: String, unit: String, better: String, figures: [String: Double]) {
            self.id = id
            self.unit = unit
            self.better = better
            self.figures = figures
        }

        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            id = try container.decode(String.self, forKey: Key(stringValue: "id"))
            unit = try container.decode(String.self, forKey: Key(stringValue: "unit"))
            better = try container.decode(String.self, forKey: Key(stringValue: "better"))
            figures = [:]
            for key in container.allKeys where !["id", "unit", "better"].contains(key.stringValue) {
                figures[key.stringValue] = try container.decode(Double.self, forKey: key)
            }
        }

        package func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(id, forKey: Key(stringValue: "id"))
            try container.encode(unit, forKey: Key(stringValue: "unit"))
            try container.encode(better, forKey: Key(stringValue: "better"))
            for (name, figure) in figures {
                try container.encode(figure, forKey: Key(stringValue: name))
            }
        }
    }

    private var samples: [RowIdentifier: [String: [Double]]] = [:]
    package var rows: [Row] {
        RowIdentifier.allCases.compactMap { identifier in
            guard let contestants = samples[identifier] else { return nil }
            return Row(
                id: identifier.rawValue,
                unit: identifier.unit,
                better: identifier.isHigherBetter ? "higher" : "lower",
                figures: contestants.mapValues(Self.median)
            )
        }
    }

    package init() {}

    package init(from decoder: any Decoder) throws {
        for row in try [Row](from: decoder) {
            guard let identifier = RowIdentifier(rawValue: row.id) else { continue }
            samples[identifier] = row.figures.mapValues { [$0] }
        }
    }

    package func encode(to encoder: any Encoder) throws {
        try rows.encode(to: encoder)
    }

    package mutating func add(_ figure: Double, of contestant: String, to row: RowIdentifier) {
        samples[row, default: [:]][contestant, default: []].append(figure)
    }

    /// The table as Markdown, with what is asked of us and how far the limit is.
    package var markdown: String {
        let names = ["actorrealm", "grdb", "sqlite", "lmdb", "limit"]
            .filter { name in
                rows.contains { $0.figures[name] != nil }
            }
        let titles = ["actorrealm": "ActorRealm", "grdb": "GRDB", "sqlite": "SQLite", "lmdb": "LMDB", "limit": "limit"]
        var lines = [
            "| | workload | " + names.map { titles[$0] ?? $0 }.joined(separator: " | ")
                + " | beside the best peer | target |",
            "|---|---|" + String(repeating: "---:|", count: names.count + 2),
        ]
        for row in rows {
            guard let identifier = RowIdentifier(rawValue: row.id) else { continue }
            let figures = names.map { row.figures[$0].map(Self.shown) ?? "" }
            let target = identifier.target(limit: row.figures["limit"])
                .map { target in
                    let sign = identifier.isHigherBetter ? "\u{2265}" : "\u{2264}"
                    let isMet = row.figures["actorrealm"]
                        .map { identifier.isHigherBetter ? $0 >= target : $0 <= target }
                    return "\(sign) \(Self.shown(target))\(isMet == false ? " (missed)" : "")"
                }
            lines.append(
                "| \(row.id) | \(identifier.title), \(row.unit) | "
                    + figures.joined(separator: " | ") + " | \(Self.advantage(row)) | \(target ?? "") |"
            )
        }
        return lines.joined(separator: "\n")
    }

    /// How many times as good our figure is as the best one of a peer.
    private static func advantage(_ row: Row) -> String {
        let peers = ["grdb", "sqlite", "lmdb"].compactMap { row.figures[$0] }
        let isHigher = row.better == "higher"
        guard let ours = row.figures["actorrealm"], let best = isHigher ? peers.max() : peers.min(), best > 0, ours > 0
        else { return "" }
        return String(format: "%.1fx", isHigher ? ours / best : best / ours)
    }

    package static func median(_ samples: [Double]) -> Double {
        let sorted = samples.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    package static func shown(_ figure: Double) -> String {
        if figure >= 100 {
            var digits = String(Int(figure.rounded()))
            var end = digits.index(digits.endIndex, offsetBy: -3)
            while end > digits.startIndex {
                digits.insert(",", at: end)
                end = digits.index(end, offsetBy: -3, limitedBy: digits.startIndex) ?? digits.startIndex
            }
            return digits
        }
        return String(format: figure >= 10 ? "%.1f" : "%.2f", figure)
    }
}
