import RealmModel
import RealmStorage

/// What a live realm says to a change that is ready to be delivered with it.
enum ChangeAttempt {
    /// The realm stands on the version that the change leads to.
    case deliver
    /// The realm has moved on by itself, to this version: the change to there is needed instead.
    case retarget(Snapshot)
    /// The realm is in a write transaction, or follows the file only when asked: try again when it moved.
    case wait
    /// The realm was closed.
    case ended
}

extension RealmCore {
    /// Brings the realm to the version of a change, in its isolation.
    ///
    /// `told` is the version up to which the observer knows everything.
    func prepareDelivery(at target: FixedView, after told: UInt64?) throws(StorageError) -> ChangeAttempt {
        guard lifecycle == .open else { return .ended }
        guard !model.isInTransaction else { return .wait }
        try checkCurrentSchema()
        let current = model.snapshot
        if current.version > target.version { return .retarget(current) }
        if current.version < target.version {
            if !autorefresh {
                if let told, current.version <= told { return .wait }
                return .retarget(current)
            }
            try advance(to: target.snapshot, as: target.model)
        }
        // Whoever is told knows this version: no older reference may take the realm back from it.
        isFresh = false
        return .deliver
    }
}
