extension ChangeSet {
    /// Adds what a later version changed, keeping the result net: a key that came and went is in no list, and an
    /// inserted key is never among the modified ones.
    package mutating func merge(later: ChangeSet) {
        for (id, changes) in later.tables {
            guard var mine = tables[id] else {
                tables[id] = changes
                continue
            }
            mine.merge(later: changes)
            tables[id] = mine.isEmpty ? nil : mine
        }
    }

    /// What versions that follow each other changed together.
    ///
    /// - Complexity: O(*n* log *m*) for *n* changes in *m* versions.
    static func merged(_ changes: [ChangeSet]) -> ChangeSet {
        changes.mergedInPairs { $0.merge(later: $1) } ?? ChangeSet()
    }
}

extension TableChanges {
    /// Adds what a later version changed.
    mutating func merge(later: TableChanges) {
        let dead = later.deleted
        if !dead.isEmpty {
            let before = inserted.count
            let survivors = inserted.subtracting(dead)
            let reallyDeleted = before == survivors.count ? dead : dead.subtracting(inserted)
            inserted = survivors
            deleted = deleted.union(reallyDeleted)
            modified.removeAll { dead.contains($0.key) }
        }
        if !later.modified.isEmpty {
            var result: [Modification] = []
            result.reserveCapacity(modified.count + later.modified.count)
            var index = 0
            for change in later.modified where !inserted.contains(change.key) {
                while index < modified.count, modified[index].key < change.key {
                    result.append(modified[index])
                    index += 1
                }
                if index < modified.count, modified[index].key == change.key {
                    var both = modified[index]
                    both.columns.formUnion(change.columns)
                    result.append(both)
                    index += 1
                } else {
                    result.append(change)
                }
            }
            result.append(contentsOf: modified[index...])
            modified = result
        }
        inserted = inserted.union(later.inserted)
    }
}
