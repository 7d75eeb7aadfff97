/// Edits of row keys in the order of a sort.
enum SortedKeys {
    /// Removes, moves and adds keys of a sorted array, and says where they were and are.
    ///
    /// Rows that are removed and added again at the same place among the others count as written, not as moved.
    /// - Parameters:
    ///   - keys: the keys before in the order of the old values; afterwards in the order of the new ones.
    ///   - removed: keys to take out, any order; each is in `keys`.
    ///   - moved: keys that stay but whose sort values may have changed, any order; each is in `keys`.
    ///   - added: keys to put in, any order; none is in `keys`.
    ///   - modified: keys to report as written, ascending; those not in `keys` afterwards are left out.
    ///   - oldPrecedes: the sort with the old values, a strict total order; it is asked about keys in `keys`.
    ///   - newPrecedes: the sort with the new values, a strict total order.
    /// - Complexity: O(*m* log *n*) comparisons for *m* edits, and one copy of the keys.
    static func apply<Failure: Error>(
        removed: [Int64],
        moved: [Int64],
        added: [Int64],
        modified: [Int64],
        to keys: inout [Int64],
        oldPrecedes: (Int64, Int64) throws(Failure) -> Bool,
        newPrecedes: (Int64, Int64) throws(Failure) -> Bool
    ) throws(Failure) -> CollectionDelta {
        let old = keys
        let modifiedInPlace = modified.filter { key in
            !AscendingKeys.contains(key, in: moved) && !AscendingKeys.contains(key, in: removed)
        }
        let removedAt = try positions(of: removed, in: old, precedes: oldPrecedes)
        let movedAt = try positions(of: moved, in: old, precedes: oldPrecedes)
        let modifiedAt = try positions(of: modifiedInPlace, in: old, precedes: oldPrecedes)

        let takenOut = (removedAt.map(\.index) + movedAt.map(\.index)).sorted()
        let remaining = KeyEdits.removing(takenOut, from: old)
        let incoming = try mergeSorted(moved + added, precedes: newPrecedes)
        var insertions: [Int] = []
        var lower = 0
        for key in incoming {
            lower = try lowerBound(of: key, in: remaining, from: lower, precedes: newPrecedes)
            insertions.append(lower + insertions.count)
        }
        keys = KeyEdits.inserting(incoming, at: insertions, into: remaining)

        // A moved row whose rank among the rows that stayed is the same did not move, as far as such rows keep order.
        let inPlace = unmoved(movedAt, takenOut, incoming, insertions)
        var delta = CollectionDelta()
        delta.deletions = takenOut.filter { !inPlace.old.contains($0) }
        delta.insertions = insertions.filter { !inPlace.new.contains($0) }
        let modifiedSet = inPlace.old.isEmpty ? [] : Set(modified)
        let stillThere = inPlace.old.filter { modifiedSet.contains(old[$0]) }
        delta.setModifications(oldIndices: (modifiedAt.map(\.index) + stillThere).sorted())
        return delta
    }

    /// The moved rows that are in the same place after all, as old and new indices.
    private static func unmoved(
        _ movedAt: [(key: Int64, index: Int)],
        _ takenOut: [Int],
        _ incoming: [Int64],
        _ insertions: [Int]
    ) -> (old: Set<Int>, new: Set<Int>) {
        guard !movedAt.isEmpty else { return ([], []) }
        var newIndex: [Int64: (index: Int, rank: Int)] = [:]
        for (order, key) in incoming.enumerated() {
            newIndex[key] = (insertions[order], insertions[order] - order)
        }
        var candidates: [(old: Int, new: Int)] = []
        var taken = 0
        for (key, index) in movedAt.sorted(by: { $0.index < $1.index }) {
            while taken < takenOut.count, takenOut[taken] < index { taken += 1 }
            guard let now = newIndex[key], now.rank == index - taken else { continue }
            candidates.append((index, now.index))
        }
        let kept = LongestIncreasingRun.positions(in: candidates.map(\.new)).map { candidates[$0] }
        return (Set(kept.map(\.old)), Set(kept.map(\.new)))
    }

    /// Where keys stand; by binary search, or by one pass when there are many of them.
    private static func positions<Failure: Error>(
        of sought: [Int64],
        in keys: [Int64],
        precedes: (Int64, Int64) throws(Failure) -> Bool
    ) throws(Failure) -> [(key: Int64, index: Int)] {
        guard !sought.isEmpty else { return [] }
        var result: [(key: Int64, index: Int)] = []
        result.reserveCapacity(sought.count)
        if sought.count > 4, sought.count * 32 > keys.count {
            let wanted = Set(sought)
            for (index, key) in keys.enumerated() where wanted.contains(key) { result.append((key, index)) }
        } else {
            for key in sought {
                result.append((key, try lowerBound(of: key, in: keys, from: 0, precedes: precedes)))
            }
        }
        return result
    }

    private static func lowerBound<Failure: Error>(
        of key: Int64,
        in keys: [Int64],
        from start: Int,
        precedes: (Int64, Int64) throws(Failure) -> Bool
    ) throws(Failure) -> Int {
        var low = start
        var high = keys.count
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] != key, try precedes(keys[middle], key) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// A merge sort that lets the comparison throw its own error.
    private static func mergeSorted<Failure: Error>(
        _ keys: [Int64],
        precedes: (Int64, Int64) throws(Failure) -> Bool
    ) throws(Failure) -> [Int64] {
        guard keys.count > 1 else { return keys }
        var source = keys
        var target = keys
        var width = 1
        while width < keys.count {
            var start = 0
            while start < keys.count {
                let middle = min(start + width, keys.count)
                let end = min(start + 2 * width, keys.count)
                var left = start
                var right = middle
                for slot in start..<end {
                    var takesLeft = right >= end
                    if !takesLeft, left < middle { takesLeft = try !precedes(source[right], source[left]) }
                    if takesLeft {
                        target[slot] = source[left]
                        left += 1
                    } else {
                        target[slot] = source[right]
                        right += 1
                    }
                }
                start = end
            }
            swap(&source, &target)
            width *= 2
        }
        return source
    }
}
