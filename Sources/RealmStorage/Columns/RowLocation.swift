/// Where a row is: valid as long as its leaf view.
@frozen
@usableFromInline
package struct RowLocation {
    /// The leaf.
    @usableFromInline package var leaf: LeafView
    /// The row's place in the leaf.
    @usableFromInline package var row: Int

    @inlinable
    @inline(__always)
    package init(leaf: LeafView, row: Int) {
        self.leaf = leaf
        self.row = row
    }
}
