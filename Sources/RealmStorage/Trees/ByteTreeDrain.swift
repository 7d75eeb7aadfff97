/// Walks a `ByteTree` once, from the first entry to the last, and frees its pages behind it.
///
/// Nobody may use the tree afterwards, and no entry may have its value in an overflow run. The pages at hand are copies,
/// so that the transaction may reuse them, or move them to the file, meanwhile.
package final class ByteTreeDrain {
    private struct Step {
        var reference: PageReference
        var page: KeyedPage
        var child = 0
    }

    /// The tree that is walked.
    package let tree: ByteTree
    private let transaction: WriteTransaction
    private var steps: [Step] = []
    private var leaf: Step?
    private var index = 0
    /// The leaves behind.
    private var leafCount = 0
    private var visited = VisitedPages()
    private let buffer = UnsafeMutableRawPointer.allocate(byteCount: ByteTree.maximumKeyByteCount, alignment: 16)
    private var keyByteCount = 0
    /// A page's room for each level from the root down.
    private var copies: [UnsafeMutableRawPointer] = []

    package init(_ tree: ByteTree, in transaction: WriteTransaction) {
        self.tree = tree
        self.transaction = transaction
    }

    deinit {
        buffer.deallocate()
        for copy in copies { copy.deallocate() }
    }

    /// Moves to the next entry, the first one at first; false at the end.
    package func next() throws(StorageError) -> Bool {
        if let leaf {
            index += 1
            if index < leaf.page.count {
                keyByteCount = leaf.page.copyKey(at: index, to: buffer)
                return true
            }
            transaction.free(leaf.reference)
            self.leaf = nil
            leafCount += 1
            if leafCount % 256 == 0 { transaction.releaseReadPages() }
            try ascend()
        } else {
            try visited.enter(tree.root, in: transaction.view)
            try descend(to: tree.root, page: try KeyedPage.root(tree.root, in: transaction.view))
        }
        guard let leaf else { return false }
        index = 0
        keyByteCount = leaf.page.copyKey(at: 0, to: buffer)
        return true
    }

    private func ascend() throws(StorageError) {
        while var step = steps.popLast() {
            step.child += 1
            if step.child < step.page.count {
                steps.append(step)
                try visited.enter(step.page.childReference(at: step.child), in: transaction.view)
                let page = try step.page.child(
                    at: step.child,
                    level: step.page.level - 1,
                    in: transaction.view
                )
                return try descend(to: step.page.childReference(at: step.child), page: page)
            }
            transaction.free(step.reference)
        }
    }

    private func descend(to reference: PageReference, page: KeyedPage) throws(StorageError) {
        var reference = reference
        var page = copy(page)
        while !page.isLeaf {
            steps.append(Step(reference: reference, page: page))
            reference = page.childReference(at: 0)
            try visited.enter(reference, in: transaction.view)
            page = copy(try page.child(at: 0, level: page.level - 1, in: transaction.view))
        }
        leaf = Step(reference: reference, page: page)
    }

    /// A copy of a page that comes below the steps taken.
    private func copy(_ page: KeyedPage) -> KeyedPage {
        if copies.count == steps.count {
            copies.append(.allocate(byteCount: pageByteCount, alignment: 16))
        }
        let copy = copies[steps.count]
        copy.copyMemory(from: page.base, byteCount: pageByteCount)
        return KeyedPage(copy)
    }

    /// The key, valid until the next move.
    package var key: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: buffer, count: keyByteCount) }

    /// Whether the key is below another one.
    package func isBelow(_ other: UnsafeRawBufferPointer) -> Bool {
        KeyBytes(start: buffer, count: keyByteCount).compare(to: KeyBytes(other)) < 0
    }

    /// The value, valid until the next move.
    package var value: UnsafeRawBufferPointer {
        get throws(StorageError) {
            guard let leaf else { return UnsafeRawBufferPointer(start: nil, count: 0) }
            return try leaf.page.value(at: index, in: transaction.view)
        }
    }
}
