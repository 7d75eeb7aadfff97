import Foundation

/// What one operation of a hot path costs.
struct Figure {
    var instructions: Double
    /// Known only when callgrind counted.
    var calls: Calls?

    /// Reads what callgrind wrote about a hot path, whose name and number of operations it was told; nil for its other
    /// files.
    ///
    /// Names must stand there in full.
    static func read(callgrind text: String) -> (name: String, figure: Figure)? {
        var name: Substring?
        var operations = 1.0
        var total: Double?
        var calls = Calls()
        var caller: Substring = ""
        var callee: Substring = ""
        for line in text.split(separator: "\n") {
            if line.hasPrefix("cfn=") {
                callee = line.dropFirst("cfn=".count)
            } else if line.hasPrefix("fn=") {
                caller = line.dropFirst("fn=".count)
            } else if line.hasPrefix("calls=") {
                let count = line.dropFirst("calls=".count).prefix { $0 != " " }
                calls.add(Double(count) ?? 0, of: callee, by: caller)
            } else if line.hasPrefix("totals: ") {
                total = Double(line.dropFirst("totals: ".count))
            } else if let range = line.range(of: "Client Request: ") {
                let parts = line[range.upperBound...].split(separator: "/")
                name = parts.first
                operations = parts.last.flatMap { Double($0) } ?? 1
            }
        }
        guard let name, let total else { return nil }
        return (String(name), Figure(instructions: total / operations, calls: calls.divided(by: operations)))
    }
}
