/// Edits of row keys in ascending order, which is the order of unsorted results.
enum AscendingKeys {
    /// Removes and adds keys, and says where they were and are.
    ///
    /// All arguments ascend: the keys before, which become the keys now; `removed`, each of them in `keys`; `added`,
    /// none of them in `keys`; and `modified`, to be reported as written, each in `keys` and not removed.
    ///
    /// - Complexity: O(*m* log *n*) for *m* edits.
    static func apply(
        removed: [Int64],
        added: [Int64],
        modified: [Int64],
        to keys: inout KeyOrder
    ) -> CollectionDelta {
        var delta = CollectionDelta()
        delta.deletions = removed.map { keys.rank(of: $0) }
        // The n-th added key stands behind the remaining keys below it and the n added ones before it.
        var insertions: [KeyOrder.Insertion] = []
        insertions.reserveCapacity(added.count)
        var removedBelow = 0
        for key in added {
            while removedBelow < removed.count, removed[removedBelow] < key { removedBelow += 1 }
            insertions.append(KeyOrder.Insertion(rank: keys.rank(of: key) - removedBelow, key: key))
        }
        delta.insertions = insertions.enumerated().map { $1.rank + $0 }
        delta.setModifications(oldIndices: modified.map { keys.rank(of: $0) })
        keys.edit(removing: delta.deletions, inserting: insertions)
        return delta
    }

    /// Whether an ascending array holds a key.
    static func contains(_ key: Int64, in keys: [Int64]) -> Bool {
        let index = keys.partitioningIndex { $0 >= key }
        return index < keys.count && keys[index] == key
    }

    /// Both, ascending and each once; the arguments need not ascend.
    static func union(_ first: [Int64], _ second: some Sequence<Int64>) -> [Int64] {
        var result = first
        result += second
        var ascends = true
        for index in 1..<max(1, result.count) where result[index - 1] >= result[index] {
            ascends = false
            break
        }
        if ascends { return result }
        result.sort()
        var count = 0
        for key in result where count == 0 || result[count - 1] != key {
            result[count] = key
            count += 1
        }
        result.removeLast(result.count - count)
        return result
    }

    /// Which keys are only in the old array, and which only in the new one.
    static func compare(_ old: [Int64], _ new: [Int64], removed: inout [Int64], added: inout [Int64]) {
        var left = 0
        var right = 0
        while left < old.count || right < new.count {
            if right == new.count || (left < old.count && old[left] < new[right]) {
                removed.append(old[left])
                left += 1
            } else if left == old.count || new[right] < old[left] {
                added.append(new[right])
                right += 1
            } else {
                left += 1
                right += 1
            }
        }
    }
}
