/// What the tree above a node of a table says about it.
///
/// Validation finds each page right by itself. A writer counts on more where it loads a node: that it has the rows that its parent
/// counts, and that its keys lie between its own in the parent and the next one. Looking rows up does without.
struct ClusterClaim {
    /// Nil for a root.
    var level: Int?
    /// Nil for a root.
    var firstKey: Int64?
    var rowCount: Int
    /// Every key is less than this one.
    var endKey: Int64

    /// What is said of the root of a table.
    init(rootOf tree: ClusterTree) {
        rowCount = tree.rowCount
        endKey = tree.nextKey
    }

    /// What a loaded node says of a child; `endKey` is what is said of the node.
    init(of index: Int, in node: OverlayNode, endKey: Int64) {
        level = node.level - 1
        firstKey = node.keys[index]
        rowCount = node.counts[index]
        self.endKey = index + 1 < node.keys.count ? node.keys[index + 1] : endKey
    }

    /// What a node in pages says of its last child.
    init(ofLastIn node: InnerView, level: Int, endKey: Int64) {
        let last = node.count - 1
        self.level = level - 1
        firstKey = node.key(last)
        rowCount = node.end(last) - node.end(last - 1)
        self.endKey = endKey
    }

    /// The verified bytes and the level of a node for which all of it is true.
    func load(
        _ reference: PageReference,
        in view: PageView
    ) throws(StorageError) -> (base: UnsafeRawPointer, level: Int) {
        let (base, level) = try ClusterDescent.load(reference, level: level, in: view)
        let first: Int64
        let last: Int64
        if level > 0 {
            let node = InnerView(base: base)
            (first, last) = (node.key(0), node.key(node.count - 1))
        } else {
            let leaf = LeafView(base: base, view: view)
            (first, last) = (leaf.firstKey, leaf.lastKey)
        }
        guard firstKey == nil || firstKey == first else {
            throw .corrupt("A node of a table begins with another key than its parent says", page: reference.page)
        }
        guard last < endKey else {
            throw .corrupt("A node of a table has keys of the node behind it", page: reference.page)
        }
        guard ClusterDescent.rowCount(of: base, level: level, in: view) == rowCount else {
            throw .corrupt("A node of a table does not have as many rows as its parent says", page: reference.page)
        }
        return (base, level)
    }
}
