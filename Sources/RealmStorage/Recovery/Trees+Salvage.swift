/// Walks over damaged trees: what is readable is handed on, and what is not is counted and stepped over.
extension ByteTree {
    /// Calls a function with each entry that can be read.
    ///
    /// - Parameters:
    ///   - view: Where the pages are read.
    ///   - entry: Called with key and value; the value is nil when only it cannot be read.
    ///   - damage: Called with each page that cannot be read and the number of entries below it, when that is known.
    package func salvage(
        in view: PageView,
        entry: ([UInt8], UnsafeRawBufferPointer?) throws -> Void,
        damage: (PageNumber, Int?) -> Void
    ) rethrows {
        guard !root.isNone else { return }
        var visited = VisitedPages()
        guard (try? visited.enter(root, in: view)) != nil, let page = try? KeyedPage.root(root, in: view) else {
            return damage(root.page, nil)
        }
        try ByteTree.salvage(page, in: view, &visited, entry, damage)
    }

    private static func salvage(
        _ page: KeyedPage,
        in view: PageView,
        _ visited: inout VisitedPages,
        _ entry: ([UInt8], UnsafeRawBufferPointer?) throws -> Void,
        _ damage: (PageNumber, Int?) -> Void
    ) rethrows {
        for index in 0..<page.count {
            if page.isLeaf {
                let key = [UInt8](unsafeUninitializedCapacity: maximumKeyByteCount) { buffer, count in
                    if let base = buffer.baseAddress { count = page.copyKey(at: index, to: base) }
                }
                let overflow = page.overflowReference(at: index)
                var value: UnsafeRawBufferPointer?
                if overflow == nil || visited.claims(overflow, in: view) {
                    value = try? page.value(at: index, in: view)
                }
                if value == nil, let overflow { damage(overflow.page, 0) }
                try entry(key, value)
            } else if visited.claims(page.childReference(at: index), in: view),
                let child = try? page.child(at: index, level: page.level - 1, in: view)
            {
                try salvage(child, in: view, &visited, entry, damage)
            } else {
                damage(page.childReference(at: index).page, page.childCount(at: index))
            }
        }
    }
}

extension SequenceTree {
    /// Calls a function with each element that can be read.
    ///
    /// - Parameters:
    ///   - view: Where the pages are read.
    ///   - visited: The runs that the walk has come to, which are not read again.
    ///   - element: Called with the element; nil when only its long value cannot be read.
    ///   - damage: Called with each page that cannot be read and the number of elements below it, when that is known.
    package func salvage(
        in view: PageView,
        _ visited: inout VisitedPages,
        element: (UnsafeRawBufferPointer?) -> Void,
        damage: (PageNumber, Int?) -> Void
    ) {
        guard !root.isNone else { return }
        guard visited.claims(root, in: view), let (page, level) = try? SequencePage.root(root, in: view) else {
            return damage(root.page, nil)
        }
        SequenceTree.salvage(page, level: level, in: view, &visited, element, damage)
    }

    private static func salvage(
        _ page: UnsafeRawPointer,
        level: Int,
        in view: PageView,
        _ visited: inout VisitedPages,
        _ element: (UnsafeRawBufferPointer?) -> Void,
        _ damage: (PageNumber, Int?) -> Void
    ) {
        if level == 0 {
            let leaf = SequenceLeaf(page)
            for index in 0..<leaf.count {
                let overflow = leaf.overflowReference(at: index)
                var value: UnsafeRawBufferPointer?
                if overflow == nil || visited.claims(overflow, in: view) {
                    value = try? leaf.element(at: index, in: view)
                }
                if value == nil, let overflow { damage(overflow.page, 0) }
                element(value)
            }
            return
        }
        let inner = SequenceInner(page)
        for child in 0..<inner.count {
            if visited.claims(inner.reference(at: child), in: view),
                let childPage = try? inner.childPage(at: child, in: view)
            {
                salvage(childPage, level: level - 1, in: view, &visited, element, damage)
            } else {
                damage(inner.reference(at: child).page, inner.end(of: child) - inner.start(of: child))
            }
        }
    }
}

extension ClusterTree {
    /// Calls a function with each leaf that can be read, in key order as far as the keys are in order.
    ///
    /// - Parameters:
    ///   - view: Where the pages are read.
    ///   - leaf: Called with the leaf; its columns and values may be damaged.
    ///   - damage: Called with each node that cannot be read and the number of rows below it.
    package func salvage(
        in view: PageView,
        leaf: (LeafView) throws -> Void,
        damage: (PageNumber, Int) -> Void
    ) rethrows {
        guard !root.isNone else { return }
        var visited = VisitedPages()
        // What the catalog says of a file of that size.
        let rows = min(rowCount, view.pageLimit * ClusterFormat.rowLimit)
        try ClusterTree.salvage(root, level: nil, rowCount: rows, in: view, &visited, leaf, damage)
    }

    private static func salvage(
        _ reference: PageReference,
        level: Int?,
        rowCount: Int,
        in view: PageView,
        _ visited: inout VisitedPages,
        _ body: (LeafView) throws -> Void,
        _ damage: (PageNumber, Int) -> Void
    ) rethrows {
        guard visited.claims(reference, in: view),
            let (base, level) = try? ClusterDescent.load(reference, level: level, in: view)
        else {
            return damage(reference.page, rowCount)
        }
        guard level > 0 else {
            let leaf = LeafView(base: base, view: view)
            try body(leaf)
            if leaf.rowCount < rowCount { damage(reference.page, rowCount - leaf.rowCount) }
            return
        }
        let node = InnerView(base: base)
        for index in 0..<node.count {
            try salvage(
                node.reference(index),
                level: level - 1,
                rowCount: min(node.end(index) - node.end(index - 1), rowCount),
                in: view,
                &visited,
                body,
                damage
            )
        }
    }
}
