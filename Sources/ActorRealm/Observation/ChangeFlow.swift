/// The life of one observer as a state machine: where it stands, and what is under way for it.
///
/// Pure: it knows the numbers of versions and decides; whoever holds it computes, delivers and waits.
struct ChangeFlow: Equatable, Sendable {
    /// Up to where the observer knows everything.
    enum Position: Equatable, Sendable {
        /// It was told nothing yet.
        case fresh
        /// Up to the version where the hub stands, which sees to it; it holds no version of its own.
        ///
        /// During a pass the hub hands over observers at the version to which it leads, and stands there when it ends: until
        /// then they know more than it does, which is what `since` tells.
        case following(since: UInt64)
        /// Up to this version, which it holds.
        case standing(UInt64)
        /// It stood too far behind, let go of its version, and begins anew.
        case overdue
    }

    /// What is under way.
    enum Work: Equatable, Sendable {
        /// Nobody asks for a change: what was delivered last is being worked on.
        case resting
        /// Somebody waits for a change; `refused` is the version that its realm would not be moved to.
        case waiting(refused: UInt64?)
        /// A change is being computed for somebody who waits.
        case computing
        /// A change to this version waits to be fetched.
        case offering(UInt64)
        /// A change to this version was fetched.
        case delivering(UInt64)
    }

    /// What whoever asks for a change is to do.
    enum Answer: Equatable, Sendable {
        /// Compute it.
        case compute
        /// Fetch the one that is there.
        case fetch
        /// Wait.
        case wait
        /// Stop.
        case end
    }

    private(set) var position: Position
    private(set) var work = Work.resting
    private(set) var isEnded = false
    /// The number of the computation that was begun last: what an earlier one comes to is void.
    private(set) var computation: UInt64 = 0

    /// An observer that is to be told what there is.
    init() {
        position = .fresh
    }

    /// An observer that knows what there is at a version.
    init(knowing version: UInt64) {
        position = .standing(version)
    }

    /// Whether the hub sees to it.
    var isFollowing: Bool {
        if case .following = position { !isEnded } else { false }
    }

    /// Whether everything up to a version was told, or needs no telling.
    func knows(_ version: UInt64) -> Bool {
        switch position {
        case .fresh, .overdue: false
        case .standing(let known), .following(since: let known): known >= version
        }
    }

    /// Whether a computation is the one that is waited for.
    func isComputing(_ number: UInt64) -> Bool { !isEnded && work == .computing && computation == number }

    private mutating func beginComputing() {
        computation &+= 1
        work = .computing
    }

    // MARK: The observer

    /// Asks for a change, given the newest version.
    mutating func ask(newest: UInt64) -> Answer {
        let answer = answer(newest: newest)
        switch answer {
        case .compute: beginComputing()
        case .wait: if work == .resting { work = .waiting(refused: nil) }
        case .fetch, .end: break
        }
        return answer
    }

    /// What asking would bring.
    func answer(newest: UInt64) -> Answer {
        if isEnded { return .end }
        switch work {
        case .computing, .delivering: return .wait
        case .offering: return .fetch
        case .waiting(let refused?) where newest <= refused: return .wait
        case .resting, .waiting:
            switch position {
            case .fresh, .overdue: return .compute
            case .following: return .wait
            case .standing(let version): return newest > version ? .compute : .wait
            }
        }
    }

    /// Fetches the change that is offered; false when there is none any more.
    mutating func fetch() -> Bool {
        guard !isEnded, case .offering(let version) = work else { return false }
        work = .delivering(version)
        return true
    }

    /// The change was delivered.
    mutating func accept() {
        guard case .delivering(let version) = work else { return }
        position = .standing(version)
        work = .resting
    }

    /// The observer's realm would not be moved to the version of the change.
    mutating func refuse() {
        guard case .delivering(let version) = work else { return }
        work = .waiting(refused: version)
    }

    /// The observer's realm stands elsewhere: the change has to lead there; false when nothing is being delivered any more.
    @discardableResult
    mutating func retarget() -> Bool {
        guard !isEnded, case .delivering = work else { return false }
        beginComputing()
        return true
    }

    /// The observer is told of everything up to a version where its realm stands on it, whatever is under way for it.
    ///
    /// That is void then: a change that is being computed, is offered or was fetched. Who waited waits on, and who was on the
    /// way to the observer finds nothing there and asks again.
    ///
    /// - Returns: false when it knows that version, or ended.
    mutating func tell(upTo version: UInt64) -> Bool {
        guard !isEnded, !knows(version) else { return false }
        position = .standing(version)
        if work != .resting {
            computation &+= 1
            work = .waiting(refused: nil)
        }
        return true
    }

