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
