/// An ordered, copy-on-write map of byte strings to byte values.
package struct ByteTree: Sendable, Equatable {
    /// The root page; `.none` for an empty tree.
    package var root: PageReference

    package init(root: PageReference = .none) {
        self.root = root
    }

    package mutating func seal(in transaction: WriteTransaction) throws(StorageError) {
        preconditionFailure("stub")
    }
}
