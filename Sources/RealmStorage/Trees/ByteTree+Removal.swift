extension ByteTree {
    /// A page that uses less than this asks its neighbours to merge.
    private static let sparseByteCount = pageByteCount / 3
    /// The most that a page made of two may use, so that the next insertion does not divide it again.
    private static let mergedByteCount = pageByteCount - pageByteCount / 8

    /// Removes a key; a key that is absent touches no page.
    ///
    /// After an error the transaction can only be rolled back.
    /// - Returns: true when the key was there.
    @discardableResult
    package mutating func remove(
        _ key: UnsafeRawBufferPointer,
        in transaction: WriteTransaction
    ) throws(StorageError) -> Bool {
        var next: UnsafeRawBufferPointer? = key
        return try removeAscending(in: transaction) {
            defer { next = nil }
            return next
        } > 0
    }

    /// Removes ascending keys: those that lie in one leaf at the cost of one descent, or of two for the first of them.
    ///
    /// Keys that are absent are passed over, and touch no page of their own.
    ///
    /// - Parameters:
    ///   - transaction: The open transaction.
    ///   - next: Gives one key after the other, each greater than the one before, and nil at the end.
    /// - Returns: The number of keys that were there.
    /// - Throws: `StorageError`; after it the transaction can only be rolled back.
    @discardableResult
    package mutating func removeAscending(
        in transaction: WriteTransaction,
        _ next: () -> UnsafeRawBufferPointer?
    ) throws(StorageError) -> Int {
        var total = 0
        var key = next()
        while let first = key {
            guard try contains(first, in: transaction.view) else {
                key = next()
                continue
            }
            let (path, leaf) = try descend(for: KeyBytes(first), in: transaction)
            var (index, exists) = leaf.page.lowerBound(KeyBytes(first))
            var removedCount = 0
            while true {
                if exists {
                    if let overflow = leaf.page.overflowReference(at: index) {
                        Overflow.free(overflow, in: transaction)
                    }
                    leaf.remove(at: index)
                    removedCount += 1
                }
                key = next()
                guard let following = key else { break }
                (index, exists) = leaf.page.lowerBound(KeyBytes(following))
                // Behind the last key of this leaf: it lies in another one, if anywhere.
                if index == leaf.page.count { break }
            }
            total += removedCount
            try ByteTree.count(-removedCount, above: path, from: path.depth)
            if leaf.page.usedByteCount < ByteTree.sparseByteCount {
                try rebalance(leaf, path: path, in: transaction)
            }
        }
        return total
    }

    /// Merges sparse pages with a neighbour, from a leaf upwards, and takes empty ones out of the tree.
    private mutating func rebalance(
        _ leaf: MutableKeyedPage,
        path: Path,
        in transaction: WriteTransaction
    ) throws(StorageError) {
        var page = leaf
        var depth = path.depth
        while depth > 0, page.page.usedByteCount < ByteTree.sparseByteCount {
            depth -= 1
            let parent = path[depth].page
            let child = path[depth].child
            if page.page.count == 0 {
                transaction.free(parent.page.childReference(at: child))
                parent.remove(at: child)
            } else {
                var isMerged = false
                if child + 1 < parent.page.count {
                    isMerged = try merge(child, in: parent, transaction: transaction)
                }
                if !isMerged, child > 0 { isMerged = try merge(child - 1, in: parent, transaction: transaction) }
                guard isMerged else { return }
            }
            page = parent
        }
        if depth == 0 { try shrink(in: transaction) }
    }

    /// Merges a child of an inner page with the one to its right, if they fit one page.
    private func merge(
        _ left: Int,
        in parent: MutableKeyedPage,
        transaction: WriteTransaction
    ) throws(StorageError) -> Bool {
        let level = parent.page.level - 1
        let view = transaction.view
        let leftPage = try parent.page.child(at: left, level: level, in: view)
        let rightPage = try parent.page.child(at: left + 1, level: level, in: view)
        guard leftPage.usedByteCount + rightPage.usedByteCount <= ByteTree.mergedByteCount else { return false }
        var list = KeyedEntryList(isLeaf: level == 0)
        list.append(leftPage)
        let leftCount = list.count
        list.append(rightPage)
        let separator = UnsafeMutableRawPointer.allocate(byteCount: ByteTree.maximumKeyByteCount, alignment: 16)
        defer { separator.deallocate() }
        if level > 0 {
            let byteCount = parent.page.copyKey(at: left + 1, to: separator)
            list.setKey(KeyBytes(start: separator, count: byteCount), at: leftCount)
        }
        // Each page was found right by itself: that the keys of the one follow those of the other is not known before.
        guard list.ascends(from: leftCount) else {
            throw .corrupt("The keys of a byte tree do not ascend from page to page", page: rightPage.number)
        }
        guard list.byteCount(of: 0..<list.count) <= ByteTree.mergedByteCount else { return false }
        let target = try ByteTree.writable(
            parent.page.childReference(at: left),
            in: transaction,
            storing: { parent.setChildReference($0, at: left) }
        )
        list.write(0..<list.count, to: target)
        transaction.free(parent.page.childReference(at: left + 1))
        try parent.setChildCount(target.page.subtreeCount, at: left)
        parent.remove(at: left + 1)
        return true
    }

    /// Takes a root without entries, or with a single child, out of the tree.
    private mutating func shrink(in transaction: WriteTransaction) throws(StorageError) {
        while !root.isNone {
            let page = try KeyedPage.root(root, in: transaction.view)
            if page.count == 0 {
                transaction.free(root)
                root = .none
            } else if !page.isLeaf, page.count == 1 {
                let child = page.childReference(at: 0)
                _ = try page.child(at: 0, level: page.level - 1, in: transaction.view)
                transaction.free(root)
                root = child
            } else {
                return
            }
        }
    }

    /// Removes every entry and frees every page.
    package mutating func removeAll(in transaction: WriteTransaction) throws(StorageError) {
        try forEachPage(in: transaction.view) { reference in transaction.free(reference) }
        root = .none
    }
}
