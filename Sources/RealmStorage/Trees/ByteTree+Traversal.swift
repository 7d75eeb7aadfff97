extension ByteTree {
    /// Seals every dirty page bottom-up; afterwards `root` carries its checksum.
    package mutating func seal(in transaction: WriteTransaction) throws(StorageError) {
        guard root.isDirty else { return }
        _ = try KeyedPage.root(root, in: transaction.view)
        root = try ByteTree.sealed(root, in: transaction)
    }

    private static func sealed(
        _ reference: PageReference,
        in transaction: WriteTransaction
    ) throws(StorageError) -> PageReference {
        let page = MutableKeyedPage(try transaction.sealable(reference))
        let level = page.page.level
        if level > 0 {
            for index in 0..<page.page.count {
                let child = page.page.childReference(at: index)
                guard child.isDirty else { continue }
                _ = try page.page.child(at: index, level: level - 1, in: transaction.view)
                page.setChildReference(try sealed(child, in: transaction), at: index)
            }
        }
        return transaction.seal(reference)
    }

    /// Visits every run of pages of the tree, the overflow runs included, children first: a visitor may free them.
    package func forEachPage(
        in view: PageView,
        _ body: (PageReference) throws(StorageError) -> Void
    ) throws(StorageError) {
        var visited = VisitedPages()
        try forEachPage(in: view, &visited, body)
    }

    /// The same as a part of a longer walk, of the pages that this goes down into.
    package func forEachPage(
        in view: PageView,
        _ visited: inout VisitedPages,
        _ body: (PageReference) throws(StorageError) -> Void
    ) throws(StorageError) {
        guard !root.isNone, try visited.enter(root, in: view) else { return }
        try ByteTree.visit(KeyedPage.root(root, in: view), root, in: view, &visited, body)
    }

    private static func visit(
        _ page: KeyedPage,
        _ reference: PageReference,
        in view: PageView,
        _ visited: inout VisitedPages,
        _ body: (PageReference) throws(StorageError) -> Void
    ) throws(StorageError) {
        let level = page.level
        for index in 0..<page.count {
            if level == 0 {
                guard let overflow = page.overflowReference(at: index), try visited.enter(overflow, in: view) else {
                    continue
                }
                try body(overflow)
            } else {
                guard try visited.enter(page.childReference(at: index), in: view) else { continue }
                let child = try page.child(at: index, level: level - 1, in: view)
                try visit(child, page.childReference(at: index), in: view, &visited, body)
            }
        }
        try body(reference)
    }

    // MARK: Counting

    /// The number of entries.
    ///
    /// - Complexity: O(1): the pages above the leaves count what is below them.
    package func count(in view: PageView) throws(StorageError) -> Int {
        root.isNone ? 0 : try KeyedPage.root(root, in: view).subtreeCount
    }

    /// The number of keys in `lower ..< upper` (nil: unbounded), exact, in the time of two look-ups.
    package func count(
        from lower: UnsafeRawBufferPointer?,
        to upper: UnsafeRawBufferPointer?,
        in view: PageView
    ) throws(StorageError) -> Int {
        let first = if let lower { try rank(of: KeyBytes(lower), in: view) } else { 0 }
        let last = if let upper { try rank(of: KeyBytes(upper), in: view) } else { try count(in: view) }
        return max(0, last &- first)
    }

    /// The number of keys below a key.
    private func rank(of key: KeyBytes, in view: PageView) throws(StorageError) -> Int {
        guard !root.isNone else { return 0 }
        var page = try KeyedPage.root(root, in: view)
        var level = page.level
        var rank = 0
        while level > 0 {
            level &-= 1
            let child = page.childIndex(for: key)
            rank &+= page.countBelow(before: child)
            page = try page.child(at: child, level: level, in: view)
        }
        return rank &+ page.lowerBound(key).index
    }
}
