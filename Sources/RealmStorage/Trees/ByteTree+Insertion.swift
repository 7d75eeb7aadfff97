extension ByteTree {
    /// Stores a value under a key, replacing what is there.
    ///
    /// Neither may lie in a page of the tree itself. After an error the transaction can only be rolled back.
    /// - Returns: true when the key is new.
    @discardableResult
    package mutating func insert(
        _ key: UnsafeRawBufferPointer,
        value: UnsafeRawBufferPointer,
        in transaction: WriteTransaction
    ) throws(StorageError) -> Bool {
        try ByteTree.checkLength(of: key)
        let key = KeyBytes(key)
        let payload = try LeafPayload(value, in: transaction)
        if root.isNone {
            let page = try transaction.allocate(pageCount: 1, kind: .byteTreeLeaf)
            root = page.reference
            MutableKeyedPage(page.bytes).reset(prefix: key.first(0))
        }
        let (path, leaf) = try descend(for: key, in: transaction)
        let (index, exists) = leaf.page.lowerBound(key)
        if exists {
            if let overflow = leaf.page.overflowReference(at: index) { Overflow.free(overflow, in: transaction) }
            let target = leaf.payload(at: index)
            if KeyedPage.leafPayloadByteCount(target) == payload.byteCount {
                payload.store(to: target)
                return false
            }
            leaf.remove(at: index)
        }
        let added = exists ? 0 : 1
        let prefix = leaf.page.prefix
        if key.starts(with: prefix),
            let target = leaf.reserve(
                at: index,
                suffix: key.dropFirst(prefix.count),
                payloadByteCount: payload.byteCount
            )
        {
            payload.store(to: target)
            try ByteTree.count(added, above: path, from: path.depth)
        } else {
            try insertRewriting(key, payload, at: index, in: leaf, path: path, added: added, in: transaction)
        }
        return !exists
    }

    /// Counts entries added to or removed from a leaf in the first `depth` pages of the way to it.
    @inline(__always)
    static func count(_ added: Int, above path: Path, from depth: Int) throws(StorageError) {
        guard added != 0 else { return }
        var depth = depth
        while depth > 0 {
            depth &-= 1
            let step = path[depth]
            try step.page.setChildCount(step.page.page.childCount(at: step.child) &+ added, at: step.child)
        }
    }

    @inline(never)
    private mutating func insertRewriting(
        _ key: KeyBytes,
        _ payload: LeafPayload,
        at index: Int,
        in leaf: MutableKeyedPage,
        path: Path,
        added: Int,
        in transaction: WriteTransaction
    ) throws(StorageError) {
        let separator = UnsafeMutableRawPointer.allocate(byteCount: ByteTree.maximumKeyByteCount, alignment: 16)
        defer { separator.deallocate() }
        var room = try KeyedPage.makeRoom(
            in: leaf,
            at: index,
            for: key,
            payloadByteCount: payload.byteCount,
            isLast: path.isLast,
            separator: separator,
            transaction: transaction
        )
        payload.store(to: room.payload)
        var child = leaf
        var depth = path.depth
        while let right = room.right {
            let separatorKey = KeyBytes(start: separator, count: room.separatorByteCount)
            if depth == 0 {
                let left = MutablePage(reference: root, bytes: child.base)
                root = try ByteTree.newRoot(left, separator: separatorKey, right: right, in: transaction).reference
                return
            }
            depth -= 1
            let step = path[depth]
            try step.page.setChildCount(child.page.subtreeCount, at: step.child)
            room = try KeyedPage.makeRoom(
                in: step.page,
                at: step.child + 1,
                for: separatorKey,
                payloadByteCount: KeyedPage.childPayloadByteCount,
                isLast: path.isLast,
                separator: separator,
                transaction: transaction
            )
            try right.storeChild(to: room.payload)
            child = step.page
        }
        try ByteTree.count(added, above: path, from: depth)
    }

    /// A new root above the two halves of the old one.
    static func newRoot(
        _ left: MutablePage,
        separator: KeyBytes,
        right: MutablePage,
        in transaction: WriteTransaction
    ) throws(StorageError) -> MutablePage {
        let level = KeyedPage(left.bytes).level + 1
        guard level <= KeyedPage.maximumLevel else {
            // No limit that the program has met: no file has room for so many entries, and the pages below are divided already.
            throw .corrupt(
                "A byte tree would become more than \(KeyedPage.maximumLevel + 1) levels high",
                page: left.reference.page
            )
        }
        let page = try transaction.allocate(pageCount: 1, kind: .byteTreeInner, level: level)
        let inner = MutableKeyedPage(page.bytes)
        inner.reset(prefix: separator.first(0))
        let size = KeyedPage.childPayloadByteCount
        guard let first = inner.reserve(at: 0, suffix: separator.first(0), payloadByteCount: size) else {
            throw .corrupt("A new root of a byte tree has no room", page: page.reference.page)
        }
        try left.storeChild(to: first)
        guard let second = inner.reserve(at: 1, suffix: separator, payloadByteCount: size) else {
            throw .corrupt("A new root of a byte tree has no room", page: page.reference.page)
        }
        try right.storeChild(to: second)
        return page
    }

    static func checkLength(of key: UnsafeRawBufferPointer) throws(StorageError) {
        guard key.count <= maximumKeyByteCount else {
            throw StorageError(.limit, "A key of \(key.count) bytes is longer than \(maximumKeyByteCount) bytes")
        }
    }
}

extension MutablePage {
    /// Stores the page's reference and the count below it as a child of an inner page.
    func storeChild(to payload: UnsafeMutableRawPointer) throws(StorageError) {
        let page = KeyedPage(bytes)
        reference.store(to: payload)
        try MutableKeyedPage.storeChildCount(page.subtreeCount, to: payload, in: page)
    }
}
