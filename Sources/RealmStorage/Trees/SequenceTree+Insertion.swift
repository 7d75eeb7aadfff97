extension SequenceTree {
    /// An inner page on the way down to a leaf, and the child taken.
    struct Step {
        var page: MutableSequenceInner
        var child: Int
    }

    /// The way from the root to a leaf, every page of it owned by the open transaction.
    struct Path {
        private var steps: InlineArray<16, Step>
        private(set) var depth = 0
        /// Whether every step took the last child.
        private(set) var isLast = true

        init(_ page: UnsafeMutableRawPointer) {
            steps = InlineArray(repeating: Step(page: MutableSequenceInner(page), child: 0))
        }

        subscript(index: Int) -> Step { steps[index] }

        mutating func append(_ page: MutableSequenceInner, child: Int) {
            steps[depth] = Step(page: page, child: child)
            depth &+= 1
            if child != page.page.count &- 1 { isLast = false }
        }
    }

    /// Walks down to the leaf of a position, taking every page on the way over into the open transaction.
    mutating func descend(
        to index: Int,
        in transaction: WriteTransaction
    ) throws(StorageError) -> (path: Path, leaf: MutableSequenceLeaf, index: Int) {
        let view = transaction.view
        var level = try SequencePage.root(root, in: view).level
        let top = try transaction.writable(root)
        root = top.reference
        var bytes = top.bytes
        var path = Path(bytes)
        var position = index
        while level > 0 {
            let inner = MutableSequenceInner(bytes)
            let child = inner.page.child(containing: position)
            position &-= inner.page.start(of: child)
            _ = try inner.page.childPage(at: child, in: view)
            bytes = try SequenceTree.writableChild(at: child, of: inner, in: transaction)
            path.append(inner, child: child)
            level &-= 1
        }
        return (path, MutableSequenceLeaf(bytes), position)
    }

    /// A child as the open transaction's own; when that is a copy, its reference replaces the old one.
    static func writableChild(
        at child: Int,
        of inner: MutableSequenceInner,
        in transaction: WriteTransaction
    ) throws(StorageError) -> UnsafeMutableRawPointer {
        let reference = inner.page.reference(at: child)
        if reference.checksum == 0 {
            let bytes = transaction.view.buffer(of: reference.page)
            if UnsafeRawPointer(bytes).little(UInt64.self, at: PageHeader.versionOffset) == transaction.version {
                return bytes
            }
        }
        let page = try transaction.writable(reference)
        inner.setReference(page.reference, at: child)
        return page.bytes
    }

    /// Replaces the element at a position.
    ///
    /// The new one may not lie in a page of the sequence itself.
    package mutating func replace(
        at index: Int,
        with element: UnsafeRawBufferPointer,
        in transaction: WriteTransaction
    ) throws(StorageError) {
        try checkPosition(index, below: count(in: transaction.view))
        let payload = try SequencePayload(element, in: transaction)
        let (path, leaf, position) = try descend(to: index, in: transaction)
        if let overflow = leaf.page.overflowReference(at: position) { Overflow.free(overflow, in: transaction) }
        guard !leaf.overwrite(payload, at: position) else { return }
        leaf.remove(at: position)
        try store(payload, at: position, in: leaf, path: path, added: 0, in: transaction)
    }

    /// Inserts an element before a position; at `count` it is appended.
    ///
    /// It may not lie in a page of the sequence itself.
    package mutating func insert(
        _ element: UnsafeRawBufferPointer,
        at index: Int,
        in transaction: WriteTransaction
    ) throws(StorageError) {
        try checkPosition(index, below: count(in: transaction.view) &+ 1)
        let payload = try SequencePayload(element, in: transaction)
        if root.isNone {
            let page = try transaction.allocate(pageCount: 1, kind: .sequenceLeaf)
            root = page.reference
            MutableSequenceLeaf(page.bytes).reset()
        }
        let (path, leaf, position) = try descend(to: index, in: transaction)
        try store(payload, at: position, in: leaf, path: path, added: 1, in: transaction)
    }

    /// Appends an element.
    ///
    /// It may not lie in a page of the sequence itself.
    package mutating func append(
        _ element: UnsafeRawBufferPointer,
        in transaction: WriteTransaction
    ) throws(StorageError) {
        try insert(element, at: count(in: transaction.view), in: transaction)
    }

    func checkPosition(_ index: Int, below limit: Int) {
        precondition(
            index >= 0 && index < limit,
            "A sequence has no position \(index): compare with its count first"
        )
    }

    /// Puts an element into a leaf, dividing pages where there is no room.
    private mutating func store(
        _ payload: SequencePayload,
        at position: Int,
        in leaf: MutableSequenceLeaf,
        path: Path,
        added: Int,
        in transaction: WriteTransaction
    ) throws(StorageError) {
        var right: PageReference?
        var leftCount = 0
        if !leaf.insert(payload, at: position) {
            right = try divide(leaf, for: payload, at: position, isLast: path.isLast, in: transaction)
            leftCount = leaf.page.count
        }
        var depth = path.depth
        while depth > 0 {
            depth &-= 1
            let step = path[depth]
            if added != 0 { step.page.shiftEnds(from: step.child, by: added) }
            guard let newChild = right else { continue }
            if step.page.page.count < SequenceInner.capacity {
                step.page.divide(step.child, leftCount: leftCount, right: newChild)
                right = nil
                continue
            }
            right = try divide(
                step.page,
                at: step.child,
                leftCount: leftCount,
                newChild: newChild,
                isLast: path.isLast,
                in: transaction
            )
            leftCount = step.page.page.elementCount
        }
        if let right { try grow(leftCount: leftCount, right: right, in: transaction) }
    }

    /// Moves part of a leaf to a new one and puts an element into the half that it belongs to.
    private func divide(
        _ leaf: MutableSequenceLeaf,
        for payload: SequencePayload,
        at position: Int,
        isLast: Bool,
        in transaction: WriteTransaction
    ) throws(StorageError) -> PageReference {
        let right = try transaction.allocate(pageCount: 1, kind: .sequenceLeaf)
        let rightLeaf = MutableSequenceLeaf(right.bytes)
        var target = leaf
        var targetPosition = position
        if isLast, position == leaf.page.count {
            // Appending leaves full pages behind.
            rightLeaf.reset()
            (target, targetPosition) = (rightLeaf, 0)
        } else {
            let middle = leaf.middle
            leaf.move(from: middle, to: rightLeaf)
            if position > middle { (target, targetPosition) = (rightLeaf, position - middle) }
        }
        guard target.insert(payload, at: targetPosition) else {
            throw .corrupt("The elements of a sequence page do not fit two pages", page: right.reference.page)
        }
        return right.reference
    }

    /// Moves part of a full inner page to a new one and divides a child in the half that it belongs to.
    private func divide(
        _ inner: MutableSequenceInner,
        at child: Int,
        leftCount: Int,
        newChild: PageReference,
        isLast: Bool,
        in transaction: WriteTransaction
    ) throws(StorageError) -> PageReference {
        let right = try transaction.allocate(pageCount: 1, kind: .sequenceInner, level: inner.page.level)
        let rightInner = MutableSequenceInner(right.bytes)
        if isLast, child == inner.page.count - 1 {
            let elementCount = inner.page.end(of: child) - inner.page.start(of: child) - leftCount
            inner.truncate(child, to: leftCount)
            rightInner.append(newChild, elementCount: elementCount)
            return right.reference
        }
        let middle = inner.page.count / 2
        inner.move(from: middle, to: rightInner)
        if child < middle {
            inner.divide(child, leftCount: leftCount, right: newChild)
        } else {
            rightInner.divide(child - middle, leftCount: leftCount, right: newChild)
        }
        return right.reference
    }

    /// Puts a new root above the old one and the page that was divided from it.
    mutating func grow(
        leftCount: Int,
        right: PageReference,
        in transaction: WriteTransaction
    ) throws(StorageError) {
        let view = transaction.view
        let (page, level) = try SequencePage.root(right, in: view)
        guard level < SequencePage.maximumLevel else {
            // No limit that the program has met: no file has room for so many elements, and the pages below are divided already.
            throw .corrupt(
                "A sequence would become more than \(SequencePage.maximumLevel + 1) levels high",
                page: right.page
            )
        }
        let top = try transaction.allocate(pageCount: 1, kind: .sequenceInner, level: level + 1)
        let inner = MutableSequenceInner(top.bytes)
        inner.append(root, elementCount: leftCount)
        inner.append(right, elementCount: SequencePage.elementCount(page, level: level))
        root = top.reference
    }
}
