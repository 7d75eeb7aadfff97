import RealmModel
import RealmStorage

/// What a ``ChangeCursor`` holds while it stands where it does: what goes with the states of its ``ChangeFlow``.
struct ChangeHolding<Subject: ChangeSubject>: Sendable {
    /// A change ready to be delivered by a realm that stands on `target`.
    ///
    /// A class, so that it takes a word in the frames of those who wait for it, of which there may be many thousands.
    final class Pending: Sendable {
        let target: FixedView
        let state: Subject.State
        /// What changed since the version delivered last; nil for the initial state.
        let delta: Subject.Delta?
        /// The version before, where that is the last one in which what is observed exists.
        let last: FixedView?
        /// What the observer shows by its own doing since it was told last.
        let silent: Silent

        init(
            target: FixedView,
            state: Subject.State,
            delta: Subject.Delta?,
            last: FixedView? = nil,
            silent: Silent = Silent()
        ) {
            self.target = target
            self.state = state
            self.delta = delta
            self.last = last
            self.silent = silent
        }

        /// The same for an observer that shows something by its own doing before that.
        func showing(_ earlier: Silent) -> Pending {
            if earlier.isEmpty { return self }
            var all = earlier
            all.append(silent)
            return Pending(target: target, state: state, delta: delta, last: last, silent: all)
        }
    }

    /// What an observer shows that it was not told of: the commits left out since it was told last.
    struct Silent: Sendable {
        /// One of them that came upon changes of others which the observer had not been told of.
        struct Part: Sendable {
            let version: UInt64
            /// What had not been told.
            let untold: Subject.Delta
            /// What is left out.
            let left: Subject.Delta
        }

        /// The version that the observer shows entirely; nil for what it was told last.
        var whole: UInt64?
        /// What it shows beyond that, in order.
        var parts: [Part] = []

        var isEmpty: Bool { whole == nil && parts.isEmpty }

        /// The first version of which must be known what was shown; nil where there is none.
        var first: UInt64? { whole ?? parts.first?.version }

        /// Adds what the observer shows by commits left out behind these.
        mutating func append(_ later: Silent) {
            if later.whole != nil { self = later } else { parts += later.parts }
        }
    }

    /// What was told last, or what a change begins with.
    struct Base: Sendable {
        /// Nil while the hub looks after the observer.
        var view: FixedView?
        var state: Subject.State
        /// What others did up to there and is to be told, where that was gathered over commits that are left out.
        var untold: Untold?
    }

    /// What is to be told and was gathered: apart from what refers to it, because few observers ever have it.
    final class Untold: Sendable {
        let delta: Subject.Delta

        init(_ delta: Subject.Delta) {
            self.delta = delta
        }
    }

    /// What computing came to.
    enum Computed {
        /// A change, and where it begins if commits were left out before it.
        case tell(Pending, from: Base? = nil)
        /// There is nothing to tell up to there, and this is what was left out on the way.
        case pass(Base, UInt64, Silent = Silent())
    }

    /// Who waits for a change.
    enum Waiter: Sendable {
        case task(UnsafeContinuation<Void, Never>)
        case block(@Sendable () -> Void)

        /// Lets it ask again.
        func wake() {
            switch self {
            case .task(let continuation): continuation.resume()
            case .block(let block): block()
            }
        }
    }

    /// Somebody who waits until the observer knows a version.
    struct Listener: Sendable {
        let version: UInt64
        let number: UInt64
        let continuation: UnsafeContinuation<Void, Never>
    }

    /// After so many commits that are left out and not passed, what is told is gathered over them, so that few versions are held.
    static var skipsInRow: Int { 8 }

    var flow = ChangeFlow()
    /// What was told last; nil when nothing was, or it was let go of.
    var base: Base?
    var offer: Pending?
    /// The version up to which was looked when it was found that there is something to tell, for when somebody asks or for who
    /// waits; nil while none is known.
    var lateSince: UInt64?
    /// Up to where there was nothing to tell whoever waits; the hub sees to what is committed later.
    var passed: UInt64?
    /// The newest version when somebody asked: what was committed up to there is in the answer.
    var asked: UInt64 = 0
    var failure: (any Error)?
    var waiter: Waiter?
    /// Commits of the observer's own that it does not want to hear of, in order.
    var skips: [LeftOutCommit] = []
    /// What the observer shows by commits left out up to its base, and was not told of since.
    var silent = Silent()
    var listeners: [Listener] = []

    /// Whether nothing is left out, and nothing untold, behind the base.
    var isPlain: Bool { skips.isEmpty && base?.untold == nil }

    mutating func takeWaiter() -> Waiter? {
        defer { waiter = nil }
        return waiter
    }

    /// Ends what was computed for somebody who waits, with a change to be fetched or with the request to compute it.
    ///
    /// - Returns: who is to be woken.
    mutating func settle(_ pending: Pending?) -> Waiter? {
        passed = nil
        if let pending, pending.target.version >= asked {
            put(pending)
        } else {
            flow.handBack()
        }
        return takeWaiter()
    }

    /// Offers a change.
    mutating func put(_ pending: Pending) {
        flow.offer(pending.target.version)
        offer = pending
        // Whoever was told nothing of it until now has not lagged.
        lateSince = lateSince ?? pending.target.version
    }

    /// Notes that somebody begins to ask, and whether what was committed already is left to the hub.
    mutating func beginAsking(_ newest: UInt64, isLeft: Bool) {
        asked = newest
        passed = nil
        if isLeft, case .standing(let version) = flow.position { passed = version }
    }

    /// Takes the observer out of the hub's hands where that stands, or is about to: what it knows there; nil when the hub does
    /// not look after it there.
    mutating func takeFromHub(at view: FixedView) -> Base? {
        guard flow.leaveHub(at: view.version) else { return nil }
        base?.view = view
        return base
    }

    /// The newest version that an observer takes into account who asks or waits.
    func newestAsked(_ newest: UInt64) -> UInt64 { passed.map { min($0, newest) } ?? newest }

    mutating func takeListeners(upTo version: UInt64) -> [Listener] {
        if listeners.isEmpty { return [] }
        let taken = listeners.filter { $0.version <= version }
        listeners.removeAll { $0.version <= version }
        return taken
    }

    /// Whether the observer may still have something to hear of up to a version; the hub stands on `current`.
    func isBehind(_ version: UInt64, _ current: UInt64?) -> Bool {
        if flow.isEnded { return false }
        switch flow.position {
        case .fresh, .overdue: return true
        case .standing(let told): return told < version
        case .following(let since): return max(since, current ?? 0) < version
        }
    }
}
