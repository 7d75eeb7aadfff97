import Foundation

/// Counts the bytes that this process hands to the system to write.
///
/// Not `write_bytes`, which counts a whole folio of the page cache for a page that is written to it.
struct WrittenBytes {
    private let before = Self.total

    var sinceStart: Double { Self.total - before }

    private static var total: Double {
        let lines = (try? String(contentsOfFile: "/proc/self/io", encoding: .utf8)) ?? ""
        let line = lines.split(separator: "\n").first { $0.hasPrefix("wchar:") }
        return line?.split(separator: " ").last.flatMap { Double($0) } ?? 0
    }
}
