/// An ordered, copy-on-write map of byte strings to byte values.
///
/// Keys are at most `ByteTree.maximumKeyByteCount` bytes long and ordered as unsigned bytes, a prefix before what it is
/// a prefix of. Values have any size; those beyond `ByteTree.maximumInlineValueByteCount` bytes take pages of their own.
package struct ByteTree: Sendable, Equatable {
    /// The longest key, in bytes.
    package static var maximumKeyByteCount: Int { 1024 }
    /// The longest value that stands inside a leaf, in bytes.
    package static var maximumInlineValueByteCount: Int { 512 }

    /// The root page; `.none` for an empty tree.
    package var root: PageReference

    package init(root: PageReference = .none) {
        self.root = root
    }

    /// Whether the tree holds no entry.
    package var isEmpty: Bool { root.isNone }

    /// The value of a key, in place; nil when the key is absent. Valid as long as the version, in a write transaction
    /// until its next change.
    package func value(
        for key: UnsafeRawBufferPointer, in view: PageView
    ) throws(StorageError) -> UnsafeRawBufferPointer? {
        preconditionFailure("stub")
    }

    /// Whether the tree holds a key.
    package func contains(_ key: UnsafeRawBufferPointer, in view: PageView) throws(StorageError) -> Bool {
        preconditionFailure("stub")
    }

    /// A cursor that stands nowhere yet.
    package func cursor(in view: PageView) -> ByteTreeCursor {
        preconditionFailure("stub")
    }

    /// Stores a value under a key, replacing what is there.
    ///
    /// - Returns: true when the key is new.
    @discardableResult
    package mutating func insert(
        _ key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, in transaction: WriteTransaction
    ) throws(StorageError) -> Bool {
        preconditionFailure("stub")
    }

    /// Removes a key; a key that is absent touches no page.
    ///
    /// - Returns: true when the key was there.
    @discardableResult
    package mutating func remove(
        _ key: UnsafeRawBufferPointer, in transaction: WriteTransaction
    ) throws(StorageError) -> Bool {
        preconditionFailure("stub")
    }

    /// Removes every entry and frees every page.
    package mutating func removeAll(in transaction: WriteTransaction) throws(StorageError) {
        preconditionFailure("stub")
    }

    /// Seals every dirty page bottom-up; afterwards `root` carries its checksum.
    package mutating func seal(in transaction: WriteTransaction) throws(StorageError) {
        preconditionFailure("stub")
    }

    /// Visits every run of pages of the tree, the overflow runs included, parents first.
    package func forEachPage(
        in view: PageView, _ body: (PageReference) throws(StorageError) -> Void
    ) throws(StorageError) {
        preconditionFailure("stub")
    }

    /// The number of entries. O(1): the pages above the leaves count what is below them.
    package func count(in view: PageView) throws(StorageError) -> Int {
        preconditionFailure("stub")
    }

    /// The number of keys in `lower ..< upper` (nil: unbounded), exact, in the time of two look-ups.
    package func count(
        from lower: UnsafeRawBufferPointer?, to upper: UnsafeRawBufferPointer?, in view: PageView
    ) throws(StorageError) -> Int {
        preconditionFailure("stub")
    }

    /// Checks order, counts, levels and every page of the tree.
    package func verify(in view: PageView) throws(StorageError) {
        preconditionFailure("stub")
    }
}
