extension ByteTree {
    /// An inner page on the way down to a leaf, and the child taken.
    struct Step {
        var page: MutableKeyedPage
        var child: Int
    }

    /// The way from the root to a leaf, every page of it owned by the open transaction.
    struct Path {
        private var steps: InlineArray<16, Step>
        private(set) var depth = 0
        /// Whether every step took the last child.
        private(set) var isLast = true

        init(_ page: MutableKeyedPage) {
            steps = InlineArray(repeating: Step(page: page, child: 0))
        }

        subscript(index: Int) -> Step {
            @inline(__always) get { steps[index] }
        }

        @inline(__always)
        mutating func append(_ page: MutableKeyedPage, child: Int) {
            steps[depth] = Step(page: page, child: child)
            depth &+= 1
            if child != page.page.count &- 1 { isLast = false }
        }
    }

    /// Walks down to the leaf of a key, taking every page on the way over into the open transaction.
    @inline(__always)
    mutating func descend(
        for key: KeyBytes,
        in transaction: WriteTransaction
    ) throws(StorageError) -> (path: Path, leaf: MutableKeyedPage) {
        let view = transaction.view
        var level = try KeyedPage.root(root, in: view).level
        var page = try Self.writable(root, in: transaction, storing: { root = $0 })
        var path = Path(page)
        while level > 0 {
            level &-= 1
            let parent = page
            let child = parent.page.childIndex(for: key)
            _ = try parent.page.child(at: child, level: level, in: view)
            page = try Self.writable(
                parent.page.childReference(at: child),
                in: transaction,
                storing: { parent.setChildReference($0, at: child) }
            )
            path.append(parent, child: child)
        }
        return (path, page)
    }

    /// A page as the open transaction's own; when that is a copy, its reference replaces the old one.
    @inline(__always)
    static func writable(
        _ reference: PageReference,
        in transaction: WriteTransaction,
        storing: (PageReference) -> Void
    ) throws(StorageError) -> MutableKeyedPage {
        if reference.checksum == 0 {
            let bytes = transaction.view.buffer(of: reference.page)
            // One of an earlier member of the group is copied, as pages of older versions are.
            if UnsafeRawPointer(bytes).little(UInt64.self, at: PageHeader.versionOffset) == transaction.version {
                return MutableKeyedPage(bytes)
            }
        }
        let page = try transaction.writable(reference)
        storing(page.reference)
        return MutableKeyedPage(page.bytes)
    }
}
