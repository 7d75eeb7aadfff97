import CRealmShims
import Synchronization

/// The flush of the commits that a transaction was built on, for a writer that ended without a commit of its own.
///
/// What such a writer saw, and acted on, is there only when that flush has succeeded.
final class BaseFlush: Sendable {
    private struct State {
        var result: WriteScheduler.CommitResult?
        var waiters: [WriteScheduler.Completion] = []
    }

    private let state = Mutex(State())

    init() {}

    /// A flush that has ended.
    init(_ result: WriteScheduler.CommitResult) {
        state.withLock { $0.result = result }
    }

    /// Notes how it ended; once.
    func end(_ result: WriteScheduler.CommitResult) {
        let waiters = state.withLock { state in
            state.result = result
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.receive(result) }
    }

    /// Tells somebody when it has ended.
    func tell(_ waiter: consuming WriteScheduler.Completion) {
        let waiter = waiter
        let known = state.withLock { state in
            if state.result == nil { state.waiters.append(waiter) }
            return state.result
        }
        if let known { waiter.receive(known) }
    }

    /// Whether it has ended, and nothing of it is there.
    var isLost: Bool {
        if case .failure = state.withLock({ $0.result }) { return true }
        return false
    }

    /// Ends as this one where that is lost, and as a later one otherwise.
    func followed(by later: BaseFlush?) -> BaseFlush {
        guard let later, later !== self, !isLost else { return self }
        let both = BaseFlush()
        tell(
            .callback { result in
                if case .failure = result { both.end(result) } else { later.tell(.callback { both.end($0) }) }
            }
        )
        return both
    }

    /// Blocks the thread until it has ended.
    func wait() -> WriteScheduler.CommitResult {
        let gate = ThreadGate<WriteScheduler.CommitResult>()
        tell(.thread(gate))
        return gate.wait()
    }

    /// As ``wait()``, and says so where the thread is one of Swift's pool.
    func waitOnPool() -> WriteScheduler.CommitResult {
        let isOnPool = crealm_is_on_pool()
        let pool = isOnPool ? BlockedPool.swift : nil
        pool?.enter()
        defer { pool?.leave() }
        return wait()
    }

    /// Suspends until it has ended.
    func value(isolation: isolated (any Actor)? = #isolation) async -> WriteScheduler.CommitResult {
        await withUnsafeContinuation { tell(.task($0)) }
    }
}
