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

    /// The next leaf, nil at the end. The first one may begin with rows before the key that was asked for.
    package mutating func next() throws(StorageError) -> LeafView? {
        preconditionFailure("stub")
    }
}
