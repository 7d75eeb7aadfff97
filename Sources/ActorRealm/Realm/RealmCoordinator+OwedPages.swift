import RealmStorage
import Synchronization

// Whether commits may be left without pages: nobody but the realm that writes would ask for them.
extension RealmCoordinator {
    /// Whether nobody but one realm of this process follows the file: what is acknowledged without pages is asked for by nobody else.
    ///
    /// Whoever comes counts before it looks for the newest version, and the file says that it owes pages before this is asked.
    /// A realm that is gone counts until it is forgotten (``forgetGone()``).
    var isUsedByOneRealm: Bool {
        hasOneRegistration && observations.memberCount.load(ordering: .sequentiallyConsistent) == 0
            && !file.hasOtherReaders
    }

    /// Whether there is one, and nobody is about to be another.
    private var hasOneRegistration: Bool {
        state.withLock { state in
            state.openings == 0 && state.listeners.isEmpty
                && state.cores.count + state.passing.count + state.replaced.count == 1
        }
    }

    /// Notes that a realm is gone which may be known still.
    func noteGone() { if leavesPages { hasGone.store(true, ordering: .sequentiallyConsistent) } }

    /// Forgets realms that are gone, where they would have each commit have its pages; behind a publishing, and never in a writer's turn: who
    /// looks may be the last to let go of an actor.
    func forgetGone() { if leavesPages, hasGone.exchange(false, ordering: .sequentiallyConsistent) { forgetDead() } }
}
