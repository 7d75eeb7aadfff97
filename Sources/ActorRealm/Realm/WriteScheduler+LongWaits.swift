import Logging
import RealmStorage
import Synchronization

/// Saying who waits for whom.
extension WriteScheduler {
    /// Writers that have waited long, and for whom.
    struct LongWait: Sendable, Equatable {
        /// How many wait.
        let count: Int
        /// For how long the first of them does.
        let nanoseconds: UInt64
        /// Where in the program it asked; nil for the library's own writes.
        let place: String?
        /// Who has the lock, in words.
        let holder: String
    }

    /// A writer begins to wait.
    func watch(since now: UInt64) {
        // What tests observe waits in its own time.
        guard let pause = state.withLock({ $0.watch.waitBegan(at: now) }) else { return }
        lookAtWaits(after: pause)
    }

    func lookAtWaits(after pause: UInt64) {
        let scheduler = WeakReference(self)
        // Where it is not called, the next writer that waits asks again.
        _ = clock.wake(pause) { scheduler.object?.lookAtWaits() }
    }

    private func lookAtWaits() {
        let now = now
        let (answer, first, count, holder) = state.withLock { state in
            let waiting = state.queue.waiting
            return (
                state.watch.look(at: now, waits: waiting.map(\.since)), waiting.min { $0.since < $1.since },
                waiting.count, state.queue.holder
            )
        }
        if answer.isDue, let first {
            report(
                LongWait(
                    count: count,
                    nanoseconds: now &- first.since,
                    place: first.origin.map { "\($0)" },
                    holder: describe(holder)
                )
            )
        }
        if let pause = answer.pause { lookAtWaits(after: pause) }
    }
}

extension RealmCoordinator {
    /// Says in the log who waits for whom.
    func warn(of wait: WriteScheduler.LongWait) {
        let seconds = Double(wait.nanoseconds) / 1e9
        let who = wait.count == 1 ? "A writer waits" : "\(wait.count) writers wait"
        let first = wait.count == 1 ? "since" : "the first since"
        logger.warning(
            "\(who) for the write lock, \(first) \(Self.rounded(seconds)) s ago at \(wait.place ?? "a place of the library's own"): \(wait.holder).",
            metadata: [
                "realm.path": "\(path)", "realm.waitingWriters": "\(wait.count)",
                "realm.waitedSeconds": "\(Self.rounded(seconds))",
            ]
        )
    }

    private static func rounded(_ seconds: Double) -> Double { (seconds * 10).rounded() / 10 }
}
