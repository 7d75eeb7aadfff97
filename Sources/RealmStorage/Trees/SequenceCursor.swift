/// Walks a `SequenceTree` upwards.
///
/// The tree must not change while the cursor is in use.
package struct SequenceCursor {
    private let tree: SequenceTree
    private let view: PageView
    /// The position of the next element.
    private var position: Int
    private var leaf: SequenceLeaf
    private var index = 0
    private var count = 0

    init(_ tree: SequenceTree, from position: Int, view: PageView) {
        self.tree = tree
        self.view = view
        self.position = position
        leaf = SequenceLeaf(view.mapping)
    }

    /// The next element, in place; nil at the end.
    package mutating func next() throws(StorageError) -> UnsafeRawBufferPointer? {
        if index == count {
            guard position < (try tree.count(in: view)) else { return nil }
            (leaf, index) = try tree.leaf(containing: position, in: view)
            count = leaf.count
        }
        let element = try leaf.element(at: index, in: view)
        index &+= 1
        position &+= 1
        return element
    }
}
