import Foundation
import Glibc

/// A line to another process and back: two named pipes.
final class ReleaseLine: @unchecked Sendable {
    // Each side asks, or answers, one thing at a time.
    private let input: UnsafeMutablePointer<FILE>
    private let output: UnsafeMutablePointer<FILE>

    static func make(at path: String) {
        mkfifo(path + ".to", 0o600)
        mkfifo(path + ".from", 0o600)
    }

    /// Waits for the other side.
    init?(at path: String, asChild isChild: Bool) {
        let names = isChild ? (".to", ".from") : (".from", ".to")
        // In the same order on both sides, since each waits for the other.
        let first = fopen(path + ".to", isChild ? "re" : "we")
        let second = fopen(path + ".from", isChild ? "we" : "re")
        guard let first, let second else { return nil }
        (input, output) = names.0 == ".to" ? (first, second) : (second, first)
    }

    deinit {
        fclose(input)
        fclose(output)
    }

    func send(_ line: String) {
        trace("sends \(line.prefix(200))")
        fputs(line + "\n", output)
        fflush(output)
    }

    /// The next line; nil when the other side is gone.
    func receive() -> String? {
        var buffer: UnsafeMutablePointer<CChar>?
        var size = 0
        defer { free(buffer) }
        let count = getline(&buffer, &size, input)
        guard count > 0, let buffer else { return nil }
        trace("receives")
        return String(cString: buffer).trimmingCharacters(in: .newlines)
    }

    /// Asks without blocking a thread of the pool.
    func ask(_ line: String) async -> String? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                self.send(line)
                continuation.resume(returning: self.receive())
            }
        }
    }

    /// Waits for a line without blocking a thread of the pool.
    func answer() async -> String? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.receive()) }
        }
    }

    private func trace(_ text: String) {
        guard getenv("REALM_RELEASES_TRACE") != nil else { return }
        let line = "\(getpid()) \(text)\n"
        _ = line.withCString { write(2, $0, strlen($0)) }
    }
}
