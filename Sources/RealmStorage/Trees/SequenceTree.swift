/// A copy-on-write sequence of byte strings, reached by position: every inner page counts what is below it.
///
/// Elements have any size; those beyond `SequenceTree.maximumInlineElementByteCount` bytes take pages of their own.
/// After an error of a changing function the transaction can only be rolled back.
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

    /// The number of elements.
    ///
    /// - Complexity: O(1).
    package func count(in view: PageView) throws(StorageError) -> Int {
        guard !root.isNone else { return 0 }
        let (page, level) = try SequencePage.root(root, in: view)
        return SequencePage.elementCount(page, level: level)
    }

    /// The element at a position, in place.
    ///
    /// It is valid as long as the version; in a write transaction until the next change of the sequence.
    package func element(at index: Int, in view: PageView) throws(StorageError) -> UnsafeRawBufferPointer {
        let (leaf, position) = try leaf(containing: index, in: view)
        return try leaf.element(at: position, in: view)
    }

    /// The leaf that holds the element at a position, and the element's place in it.
    func leaf(containing index: Int, in view: PageView) throws(StorageError) -> (leaf: SequenceLeaf, index: Int) {
        precondition(!root.isNone && index >= 0, "A sequence has no element at \(index): compare with its count first")
        var (page, level) = try SequencePage.root(root, in: view)
        precondition(
            index < SequencePage.elementCount(page, level: level),
            "A sequence has no element at \(index): compare with its count first"
        )
        var position = index
        while level > 0 {
            let inner = SequenceInner(page)
            let child = inner.child(containing: position)
            position &-= inner.start(of: child)
            page = try inner.childPage(at: child, in: view)
            level &-= 1
        }
        return (SequenceLeaf(page), position)
    }

    /// Calls a function with each position of a range and its element, ascending.
    package func forEach(
        in range: Range<Int>,
        view: PageView,
        _ body: (Int, UnsafeRawBufferPointer) throws(StorageError) -> Void
    ) throws(StorageError) {
        let count = try count(in: view)
        precondition(
            range.lowerBound >= 0 && range.upperBound <= count,
            "A sequence of \(count) elements has none at \(range): compare with its count first"
        )
        var cursor = cursor(from: range.lowerBound, in: view)
        for index in range {
            guard let element = try cursor.next() else { return }
            try body(index, element)
        }
    }

    /// A cursor before the element at a position.
    package func cursor(from index: Int = 0, in view: PageView) -> SequenceCursor {
        SequenceCursor(self, from: index, view: view)
    }
}
