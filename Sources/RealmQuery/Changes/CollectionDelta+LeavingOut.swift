/// Where elements are on both sides of a delta.
private struct DeltaPlaces {
    let deletions: [Int]
    let insertions: [Int]

    init(_ delta: CollectionDelta) {
        deletions = delta.deletions
        insertions = delta.insertions
    }

    func isDeleted(_ old: Int) -> Bool { deletions.holds(old) }
    func isInserted(_ new: Int) -> Bool { insertions.holds(new) }

    /// The new index of an element that stayed.
    func new(of old: Int) -> Int { insertions.place(ofOther: old - deletions.count(below: old)) }

    /// The old index of an element that stayed.
    func old(of new: Int) -> Int { deletions.place(ofOther: new - insertions.count(below: new)) }
}

extension [Int] {
    /// The number of those that are less; the array ascends.
    fileprivate func count(below limit: Int) -> Int { firstPlace { $0 >= limit } }

    fileprivate func holds(_ value: Int) -> Bool {
        let index = count(below: value)
        return index < count && self[index] == value
    }

    /// The place of the n-th number that is not in the array, which ascends.
    fileprivate func place(ofOther rank: Int) -> Int {
        var lower = 0
        var upper = count
        while lower < upper {
            let middle = (lower + upper) / 2
            if self[middle] - middle <= rank { lower = middle + 1 } else { upper = middle }
        }
        return rank + lower
    }

    private func firstPlace(where condition: (Int) -> Bool) -> Int {
        var lower = 0
        var upper = count
        while lower < upper {
            let middle = (lower + upper) / 2
            if condition(self[middle]) { upper = middle } else { lower = middle + 1 }
        }
        return lower
    }
}

/// What an observer did to what it shows, by a commit of its own that it is not told of.
package struct ShownEdit: Sendable, Equatable {
    /// What it took away, or to another place: where that was.
    package var removed: [Int] = []
    /// What it put there: where, and where that is behind the commit.
    package var placed: [(shown: Int, new: Int)] = []
    /// What it wrote to and left in its place: where, and where that is behind the commit.
    package var modified: [(shown: Int, new: Int)] = []

    package static func == (one: ShownEdit, other: ShownEdit) -> Bool {
        one.removed == other.removed && one.placed.elementsEqual(other.placed, by: ==)
            && one.modified.elementsEqual(other.modified, by: ==)
    }

    /// Does the same to an array; `value` gives what stands at an index behind the commit.
    package func applied<Value>(to values: [Value], _ value: (Int) -> Value) -> [Value] {
        var result: [Value] = []
        result.reserveCapacity(values.count - removed.count + placed.count)
        var next = 0
        var gone = 0
        for (index, element) in values.enumerated() {
            if gone < removed.count, removed[gone] == index {
                gone += 1
                continue
            }
            while next < placed.count, placed[next].shown == result.count {
                result.append(value(placed[next].new))
                next += 1
            }
            result.append(element)
        }
        for rest in placed[next...] { result.append(value(rest.new)) }
        for (shown, new) in modified { result[shown] = value(new) }
        return result
    }
}

extension CollectionDelta {
    /// One delta for two that follow each other.
    ///
    /// - Complexity: O(n log n) for n changes in both.
    package func merging(_ later: CollectionDelta) -> CollectionDelta {
        let first = DeltaPlaces(self)
        let second = DeltaPlaces(later)
        let moved = moves
        let movedLater = later.moves
        let laterTargets = Dictionary(movedLater.map { ($0.from, $0.to) }) { one, _ in one }
        var pairs: [(from: Int, to: Int)] = []
        for (from, place) in moved {
            if !second.isDeleted(place) {
                pairs.append((from, second.new(of: place)))
            } else if let to = laterTargets[place] {
                pairs.append((from, to))
            }
        }
        for (place, to) in movedLater where !first.isInserted(place) { pairs.append((first.old(of: place), to)) }
        var modified: [Int: Int] = [:]
        var asked: Set<Int> = []
        for (old, place) in zip(modifications, modificationsInNew) where !second.isDeleted(place) {
            modified[old] = second.new(of: place)
            if !unasked.holds(old) { asked.insert(old) }
        }
        for (place, new) in zip(later.modifications, later.modificationsInNew) where !first.isInserted(place) {
            modified[first.old(of: place)] = new
            if !later.unasked.holds(place) { asked.insert(first.old(of: place)) }
        }
        return CollectionDelta(
            deletions: deletions + later.deletions.filter { !first.isInserted($0) }.map { first.old(of: $0) },
            insertions: insertions.filter { !second.isDeleted($0) }.map { second.new(of: $0) } + later.insertions,
            modified: modified.map { ($0, $1) },
            unasked: Set(modified.keys).subtracting(asked),
            moves: pairs
        )
    }

