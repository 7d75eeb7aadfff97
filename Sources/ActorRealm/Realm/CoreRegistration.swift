import Logging
import RealmStorage
import Synchronization

/// A core as its coordinator knows it.
///
/// Unchecked because the core is used only in the core's isolation.
final class CoreRegistration: @unchecked Sendable {
    let isolation: RealmIsolation
    let logger: Logger?
    private let reference: WeakReference<RealmCore>
    private let identifier: ObjectIdentifier
    private let isRefreshPosted = Atomic(false)

    init(_ core: RealmCore) {
        reference = WeakReference(core)
        isolation = core.isolation
        logger = core.configuration.logger
        identifier = ObjectIdentifier(core)
    }

    private var core: RealmCore? { reference.object }

    /// The core, or that with which its realm goes on after it was invalidated; for callers in its isolation.
    var openCore: RealmCore? {
        guard let core else { return nil }
        if core.lifecycle == .open { return core }
        guard core.lifecycle == .invalidated, let next = core.existingRealm?.core, next.lifecycle == .open else {
            return nil
        }
        return next
    }

    /// Whether the core exists.
    var isAlive: Bool { core != nil && isolation.isAlive }

    func isOf(_ other: RealmCore) -> Bool { identifier == ObjectIdentifier(other) }

    /// Ends what observes with a core whose isolation is gone: else it and its version live as long as a token does.
    func endOrphan() {
        guard let core else { return }
        core.coordinator.noteGone()
        core.signals.end()
    }

    /// Has the core follow the newest version, in its isolation; any number of calls before it does are one.
    ///
    /// An isolation that is gone follows nothing any more: its observers end, and the core with its version goes with the last of
    /// them, wherever their tokens are.
    func postRefresh() {
        guard isolation.canPost else { return }
        guard isolation.isAlive else { return endOrphan() }
        guard !isRefreshPosted.exchange(true, ordering: .acquiringAndReleasing) else { return }
        isolation.post(
            { [weak self] in
                guard let self else { return }
                isRefreshPosted.store(false, ordering: .sequentiallyConsistent)
                // A realm that was invalidated pins no version until it is used.
                if let core, core.lifecycle == .open { core.refreshQuietly() }
            },
            // The next version is worth another try.
            orElse: { [weak self] in self?.isRefreshPosted.store(false, ordering: .sequentiallyConsistent) }
        )
    }
}

extension [CoreRegistration] {
    /// Of realms whose places can only be asked, that of the place which runs the caller; nil where `found` is that place.
    ///
    /// A queue is found before those that it targets, and before the main actor where that is known by the main queue, which a queue
    /// that runs the caller can only lie above.
    func running(insteadOf found: RealmIsolation) -> CoreRegistration? {
        let current = filter { $0.isolation.isCurrent }
        if current.isEmpty { return nil }
        let alive = current.filter { $0.isAlive }
        var queues: [(registration: CoreRegistration, isolation: QueueIsolation)] = []
        for registration in alive {
            if case .queue(let isolation) = registration.isolation { queues.append((registration, isolation)) }
        }
        if let nearest = QueueIsolation.nearest(of: queues.map { $0.isolation }) { return queues[nearest].registration }
        guard case .thread = found else { return nil }
        return alive.first ?? current.first
    }
}
