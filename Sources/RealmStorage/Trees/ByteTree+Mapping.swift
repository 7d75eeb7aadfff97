extension ByteTree {
    /// Takes every run of the tree through a mapper, overflow runs included, until it has enough.
    ///
    /// The tree must be sealed, and is sealed afterwards.
    ///
    /// - Parameters:
    ///   - key: Where the walk before stopped; nil for the beginning.
    ///   - mapper: What is done with the runs.
    /// - Returns: the key at which the next walk goes on; nil when the tree is done.
    /// - Throws: `StorageError` when a page is damaged, or what the mapper throws.
    package mutating func map(
        from key: [UInt8]? = nil,
        through mapper: inout some RunMapper
    ) throws(StorageError) -> [UInt8]? {
        guard !root.isNone else { return nil }
        var next: [UInt8]?
        mapper.beginWalk()
        try mapper.enter(root)
        let page = try KeyedPage.root(root, in: mapper.view)
        let top = root
        root = try ByteTree.mapped(page, root, from: key, next: &next, &mapper)
        if let key, let next, next.lexicographicallyPrecedes(key) {
            // Walks that go back would never be done.
            throw .corrupt("The keys of a byte tree do not ascend", page: top.page)
        }
        return next
    }

    private static func mapped(
        _ page: KeyedPage,
        _ reference: PageReference,
        from key: [UInt8]?,
        next: inout [UInt8]?,
        _ mapper: inout some RunMapper
    ) throws(StorageError) -> PageReference {
        var changes: [(offset: Int, reference: PageReference)] = []
        if page.isLeaf {
            for index in 0..<page.count {
                guard let overflow = page.overflowReference(at: index) else { continue }
                try mapper.enter(overflow)
                let moved = try mapper.mapped(overflow, [])
                if moved != overflow { changes.append((page.base.distance(to: page.payload(at: index)) + 2, moved)) }
            }
            if mapper.isCutShort {
                mapper.isCutShort = false
                // Writers may have joined leaves since: the one that a walk goes on in may begin before the key.
                let first = copiedKey(at: 0, of: page)
                if let key, first.lexicographicallyPrecedes(key) { next = key } else { next = first }
            }
        } else {
            let first = key.map { key in key.withUnsafeBytes { page.childIndex(for: KeyBytes($0)) } } ?? 0
            for index in first..<page.count where next == nil {
                // The first one always, so that every walk gets on.
                if index > first, mapper.isExhausted {
                    next = copiedKey(at: index, of: page)
                    break
                }
                let child = page.childReference(at: index)
                try mapper.enter(child)
                let moved = try mapped(
                    page.child(at: index, level: page.level - 1, in: mapper.view),
                    child,
                    from: index == first ? key : nil,
                    next: &next,
                    &mapper
                )
                if moved != child { changes.append((page.base.distance(to: page.payload(at: index)), moved)) }
            }
        }
        return try mapper.mapped(reference, changes)
    }

    private static func copiedKey(at index: Int, of page: KeyedPage) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: maximumKeyByteCount) { buffer, count in
            if let base = buffer.baseAddress { count = page.copyKey(at: index, to: base) }
        }
    }
}
