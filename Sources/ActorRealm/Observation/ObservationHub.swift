import Dispatch
import Glibc
import RealmModel
import RealmQuery
import RealmStorage
import Synchronization

/// What looks after the observers of one file.
///
/// Observers that know everything hold no version: the hub stands on the newest one for all of them. A commit is read once;
/// only observers of the tables that it touched are asked, and of those only the ones that it concerns are taken over it,
/// on a thread of the hub's own, so that no writer waits. Observers that are busy hold the version that they know until
/// they ask again.
final class ObservationHub: Sendable {
    let file: StorageFile
    let state = Mutex(State())
    let memberCount = Atomic(0)
    let listenerCount = Atomic(0)
    private let lastListener = Atomic<UInt64>(0)
    let thread = DedicatedThread(name: "realm-observe")
    private let ioThread: DedicatedThread
    let didProcess = Mutex(Hook())
    private let isScheduled = Atomic(false)
    /// Moves from version to version with the probes that were made for it.
    // Used by whoever processes, the hub's thread or the one that flushes: `isProcessing`, which is set and cleared under the
    // lock, lets in one at a time. Dropped under the lock while nobody does.
    nonisolated(unsafe) var walker: ModelView?

    init(file: StorageFile, ioThread: DedicatedThread) {
        self.file = file
        self.ioThread = ioThread
    }

    /// Sets what is called behind each pass.
    func attach(didProcess: @escaping @Sendable () -> Void) {
        self.didProcess.withLock { $0.call = didProcess }
    }

    // MARK: Versions

    /// The newest durable version's number, also where writing has stopped before that had pages.
    var newestVersion: UInt64 { file.newestVersionHere }

    /// A view of the newest durable version.
    ///
    /// - Parameter asksForPages: Whether pages are made first of what was acknowledged without, or the version is made in memory. Where writing
    ///   has stopped it is made in memory whatever this says.
    /// - Returns: The view.
    /// - Throws: `StorageError`.
    func newest(askingForPages asksForPages: Bool = true) throws(StorageError) -> FixedView {
        if asksForPages, let snapshot = try file.makeOwedPages() { return try view(of: snapshot) }
        if let view = knownView(of: newestVersion) { return view }
        return try view(of: file.beginRead(asking: asksForPages ? .acknowledged : .atHand))
    }

    /// A view of a version.
    func view(of snapshot: Snapshot) throws(StorageError) -> FixedView {
        // Whoever stands in memory moves to the file's own version soon, and nobody else is to be kept from that; unless there never is one.
        let isPassing = snapshot.isInMemory && snapshot.version > file.versionWithoutPages
        if !isPassing, let view = knownView(of: snapshot.version) { return view }
        let view = try FixedView(snapshot, schema: state.withLock { $0.schema })
        if isPassing { return view }
        return state.withLock { state in
            // Somebody may have been faster.
            if let other = state.views[snapshot.version]?.object { return other }
            if state.views.count > 16 { state.views = state.views.filter { $0.value.object != nil } }
            state.views[snapshot.version] = WeakReference(view)
            state.schema = view.model.schema
            return view
        }
    }

    /// A view of a version that somebody holds.
    func knownView(of version: UInt64) -> FixedView? {
        state.withLock { $0.views[version]?.object }
    }

    /// Everything that changed from one version to a later one.
    func step(from old: FixedView, to new: FixedView) throws -> ChangeStep {
        if old.version >= new.version { return ChangeStep(ChangeSet(), from: old.model, to: new.model) }
        let known = state.withLock { state in
            state.recent.first { $0.first == old.version && $0.last == new.version }
        }
        if let known { return ChangeStep(known.changes, from: old.model, to: new.model, rows: known.rows) }
        let changes =
            try file.changes(after: old.version, through: new.snapshot)
            ?? VersionComparison.changes(from: old.model, to: new.model)
        let way = Way(first: old.version, last: new.version, changes: changes)
        let forgotten = state.withLock { state -> Way? in
            // Whoever asks may have ended meanwhile, and be the last one.
            if !state.hasMembers { return nil }
            state.recent.append(way)
            return state.recent.count > 4 ? state.recent.removeFirst() : nil
        }
        withExtendedLifetime(forgotten) {}
        return ChangeStep(changes, from: old.model, to: new.model, rows: way.rows)
    }

    /// Where the hub stands for the observers that it looks after.
    var current: FixedView? { state.withLock { $0.current } }

    /// The version where the hub stands for the observers that it looks after.
    var currentVersion: UInt64? { state.withLock { $0.current?.version } }

    // MARK: Members

