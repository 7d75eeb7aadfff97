import DequeModule
import Synchronization

/// Work on its way to one isolation, in order, with at most one delivery under way.
final class RealmMailbox: Sendable {
    private struct State {
        var work: Deque<@Sendable () -> Void> = []
        var isDeliveryUnderWay = false
    }

    private let state = Mutex(State())

    /// Adds work; true when the caller has to start a delivery.
    func append(_ work: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            state.work.append(work)
            if state.isDeliveryUnderWay { return false }
            state.isDeliveryUnderWay = true
            return true
        }
    }

    /// Runs what has been added, in the isolation that the work is meant for.
    func drain() {
        while let work = next() { work() }
    }

    /// Forgets everything: the isolation is gone.
    func discard() {
        let work = state.withLock { state in
            state.isDeliveryUnderWay = false
            let work = state.work
            state.work = []
            return work
        }
        _ = work
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            if let work = state.work.popFirst() { return work }
            state.isDeliveryUnderWay = false
            return nil
        }
    }
}
