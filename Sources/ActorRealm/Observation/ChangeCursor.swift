import RealmModel
import RealmQuery
import RealmStorage
import Synchronization

/// Where one observer stands, and what leads from there to a later version.
///
/// It holds the version that was delivered last, not a buffer: an observer that falls behind gets one change for many
/// commits. What it computes is offered until it is accepted, because the realm that it is meant for may have moved on.
/// ``ChangeFlow`` decides what happens when; this holds what goes with it: the view of the version, what the subject
/// knows of it, and whom to wake.
///
/// Unchecked because what changes is behind a lock.
final class ChangeCursor<Subject: ChangeSubject>: ObservationMember, @unchecked Sendable {
    typealias Holding = ChangeHolding<Subject>
    typealias Pending = Holding.Pending

    let subject: Subject
    let coordinator: RealmCoordinator
    let hub: ObservationHub
    private let lagLimit: UInt64
    /// The classes that a version must have as they are declared, to be told.
    private let objectTypes: [ObjectBase.Type]?
    /// The stamp of the last schema that was found to have them.
    private let fittingStamp = Atomic<UInt64>(.max)
    let held: Mutex<Holding>

    /// Registers: what is committed from now on is not missed.
    init(
        _ subject: Subject,
        coordinator: RealmCoordinator,
        at start: Snapshot?,
        lagLimit: UInt64?,
        objectTypes: [ObjectBase.Type]? = nil,
        origin: ReaderOrigin?
    ) throws {
        self.objectTypes = objectTypes
        self.subject = subject
        self.coordinator = coordinator
        self.lagLimit = lagLimit ?? .max
        hub = coordinator.observations
        var held = Holding()
        if !subject.tellsInitialState {
            let view = if let start { try hub.view(of: start) } else { try hub.newest() }
            // Nothing is delivered of the version at which it begins, so that nobody would look until the next commit.
            if start == nil { try coordinator.checkSchema(view.model.schema, declaredBy: objectTypes) }
            held.base = Holding.Base(view: view, state: try subject.state(at: view))
            held.flow = ChangeFlow(knowing: view.version)
        }
        self.held = Mutex(held)
        super.init(origin: origin)
        coordinator.register(self)
    }

    @discardableResult
    override func cancel() -> Bool {
        let (isFirst, waiter, listeners, rest) = held.withLock { held in
            let isFirst = held.flow.end()
            defer {
                held.waiter = nil
                held.listeners = []
                held.offer = nil
                held.base = nil
                // They hold versions, and a token may be kept for long.
                held.skips = []
                held.silent = Holding.Silent()
            }
            return (isFirst, held.waiter, held.listeners, (held.offer, held.base, held.skips))
        }
        withExtendedLifetime(rest) {}
        if isFirst { hub.unregister(self) }
        waiter?.wake()
        for listener in listeners { listener.continuation.resume() }
        return isFirst
    }

    // MARK: Asking

    /// Asks for a change.
    ///
    /// Where the answer is to wait, ``wait(isolation:)`` does, or `block` is called when asking again is worth while. What
    /// was committed before somebody asks is looked at by whoever asks, and what comes later is left to the hub. Of many
    /// observers all is left to the hub that it can do with little work.
    @inline(never)
    func ask(orCall block: (@Sendable () -> Void)? = nil) -> ChangeFlow.Answer {
        // What was committed before somebody asks is in the answer, whether the hub has come to it or not.
        let isCrowded = hub.isCrowded
        let current = isCrowded ? nil : hub.current
        let (answer, leaves, isDue) = held.withLock { held in
            let newest = hub.newestVersion
            var leaves = false
            if held.flow.work == .resting { held.beginAsking(newest, isLeft: isCrowded) }
            if let current, current.version < newest, held.flow.leaveHub(at: current.version) {
                held.base?.view = current
                leaves = true
            }
            let asked = held.newestAsked(newest)
            let answer = held.flow.ask(newest: asked)
            if answer == .wait, let block { held.waiter = .block(block) }
            return (answer, leaves, answer == .wait && asked < newest)
        }
        if leaves { hub.moveBehind(self) }
        if isDue, block != nil { hub.schedule() }
        return answer
    }

