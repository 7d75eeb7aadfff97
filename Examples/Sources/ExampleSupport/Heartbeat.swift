import Foundation
import Synchronization

/// Measures how long the main actor keeps others waiting.
///
/// A thread of its own asks the main actor for a moment of its time, waits for the answer, and asks again a millisecond
/// later. What it waited is what a user's tap or a request's answer would have waited.
package final class Heartbeat: Sendable {
    /// What was measured.
    package struct Report: Sendable {
        /// How many times the main actor answered.
        package var beats = 0
        /// The longest that it took to answer.
        package var longest = Duration.zero
        /// All waits together.
        package var total = Duration.zero

        fileprivate init() {}

        /// A sentence with the figures.
        package var summary: String {
            let mean = beats == 0 ? Duration.zero : total / beats
            return "the main actor answered \(Figures.grouped(beats)) times, after \(Figures.milliseconds(mean)) "
                + "on average and \(Figures.milliseconds(longest)) at most"
        }
    }

    private struct State {
        var report = Report()
        var isStopped = false
    }

    private let state = Mutex(State())

    /// Begins to measure.
    package init(interval: Duration = .milliseconds(1)) {
        let pause = UInt32(interval / .microseconds(1))
        let thread = Thread { [self] in
            let answered = DispatchSemaphore(value: 0)
            while !state.withLock({ $0.isStopped }) {
                let asked = ContinuousClock.now
                Task { @MainActor in answered.signal() }
                answered.wait()
                record(ContinuousClock.now - asked)
                usleep(pause)
            }
        }
        thread.name = "heartbeat"
        thread.start()
    }

    /// Ends the measuring.
    package func stop() -> Report {
        state.withLock { state in
            state.isStopped = true
            return state.report
        }
    }

    private func record(_ wait: Duration) {
        state.withLock { state in
            guard !state.isStopped else { return }
            state.report.beats += 1
            state.report.total += wait
            state.report.longest = max(state.report.longest, wait)
        }
    }
}
