/// The keys of a collection in its order, of which positions are found without counting.
///
/// A value: a changed copy shares all but what was changed. It is a tree that knows how many keys lie under each of its
/// nodes. Keys that ascend take about a bit each where they lie close together, others eight bytes.
package struct KeyOrder: Sendable {
    /// Whether the keys ascend.
    let isAscending: Bool
    var root: KeyNode?

    /// Takes keys in their order.
    package init(_ keys: [Int64], isAscending: Bool) {
        self.isAscending = isAscending
        root = KeyNode.root(over: KeyLeaf.leaves(of: keys, isAscending: isAscending).map { KeyNode($0) })
    }

    /// The number of keys.
    package var count: Int { root?.count ?? 0 }

    /// Whether there are no keys.
    package var isEmpty: Bool { root == nil }

    /// The key at a position that exists.
    ///
    /// - Complexity: O(log *n*).
    package subscript(position: Int) -> Int64 {
        precondition(position >= 0 && position < count, "The position is out of bounds.")
        var node = root.unsafelyUnwrapped
        var rest = position
        while true {
            switch node.content {
            case .leaf(let leaf): return leaf[rest]
            case .inner(let children, let ends, _):
                let child = ends.partitioningIndex { $0 > rest }
                if child > 0 { rest -= ends[child - 1] }
                node = children[child]
            }
        }
    }

    /// The keys in order.
    package func array() -> [Int64] {
        var keys: [Int64] = []
        keys.reserveCapacity(count)
        root?.append(to: &keys)
        return keys
    }

    /// The position of a key by looking at all of them; quick where they ascend.
    package func firstIndex(of key: Int64) -> Int? {
        if isAscending {
            let rank = rank(of: key)
            return rank < count && self[rank] == key ? rank : nil
        }
        return array().firstIndex(of: key)
    }

    // MARK: Ascending keys

    /// Whether a key is there.
    ///
    /// - Complexity: O(log *n*).
    func contains(_ key: Int64) -> Bool {
        guard var node = root else { return false }
        while true {
            switch node.content {
            case .leaf(let leaf): return leaf.contains(key)
            case .inner(let children, _, let firsts):
                let child = firsts.partitioningIndex { $0 > key } - 1
                if child < 0 { return false }
                node = children[child]
            }
        }
    }

    /// The number of keys below one.
    ///
    /// - Complexity: O(log *n*).
    func rank(of key: Int64) -> Int {
        guard var node = root else { return 0 }
        var rank = 0
        while true {
            switch node.content {
            case .leaf(let leaf): return rank + leaf.rank(of: key)
            case .inner(let children, let ends, let firsts):
                let child = firsts.partitioningIndex { $0 > key } - 1
                if child < 0 { return rank }
                if child > 0 { rank += ends[child - 1] }
                node = children[child]
            }
        }
    }

    // MARK: Keys in another order

    /// The number of keys that come before one, in an order in which the keys stand.
    ///
    /// - Complexity: O(log *n*) comparisons.
    func rank<Failure: Error>(
        of key: Int64,
        precedes: (Int64, Int64) throws(Failure) -> Bool
    ) throws(Failure) -> Int {
        guard var node = root else { return 0 }
        var rank = 0
        while true {
            switch node.content {
            case .leaf(let leaf):
                var low = 0
                var high = leaf.count
                while low < high {
                    let middle = (low + high) / 2
                    let other = leaf[middle]
                    if other != key, try precedes(other, key) { low = middle + 1 } else { high = middle }
                }
                return rank + low
            case .inner(let children, let ends, let firsts):
                // The last child that begins before the key.
                var low = 0
                var high = children.count
                while low < high {
                    let middle = (low + high) / 2
                    if firsts[middle] != key, try precedes(firsts[middle], key) {
                        low = middle + 1
                    } else {
                        high = middle
                    }
                }
                if low == 0 { return rank }
                if low > 1 { rank += ends[low - 2] }
                node = children[low - 1]
            }
        }
    }
}
