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
        var level = changes
        while level.count > 1 {
            var next: [ChangeSet] = []
            next.reserveCapacity((level.count + 1) / 2)
            for index in stride(from: 0, to: level.count, by: 2) {
                var both = level[index]
                if index + 1 < level.count { both.merge(later: level[index + 1]) }
                next.append(both)
            }
            level = next
        }
        return level.first ?? ChangeSet()
    }
}

extension TableChanges {
    /// Adds what a later version changed.
    mutating func merge(later: TableChanges) {
        let dead = later.deleted
        if !dead.isEmpty {
            let before = inserted.count
            let survivors = subtractSorted(inserted, dead)
            let reallyDeleted = before == survivors.count ? dead : subtractSorted(dead, inserted)
            inserted = survivors
            deleted = mergeSorted(deleted, reallyDeleted)
            modified.removeAll { containsSorted(dead, $0.key) }
        }
        if !later.modified.isEmpty {
            var result: [Modification] = []
            result.reserveCapacity(modified.count + later.modified.count)
            var index = 0
            for change in later.modified where !containsSorted(inserted, change.key) {
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
        inserted = mergeSorted(inserted, later.inserted)
    }
}

private func containsSorted(_ keys: [Int64], _ key: Int64) -> Bool {
    let index = keys.partitioningIndex { $0 >= key }
    return index < keys.count && keys[index] == key
}

private func subtractSorted(_ keys: [Int64], _ removed: [Int64]) -> [Int64] {
    guard let first = removed.first, let last = keys.last, first <= last else { return keys }
    var index = 0
    return keys.filter { key in
        while index < removed.count, removed[index] < key { index += 1 }
        return index >= removed.count || removed[index] != key
    }
}

private func mergeSorted(_ a: [Int64], _ b: [Int64]) -> [Int64] {
    guard let lastA = a.last, let firstB = b.first else { return a.isEmpty ? b : a }
    if lastA < firstB { return a + b }
    var result: [Int64] = []
    result.reserveCapacity(a.count + b.count)
    var i = 0
    var j = 0
    while i < a.count && j < b.count {
        if a[i] < b[j] {
            result.append(a[i])
            i += 1
        } else {
            if a[i] == b[j] { i += 1 }
            result.append(b[j])
            j += 1
        }
    }
    result.append(contentsOf: a[i...])
    result.append(contentsOf: b[j...])
    return result
}
