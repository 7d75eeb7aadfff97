import Synchronization

/// What one process knows of its writes: those that were acknowledged, and the order in which they came and were made.
final class Ledger: Sendable {
    /// How much later a write may have been called that is made before another one: a thread may be set aside between the call
    /// and the place in the queue.
    static let tolerance = Duration.milliseconds(500)

    /// The place of a call.
    struct Stamp: Sendable {
        fileprivate var number: Int
        fileprivate var time: ContinuousClock.Instant
    }

    /// Whether an actor is inside of a blocking write, or when it was for the last time.
    private struct Blocking {
        var isBlocked = false
        var last = -1
    }

    private struct State {
        var nextStamp = 0
        var newestBegun: Stamp?
        var blocking: [Int: Blocking] = [:]
        var judged = 0
        var worstOvertaking = 0
        var longestOvertaking = Duration.zero
        var written = 0
        var sum = 0
        var latencies: [Duration] = []
    }

    private let state = Mutex(State())

    /// The place of a write that is about to be queued.
    func stamp() -> Stamp {
        state.withLock { state in
            defer { state.nextStamp += 1 }
            return Stamp(number: state.nextStamp, time: .now)
        }
    }

    /// An actor is about to block its thread until its write is made.
    func block(_ actor: Int) { state.withLock { $0.blocking[actor, default: Blocking()].isBlocked = true } }

    /// An actor's blocking write is over.
    func unblock(_ actor: Int) {
        state.withLock { $0.blocking[actor] = Blocking(isBlocked: false, last: $0.nextStamp) }
    }

    /// A write's block runs.
    ///
    /// Writes that waited while their own actor was blocked by another write could not be made in their turn; all others
    /// must have been.
    func began(_ stamp: Stamp, of actor: Int, isBlocking: Bool) {
        state.withLock { state in
            let blocking = state.blocking[actor] ?? Blocking()
            if isBlocking || !blocking.isBlocked && blocking.last < stamp.number {
                state.judged += 1
                if let newest = state.newestBegun {
                    state.worstOvertaking = max(state.worstOvertaking, newest.number - stamp.number)
                    state.longestOvertaking = max(state.longestOvertaking, newest.time - stamp.time)
                }
            }
            if state.newestBegun.map({ $0.number < stamp.number }) ?? true { state.newestBegun = stamp }
        }
    }

    /// A write was acknowledged.
    func wrote(_ id: Int, after latency: Duration) {
        state.withLock { state in
            state.written += 1
            state.sum &+= id
            state.latencies.append(latency)
        }
    }

    /// What came out.
    var report: Report {
        state.withLock { state in
            let sorted = state.latencies.sorted()
            func percentile(_ share: Double) -> Int {
                sorted.isEmpty ? 0 : Int(sorted[Int(Double(sorted.count - 1) * share)] / .microseconds(1))
            }
            return Report(
                written: state.written,
                sum: state.sum,
                judged: state.judged,
                worstOvertaking: state.worstOvertaking,
                longestOvertaking: state.longestOvertaking,
                median: percentile(0.5),
                percentile99: percentile(0.99)
            )
        }
    }

    /// What a process's writes came to.
    struct Report {
        /// The number of acknowledged writes.
        var written: Int
        /// The sum of their keys, over what fits in a word.
        var sum: Int
        /// The number of writes whose place was looked at.
        var judged: Int
        /// The farthest that one of them came behind its place.
        var worstOvertaking: Int
        /// How much later than one of them another one was called that was made before it, at most.
        var longestOvertaking: Duration
        /// The median of the times from call to acknowledgement, in microseconds.
        var median: Int
        /// The time that 99 of 100 writes took at most, in microseconds.
        var percentile99: Int
    }
}