    /// Waits until asking again is worth while.
    func wait(isolation: isolated (any Actor)? = #isolation) async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let (isDue, isLeft) = held.withLock { held in
                    let newest = hub.newestVersion
                    let asked = held.newestAsked(newest)
                    if Task.isCancelled || held.flow.answer(newest: asked) != .wait { return (true, false) }
                    held.waiter = .task(continuation)
                    return (false, asked < newest)
                }
                if isDue { continuation.resume() }
                if isLeft { hub.schedule() }
            }
        } onCancel: {
            cancel()
        }
    }

    /// What ended the observer, if that was an error.
    var failure: (any Error)? { held.withLock { $0.failure } }

    /// Whether nobody will observe any more.
    var isEnded: Bool { held.withLock { $0.flow.isEnded } }

    /// Whether nothing will ever change again.
    var isFinal: Bool {
        @inline(never) get { held.withLock { $0.base.map { subject.isFinal($0.state) } ?? false } }
    }

    /// The version up to which everything has been told; nil before the initial state.
    var toldVersion: UInt64? {
        let current = hub.currentVersion
        return held.withLock { held in
            switch held.flow.position {
            case .standing(let version): version
            case .following(let since): max(since, current ?? 0)
            case .fresh, .overdue: nil
            }
        }
    }

    /// Whether everything up to a version was told.
    func knows(_ version: UInt64) -> Bool { held.withLock { $0.flow.knows(version) } }

    // MARK: Delivering

    /// Fetches the change that is offered; nil when it was withdrawn meanwhile.
    func fetch() -> Pending? {
        held.withLock { held in
            held.passed = nil
            guard held.flow.fetch() else { return nil }
            return held.offer?.showing(held.silent)
        }
    }

    /// Notes that a change was delivered.
    func accept(_ pending: Pending) {
        // What was known before ends outside the lock.
        let (before, listeners) = held.withLock { held in
            let before = (held.base, held.offer)
            held.flow.accept()
            held.lateSince = nil
            held.base = Holding.Base(view: pending.target, state: pending.state)
            held.offer = nil
            held.silent = Holding.Silent()
            held.skips.removeAll { $0.version <= pending.target.version }
            return (before, held.takeListeners(upTo: pending.target.version))
        }
        withExtendedLifetime(before) {}
        for listener in listeners { listener.continuation.resume() }
    }

    /// Notes that the observer's realm would not be moved for the change.
    func refuse() {
        let before = held.withLock { held in
            held.flow.refuse()
            defer { held.offer = nil }
            return held.offer
        }
        withExtendedLifetime(before) {}
    }

    override func fail(_ error: any Error) {
        held.withLock { $0.failure = $0.failure ?? error }
        cancel()
    }

    // MARK: What the hub asks

    // Called through the superclass, where the compiler does not see of what subject: each generic type on the way would be looked
    // up for each observer. Collections are observed most.
    @_specialize(where Subject == CollectionSubject)
    override func examine(_ commit: ObservedCommit) -> Bool {
        let (base, isPlain) = held.withLock { held in
            (held.flow.isFollowing ? held.base : nil, held.isPlain)
        }
        guard var base else { return false }
        base.view = commit.old
        if commit.step.changesSchema {
            standAlone(at: commit.old)
            return false
        }
        do {
            switch isPlain ? try verdict(base, commit) : .concerned(nil) {
            case .unconcerned(let state):
                return held.withLock { held in
                    // Somebody may have asked meanwhile, and gone on alone.
                    guard held.flow.keepFollowing(to: commit.new.version) else { return false }
                    held.base?.state = state
                    return true
                }
            case .concerned(let pending):
                let waiter = held.withLock { held -> Holding.Waiter? in
                    guard held.flow.isFollowing else { return nil }
                    held.base?.view = commit.old
                    guard held.flow.fallBehind(at: commit.old.version) else {
                        held.lateSince = commit.new.version
                        return nil
                    }
                    return held.settle(pending)
                }
                waiter?.wake()
            }
        } catch {
            fail(error)
        }
        return false
    }

    /// Takes the observer out of the hub's hands, to be looked at anew: what was known of its properties is void.
    private func standAlone(at view: FixedView) {
        held.withLock { held in
            guard held.flow.isFollowing else { return }
            held.base?.view = view
            if held.flow.fallBehind(at: view.version) { held.flow.handBack() }
        }
    }

    @_specialize(where Subject == CollectionSubject)
    override func catchUp(to view: FixedView, _ process: ObservationHub.Process) -> CatchUp {
        if follow(view) { return follows(view) }
        let (base, number, isPlain) = takenOver(to: view)
        // What was gathered may lead to that version already.
        guard let base, let old = base.view, old.version < view.version || !isPlain else { return .stays }
        do {
            let verdict = isPlain ? try verdict(base, process.commit(from: old)) : .concerned(nil)
            let (waiter, before) = held.withLock { held -> (Holding.Waiter?, Holding.Base?) in
                switch verdict {
                case .unconcerned(let state):
                    if let number {
                        guard held.flow.isComputing(number) else { return (nil, nil) }
                        held.flow.pass(view.version)
                    } else if !held.flow.slide(from: old.version, to: view.version) {
                        return (nil, nil)
                    }
                    defer {
                        held.base = Holding.Base(view: view, state: state)
                        held.lateSince = nil
                    }
                    return (nil, held.base)
                case .concerned(let pending):
                    if let number {
                        return (held.flow.isComputing(number) ? held.settle(pending) : nil, nil)
                    }
                    guard held.flow.position == .standing(old.version) else { return (nil, nil) }
                    held.lateSince = view.version
                    return (nil, nil)
                }
            }
            withExtendedLifetime(before) {}
            waiter?.wake()
        } catch {
            fail(error)
        }
        return follow(view) ? follows(view) : .stays
    }

    /// What there is to be done for an observer that stands behind: where it stands, and whether somebody waits.
    ///
    /// Who waits has its change computed under a number. Who rests is only asked whether there is something to tell, and that
    /// once. Who rests for too long behind something to tell is let go of. The hub's own delay is nobody's lag: what counts is how
    /// many versions came since the hub found that there is something.
    private func takenOver(to view: FixedView) -> (Holding.Base?, computation: UInt64?, isPlain: Bool) {
        let (base, number, isPlain, released) = held.withLock { held in
            let mayHaveNothingToTell = held.flow.work == .resting && held.lateSince == nil
            let released = mayHaveNothingToTell ? nil : letGo(&held, newest: view.version)
            let isWanted = held.flow.catchUp(to: view.version)
            let isAsked = isWanted || held.flow.work == .resting && held.lateSince == nil
            let number = isWanted ? held.flow.computation : nil
            return (isAsked ? held.base : nil, number, held.isPlain, released)
        }
        withExtendedLifetime(released) {}
        return (base, number, isPlain)
    }

    /// Throws when the program's classes are not in a version as they are declared: what there is to tell belongs to others.
    func checkSchema(of view: FixedView) throws {
        let stamp = view.model.schemaStamp
        if fittingStamp.load(ordering: .relaxed) == stamp { return }
        try coordinator.checkSchema(view.model.schema, declaredBy: objectTypes)
        fittingStamp.store(stamp, ordering: .relaxed)
    }

    /// Lets go of the version of an observer that lags too far behind; gives what goes with it, to be released behind the lock.
    private func letGo(
        _ held: inout Holding,
        newest: UInt64
    ) -> (base: Holding.Base?, offer: Pending?, skips: [LeftOutCommit])? {
        guard held.flow.letGo(newest: newest, limit: lagLimit, since: held.lateSince) else { return nil }
        defer {
            (held.base, held.offer, held.silent) = (nil, nil, Holding.Silent())
            held.skips.removeAll { $0.version <= newest }
        }
        return (held.base, held.offer, held.skips)
    }

    /// What a commit means for the observer.
    private enum Verdict {
        /// Nothing; the state afterwards.
        case unconcerned(Subject.State)
        /// There is something to tell, or more work to do than is done here.
        case concerned(Pending?)
    }

    private func verdict(_ base: Holding.Base, _ commit: ObservedCommit) throws -> Verdict {
        let step = commit.step
        if step.changesSchema { try checkSchema(of: commit.new) }
        if !step.changesSchema, let tables = subject.tables(base.state, in: step.old),
            !step.changes.tables.keys.contains(where: { tables.contains($0) })
        {
            return .unconcerned(base.state)
        }
        guard subject.isQuick(base.state, step) else { return .concerned(nil) }
        let (state, pending) = try subject.advanced(base.state, by: commit)
        guard let pending else { return .unconcerned(state) }
        return .concerned(pending)
    }

    /// Leaves the observer to the hub, if it stands there.
    private func follow(_ view: FixedView) -> Bool {
        let state = held.withLock { held -> Subject.State? in
            guard held.isPlain, held.flow.follow(view.version) else { return nil }
            held.base?.view = nil
            return held.base?.state
        }
        guard let state else { return false }
        check = subject.check(state, reusing: check)
        return true
    }

    private func follows(_ view: FixedView) -> CatchUp {
        let state = held.withLock { $0.base?.state }
        return .follows(state.flatMap { subject.tables($0, in: view.model) })
    }

    override var isFollowing: Bool {
        @_specialize(where Subject == CollectionSubject)
        get { held.withLock { $0.flow.isFollowing } }
    }

    override var heldVersion: UInt64? {
        held.withLock { held in
            if case .standing(let version) = held.flow.position, !held.flow.isEnded {
                held.base?.view?.version ?? version
            } else {
                nil
            }
        }
    }

    // MARK: What realms ask

    override func realmMoved() {
        held.withLock { $0.flow.realmMoved() ? $0.takeWaiter() : nil }?.wake()
    }

    override func isBehind(_ version: UInt64) -> Bool {
        let current = hub.currentVersion
        return held.withLock { $0.isBehind(version, current) }
    }

    override func waitUntilTold(of version: UInt64, isolation: isolated (any Actor)? = #isolation) async {
        let number = hub.nextListener()
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let current = hub.currentVersion
                let isDue = held.withLock { held in
                    if Task.isCancelled || !held.isBehind(version, current) { return true }
                    held.listeners.append(
                        Holding.Listener(version: version, number: number, continuation: continuation)
                    )
                    return false
                }
                // Behind that, so that the pass which this asks for finds who waits: one that has just ended tells nobody.
                hub.listenersChanged(by: 1)
                if isDue { continuation.resume() }
            }
        } onCancel: {
            let listener = held.withLock { held -> Holding.Listener? in
                guard let index = held.listeners.firstIndex(where: { $0.number == number }) else { return nil }
                return held.listeners.remove(at: index)
            }
            listener?.continuation.resume()
        }
        hub.listenersChanged(by: -1)
    }

    override func noteFollowing(_ version: UInt64) {
        let listeners = held.withLock { held in
            held.flow.isFollowing ? held.takeListeners(upTo: version) : []
        }
        for listener in listeners { listener.continuation.resume() }
    }

    // MARK: Commits that are left out

    /// Leaves out the changes of a commit that is about to be published.
    ///
    /// Called in the isolation that changes are delivered to, whose realm stands on `version` or a later one from now on.
    func skip(_ commit: LeftOutCommit, standingOn version: UInt64) {
        let (isFollowing, isMuch) = held.withLock { held in
            if held.flow.isEnded { return (false, false) }
            held.skips.append(commit)
            return (held.flow.isFollowing, held.skips.count.isMultiple(of: Holding.skipsInRow))
        }
        if isFollowing { hub.noteLeavingOut(self) }
        if isMuch { gather(upTo: version) }
    }

    /// Takes back that a commit is left out.
    func takeBackSkip(of commit: LeftOutCommit) {
        let before = held.withLock { held in
            defer { held.skips.removeAll { $0 === commit } }
            return held.skips
        }
        withExtendedLifetime(before) {}
    }

    /// The first commit left out of which it must be known what the observer showed then; nil where there is none.
    var shownVersion: UInt64? { held.withLock { $0.silent.first } }
}
