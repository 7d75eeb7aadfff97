/// The difference of two sequences that are both at hand: contents of lists, and whole query results after bulk changes.
package enum SequenceDiff {
    /// More edits than this are not searched for a minimal script.
    static let searchedEdits = 96

    /// The difference from `old` to `new`: common ends are skipped, a short edit script is found exactly, a long one by
    /// keeping the longest run of elements that did not change places.
    ///
    /// With `pairsReplacements`, a run of elements replaced by a run of the same length is reported as modifications.
    ///
    /// - Complexity: O(*n* + *d*²) for *d* edits, at most O(*n* log *n*).
    package static func delta<Element: Hashable>(
        from old: [Element],
        to new: [Element],
        pairsReplacements: Bool
    ) -> CollectionDelta {
        var prefix = 0
        let shorter = min(old.count, new.count)
        while prefix < shorter, old[prefix] == new[prefix] { prefix += 1 }
        var suffix = 0
        while suffix < shorter - prefix, old[old.count - 1 - suffix] == new[new.count - 1 - suffix] { suffix += 1 }

        let oldEnd = old.count - suffix
        let newEnd = new.count - suffix
        var delta = CollectionDelta()
        if prefix == oldEnd || prefix == newEnd {
            delta.deletions = Array(prefix..<oldEnd)
            delta.insertions = Array(prefix..<newEnd)
            return delta
        }
        let kept =
            shortestScript(old, prefix..<oldEnd, new, prefix..<newEnd)
            ?? longestUnmoved(old, prefix..<oldEnd, new, prefix..<newEnd)
        gaps(between: kept, old: prefix..<oldEnd, new: prefix..<newEnd, pairsReplacements, into: &delta)
        return delta
    }

    /// Turns the pairs of kept elements into deletions, insertions and replacements.
    private static func gaps(
        between kept: [(old: Int, new: Int)],
        old: Range<Int>,
        new: Range<Int>,
        _ pairsReplacements: Bool,
        into delta: inout CollectionDelta
    ) {
        var oldIndex = old.lowerBound
        var newIndex = new.lowerBound
        for index in 0...kept.count {
            let end = index < kept.count ? kept[index] : (old: old.upperBound, new: new.upperBound)
            if pairsReplacements, end.old - oldIndex == end.new - newIndex {
                delta.modifications.append(contentsOf: oldIndex..<end.old)
                delta.modificationsInNew.append(contentsOf: newIndex..<end.new)
            } else {
                delta.deletions.append(contentsOf: oldIndex..<end.old)
                delta.insertions.append(contentsOf: newIndex..<end.new)
            }
            oldIndex = end.old + 1
            newIndex = end.new + 1
        }
    }

    /// The kept pairs of a shortest edit script (Myers), or nil when it has more than `searchedEdits` edits.
    private static func shortestScript<Element: Hashable>(
        _ old: [Element],
        _ oldRange: Range<Int>,
        _ new: [Element],
        _ newRange: Range<Int>
    ) -> [(old: Int, new: Int)]? {
        let oldCount = oldRange.count
        let newCount = newRange.count
        let bound = min(searchedEdits, oldCount + newCount)
        if abs(oldCount - newCount) > bound { return nil }
        // furthest[k + bound + 1] is the furthest old index reached on diagonal k; history[d] keeps -d...d of it.
        var furthest = [Int](repeating: 0, count: 2 * bound + 3)
        var history: [[Int]] = []
        for edits in 0...bound {
            for diagonal in stride(from: -edits, through: edits, by: 2) {
                let slot = diagonal + bound + 1
                let down = diagonal == -edits || (diagonal != edits && furthest[slot - 1] < furthest[slot + 1])
                var x = down ? furthest[slot + 1] : furthest[slot - 1] + 1
                while x < oldCount, x - diagonal < newCount,
                    old[oldRange.lowerBound + x] == new[newRange.lowerBound + x - diagonal]
                {
                    x += 1
                }
                furthest[slot] = x
                if x >= oldCount, x - diagonal >= newCount {
                    return backtrack(history, edits, oldRange, newRange)
                }
            }
            history.append(Array(furthest[(bound + 1 - edits)...(bound + 1 + edits)]))
        }
        return nil
    }

    private static func backtrack(
        _ history: [[Int]],
        _ edits: Int,
        _ oldRange: Range<Int>,
        _ newRange: Range<Int>
    ) -> [(old: Int, new: Int)] {
        var kept: [(old: Int, new: Int)] = []
        var x = oldRange.count
        var y = newRange.count
        for edit in stride(from: edits, to: 0, by: -1) {
            // Values of the step before, for diagonals -(edit - 1)...(edit - 1).
            let before = history[edit - 1]
            func reached(_ diagonal: Int) -> Int {
                let slot = diagonal + edit - 1
                return before.indices.contains(slot) ? before[slot] : -1
            }
            let diagonal = x - y
            let down = diagonal == -edit || (diagonal != edit && reached(diagonal - 1) < reached(diagonal + 1))
            let previousDiagonal = down ? diagonal + 1 : diagonal - 1
            let previousX = reached(previousDiagonal)
            let previousY = previousX - previousDiagonal
            while x > previousX, y > previousY, x > (down ? previousX : previousX + 1) {
                x -= 1
                y -= 1
                kept.append((oldRange.lowerBound + x, newRange.lowerBound + y))
            }
            x = previousX
            y = previousY
        }
        while x > 0, y > 0 {
            x -= 1
            y -= 1
            kept.append((oldRange.lowerBound + x, newRange.lowerBound + y))
        }
        kept.reverse()
        return kept
    }

    /// Pairs the n-th occurrence of an element in `old` with its n-th in `new` and keeps the longest run in order.
    private static func longestUnmoved<Element: Hashable>(
        _ old: [Element],
        _ oldRange: Range<Int>,
        _ new: [Element],
        _ newRange: Range<Int>
    ) -> [(old: Int, new: Int)] {
        // Chains of equal elements of `new`, in order: the first index per element, and the next one per index.
        var first: [Element: Int] = [:]
        first.reserveCapacity(newRange.count)
        var next = [Int](repeating: -1, count: newRange.count)
        for index in newRange.reversed() {
            next[index - newRange.lowerBound] = first.updateValue(index, forKey: new[index]) ?? -1
        }
        var pairs: [(old: Int, new: Int)] = []
        for index in oldRange {
            guard let slot = first.index(forKey: old[index]) else { continue }
            let found = first.values[slot]
            guard found >= 0 else { continue }
            pairs.append((index, found))
            first.values[slot] = next[found - newRange.lowerBound]
        }
        return LongestIncreasingRun.positions(in: pairs.map(\.new)).map { pairs[$0] }
    }
}
