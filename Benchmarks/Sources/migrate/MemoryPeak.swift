import Foundation
import Synchronization

/// Watches how much memory of its own the process has at most: pages of the mapped file are not meant, the system can take
/// them back at any time.
final class MemoryPeak: Sendable {
    private struct State {
        var peak = 0.0
        var isDone = false
    }

    private let state = Mutex(State())
    private let base: Double

    init() {
        base = Self.anonymous
        let thread = Thread { [self] in
            while !state.withLock({ $0.isDone }) {
                let now = Self.anonymous
                state.withLock { $0.peak = max($0.peak, now) }
                usleep(2_000)
            }
        }
        thread.start()
    }

    /// The most, in MiB above what there was at the start.
    func end() -> Double {
        state.withLock { state in
            state.isDone = true
            return max(state.peak, Self.anonymous) - base
        }
    }

    private static var anonymous: Double {
        let lines = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = lines.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        return (line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Double($0) } ?? 0)
            / 1_024
    }
}
