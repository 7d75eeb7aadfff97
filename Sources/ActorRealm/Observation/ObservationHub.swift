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
    /// What observers have in common that are looked at together.
    fileprivate struct Kind: Hashable {
        /// The tables whose changes can concern them; nil for all.
        let tables: Set<UInt32>?
        /// The property, in the only table, of which each has a bound.
        var property: Int?
    }

    /// Observers of a kind that stand where the hub does.
    fileprivate struct Group {
        let kind: Kind
        var members: [ObservationMember] = []
        /// The bounds of the members, where they have any.
        var bounds: [RowBound] = []

        func isTouched(by changes: ChangeSet) -> Bool {
            guard let tables = kind.tables else { return !changes.tables.isEmpty }
            return changes.tables.keys.contains { tables.contains($0) }
        }

        /// Calls a function with each member that a step may concern.
        func forEachMember(near step: ChangeStep, _ body: (ObservationMember) throws -> Void) throws {
            if !step.changesSchema, let property = kind.property, let table = kind.tables?.first,
                let words = try step.words(of: property, in: table)
            {
                for index in RowBound.indices(of: bounds, holdingAnyOf: words) { try body(members[index]) }
            } else {
                for member in members { try body(member) }
            }
        }
    }

    fileprivate struct State {
        var views: [UInt64: WeakView] = [:]
        /// What changed on the ways asked for last: observers that catch up by themselves ask for the same one or two.
        var recent: [Way] = []
        /// The classes as read last.
        var schema: DatabaseSchema?
        var groups: [Group] = []
        var groupNumbers: [Kind: Int] = [:]
        var behind: [ObservationMember] = []
        /// Where the members of the groups stand; nil when there are none.
        var current: FixedView?
        var followerCount = 0
        var isProcessing = false
        var isDue = false
        /// Who is to be handed a version the moment that it is published.
        var expected: [UInt64: [@Sendable (Snapshot) -> Void]] = [:]
    }

    /// What changed from one version to another, and the rows that were touched.
    fileprivate struct Way {
        let first: UInt64
        let last: UInt64
        let changes: ChangeSet
        let rows = TouchedRows()
    }

    fileprivate struct WeakView {
        weak var view: FixedView?
    }

    private let file: StorageFile
    private let state = Mutex(State())
    private let memberCount = Atomic(0)
    private let expectedCount = Atomic(0)
    private let listenerCount = Atomic(0)
    private let lastListener = Atomic<UInt64>(0)
    private let thread = DedicatedThread(name: "realm-observe")
    private let ioThread: DedicatedThread
    private let didProcess = Mutex<(@Sendable () -> Void)?>(nil)
    private let isScheduled = Atomic(false)
    /// Moves from version to version with the probes that were made for it.
    // Used by whoever processes, the hub's thread or the one that flushes: `isProcessing`, which is set and cleared under the
    // lock, lets in one at a time. Dropped under the lock while nobody does.
    nonisolated(unsafe) private var walker: ModelView?
    /// How long the last pass took, in nanoseconds; used under the lock.
    nonisolated(unsafe) private var lastDuration: UInt64 = 0
    /// When it ended; used under the lock.
    nonisolated(unsafe) private var lastEnd: UInt64 = 0

    init(file: StorageFile, ioThread: DedicatedThread) {
        self.file = file
        self.ioThread = ioThread
    }

    /// Sets what is called behind each pass.
    func attach(didProcess: @escaping @Sendable () -> Void) {
        self.didProcess.withLock { $0 = didProcess }
    }

    // MARK: Versions

    /// The newest durable version's number.
    var newestVersion: UInt64 { file.newestVersion }

    /// A view of the newest durable version.
    func newest() throws(StorageError) -> FixedView {
        if let view = known(file.newestVersion) { return view }
        return try view(of: file.beginRead())
    }

    /// A view of a version.
    func view(of snapshot: Snapshot) throws(StorageError) -> FixedView {
        if let view = known(snapshot.version) { return view }
        let view = try FixedView(snapshot, schema: state.withLock { $0.schema })
        return state.withLock { state in
            // Somebody may have been faster.
            if let other = state.views[snapshot.version]?.view { return other }
            if state.views.count > 16 { state.views = state.views.filter { $0.value.view != nil } }
            state.views[snapshot.version] = WeakView(view: view)
            state.schema = view.model.schema
            return view
        }
    }

    private func known(_ version: UInt64) -> FixedView? {
        state.withLock { $0.views[version]?.view }
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
        let forgotten = state.withLock { state in
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
        let (isMember, freed) = state.withLock { state -> (Bool, FixedView?) in
            guard state.remove(member) else { return (false, nil) }
            guard state.followerCount == 0, !state.isProcessing else { return (true, nil) }
            // Whom the version was held for is gone.
            dropWalker()
            defer { state.current = nil }
            return (true, state.current)
        }
        if isMember { memberCount.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
        withExtendedLifetime(freed) {}
    }

    /// Notes that a member that the hub looked after holds a version of its own now.
    func moveBehind(_ member: ObservationMember) {
        state.withLock { $0.moveBehind(member) }
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
        if expectedCount.load(ordering: .sequentiallyConsistent) > 0 { handOver(version) }
        let count = memberCount.load(ordering: .sequentiallyConsistent)
        if count == 0, !takesRealmsOver { return false }
        if count <= ObservationHub.handful, !takesRealmsOver, ioThread.isIdleHere,
            process(if: { lastDuration < ObservationHub.moment })
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
        thread.perform { [weak self] in
            guard let self else { return }
            rest()
            isScheduled.store(false, ordering: .sequentiallyConsistent)
            process()
        }
    }

    /// Whether there are more observers than are looked after in passing.
    var isCrowded: Bool { memberCount.load(ordering: .sequentiallyConsistent) > ObservationHub.handful }

    /// Rests after a pass over many observers as long as that took, within bounds: commits that follow each other closely
    /// are looked at together, and a busy writer finds a processor.
    private func rest() {
        guard isCrowded else { return }
        let (duration, end) = state.withLock { _ in (lastDuration, lastEnd) }
        let due = end + Swift.min(Swift.max(duration, ObservationHub.shortestRest), ObservationHub.longestRest)
        let now = DispatchTime.now().uptimeNanoseconds
        if now < due { usleep(UInt32((due - now + 999) / 1_000)) }
    }

    /// How long the hub rests between two passes over many observers, in nanoseconds.
    private static let shortestRest: UInt64 = 100_000
    private static let longestRest: UInt64 = 1_000_000

    /// Has a block called with a version the moment that it is published.
    func expect(_ version: UInt64, _ block: @escaping @Sendable (Snapshot) -> Void) {
        expectedCount.wrappingAdd(1, ordering: .sequentiallyConsistent)
        state.withLock { $0.expected[version, default: []].append(block) }
    }

    private func handOver(_ version: UInt64) {
        let blocks = state.withLock { state in
            let due = state.expected.filter { $0.key <= version }
            for version in due.keys { state.expected[version] = nil }
            return due
        }
        expectedCount.wrappingSubtract(blocks.values.reduce(0) { $0 + $1.count }, ordering: .sequentiallyConsistent)
        guard let wanted = blocks[version], let snapshot = try? file.beginRead(), snapshot.version == version else {
            return
        }
        for block in wanted { block(snapshot) }
    }

    /// Counts those who wait until an observer knows a version.
    func listenersChanged(by difference: Int) {
        listenerCount.wrappingAdd(difference, ordering: .sequentiallyConsistent)
        if difference > 0 { schedule() }
    }

    /// Numbers those who wait until an observer knows a version.
    func nextListener() -> UInt64 { lastListener.wrappingAdd(1, ordering: .relaxed).newValue }

    // MARK: Processing

    /// One pass over the observers.
    final class Process {
        fileprivate let hub: ObservationHub
        let new: FixedView
        private var commits: [UInt64: ObservedCommit] = [:]

        fileprivate init(_ hub: ObservationHub, _ new: FixedView) {
            self.hub = hub
            self.new = new
        }

        /// What was committed since a version; all observers that stand there share it.
        func commit(from old: FixedView) throws -> ObservedCommit {
            if let known = commits[old.version] { return known }
            let commit = ObservedCommit(from: old, to: new, try hub.step(from: old, to: new)) { [hub, new] in
                try hub.movedWalker(to: new)
            }
            commits[old.version] = commit
            return commit
        }
    }

    /// Takes the observers to the newest version, until there is none newer, or leaves it to whoever does.
    ///
    /// - Returns: false when nobody does because the condition does not hold.
    @discardableResult
    private func process(if condition: () -> Bool = { true }) -> Bool {
        let (isOther, isRefused) = state.withLock { state in
            if state.isProcessing {
                state.isDue = true
                return (true, false)
            }
            if !condition() { return (false, true) }
            state.isProcessing = true
            return (false, false)
        }
        if isRefused { return false }
        if isOther { return true }
        let start = DispatchTime.now().uptimeNanoseconds
        while true {
            do {
                try processOnce()
            } catch {
                failAll(error)
            }
            let isDone = state.withLock { state in
                defer { state.isDue = false }
                if !state.isDue { state.isProcessing = false }
                if !state.isDue {
                    lastEnd = DispatchTime.now().uptimeNanoseconds
                    lastDuration = lastEnd - start
                }
                return !state.isDue
            }
            if isDone { break }
        }
        didProcess.withLock { $0 }?()
        return true
    }

    private func processOnce() throws {
        guard memberCount.load(ordering: .sequentiallyConsistent) > 0 else { return leave(at: nil) }
        let new = try newest()
        let process = Process(self, new)
        let left = try examined(process)
        state.withLock { state in
            for member in left { state.moveBehind(member) }
        }
        let follows = caughtUp(process)
        state.withLock { state in
            // Somebody who asked meanwhile goes on alone.
            for (member, tables) in follows where member.isFollowing && state.remove(member) {
                state.add(member, tables)
            }
        }
        leave(at: new)
        if listenerCount.load(ordering: .sequentiallyConsistent) > 0 { tellListeners(new.version) }
    }

    /// Takes those that the hub looks after over what was committed; returns those that it looks after no more.
    private func examined(_ process: Process) throws -> [ObservationMember] {
        let (old, groups) = state.withLock { ($0.current, $0.groups) }
        guard let old, old.version < process.new.version else { return [] }
        let commit = try process.commit(from: old)
        // The walker holds its version, and moves on with the hub.
        if walker != nil { _ = try movedWalker(to: process.new) }
        var left: [ObservationMember] = []
        for group in groups where commit.step.changesSchema || group.isTouched(by: commit.step.changes) {
            try group.forEachMember(near: commit.step) { member in
                if let check = member.check, try !check.isConcerned(by: commit) { return }
                if !member.examine(commit) { left.append(member) }
            }
        }
        return left
    }

    /// Takes those that stand behind to the newest version; returns those that the hub is to look after.
    private func caughtUp(_ process: Process) -> [(ObservationMember, Set<UInt32>?)] {
        let behind = state.withLock { $0.behind }
        var follows: [(ObservationMember, Set<UInt32>?)] = []
        for member in behind {
            if case .follows(let tables) = member.catchUp(to: process.new, process) { follows.append((member, tables)) }
        }
        return follows
    }

    /// Ends a pass: the hub stands on a version as long as it looks after somebody there.
    private func leave(at view: FixedView?) {
        let before = state.withLock { state in
            let before = state.current
            state.current = state.followerCount > 0 ? view : nil
            if state.current == nil { dropWalker() }
            return before
        }
        withExtendedLifetime(before) {}
    }

    /// Lets go of the walker's version; probes that were made for it are let go of when they are used next.
    private func dropWalker() {
        walker?.unpin()
        walker = nil
    }

    fileprivate func movedWalker(to view: FixedView) throws -> ModelView {
        if let walker {
            try walker.advance(to: view.snapshot)
            return walker
        }
        let walker = try ModelView(snapshot: view.snapshot, schema: view.model.schema)
        self.walker = walker
        return walker
    }

    private func tellListeners(_ version: UInt64) {
        let members = state.withLock { $0.groups.flatMap(\.members) }
        for member in members { member.noteFollowing(version) }
    }

    private func failAll(_ error: any Error) {
        let members = state.withLock { state in state.behind + state.groups.flatMap(\.members) }
        for member in members { member.fail(error) }
    }
}

extension ObservationHub.State {
    /// Takes a member out of its place; false when it has none.
    fileprivate mutating func remove(_ member: ObservationMember) -> Bool {
        switch member.place {
        case .none: return false
        case .behind(let index):
            behind.swapAt(index, behind.count - 1)
            behind[index].place = .behind(index)
            behind.removeLast()
        case .group(let number, let index):
            let last = groups[number].members.count - 1
            groups[number].members.swapAt(index, last)
            groups[number].members[index].place = .group(number, index)
            groups[number].members.removeLast()
            if groups[number].kind.property != nil {
                groups[number].bounds.swapAt(index, last)
                groups[number].bounds.removeLast()
            }
            followerCount -= 1
        }
        member.place = .none
        return true
    }

    /// Puts a member among those that hold a version of their own.
    fileprivate mutating func moveBehind(_ member: ObservationMember) {
        guard case .group = member.place, remove(member) else { return }
        member.place = .behind(behind.count)
        behind.append(member)
    }

    /// Puts a member into the group of its kind.
    fileprivate mutating func add(_ member: ObservationMember, _ tables: Set<UInt32>?) {
        let bound = tables?.count == 1 ? member.check?.bound : nil
        let kind = ObservationHub.Kind(tables: tables, property: bound?.property)
        let number = groupNumbers[kind] ?? groups.count
        if number == groups.count {
            groups.append(ObservationHub.Group(kind: kind))
            groupNumbers[kind] = number
        }
        if let bound { groups[number].bounds.append(bound) }
        member.place = .group(number, groups[number].members.count)
        groups[number].members.append(member)
        followerCount += 1
    }
}