    /// Whether where the observer's changes begin may be moved.
    var canGather: Bool {
        if isEnded { return false }
        guard case .standing = position else { return false }
        if case .delivering = work { return false }
        return true
    }

    /// Where the observer's changes begin has moved: what is under way for it is void, and who waited waits on.
    mutating func recompute() {
        if work == .resting { return }
        computation &+= 1
        work = .waiting(refused: nil)
    }

    /// The observer's realm moved, so that what it refused may be welcome now; true when somebody is to be woken.
    mutating func realmMoved() -> Bool {
        guard case .waiting(_?) = work else { return false }
        work = .waiting(refused: nil)
        return true
    }

    /// Ends it all; true for the first time.
    mutating func end() -> Bool {
        defer { isEnded = true }
        return !isEnded
    }

    /// Takes an observer that the hub looks after out of its hands, at the version where the hub stands.
    ///
    /// - Returns: false when the hub does not look after it, or has not come to where the observer is.
    mutating func leaveHub(at version: UInt64) -> Bool {
        guard !isEnded, case .following(let since) = position, since <= version else { return false }
        position = .standing(version)
        return true
    }

    // MARK: Computing

    /// The change that was computed leads to a version.
    mutating func offer(_ version: UInt64) {
        guard work == .computing else { return }
        work = .offering(version)
    }

    /// There is nothing to tell up to a version.
    mutating func pass(_ version: UInt64) {
        guard work == .computing else { return }
        position = .standing(version)
        work = .waiting(refused: nil)
    }

    /// Whoever began to compute leaves it to whoever waits.
    mutating func handBack() {
        guard work == .computing else { return }
        work = .waiting(refused: nil)
    }

    // MARK: The hub

    /// Leaves an observer that stands where the hub does to the hub; false when it does not, or is busy.
    mutating func follow(_ version: UInt64) -> Bool {
        guard !isEnded, position == .standing(version) else { return false }
        switch work {
        case .resting, .waiting(nil): position = .following(since: version)
        case .waiting, .computing, .offering, .delivering: return false
        }
        return true
    }

    /// The hub looked at an observer in a pass to this version, and goes on looking after it; false when it does not.
    mutating func keepFollowing(to version: UInt64) -> Bool {
        guard isFollowing else { return false }
        position = .following(since: version)
        return true
    }

    /// A commit after this version concerns an observer that the hub looked after: it stands there now.
    ///
    /// - Returns: whether somebody waits for the change, which is to be computed.
    mutating func fallBehind(at version: UInt64) -> Bool {
        guard isFollowing else { return false }
        position = .standing(version)
        guard case .waiting = work else { return false }
        beginComputing()
        return true
    }

    /// Nothing that concerns the observer was committed from the version where it stands to another one.
    ///
    /// - Returns: false when it does not stand there any more, or is busy.
    mutating func slide(from version: UInt64, to newer: UInt64) -> Bool {
        guard !isEnded, position == .standing(version) else { return false }
        switch work {
        case .resting, .waiting(nil): position = .standing(newer)
        case .waiting, .computing, .offering, .delivering: return false
        }
        return true
    }

    /// Begins to compute the change to a version for somebody who waits; false when nobody does, or knows it.
    mutating func catchUp(to newest: UInt64) -> Bool {
        guard case .waiting = work, case .standing = position, answer(newest: newest) == .compute else { return false }
        beginComputing()
        return true
    }

    /// Lets go of the version of an observer that has not asked for more than `limit` versions.
    ///
    /// What was offered and not fetched goes with it. An observer that waits is not late, unless its realm is.
    ///
    /// - Parameters:
    ///   - newest: The newest version.
    ///   - limit: How many versions it may stay behind.
    ///   - known: The version up to which the hub looked when it found that there is something to tell, where it did.
    /// - Returns: Whether it is let go of now.
    mutating func letGo(newest: UInt64, limit: UInt64, since known: UInt64? = nil) -> Bool {
        guard !isEnded, case .standing(let version) = position else { return false }
        let start = max(version, known ?? 0)
        guard newest > start, newest - start > limit else { return false }
        switch work {
        case .resting, .waiting(_?): break
        case .offering: work = .resting
        case .waiting(nil), .computing, .delivering: return false
        }
        position = .overdue
        return true
    }
}
