import RealmModel

/// Names are told apart by their bytes, as dictionaries do.
extension EntriesDelta {
    /// One delta for two that follow each other.
    package func merging(_ later: EntriesDelta) -> EntriesDelta {
        let deleted = Set(deletions.map { TextKey($0) })
        let inserted = Set(insertions.map { TextKey($0) })
        let laterDeleted = Set(later.deletions.map { TextKey($0) })
        let laterInserted = Set(later.insertions.map { TextKey($0) })
        var modified = Set(modifications.map { TextKey($0) }).subtracting(laterDeleted)
        modified.formUnion(later.modifications.lazy.map { TextKey($0) }.filter { !inserted.contains($0) })
        modified.formUnion(deleted.intersection(laterInserted))
        var result = EntriesDelta()
        result.deletions = Self.sorted(deleted.subtracting(laterInserted).union(laterDeleted.subtracting(inserted)))
        result.insertions = Self.sorted(inserted.subtracting(laterDeleted).union(laterInserted.subtracting(deleted)))
        result.modifications = Self.sorted(modified)
        return result
    }

    private static func sorted(_ names: Set<TextKey>) -> [String] {
        names.map(\.text).sorted { TextBytes.order($0, $1) < 0 }
    }

    /// What is left to tell when the delta behind this one, `left`, is known: names that it removed are known to be gone, those
    /// that it added to be there.
    package func leavingOut(_ left: EntriesDelta) -> EntriesDelta {
        let gone = Set(left.deletions.map { TextKey($0) })
        let there = Set(left.insertions.map { TextKey($0) })
        var result = self
        result.deletions.removeAll { there.contains(TextKey($0)) }
        result.insertions.removeAll { gone.contains(TextKey($0)) }
        result.modifications.removeAll { gone.contains(TextKey($0)) }
        return result
    }
}
