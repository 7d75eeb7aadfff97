import Foundation
import Synchronization

/// Standard output, written a whole line at a time from any task and flushed at once, so that a program that reads it
/// sees a line as soon as what it reports has happened.
package enum Console {
    private struct State {
        var hasStatus = false
    }

    private static let state = Mutex(State())
    private static let isTerminal = isatty(STDOUT_FILENO) == 1

    /// Prints a line.
    package static func line(_ text: String = "") {
        state.withLock { state in
            write((state.hasStatus ? "\r\u{1B}[2K" : "") + text + "\n")
            state.hasStatus = false
        }
    }

    /// Shows how far the work is: replaced in place on a terminal, a line of its own elsewhere.
    package static func status(_ text: String) {
        guard isTerminal else { return line(text) }
        state.withLock { state in
            write("\r\u{1B}[2K" + text)
            state.hasStatus = true
        }
    }

    /// Prints a line to standard error.
    package static func error(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
    }

    private static func write(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }
}
