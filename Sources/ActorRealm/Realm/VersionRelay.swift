import RealmStorage
import Synchronization

/// Carries versions from whoever publishes or notices them to the coordinator, each once and in order.
final class VersionRelay: Sendable {
    private struct State {
        var coordinator: WeakReference<RealmCoordinator>?
        var newest: UInt64 = 0
    }

    private let state = Mutex(State())
    private let announcing = Mutex(())

    func attach(_ coordinator: RealmCoordinator) {
        state.withLock { $0.coordinator = WeakReference(coordinator) }
    }

    /// Passes on that writers have waited long.
    func warn(of wait: WriteScheduler.LongWait) {
        state.withLock { $0.coordinator?.object }?.warn(of: wait)
    }

    func announce(_ version: UInt64) {
        let coordinator = announcing.withLock { _ in
            let coordinator = state.withLock { state -> RealmCoordinator? in
                guard version > state.newest else { return nil }
                state.newest = version
                return state.coordinator?.object
            }
            coordinator?.versionPublished(version)
            return coordinator
        }
        // Let go of behind the lock: the end of the last reference waits for a step that may announce a version itself. What is gone may
        // end with this, too.
        coordinator?.forgetGone()
        withExtendedLifetime(coordinator) {}
    }
}
