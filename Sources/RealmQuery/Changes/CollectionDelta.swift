/// How an observed collection differs from the one delivered before: exact and ascending.
///
/// Removing the elements at `deletions` (old indices) and then inserting at `insertions` (new indices) turns the old
/// collection into the new one, but for the elements at `modifications`, which stay in place and have new contents.
package struct CollectionDelta: Sendable, Equatable {
    /// Old indices of elements that are no longer there, or no longer at their place.
    package var deletions: [Int] = []
    /// New indices of elements that were not there, or not at this place.
    package var insertions: [Int] = []
    /// Old indices of elements that stayed and were written to.
    package var modifications: [Int] = []
    /// The new indices of the same elements, in the same order.
    package var modificationsInNew: [Int] = []
    /// Those of the `modifications` of which nothing is to be told, because nobody asked for the properties that were written.
    package internal(set) var unasked: [Int] = []
    /// The keys before and now, where elements may have moved.
    private var orders: (before: ObservedOrder, after: ObservedOrder)?
    /// The elements that moved, where the keys do not tell.
    private var pairs: [(from: Int, to: Int)]?

    package init() {}

    package init(deletions: [Int], insertions: [Int], modifications: [Int], modificationsInNew: [Int]) {
        self.deletions = deletions
        self.insertions = insertions
        self.modifications = modifications
        self.modificationsInNew = modificationsInNew
    }

    /// A delta of changes in any order.
    package init(
        deletions: [Int],
        insertions: [Int],
        modified: [(old: Int, new: Int)],
        unasked: Set<Int> = [],
        moves: [(from: Int, to: Int)]
    ) {
        self.deletions = deletions.sorted()
        self.insertions = insertions.sorted()
        let modified = modified.sorted { $0.old < $1.old }
        modifications = modified.map(\.old)
        modificationsInNew = modified.map(\.new)
        if !unasked.isEmpty { self.unasked = modifications.filter { unasked.contains($0) } }
        if !moves.isEmpty { pairs = moves.sorted { $0.to < $1.to } }
    }

    package static func == (one: CollectionDelta, other: CollectionDelta) -> Bool {
        one.deletions == other.deletions && one.insertions == other.insertions
            && one.modifications == other.modifications && one.modificationsInNew == other.modificationsInNew
    }

    /// Remembers the keys between which the delta leads, when some of the deleted ones may have been inserted again.
    package mutating func remember(before: ObservedOrder?, after: ObservedOrder?) {
        guard !deletions.isEmpty, !insertions.isEmpty, let before, let after else { return }
        orders = (before, after)
    }

    /// The elements that are among the deletions and among the insertions: where they were and where they are, in the
    /// order of the insertions.
    ///
    /// An element that a list holds more than once is paired in order.
    package var moves: [(from: Int, to: Int)] {
        if let pairs { return pairs }
        guard let orders else { return [] }
        var places: [Int64: [Int]] = [:]
        for index in deletions.reversed() { places[orders.before[index], default: []].append(index) }
        return insertions.compactMap { index in
            places[orders.after[index]]?.popLast().map { ($0, index) }
        }
    }

    /// Whether nothing observable happened.
    package var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }

    /// Sets the modifications from old indices (ascending, none of them deleted), finding the new ones.
    mutating func setModifications(oldIndices: [Int]) {
        modifications = oldIndices
        modificationsInNew = newIndices(ofKept: oldIndices)
    }

    /// Where elements that stayed ended up.
    ///
    /// One pass over deletions, insertions and the given old indices (ascending).
    package func newIndices(ofKept oldIndices: [Int]) -> [Int] {
        var result: [Int] = []
        result.reserveCapacity(oldIndices.count)
        var deleted = 0
        var inserted = 0
        for old in oldIndices {
            while deleted < deletions.count, deletions[deleted] < old { deleted += 1 }
            // Among the kept elements this one has the rank old - deleted; insertions before it push it back.
            while inserted < insertions.count, insertions[inserted] <= old - deleted + inserted { inserted += 1 }
            result.append(old - deleted + inserted)
        }
        return result
    }
}
