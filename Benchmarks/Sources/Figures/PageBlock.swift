import Foundation

/// The block of a page that only a program writes.
package enum PageBlock {
    /// The lines around a block; a page with several has names for them.
    private static func marks(_ name: String?) -> (begin: String, end: String) {
        let title = name.map { "figures of \($0)" } ?? "figures"
        return ("<!-- \(title): begin -->", "<!-- \(title): end -->")
    }

    /// There is no block to fill.
    package struct Missing: Error, CustomStringConvertible {
        package var description: String
    }

    /// Writes lines into the block of a page.
    package static func fill(_ path: String, _ name: String? = nil, with lines: String) throws {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        guard let filled = Self.filled(text, name, with: lines) else {
            let (begin, end) = marks(name)
            throw Missing(description: "\(path) has no lines \(begin) and \(end).")
        }
        try filled.write(toFile: path, atomically: true, encoding: .utf8)
    }

    /// The text of a page with lines in its block; nil where there is no block.
    package static func filled(_ text: String, _ name: String? = nil, with lines: String) -> String? {
        let (begin, end) = marks(name)
        guard let first = text.range(of: begin), let last = text.range(of: end), first.upperBound <= last.lowerBound
        else { return nil }
        return String(text[..<first.upperBound] + "\n\(lines)\n" + text[last.lowerBound...])
    }
}

/// Where figures were measured.
package enum Machine {
    package static var description: String {
        let processor = lines(of: "/proc/cpuinfo").first { $0.hasPrefix("model name") }
        let model = processor?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces) ?? "unknown processor"
        let kernel = lines(of: "/proc/sys/kernel/osrelease").first ?? "unknown"
        return "\(ProcessInfo.processInfo.activeProcessorCount) cores of \(model), Linux \(kernel)"
    }

    private static func lines(of path: String) -> [String] {
        ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
    }
}
