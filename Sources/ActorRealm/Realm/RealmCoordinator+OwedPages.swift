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

    /// A commit that found no space, for whose next attempt there is to be all that the disk has.
    struct SpaceRefusal {
        /// How long it is waited for, by the clock of the writers, in nanoseconds.
        let end: UInt64
        /// The length of the file, which gets longer where there is space again.
        let byteCount: Int
    }

    /// Has no commit owe its pages for a minute, or until the file is longer: whoever finds no space beside such commits may find it alone, and
    /// tries again behind other writes.
    func noteSpaceRefusal() {
        let refusal = SpaceRefusal(end: writes.now &+ 60_000_000_000, byteCount: file.byteCount)
        spaceRefusal.withLock { $0 = refusal }
    }

    /// Whether a commit has found no space shortly before, and the file has not become longer since.
    var isShortOfSpace: Bool {
        spaceRefusal.withLock { refusal in
            guard let known = refusal else { return false }
            if writes.now < known.end, file.byteCount <= known.byteCount { return true }
            refusal = nil
            return false
        }
    }

    /// Notes that a realm is gone which may be known still.
    func noteGone() { if leavesPages { hasGone.store(true, ordering: .sequentiallyConsistent) } }

    /// Forgets realms that are gone, where they would have each commit have its pages; behind a publishing, and never in a writer's turn: who
    /// looks may be the last to let go of an actor.
    func forgetGone() { if leavesPages, hasGone.exchange(false, ordering: .sequentiallyConsistent) { forgetDead() } }
}
