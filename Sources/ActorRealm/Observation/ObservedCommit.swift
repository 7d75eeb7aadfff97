import RealmModel
import RealmQuery
import RealmStorage

/// One or more commits as the hub takes its observers over them.
///
/// It belongs to the thread that does.
final class ObservedCommit {
    let old: FixedView
    let new: FixedView
    let step: ChangeStep
    private let makeWalker: () throws -> ModelView
    private var knownWalker: ModelView?
    /// The rows of the step, for all probes.
    let rows = ProbedRows()
    /// The collections that were taken over the commit already.
    var collections: [CollectionKey: Advanced] = [:]
    /// The same by the identity of their descriptions, for those that share one; the state before keeps the description, so that no
    /// other one gets its identity.
    var identified: [ObjectIdentifier: (before: CollectionSubject.State, advanced: Advanced)] = [:]

    /// A collection behind the commit, and the change that is told to all who observe it.
    typealias Advanced = (CollectionSubject.State, ChangeHolding<CollectionSubject>.Pending?)

    init(from old: FixedView, to new: FixedView, _ step: ChangeStep, walker: @escaping () throws -> ModelView) {
        self.old = old
        self.new = new
        self.step = step
        makeWalker = walker
    }

    /// A model view that stands on the new version, and moves on to later ones with the probes made for it.
    var walker: ModelView {
        get throws {
            if let knownWalker { return knownWalker }
            let walker = try makeWalker()
            knownWalker = walker
            return walker
        }
    }
}

/// Tells with little work that a commit does not concern an observer that the hub looks after.
///
/// An abstract class, not a protocol or a generic one: the hub asks thousands of them for each commit. It belongs to
/// whoever processes.
class FollowerCheck {
    /// Which rows alone can concern the observer; nil for all.
    var watch: RowWatch? { nil }

    /// Whether the commit may concern the observer.
    func isConcerned(by commit: ObservedCommit) throws -> Bool { mustOverride() }
}

/// Asks the query of a collection about the rows of a commit, or only whether there are any where its rows lie.
final class CollectionCheck: FollowerCheck {
    private let keys: ObservedKeys
    private let order: ObservedOrder
    private var probe: ChangeProbe?

    /// Makes a check; nil for a collection of which nothing is known about single rows.
    init?(_ keys: ObservedKeys, reusing other: CollectionCheck?) {
        guard keys.canBeProbed || keys.watch != nil, let order = keys.order else { return nil }
        self.keys = keys
        self.order = order
        if let other, other.keys.sharesProbe(with: keys) { probe = other.probe }
    }

    override var watch: RowWatch? { keys.watch }

    override func isConcerned(by commit: ObservedCommit) throws -> Bool {
        // Another one who observes the same was found to be concerned.
        if commit.identified[keys.identity] != nil { return true }
        guard keys.canBeProbed else { return try keys.mayBeConcerned(by: commit.step) }
        let walker = try commit.walker
        if probe?.model !== walker { probe = try ChangeProbe(keys, in: walker) }
        return try probe?.isConcerned(order, by: commit.step, commit.rows) ?? true
    }
}

/// Looks for the owner of values, and for what they link to, among the objects of a commit.
final class ValuesCheck: FollowerCheck {
    private let values: ObservedValues

    init(_ values: ObservedValues) {
        self.values = values
    }

    override func isConcerned(by commit: ObservedCommit) throws -> Bool {
        try values.mayBeConcerned(by: commit.step)
    }
}

/// Looks for one object among those of a commit.
final class ObjectCheck: FollowerCheck {
    private let table: UInt32
    private let key: Int64

    init(table: UInt32, key: Int64) {
        self.table = table
        self.key = key
    }

    override func isConcerned(by commit: ObservedCommit) throws -> Bool {
        guard !commit.step.changesSchema else { return true }
        guard let changes = commit.step.changes.tables[table] else { return false }
        return changes.columns(of: key) != nil || changes.deleted.contains(key)
    }
}
