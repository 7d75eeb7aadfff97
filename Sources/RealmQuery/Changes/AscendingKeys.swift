/// Edits of row keys in ascending order, which is the order of unsorted results.
enum AscendingKeys {
    /// Removes and adds keys, and says where they were and are.
    ///
    /// All arguments ascend: the keys before, which become the keys now; `removed`, each of them in `keys`; `added`,
    /// none of them in `keys`; and `modified`, to be reported as written, each in `keys` and not removed.
    ///
    /// - Complexity: O(*m* log *n*) for *m* edits, and one copy of the keys when any is removed or added.
    static func apply(
        removed: [Int64],
        added: [Int64],
        modified: [Int64],
        to keys: inout [Int64]
    ) -> CollectionDelta {
        var delta = CollectionDelta()
        delta.deletions = positions(of: removed, in: keys)
        if !removed.isEmpty || !added.isEmpty {
            let old = keys
            keys = KeyEdits.result(of: old, deletions: delta.deletions) { remaining in
                // The n-th added key stands behind the remaining keys below it and the n added ones before it.
                var insertions: [Int] = []
                insertions.reserveCapacity(added.count)
                var lower = 0
                for key in added {
                    lower = lowerBound(of: key, in: remaining, from: lower)
                    insertions.append(lower + insertions.count)
                }
                delta.insertions = insertions
                return (insertions, added)
            }
            delta.setModifications(oldIndices: positions(of: modified, in: old))
        } else {
            delta.setModifications(oldIndices: positions(of: modified, in: keys))
        }
        return delta
    }

    /// The index of the first key that is not below `key`; gallops from `start`, so ascending look-ups stay cheap.
    static func lowerBound(of key: Int64, in keys: [Int64], from start: Int = 0) -> Int {
        var low = start
        var step = 1
        while low + step <= keys.count, keys[low + step - 1] < key {
            low += step
            step *= 2
        }
        var high = min(low + step, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Whether an ascending array holds a key.
    static func contains(_ key: Int64, in keys: [Int64]) -> Bool {
        let index = lowerBound(of: key, in: keys)
        return index < keys.count && keys[index] == key
    }

    /// Both, ascending and each once; the arguments need not ascend.
    static func union(_ first: [Int64], _ second: [Int64]) -> [Int64] {
        var result = first + second
        if zip(result, result.dropFirst()).allSatisfy({ $0 < $1 }) { return result }
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

    private static func positions(of sought: [Int64], in keys: [Int64]) -> [Int] {
        var result: [Int] = []
        result.reserveCapacity(sought.count)
        var lower = 0
        for key in sought {
            lower = lowerBound(of: key, in: keys, from: lower)
            result.append(lower)
        }
        return result
    }
}
