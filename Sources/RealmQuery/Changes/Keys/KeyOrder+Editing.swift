extension KeyOrder {
    /// A key to be inserted, and before how many of the keys that remain it does not stand.
    struct Insertion {
        let rank: Int
        let key: Int64
    }

    /// Removes the keys at some positions, and inserts others among those that remain.
    ///
    /// Positions ascend; insertions ascend by rank, and stand in their order where the rank is the same.
    ///
    /// - Complexity: O(*m* log *n*) for *m* edits.
    mutating func edit(removing positions: [Int] = [], inserting insertions: [Insertion] = []) {
        if positions.isEmpty, insertions.isEmpty { return }
        guard let root else {
            self = KeyOrder(insertions.map(\.key), isAscending: isAscending)
            return
        }
        var editing = KeyEditing(positions, insertions, isAscending: isAscending)
        let nodes = editing.replacing(root, at: 0, isLast: true)
        self.root = KeyNode.root(over: nodes)
    }
}

/// One pass of edits over a tree of keys, from the first to the last.
private struct KeyEditing {
    private let removals: [Int]
    private let insertions: [KeyOrder.Insertion]
    private let isAscending: Bool
    private var nextRemoval = 0
    private var nextInsertion = 0
    /// The number of keys before the current node that remain.
    private var rank = 0

    init(_ removals: [Int], _ insertions: [KeyOrder.Insertion], isAscending: Bool) {
        self.removals = removals
        self.insertions = insertions
        self.isAscending = isAscending
    }

    /// The nodes that stand for one that begins at a position, after the edits in it; `isLast` for the one behind which there
    /// is nothing.
    mutating func replacing(_ node: KeyNode, at start: Int, isLast: Bool) -> [KeyNode] {
        var lastRemoval = nextRemoval
        while lastRemoval < removals.count, removals[lastRemoval] < start + node.count { lastRemoval += 1 }
        let remaining = node.count - (lastRemoval - nextRemoval)
        var lastInsertion = nextInsertion
        while lastInsertion < insertions.count,
            isLast || insertions[lastInsertion].rank < rank + remaining
        { lastInsertion += 1 }
        if lastRemoval == nextRemoval, lastInsertion == nextInsertion {
            rank += node.count
            return [node]
        }
        switch node.content {
        case .leaf(let leaf):
            defer {
                nextRemoval = lastRemoval
                nextInsertion = lastInsertion
                rank += remaining
            }
            return replacing(leaf, at: start, nextRemoval..<lastRemoval, nextInsertion..<lastInsertion)
        case .inner(let children, let ends, _):
            var result: [KeyNode] = []
            result.reserveCapacity(children.count + 1)
            for (index, child) in children.enumerated() {
                result += replacing(
                    child,
                    at: start + (index > 0 ? ends[index - 1] : 0),
                    isLast: isLast && index == children.count - 1
                )
            }
            return KeyNode.parents(of: KeyNode.joiningSmall(result, isAscending: isAscending))
        }
    }

    private func replacing(
        _ leaf: KeyLeaf,
        at start: Int,
        _ removed: Range<Int>,
        _ inserted: Range<Int>
    ) -> [KeyNode] {
        let quick = leaf.marked(
            without: removals[removed].lazy.map { $0 - start },
            with: insertions[inserted].lazy.map(\.key)
        )
        if let quick { return [KeyNode(quick)] }
        var old: [Int64] = []
        old.reserveCapacity(leaf.count)
        leaf.append(to: &old)
        var keys: [Int64] = []
        keys.reserveCapacity(leaf.count + inserted.count)
        var removal = removed.lowerBound
        var insertion = inserted.lowerBound
        var rank = rank
        for (index, key) in old.enumerated() {
            if removal < removed.upperBound, removals[removal] == start + index {
                removal += 1
                continue
            }
            while insertion < inserted.upperBound, insertions[insertion].rank <= rank {
                keys.append(insertions[insertion].key)
                insertion += 1
            }
            keys.append(key)
            rank += 1
        }
        for insertion in insertions[insertion..<inserted.upperBound] { keys.append(insertion.key) }
        return KeyLeaf.leaves(of: keys, isAscending: isAscending).map { KeyNode($0) }
    }
}
