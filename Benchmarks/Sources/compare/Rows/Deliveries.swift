import Foundation
import Synchronization

/// Counts what an observer gets, and lets one task wait for it without a hop to where the observer is.
final class Deliveries: Sendable {
    private struct State {
        var count = 0
        var last = ContinuousClock.now
        var waiter: (count: Int, continuation: UnsafeContinuation<Void, Never>)?
    }

    private let state = Mutex(State())

    /// Notes a delivery.
    func note(_ instant: ContinuousClock.Instant = .now) {
        let waiter = state.withLock { state -> UnsafeContinuation<Void, Never>? in
            state.count += 1
            state.last = instant
            guard let waiter = state.waiter, state.count >= waiter.count else { return nil }
            state.waiter = nil
            return waiter.continuation
        }
        waiter?.resume()
    }

    var count: Int { state.withLock { $0.count } }

    /// Waits until there were so many; returns when the last one came.
    func wait(for count: Int) async -> ContinuousClock.Instant {
        await withUnsafeContinuation { continuation in
            let isThere = state.withLock { state in
                if state.count >= count { return true }
                state.waiter = (count, continuation)
                return false
            }
            if isThere { continuation.resume() }
        }
        return state.withLock { $0.last }
    }
}

/// The clock that the processes of a machine share.
func monotonicNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// The memory of this process that is in use, in bytes.
func residentByteCount() -> Double {
    guard let line = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
    let fields = line.split(separator: " ").compactMap { Double($0) }
    // Pages of the mapped file are the file's, not the observers'.
    return fields.count > 2 ? (fields[1] - fields[2]) * 4096 : 0
}

/// The most that this process has had in memory, in MiB.
func peakMebibytes() -> Double {
    let lines = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = lines.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return (line?.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0) / 1_024
}

extension [Double] {
    /// The value below which so much of all is.
    func percentile(_ share: Double) -> Double {
        let sorted = sorted()
        return sorted[Swift.min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }
}
