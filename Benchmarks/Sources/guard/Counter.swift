import CCounters
import Foundation

/// Counts the instructions of the calling thread: by the processor, or by callgrind, which needs no privileges.
final class Counter {
    private let descriptor: Int32?
    /// What the hot paths cost, by name.
    private(set) var figures: [String: Figure] = [:]

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
        figures[name] = Figure(instructions: Double(counters_read(descriptor) - before) / Double(operations))
    }

    /// Counts an operation that needs something done before each time, which is not counted.
    func count(
        _ name: String,
        operations: Int,
        before prepare: (Int) throws -> Void,
        _ body: (Int) throws -> Void
    ) rethrows {
        guard let descriptor else {
            counters_callgrind_begin()
            counters_callgrind_pause()
            for number in 0..<operations {
                try prepare(number)
                counters_callgrind_resume()
                try body(number)
                counters_callgrind_pause()
            }
            return counters_callgrind_end("\(name)/\(operations)")
        }
        var instructions: UInt64 = 0
        for number in 0..<operations {
            try prepare(number)
            let before = counters_read(descriptor)
            try body(number)
            instructions += counters_read(descriptor) - before
        }
        figures[name] = Figure(instructions: Double(instructions) / Double(operations))
    }

    /// The figures that another run of this program under callgrind left in a folder.
    static func callgrindFigures(in folder: String) throws -> [String: Figure] {
        var figures: [String: Figure] = [:]
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) where file.hasPrefix("callgrind.") {
            let text = try String(contentsOfFile: folder + "/" + file, encoding: .utf8)
            if let (name, figure) = Figure.read(callgrind: text) { figures[name] = figure }
        }
        return figures
    }
}
