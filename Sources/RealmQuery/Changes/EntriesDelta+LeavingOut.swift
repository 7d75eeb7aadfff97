extension EntriesDelta {
    /// One delta for two that follow each other.
    package func merging(_ later: EntriesDelta) -> EntriesDelta {
        let deleted = Set(deletions)
        let inserted = Set(insertions)
        let laterDeleted = Set(later.deletions)
        let laterInserted = Set(later.insertions)
        var result = EntriesDelta()
        result.deletions = deletions.filter { !laterInserted.contains($0) }
        result.deletions += later.deletions.filter { !inserted.contains($0) }
        result.insertions = insertions.filter { !laterDeleted.contains($0) }
        result.insertions += later.insertions.filter { !deleted.contains($0) }
        var modified = Set(modifications).subtracting(laterDeleted)
        modified.formUnion(later.modifications.filter { !inserted.contains($0) })
        modified.formUnion(deleted.intersection(laterInserted))
        result.deletions.sort()
        result.insertions.sort()
        result.modifications = modified.sorted()
        return result
    }

    /// What is left to tell when the delta behind this one, `left`, is known: names that it removed are known to be gone, those
    /// that it added to be there.
    package func leavingOut(_ left: EntriesDelta) -> EntriesDelta {
        let gone = Set(left.deletions)
        let there = Set(left.insertions)
        var result = self
        result.deletions.removeAll { there.contains($0) }
        result.insertions.removeAll { gone.contains($0) }
        result.modifications.removeAll { gone.contains($0) }
        return result
    }
}
