import RealmModel
import RealmQuery

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
    var collections: [CollectionKey: (CollectionSubject.State, CollectionDelta?)] = [:]

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

/// A probe and the model view that it belongs to.
final class WalkerProbe {
    let walker: ModelView
    /// Nil where there is nothing to be probed with.
    let probe: ChangeProbe?

    init(_ keys: ObservedKeys, _ walker: ModelView) throws {
        self.walker = walker
        probe = try ChangeProbe(keys, in: walker)
    }

    func isConcerned(_ keys: ObservedKeys, by commit: ObservedCommit) throws -> Bool {
        try probe?.isConcerned(keys, by: commit.step, commit.rows) ?? true
    }
}
