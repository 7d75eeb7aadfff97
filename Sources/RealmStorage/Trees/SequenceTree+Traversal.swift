extension SequenceTree {
    /// Seals every dirty page bottom-up; afterwards `root` carries its checksum.
    package mutating func seal(in transaction: WriteTransaction) throws(StorageError) {
        guard root.isDirty else { return }
        _ = try SequencePage.root(root, in: transaction.view)
        root = try SequenceTree.sealed(root, in: transaction)
    }

    private static func sealed(
        _ reference: PageReference,
        in transaction: WriteTransaction
    ) throws(StorageError) -> PageReference {
        let bytes = try transaction.sealable(reference)
        if bytes.load(fromByteOffset: PageHeader.levelOffset, as: UInt8.self) > 0 {
            let inner = MutableSequenceInner(bytes)
            for child in 0..<inner.page.count where inner.page.reference(at: child).isDirty {
                _ = try inner.page.childPage(at: child, in: transaction.view)
                inner.setReference(try sealed(inner.page.reference(at: child), in: transaction), at: child)
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
        let (page, level) = try SequencePage.root(root, in: view)
        try SequenceTree.visit(page, root, level: level, in: view, &visited, body)
    }

    private static func visit(
        _ page: UnsafeRawPointer,
        _ reference: PageReference,
        level: Int,
        in view: PageView,
        _ visited: inout VisitedPages,
        _ body: (PageReference) throws(StorageError) -> Void
    ) throws(StorageError) {
        if level == 0 {
            let leaf = SequenceLeaf(page)
            for index in 0..<leaf.count {
                guard let overflow = leaf.overflowReference(at: index), try visited.enter(overflow, in: view) else {
                    continue
                }
                try body(overflow)
            }
        } else {
            let inner = SequenceInner(page)
            for child in 0..<inner.count {
                guard try visited.enter(inner.reference(at: child), in: view) else { continue }
                let childPage = try inner.childPage(at: child, in: view)
                try visit(childPage, inner.reference(at: child), level: level - 1, in: view, &visited, body)
            }
        }
        try body(reference)
    }

    /// Checks counts, levels and every page of the tree, overflow runs included.
    ///
    /// - Throws: `StorageError` with code `corrupt` and the page that is wrong.
    package func verify(in view: PageView) throws(StorageError) {
        guard !root.isNone else { return }
        let (page, level) = try SequencePage.root(root, in: view)
        try SequenceTree.verify(page, root, level: level, in: view)
    }

    private static func verify(
        _ page: UnsafeRawPointer,
        _ reference: PageReference,
        level: Int,
        in view: PageView
    ) throws(StorageError) {
        let bytes = UnsafeRawBufferPointer(start: page, count: pageByteCount)
        // A sealed page was validated on its first touch; a dirty one changes all the time.
        if reference.isDirty, let problem = SequencePage.validate(bytes, allowsDirtyReferences: true) {
            throw .corrupt("A page of a sequence is wrong: \(problem)", page: reference.page)
        }
        if level == 0 {
            let leaf = SequenceLeaf(page)
            for index in 0..<leaf.count { _ = try leaf.element(at: index, in: view) }
        } else {
            let inner = SequenceInner(page)
            for child in 0..<inner.count {
                let childPage = try inner.childPage(at: child, in: view)
                try verify(childPage, inner.reference(at: child), level: level - 1, in: view)
            }
        }
    }
}
