import Foundation

/// The instructions of the hot paths that are kept beside the sources, and how many more are tolerated.
package struct Thresholds: Codable, Equatable {
    /// The share that a figure may lie above its threshold.
    package var tolerance: Double
    /// The instructions of one operation, by name.
    package var instructions: [String: Double]

    package init(tolerance: Double, instructions: [String: Double]) {
        self.tolerance = tolerance
        self.instructions = instructions
    }

    /// A line for each operation, and what must not be: too many instructions, a threshold without a figure, and a figure
    /// without a threshold, which nobody would ever look at.
    package func compare(_ figures: [String: Double]) -> (lines: [String], failures: [String]) {
        var lines: [String] = []
        var tooMany: [String] = []
        for (name, figure) in figures.sorted(by: { $0.key < $1.key }) {
            let padded = name.padding(toLength: max(18, name.count + 1), withPad: " ", startingAt: 0)
            var line = padded + String(format: "%12.0f instructions", figure)
            if let threshold = instructions[name] {
                line += String(format: ", %+.1f %%", (figure / threshold - 1) * 100)
                if figure > threshold * (1 + tolerance) {
                    line += "  TOO MANY"
                    tooMany.append(name)
                } else if figure < threshold * (1 - 2 * tolerance) {
                    line += "  lower the threshold (--update)"
                }
            }
            lines.append(line)
        }
        let failures = [
            ("More instructions than before", tooMany),
            ("Not measured", instructions.keys.filter { figures[$0] == nil }),
            ("Without a threshold (--update)", figures.keys.filter { instructions[$0] == nil }),
        ]
        .filter { !$0.1.isEmpty }
        .map { "\($0.0): \($0.1.sorted().joined(separator: ", "))." }
        return (lines, failures)
    }

    /// Takes over what got lower, what is new, and what is raised by name; returns a line for what that leaves or drops.
    ///
    /// Thresholds go down by themselves, and up by name only: an update for one operation would else let others creep up.
    package mutating func update(with figures: [String: Double], raising raised: Set<String>) -> [String] {
        let old = instructions
        instructions = figures.reduce(into: [:]) { result, entry in
            let measured = entry.value.rounded()
            result[entry.key] = raised.contains(entry.key) ? measured : min(old[entry.key] ?? .infinity, measured)
        }
        let left = instructions.filter { $0.value < (figures[$0.key] ?? 0).rounded() }
            .map { "\($0.key): \(figures[$0.key] ?? 0) is above \($0.value), which stays (--raise \($0.key))." }
        let dropped = old.keys.filter { figures[$0] == nil }.map { "\($0) is no longer measured, and is dropped." }
        return left.sorted() + dropped.sorted()
    }
}