    /// What is left to tell when the delta behind this one, `left`, is known.
    ///
    /// The observer was told the contents before this delta, and shows them with `left`: without what `left` deleted, and with
    /// what it inserted, or moved, directly behind the element that is before it and stays. What others inserted is told, and
    /// what they deleted or wrote to, as far as `left` did not delete it.
    ///
    /// - Returns: the delta from what the observer shows to the contents behind both, and what it did to what it was told.
    /// - Complexity: O(n log n) for n changes in both.
    package func leavingOut(_ left: CollectionDelta) -> (delta: CollectionDelta, shown: ShownEdit) {
        let first = DeltaPlaces(self)
        let second = DeltaPlaces(left)
        let origins = Dictionary(moves.map { ($0.to, $0.from) }) { one, _ in one }
        let written = Set(modificationsInNew)
        let asked = Set(zip(modifications, modificationsInNew).filter { !unasked.holds($0.0) }.map(\.1))
        let leftOrigins = Dictionary(left.moves.map { ($0.to, $0.from) }) { one, _ in one }
        let leftTargets = Set(left.moves.map(\.from))

        var removed: [Int] = []
        var told: [Int] = []
        /// Where behind both, and whether others wrote to it, and to what was asked for.
        var placed: [(new: Int, isWritten: Bool, isAsked: Bool)] = []
        for new in left.insertions {
            guard let place = leftOrigins[new] else {
                placed.append((new, false, false))
                continue
            }
            if !first.isInserted(place) {
                removed.append(first.old(of: place))
                placed.append((new, written.contains(place), asked.contains(place)))
            } else if let origin = origins[place] {
                removed.append(origin)
                placed.append((new, true, true))
            } else {
                told.append(new)
            }
        }
        for place in left.deletions where !leftTargets.contains(place) {
            if !first.isInserted(place) {
                removed.append(first.old(of: place))
            } else if let origin = origins[place] {
                removed.append(origin)
            }
        }
        removed.sort()
        let survivors = insertions.filter { !second.isDeleted($0) }.map { second.new(of: $0) }
        let absent = Array(Set(deletions).union(removed)).sorted()

        // How many of those that stay from what was told are before each that was placed.
        var gaps: [Int] = []
        for (new, _, _) in placed {
            let count = new - left.insertions.count(below: new) - survivors.count(below: new)
            if count == 0 {
                gaps.append(0)
            } else {
                let before = absent.place(ofOther: count - 1)
                gaps.append(before + 1 - removed.count(below: before + 1))
            }
        }
        func shown(_ old: Int) -> Int {
            let rank = old - removed.count(below: old)
            return rank + gaps.count(below: rank + 1)
        }

        var modified: [(Int, Int)] = []
        var quiet: Set<Int> = []
        var edit = ShownEdit()
        edit.removed = removed
        for (index, item) in placed.enumerated() {
            edit.placed.append((gaps[index] + index, item.new))
            if item.isWritten { modified.append((gaps[index] + index, item.new)) }
            if item.isWritten, !item.isAsked { quiet.insert(gaps[index] + index) }
        }
        for (place, new) in zip(left.modifications, left.modificationsInNew) where !first.isInserted(place) {
            edit.modified.append((shown(first.old(of: place)), new))
        }
        for (old, place) in zip(modifications, modificationsInNew) where !second.isDeleted(place) {
            modified.append((shown(old), second.new(of: place)))
            if unasked.holds(old) { quiet.insert(shown(old)) }
        }
        var pairs: [(from: Int, to: Int)] = []
        for (from, place) in moves where !second.isDeleted(place) { pairs.append((shown(from), second.new(of: place))) }
        let delta = CollectionDelta(
            deletions: deletions.filter { !removed.holds($0) }.map { shown($0) },
            insertions: survivors + told,
            modified: modified,
            unasked: quiet,
            moves: pairs
        )
        return (delta, edit)
    }
}
