import RealmQuery

extension RealmCollectionChange {
    /// Where the modified elements are in the collection that the change was delivered with, in the order of
    /// `modifications`, which says where they were before.
    ///
    /// An element whose place in a sorted collection changed is a deletion and an insertion and stands in neither.
    ///
    /// - Complexity: O(deletions + insertions + modifications)
    public var modificationsNew: [Int] {
        guard case .update(_, let deletions, let insertions, let modifications) = self else { return [] }
        var delta = CollectionDelta()
        delta.deletions = deletions
        delta.insertions = insertions
        return delta.newIndices(ofKept: modifications)
    }
}

/// An element of an observed collection that is at another place.
public struct RealmCollectionMove: Hashable, Sendable {
    /// The index in the collection delivered before; one of the change's `deletions`.
    public let from: Int
    /// The index in the collection delivered now; one of the change's `insertions`.
    public let to: Int

    /// Pairs two places.
    public init(from: Int, to: Int) {
        self.from = from
        self.to = to
    }
}

extension RealmCollectionChange where CollectionType: RealmCollection {
    /// The objects that only went to another place: each of them is one of the `deletions` and one of the `insertions`.
    ///
    /// In the order of the insertions. An object that a list holds more than once is paired in order. Values have no
    /// identity, and collections of them no moves. To be asked while the change is handled: when the same collection has
    /// delivered a later change, the moves of earlier ones are forgotten, and none are told.
    ///
    /// - Complexity: O(*m* log *n*) for *m* deletions and insertions in a collection of *n*.
    public var moves: [RealmCollectionMove] {
        guard case .update(let collection, let deletions, let insertions, let modifications) = self,
            let delta = collection._backing?.delivered, delta.deletions.isSame(as: deletions),
            delta.insertions.isSame(as: insertions), delta.modifications == modifications
        else { return [] }
        return delta.moves.map { RealmCollectionMove(from: $0.from, to: $0.to) }
    }
}

extension [Int] {
    /// Whether both are one array, and not only equal: a later change may have the same places.
    fileprivate func isSame(as other: [Int]) -> Bool {
        withUnsafeBufferPointer { one in
            other.withUnsafeBufferPointer { one.baseAddress == $0.baseAddress && one.count == $0.count }
        }
    }
}
