import ActorRealm
import Dispatch
import Synchronization

/// A scheduler that loses work while it is told to, or does something when it is asked whether it accepts some.
final class LossyLoop: RealmScheduler {
    private struct State {
        var loses = false
        var lostCount = 0
        var question: (@Sendable () -> Void)?
    }

    private let queue = DispatchQueue(label: "lossy loop")
    private let mark = DispatchSpecificKey<Bool>()
    private let state = Mutex(State())

    init() { queue.setSpecific(key: mark, value: true) }

    func invoke(_ work: @escaping @Sendable () -> Void) {
        let isLost = state.withLock { state in
            if state.loses { state.lostCount += 1 }
            return state.loses
        }
        if !isLost { queue.async(execute: work) }
    }

    var isOnThread: Bool { DispatchQueue.getSpecific(key: mark) == true }

    var canInvoke: Bool {
        let question = state.withLock { state in
            defer { state.question = nil }
            return state.question
        }
        question?()
        return true
    }

    /// Does something when the loop is asked next whether it accepts work.
    func whenAskedNext(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.question = body } }

    /// Loses what comes from now on, or does so no more.
    func lose(_ loses: Bool) { state.withLock { $0.loses = loses } }

    /// How much was lost.
    var lostCount: Int { state.withLock { $0.lostCount } }

    /// Runs work on the loop, behind all that was handed to it, and waits for its result.
    func run<Result>(_ work: () throws -> Result) rethrows -> Result { try queue.sync(execute: work) }
}
