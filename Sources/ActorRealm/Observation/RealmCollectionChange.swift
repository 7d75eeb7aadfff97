/// A change of an observed collection, as `observe` and `changes()` deliver it.
///
/// The indices of one update lead from the collection delivered before to the one delivered now: remove the
/// `deletions` (indices in the old collection), insert the `insertions` (indices in the new one), and reload the
/// `modifications` (indices in the old one). All of them ascend.
@frozen
public enum RealmCollectionChange<CollectionType> {
    /// The first delivery: the collection as it stands.
    case initial(CollectionType)
    /// The collection after one or more committed writes, and how it differs from the one delivered before.
    case update(CollectionType, deletions: [Int], insertions: [Int], modifications: [Int])
    /// Observing came to an end because the file could not be read.
    case error(any Error)
}

extension RealmCollectionChange {
    /// The collection this change was delivered with; nil for an error.
    public var collection: CollectionType? {
        switch self {
        case .initial(let collection), .update(let collection, _, _, _): collection
        case .error: nil
        }
    }
}

@available(
    *,
    unavailable,
    message: "A change holds what belongs to its observer's isolation. Send frozen values, or what you read from it."
)
extension RealmCollectionChange: Sendable {}
