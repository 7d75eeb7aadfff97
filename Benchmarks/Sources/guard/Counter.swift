import CCounters
import Foundation

/// Counts the instructions of the calling thread: by the processor, or by callgrind, which needs no privileges.
final class Counter {
    private let descriptor: Int32?
    /// Instructions for each operation, by name.
    private(set) var figures: [String: Double] = [:]

    /// Counts under callgrind when the process runs under it; nil where nothing can count.
    init?() {
        if counters_valgrind() {
            descriptor = nil
        } else {
            let opened = counters_open()
            guard opened >= 0 else { return nil }
            descriptor = opened
        }
    }

    func count(_ name: String, operations: Int, _ body: () throws -> Void) rethrows {
        guard let descriptor else {
            counters_callgrind_begin()
            try body()
            counters_callgrind_end("\(name)/\(operations)")
            return
        }
        let before = counters_read(descriptor)
        try body()
        figures[name] = Double(counters_read(descriptor) - before) / Double(operations)
    }

    /// The figures that another run of this program under callgrind left in a folder.
    static func callgrindFigures(in folder: String) throws -> [String: Double] {
        var figures: [String: Double] = [:]
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) where file.hasPrefix("callgrind.") {
            var name: Substring?
            var operations = 1.0
            var total: Double?
            for line in try String(contentsOfFile: folder + "/" + file, encoding: .utf8).split(separator: "\n") {
                if let range = line.range(of: "Client Request: ") {
                    let parts = line[range.upperBound...].split(separator: "/")
                    name = parts.first
                    operations = parts.last.flatMap { Double($0) } ?? 1
                } else if line.hasPrefix("totals: ") {
                    total = Double(line.dropFirst("totals: ".count))
                }
            }
            if let name, let total { figures[String(name)] = total / operations }
        }
        return figures
    }
}
