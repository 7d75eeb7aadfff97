/// Edits of row keys in the order of a sort.
enum SortedKeys {
    /// Removes, moves and adds keys of a sorted order, and says where they were and are.
    ///
    /// Rows that are moved to the place among the others that they had count as written, not as moved.
    /// `keys` are in the order of the old values, and afterwards in that of the new ones. `removed`, `moved` (those that
    /// stay but whose sort values may have changed) and `modified` (to be reported as written, none of them removed) are
    /// indices in any order; `added` are new keys in any order. `precedes` is the sort with the new values, a strict
    /// total order.
    ///
    /// - Complexity: O(*m* log *n*) comparisons for *m* edits.
    static func apply<Failure: Error>(
        removed: [Int],
        moved: [Int],
        added: [Int64],
        modified: [Int],
        to keys: inout KeyOrder,
        precedes: (Int64, Int64) throws(Failure) -> Bool
    ) throws(Failure) -> CollectionDelta {
        var delta = CollectionDelta()
        guard !(removed.isEmpty && moved.isEmpty && added.isEmpty) else {
            delta.setModifications(oldIndices: modified.sorted())
            return delta
        }
        let takenOut = (removed + moved).sorted()
        let movedKeys = moved.map { keys[$0] }
        keys.edit(removing: takenOut)
        let incoming = try mergeSorted(movedKeys + added, precedes: precedes)
        var edits: [KeyOrder.Insertion] = []
        edits.reserveCapacity(incoming.count)
        for key in incoming {
            edits.append(KeyOrder.Insertion(rank: try keys.rank(of: key, precedes: precedes), key: key))
        }
        keys.edit(inserting: edits)

        let insertions = edits.enumerated().map { $1.rank + $0 }
        let inPlace = unmoved(moved, movedKeys, takenOut, edits)
        let reported = Set(moved).subtracting(inPlace.old)
        delta.deletions = takenOut.filter { !inPlace.old.contains($0) }
        delta.insertions = insertions.filter { !inPlace.new.contains($0) }
        delta.setModifications(oldIndices: modified.filter { !reported.contains($0) }.sorted())
        return delta
    }

    /// The moved rows that are in the same place after all, as old and new indices: those with the same rank among the
    /// rows that stayed, as far as they keep their order.
    private static func unmoved(
        _ moved: [Int],
        _ movedKeys: [Int64],
        _ takenOut: [Int],
        _ edits: [KeyOrder.Insertion]
    ) -> (old: Set<Int>, new: Set<Int>) {
        guard !moved.isEmpty else { return ([], []) }
        var places: [Int64: (index: Int, rank: Int)] = [:]
        for (order, edit) in edits.enumerated() { places[edit.key] = (edit.rank + order, edit.rank) }
        var candidates: [(old: Int, new: Int)] = []
        var taken = 0
        for (index, key) in zip(moved, movedKeys).sorted(by: { $0.0 < $1.0 }) {
            while taken < takenOut.count, takenOut[taken] < index { taken += 1 }
            guard let place = places[key], place.rank == index - taken else { continue }
            candidates.append((index, place.index))
        }
        let kept = LongestIncreasingRun.positions(in: candidates.map(\.new)).map { candidates[$0] }
        return (Set(kept.map(\.old)), Set(kept.map(\.new)))
    }

    /// Where keys stand in a sorted order, for those that are in it; by binary search, or in one pass when there are many.
    ///
    /// `precedes` is the sort with the values by which the keys are ordered. It is asked about every sought key.
    static func positions<Failure: Error>(
        of sought: [Int64],
        in keys: KeyOrder,
        precedes: (Int64, Int64) throws(Failure) -> Bool
    ) throws(Failure) -> [Int64: Int] {
        guard !sought.isEmpty else { return [:] }
        var result: [Int64: Int] = [:]
        if sought.count > 4, sought.count * 32 > keys.count {
            let wanted = Set(sought)
            for (index, key) in keys.array().enumerated() where wanted.contains(key) { result[key] = index }
        } else {
            let count = keys.count
            for key in sought {
                let index = try keys.rank(of: key, precedes: precedes)
                if index < count, keys[index] == key { result[key] = index }
            }
        }
        return result
    }

    /// A merge sort that lets the comparison throw its own error.
    static func mergeSorted<Failure: Error>(
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
