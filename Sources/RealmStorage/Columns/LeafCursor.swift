/// Walks the leaves of a table in key order.
///
/// The cursor remembers only the next key, so that it survives writes to the table between two steps.
package struct LeafCursor {
    private var tree: ClusterTree
    private var view: PageView?
    private var writer: ClusterWriter?
    private var nextKey: Int64
    private var isAtEnd = false

    init(tree: ClusterTree, view: PageView, from key: Int64) {
        self.tree = tree
        self.view = view
        nextKey = key
    }

    init(writer: ClusterWriter, from key: Int64) {
        tree = ClusterTree()
        self.writer = writer
        nextKey = key
    }

    /// The next leaf, nil at the end.
    ///
    /// The first one may begin with rows before the key that was asked for.
    package mutating func next() throws(StorageError) -> LeafView? {
        var target = nextKey
        if !isAtEnd, let leaf = writer?.tailLeaf(for: target) {
            isAtEnd = true
            return leaf.lastKey >= target ? leaf : nil
        }
        while !isAtEnd {
            var following: Int64?
            let leaf: LeafView
            if let writer {
                guard let found = try writer.leaf(for: target, next: &following) else { break }
                leaf = found
            } else if let view, !tree.root.isNone {
                leaf = try ClusterDescent.leaf(for: target, from: tree.root, level: nil, next: &following, in: view)
            } else {
                break
            }
            let last = leaf.lastKey
            if last >= target {
                (nextKey, isAtEnd) = last.addingReportingOverflow(1)
                return leaf
            }
            // Every row of this leaf lies before the target: the leaf after it, if any, is the one. Keys that do not
            // ascend from leaf to leaf are damage, and must not make the walk go round.
            guard let following, following > target else { break }
            target = following
        }
        isAtEnd = true
        return nil
    }
}
