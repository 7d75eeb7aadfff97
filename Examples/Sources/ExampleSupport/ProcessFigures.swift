import Foundation

/// What the operating system knows of this process and its files.
package enum ProcessFigures {
    /// The most memory that this program had resident so far, in bytes.
    ///
    /// Not `getrusage`, whose figure also covers what ran in this process before `exec`, such as `swift run`.
    package static var peakResidentByteCount: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
        return (kibibytes ?? 0) * 1024
    }

    /// The length of a file in bytes, 0 when there is none.
    package static func byteCount(of file: URL) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
        return (attributes?[.size] as? NSNumber)?.intValue ?? 0
    }
}