    /// Takes an observer in.
    func register(_ member: ObservationMember) {
        memberCount.wrappingAdd(1, ordering: .sequentiallyConsistent)
        state.withLock { state in
            member.place = .behind(state.behind.count)
            state.behind.append(member)
        }
    }

    /// Lets an observer go.
    func unregister(_ member: ObservationMember) {
        let (isMember, freed, forgotten) = state.withLock { state -> (Bool, FixedView?, [Way]) in
            state.leavingOut[ObjectIdentifier(member)] = nil
            guard state.remove(member) else { return (false, nil, []) }
            let forgotten = state.hasMembers ? [] : state.recent
            if !state.hasMembers { state.recent = [] }
            guard state.followerCount == 0, !state.isProcessing else { return (true, nil, forgotten) }
            // Whom the version was held for is gone.
            dropWalker()
            defer { state.current = nil }
            return (true, state.current, forgotten)
        }
        if isMember { memberCount.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
        withExtendedLifetime((freed, forgotten)) {}
    }

    /// Notes that a member that the hub looked after holds a version of its own now.
    ///
    /// A pass may have taken it back meanwhile: then it stays among those that the hub looks after.
    func moveBehind(_ member: ObservationMember) {
        state.withLock { state in
            if !member.isFollowing { state.moveBehind(member) }
        }
    }

    /// Notes that a member that the hub looks after leaves out a commit that is not published yet.
    ///
    /// It is taken over that commit and those behind it one by one: what it put there itself and others took away again is no
    /// change from one pass to the next, and has to be told.
    func noteLeavingOut(_ member: ObservationMember) {
        state.withLock { state in
            // A pass may be about to put it among those that the hub looks after.
            if case .none = member.place { return }
            state.leavingOut[ObjectIdentifier(member)] = member
        }
    }

    /// The observers of this process that hold a version of their own, and which.
    var holders: [(version: UInt64, origin: ReaderOrigin)] {
        let members = state.withLock { state in state.behind + state.groups.flatMap(\.members) }
        return members.compactMap { member in
            guard let version = member.heldVersion, let origin = member.origin else { return nil }
            return (version, origin)
        }
    }

    // MARK: New versions

    /// Hears of a version; on the thread of a writer, which it does not hold up.
    ///
    /// The thread that flushes commits, when it has none to flush, looks after a few observers itself: that spares a
    /// change of threads.
    ///
    /// - Returns: whether what was attached will be called.
    func versionPublished(_ version: UInt64, takesRealmsOver: Bool) -> Bool {
        let count = memberCount.load(ordering: .sequentiallyConsistent)
        if count == 0, !takesRealmsOver { return false }
        if count <= ObservationHub.handful, !takesRealmsOver, ioThread.isIdleHere,
            process(if: { $0.lastDuration < ObservationHub.moment })
        {
            return true
        }
        schedule()
        return true
    }

    /// So many observers are looked after in passing.
    private static let handful = 8
    /// As long as that took no longer than this, in nanoseconds.
    private static let moment: UInt64 = 100_000

    /// Has the hub look for a newer version soon.
    func schedule() {
        guard !isScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let hub = WeakReference(self)
        thread.perform {
            guard let self = hub.object else { return }
            self.rest()
            self.isScheduled.store(false, ordering: .sequentiallyConsistent)
            self.process()
        }
    }

    /// Whether there are more observers than are looked after in passing.
    var isCrowded: Bool { memberCount.load(ordering: .sequentiallyConsistent) > ObservationHub.handful }

    /// Rests after a pass over many observers as long as that took, within bounds: commits that follow each other closely
    /// are looked at together, and a busy writer finds a processor.
    private func rest() {
        guard isCrowded else { return }
        let (duration, end) = state.withLock { ($0.lastDuration, $0.lastEnd) }
        let due = end + Swift.min(Swift.max(duration, ObservationHub.shortestRest), ObservationHub.longestRest)
        let now = DispatchTime.now().uptimeNanoseconds
        if now < due { usleep(UInt32((due - now + 999) / 1_000)) }
    }

    /// How long the hub rests between two passes over many observers, in nanoseconds.
    private static let shortestRest: UInt64 = 100_000
    private static let longestRest: UInt64 = 1_000_000

    /// Counts those who wait until an observer knows a version.
    func listenersChanged(by difference: Int) {
        listenerCount.wrappingAdd(difference, ordering: .sequentiallyConsistent)
        if difference > 0 { schedule() }
    }

    /// Numbers those who wait until an observer knows a version, and the blocks that observe whole realms.
    func nextListener() -> UInt64 { lastListener.wrappingAdd(1, ordering: .relaxed).newValue }
}
