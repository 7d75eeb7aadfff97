/// A node of the tree in which a ``KeyOrder`` keeps its keys; never changed, and shared between versions of the order.
final class KeyNode: Sendable {
    enum Content: Sendable {
        case leaf(KeyLeaf)
        /// The children, where each ends among the keys of the node, and the first key of each.
        case inner([KeyNode], ends: [Int], firsts: [Int64])
    }

    /// So many children a node has at most.
    static let capacity = 64

    let content: Content
    let count: Int
    let first: Int64

    init(_ leaf: KeyLeaf) {
        content = .leaf(leaf)
        count = leaf.count
        first = leaf.first
    }

    private init(_ children: [KeyNode]) {
        var ends: [Int] = []
        ends.reserveCapacity(children.count)
        var count = 0
        for child in children {
            count += child.count
            ends.append(count)
        }
        content = .inner(children, ends: ends, firsts: children.map(\.first))
        self.count = count
        first = children[0].first
    }

    /// Divides nodes of one height among as many parents as they need.
    static func parents(of nodes: [KeyNode]) -> [KeyNode] {
        if nodes.isEmpty { return [] }
        let parentCount = (nodes.count + capacity - 1) / capacity
        return (0..<parentCount)
            .map { number in
                let start = number * nodes.count / parentCount
                let end = (number + 1) * nodes.count / parentCount
                return KeyNode(Array(nodes[start..<end]))
            }
    }

    /// Builds a tree over nodes of one height; nil over none.
    static func root(over nodes: [KeyNode]) -> KeyNode? {
        var level = nodes
        while level.count > 1 { level = parents(of: level) }
        // A node with a single child says no more than the child.
        while let only = level.first, case .inner(let children, _, _) = only.content, children.count == 1 {
            level = children
        }
        return level.first
    }

    /// Appends the keys.
    func append(to keys: inout [Int64]) {
        switch content {
        case .leaf(let leaf): leaf.append(to: &keys)
        case .inner(let children, _, _): for child in children { child.append(to: &keys) }
        }
    }

    /// Nodes of one height, in which small neighbours were joined.
    static func joiningSmall(_ nodes: [KeyNode], isAscending: Bool) -> [KeyNode] {
        guard nodes.count > 1 else { return nodes }
        var result: [KeyNode] = []
        result.reserveCapacity(nodes.count)
        for node in nodes {
            guard let last = result.last, let joined = join(last, node, isAscending) else {
                result.append(node)
                continue
            }
            result.removeLast()
            result += joined
        }
        return result
    }

    private static func join(_ one: KeyNode, _ other: KeyNode, _ isAscending: Bool) -> [KeyNode]? {
        switch (one.content, other.content) {
        case (.leaf(let first), .leaf(let second)):
            guard first.count + second.count <= KeyLeaf.listedCapacity / 3 else { return nil }
            var keys: [Int64] = []
            first.append(to: &keys)
            second.append(to: &keys)
            return KeyLeaf.leaves(of: keys, isAscending: isAscending).map { KeyNode($0) }
        case (.inner(let first, _, _), .inner(let second, _, _)):
            return first.count + second.count <= capacity / 2 ? [KeyNode(first + second)] : nil
        default: return nil
        }
    }
}
