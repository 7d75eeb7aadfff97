import RealmStorage
import Synchronization

/// An observer as the hub of its file knows it.
///
/// An abstract class, because the hub goes over thousands of them: every member is overridden by its one subclass.
///
/// Unchecked because `place` is used under the hub's lock, and `check` by whoever processes.
class ObservationMember: @unchecked Sendable {
    /// Where the hub keeps a member.
    enum Place {
        case none
        case behind(Int)
        case group(Int, Int)
    }

    /// What became of a member that stood behind the hub.
    enum CatchUp {
        /// It stands where the hub does, and waits for changes of these tables; nil for all.
        case follows(Set<UInt32>?)
        case stays
    }

    final var place = Place.none
    /// What tells that a commit does not concern the member while the hub looks after it; used by whoever processes.
    final var check: FollowerCheck?
    /// Where the program began to observe.
    final let origin: ReaderOrigin?

    init(origin: ReaderOrigin?) {
        self.origin = origin
    }

    /// Takes a member that the hub looks after over a commit of its tables.
    ///
    /// - Returns: whether the hub goes on looking after it.
    func examine(_ commit: ObservedCommit) -> Bool { mustOverride() }

    /// Takes a member that stands behind to the hub's new version, if somebody waits for that.
    func catchUp(to view: FixedView, _ process: ObservationHub.Process) -> CatchUp { mustOverride() }

    /// Whether the hub looks after the member, which holds no version of its own then.
    var isFollowing: Bool { mustOverride() }

    /// Ends with an error: the file could not be read.
    func fail(_ error: any Error) { mustOverride() }

    /// Tells those who wait for it that a member knows a version.
    func noteFollowing(_ version: UInt64) { mustOverride() }

    /// The version that the member holds, if any.
    var heldVersion: UInt64? { mustOverride() }

    // What follows is called by realms.

    /// The realm that the member delivers with moved, ended, or left a transaction.
    func realmMoved() { mustOverride() }

    /// Unregisters; a task that waits for the next change stops waiting.
    ///
    /// - Returns: true for the first call.
    @discardableResult
    func cancel() -> Bool { mustOverride() }

    /// Whether the observer may still have something to hear of up to a version.
    func isBehind(_ version: UInt64) -> Bool { mustOverride() }

    /// Waits until the observer knows a version, ended, or the waiting task is cancelled.
    func waitUntilTold(of version: UInt64, isolation: isolated (any Actor)? = #isolation) async {
        mustOverride()
    }
}
