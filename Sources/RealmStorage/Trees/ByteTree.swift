/// An ordered, copy-on-write map of byte strings to byte values.
///
/// Keys are at most `ByteTree.maximumKeyByteCount` bytes long and ordered as unsigned bytes, a prefix before what it is
/// a prefix of. Values have any size; those beyond `ByteTree.maximumInlineValueByteCount` bytes take pages of their
/// own.
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

    /// The value of a key, in place; nil when the key is absent.
    ///
    /// It is valid as long as the version; in a write transaction until the next change of the tree.
    package func value(
        for key: UnsafeRawBufferPointer,
        in view: PageView
    ) throws(StorageError) -> UnsafeRawBufferPointer? {
        guard !root.isNone else { return nil }
        let key = KeyBytes(key)
        let leaf = try leaf(for: key, in: view)
        let (index, isEqual) = leaf.lowerBound(key)
        return isEqual ? try leaf.value(at: index, in: view) : nil
    }

    /// Whether the tree holds a key.
    package func contains(_ key: UnsafeRawBufferPointer, in view: PageView) throws(StorageError) -> Bool {
        guard !root.isNone else { return false }
        let key = KeyBytes(key)
        return try leaf(for: key, in: view).lowerBound(key).isEqual
    }

    @inline(__always)
    private func leaf(for key: KeyBytes, in view: PageView) throws(StorageError) -> KeyedPage {
        var page = try KeyedPage.root(root, in: view)
        var level = page.level
        while level > 0 {
            level &-= 1
            page = try page.child(at: page.childIndex(for: key), level: level, in: view)
        }
        return page
    }

    /// A cursor that stands nowhere yet.
    package func cursor(in view: PageView) -> ByteTreeCursor {
        ByteTreeCursor(root: root, view: view)
    }
}
