import CRealmShims
import RealmStorage
import Synchronization

/// The flush of the commits that a transaction was built on, for a writer that ended without a commit of its own.
///
/// What such a writer saw, and acted on, is there only when that flush has succeeded.
final class BaseFlush: Sendable {
    private typealias Result = WriteScheduler.CommitResult

    /// One that ends as another where that is lost, and as a later one otherwise; nil where the other is the later one already.
    private struct Follower {
        let flush: BaseFlush
        let later: BaseFlush?

        /// Waits for a flush.
        ///
        /// - Returns: What ends by that, where it has ended already.
        func follow(_ other: BaseFlush) -> (flush: BaseFlush, result: Result)? {
            let known = other.state.withLock { state in
                if state.result == nil { state.followers.append(self) }
                return state.result
            }
            return known.flatMap(reached)
        }

        /// Goes on where the flush that it follows has ended.
        ///
        /// - Returns: What ends by that, unless it waits for the later one.
        func reached(by result: Result) -> (flush: BaseFlush, result: Result)? {
            if case .success = result, let later { return Follower(flush: flush, later: nil).follow(later) }
            return (flush, result)
        }
    }

    private struct State {
        var result: Result?
        var waiters: [WriteScheduler.Completion] = []
        var followers: [Follower] = []
    }

    private let state = Mutex(State())
    /// The one that it ends as, unless one before that is lost.
    private let last: BaseFlush?

    init() { last = nil }

    private init(endingAs last: BaseFlush) { self.last = last }

    /// A flush that has ended.
    init(_ result: WriteScheduler.CommitResult) {
        last = nil
        state.withLock { $0.result = result }
    }

    /// Notes how it ended; once.
    func end(_ result: WriteScheduler.CommitResult) { Self.end([(self, result)]) }

    /// Ends flushes, and those that follow them: one behind the other, since a block may have seen and begun any number of them.
    private static func end(_ first: [(flush: BaseFlush, result: Result)]) {
        var ending = first
        while let (flush, result) = ending.popLast() {
            let (waiters, followers) = flush.state.withLock { state in
                state.result = result
                defer { (state.waiters, state.followers) = ([], []) }
                return (state.waiters, state.followers)
            }
            for waiter in waiters { waiter.receive(result) }
            for follower in followers {
                if let ended = follower.reached(by: result) { ending.append(ended) }
            }
        }
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

    /// How it ended; nil where it has not.
    var result: WriteScheduler.CommitResult? { state.withLock { $0.result } }

    /// The version that it has made durable, which it holds; nil where it has not ended, is lost, or holds none.
    var version: UInt64? {
        if case .success(let durable) = state.withLock({ $0.result }) { return durable?.version }
        return nil
    }

    /// Whether it has ended, and nothing of it is there.
    var isLost: Bool {
        if case .failure = state.withLock({ $0.result }) { return true }
        return false
    }

    /// Ends as this one where that is lost, and as a later one otherwise.
    func followed(by later: BaseFlush?) -> BaseFlush {
        guard let later, later !== self, later !== last, !isLost else { return self }
        let both = BaseFlush(endingAs: later)
        if let ended = Follower(flush: both, later: later).follow(self) { Self.end([ended]) }
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
