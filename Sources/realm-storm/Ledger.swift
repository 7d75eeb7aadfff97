import Synchronization

/// What one process knows of its writes: those that were acknowledged, and the order in which they came and were made.
final class Ledger: Sendable {
    /// How far a write may be behind its place: tasks that come at one moment on several threads come in no order.
    static let tolerance = 64

    private struct State {
        var nextStamp = 0
        var waiting: Set<Int> = []
        var newestBegun = -1
        var worstOvertaking = 0
        var written = 0
        var sum = 0
        var latencies: [Duration] = []
    }

    private let state = Mutex(State())

    /// The place of a write that is about to be queued.
    func stamp() -> Int {
        state.withLock { state in
            defer { state.nextStamp += 1 }
            state.waiting.insert(state.nextStamp)
            return state.nextStamp
        }
    }

    /// A write's block runs.
    func began(_ stamp: Int) {
        state.withLock { state in
            state.waiting.remove(stamp)
            state.worstOvertaking = max(state.worstOvertaking, state.newestBegun - stamp)
            state.newestBegun = max(state.newestBegun, stamp)
        }
    }

    /// A write ended, well or not.
    func forget(_ stamp: Int) { state.withLock { _ = $0.waiting.remove(stamp) } }

    /// A write was acknowledged.
    func wrote(_ id: Int, after latency: Duration) {
        state.withLock { state in
            state.written += 1
            state.sum &+= id
            state.latencies.append(latency)
        }
    }

    /// What came out, in numbers: written, their sum, the farthest that a write came behind its place, the median and the
    /// 99th percentile of the latencies in microseconds.
    var report: [Int] {
        state.withLock { state in
            let sorted = state.latencies.sorted()
            func percentile(_ share: Double) -> Int {
                sorted.isEmpty ? 0 : Int(sorted[Int(Double(sorted.count - 1) * share)] / .microseconds(1))
            }
            return [state.written, state.sum, state.worstOvertaking, percentile(0.5), percentile(0.99)]
        }
    }
}
