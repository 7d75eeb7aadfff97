extension SequenceTree {
    /// Removes the element at a position.
    package mutating func remove(at index: Int, in transaction: WriteTransaction) throws(StorageError) {
        try checkPosition(index, below: count(in: transaction.view))
        let (path, leaf, position) = try descend(to: index, in: transaction)
        if let overflow = leaf.page.overflowReference(at: position) { Overflow.free(overflow, in: transaction) }
        leaf.remove(at: position)
        var depth = path.depth
        while depth > 0 {
            depth &-= 1
            path[depth].page.shiftEnds(from: path[depth].child, by: -1)
        }
        try rebalance(leaf, path: path, in: transaction)
    }

    /// Merges sparse pages with a neighbour, from a leaf upwards, and takes empty ones out of the tree.
    private mutating func rebalance(
        _ leaf: MutableSequenceLeaf,
        path: Path,
        in transaction: WriteTransaction
    ) throws(StorageError) {
        var isSparse = leaf.page.usedByteCount < pageByteCount / 3
        var isEmpty = leaf.page.count == 0
        var depth = path.depth
        while depth > 0, isSparse {
            depth -= 1
            let parent = path[depth].page
            let child = path[depth].child
            if isEmpty {
                transaction.free(parent.page.reference(at: child))
                parent.remove(at: child)
            } else {
                var isMerged = false
                if child + 1 < parent.page.count { isMerged = try merge(child, in: parent, transaction: transaction) }
                if !isMerged, child > 0 { isMerged = try merge(child - 1, in: parent, transaction: transaction) }
                guard isMerged else { return }
            }
            isSparse = parent.page.count < SequenceInner.capacity / 3
            isEmpty = parent.page.count == 0
        }
        if depth == 0 { try shrink(in: transaction) }
    }

    /// Merges a child of an inner page with the one behind it, if they fit one page with some room left.
    private func merge(
        _ left: Int,
        in parent: MutableSequenceInner,
        transaction: WriteTransaction
    ) throws(StorageError) -> Bool {
        let leftPage = try parent.page.childPage(at: left, in: transaction.view)
        let rightPage = try parent.page.childPage(at: left + 1, in: transaction.view)
        if parent.page.level == 1 {
            let sum = SequenceLeaf(leftPage).usedByteCount + SequenceLeaf(rightPage).usedByteCount
            guard sum - PageHeader.byteCount <= pageByteCount - pageByteCount / 8 else { return false }
            let target = MutableSequenceLeaf(
                try SequenceTree.writableChild(at: left, of: parent, in: transaction)
            )
            target.appendAll(of: SequenceLeaf(rightPage))
        } else {
            let sum = SequenceInner(leftPage).count + SequenceInner(rightPage).count
            guard sum <= SequenceInner.capacity - SequenceInner.capacity / 8 else { return false }
            let target = MutableSequenceInner(
                try SequenceTree.writableChild(at: left, of: parent, in: transaction)
            )
            target.append(from: 0, of: SequenceInner(rightPage))
        }
        transaction.free(parent.page.reference(at: left + 1))
        parent.join(left)
        return true
    }

    /// Takes a root without elements, or with a single child, out of the tree.
    private mutating func shrink(in transaction: WriteTransaction) throws(StorageError) {
        while !root.isNone {
            let (page, level) = try SequencePage.root(root, in: transaction.view)
            if level == 0, SequenceLeaf(page).count == 0 || level > 0, SequenceInner(page).count == 0 {
                transaction.free(root)
                root = .none
            } else if level > 0, SequenceInner(page).count == 1 {
                let inner = SequenceInner(page)
                _ = try inner.childPage(at: 0, in: transaction.view)
                let child = inner.reference(at: 0)
                transaction.free(root)
                root = child
            } else {
                return
            }
        }
    }

    /// Removes every element and frees every page.
    package mutating func removeAll(in transaction: WriteTransaction) throws(StorageError) {
        try forEachPage(in: transaction.view) { reference in transaction.free(reference) }
        root = .none
    }
}
