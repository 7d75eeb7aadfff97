extension ByteTree {
    /// Moves pages of the tree off the end of the file, overflow runs included, until a step has done enough.
    ///
    /// The tree must be sealed, and is sealed afterwards.
    ///
    /// - Parameters:
    ///   - key: Where the step before stopped; nil for the beginning.
    ///   - relocation: What to move, and how much of it.
    ///   - transaction: The open write transaction.
    /// - Returns: the key at which the next step goes on; nil when the tree is done.
    /// - Throws: `StorageError` when a page is damaged; then the transaction can only be rolled back.
    package mutating func relocate(
        from key: [UInt8]?,
        _ relocation: inout Relocation,
        in transaction: WriteTransaction
    ) throws(StorageError) -> [UInt8]? {
        guard !root.isNone else { return nil }
        var next: [UInt8]?
        let page = try KeyedPage.root(root, in: transaction.view)
        root = try ByteTree.relocated(page, root, from: key, next: &next, &relocation, in: transaction)
        return next
    }

    private static func relocated(
        _ page: KeyedPage,
        _ reference: PageReference,
        from key: [UInt8]?,
        next: inout [UInt8]?,
        _ relocation: inout Relocation,
        in transaction: WriteTransaction
    ) throws(StorageError) -> PageReference {
        relocation.visit()
        var changes: [(index: Int, reference: PageReference)] = []
        if page.isLeaf {
            for index in 0..<page.count {
                guard let overflow = page.overflowReference(at: index) else { continue }
                let moved = try relocation.relocated(overflow, in: transaction)
                if moved != overflow { changes.append((index, moved)) }
            }
            if relocation.isCutShort {
                relocation.isCutShort = false
                next = copiedKey(at: 0, of: page)
            }
        } else {
            let first = key.map { key in key.withUnsafeBytes { page.childIndex(for: KeyBytes($0)) } } ?? 0
            for index in first..<page.count where next == nil {
                // The first one always, so that every step gets on.
                if index > first, relocation.isExhausted {
                    next = copiedKey(at: index, of: page)
                    break
                }
                let child = page.childReference(at: index)
                let moved = try relocated(
                    page.child(at: index, level: page.level - 1, in: transaction.view),
                    child,
                    from: index == first ? key : nil,
                    next: &next,
                    &relocation,
                    in: transaction
                )
                if moved != child { changes.append((index, moved)) }
            }
        }
        guard relocation.moves(reference, in: transaction) || !changes.isEmpty else { return reference }
        let copy = try transaction.writable(reference)
        for change in changes {
            let payload = MutableKeyedPage(copy.bytes).payload(at: change.index)
            change.reference.store(to: page.isLeaf ? payload + 2 : payload)
        }
        return transaction.seal(copy.reference)
    }

    private static func copiedKey(at index: Int, of page: KeyedPage) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: maximumKeyByteCount) { buffer, count in
            if let base = buffer.baseAddress { count = page.copyKey(at: index, to: base) }
        }
    }
}
