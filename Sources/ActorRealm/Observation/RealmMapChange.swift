/// A change of an observed map, as `observe` and `changes()` deliver it.
///
/// The names of one update lead from the map delivered before to the one delivered now.
@frozen
public enum RealmMapChange<Collection: RealmKeyedCollection> {
    /// The first delivery: the map as it stands.
    case initial(Collection)
    /// The map after one or more committed writes: the names that went, that came, and whose values changed.
    case update(
        Collection,
        deletions: [Collection.Key],
        insertions: [Collection.Key],
        modifications: [Collection.Key]
    )
    /// Observing came to an end because the file could not be read.
    case error(any Error)
}

@available(
    *,
    unavailable,
    message: "A change holds what belongs to its observer's isolation. Send frozen values, or what you read from it."
)
extension RealmMapChange: Sendable {}

extension RealmMapChange {
    /// The map this change was delivered with; nil for an error.
    public var collection: Collection? {
        switch self {
        case .initial(let collection), .update(let collection, _, _, _): collection
        case .error: nil
        }
    }
}
