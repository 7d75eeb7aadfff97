/// A copy-on-write sequence of byte strings, reached by position: every inner page counts what is below it.
///
/// Elements have any size; those beyond `SequenceTree.maximumInlineElementByteCount` bytes take pages of their own.
package struct SequenceTree: Sendable, Equatable {
    /// The longest element that stands inside a leaf, in bytes.
    package static var maximumInlineElementByteCount: Int { 1024 }

    /// The root page; `.none` for an empty sequence.
    package var root: PageReference

    package init(root: PageReference = .none) {
        self.root = root
    }

    /// Whether the sequence holds no element.
    package var isEmpty: Bool { root.isNone }

    /// The number of elements. O(1).
    package func count(in view: PageView) throws(StorageError) -> Int {
        preconditionFailure("stub")
    }

    /// The element at a position, in place; valid as long as the version, in a write transaction until its next change.
    package func element(at index: Int, in view: PageView) throws(StorageError) -> UnsafeRawBufferPointer {
        preconditionFailure("stub")
    }

    /// Replaces the element at a position.
    package mutating func replace(
        at index: Int, with element: UnsafeRawBufferPointer, in transaction: WriteTransaction
    ) throws(StorageError) {
        preconditionFailure("stub")
    }

    /// Inserts an element before a position; at `count` it is appended.
    package mutating func insert(
        _ element: UnsafeRawBufferPointer, at index: Int, in transaction: WriteTransaction
    ) throws(StorageError) {
        preconditionFailure("stub")
    }

    /// Appends an element.
    package mutating func append(
        _ element: UnsafeRawBufferPointer, in transaction: WriteTransaction
    ) throws(StorageError) {
        preconditionFailure("stub")
    }

    /// Removes the element at a position.
    package mutating func remove(at index: Int, in transaction: WriteTransaction) throws(StorageError) {
        preconditionFailure("stub")
    }

    /// Removes every element and frees every page.
    package mutating func removeAll(in transaction: WriteTransaction) throws(StorageError) {
        preconditionFailure("stub")
    }

    /// Calls a function with each position of a range and its element, ascending.
    package func forEach(
        in range: Range<Int>, view: PageView,
        _ body: (Int, UnsafeRawBufferPointer) throws(StorageError) -> Void
    ) throws(StorageError) {
        preconditionFailure("stub")
    }

    /// A cursor before the element at a position.
    package func cursor(from index: Int = 0, in view: PageView) -> SequenceCursor {
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

    /// Checks counts, levels and every page of the tree.
    package func verify(in view: PageView) throws(StorageError) {
        preconditionFailure("stub")
    }
}
