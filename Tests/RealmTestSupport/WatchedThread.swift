import Foundation

/// A thread of which others see whether it sleeps: an event, where a test would else wait for a time that is long enough.
public struct WatchedThread: Sendable {
    private let path: String

    /// The thread that calls.
    public init() throws {
        let name = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
        path = "/proc/\(name)/stat"
    }

    /// Whether it waits for a lock, a semaphore or the like; false as well when it has ended.
    public var isAsleep: Bool {
        // The state is behind the thread's name, which stands in parentheses and may hold some itself.
        guard let text = try? String(contentsOfFile: path, encoding: .utf8), let name = text.lastIndex(of: ")") else {
            return false
        }
        return text[name...].dropFirst(2).first == "S"
    }
}
