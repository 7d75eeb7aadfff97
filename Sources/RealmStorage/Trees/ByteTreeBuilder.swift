/// Builds a `ByteTree` bottom-up from entries that arrive in ascending key order: full pages, no descents.
///
/// Pages are sealed as they are filled, so that a large tree need not wait in memory for the commit.
///
/// After an error the transaction can only be rolled back.
package struct ByteTreeBuilder: ~Copyable {
    private let transaction: WriteTransaction
    /// The rightmost page of each level, the leaf first.
    private var open: [MutablePage] = []
    private let lastKey = UnsafeMutableRawPointer.allocate(byteCount: ByteTree.maximumKeyByteCount, alignment: 16)
    private var lastKeyByteCount = 0
    private let separator = UnsafeMutableRawPointer.allocate(byteCount: ByteTree.maximumKeyByteCount, alignment: 16)

    package init(in transaction: WriteTransaction) {
        self.transaction = transaction
    }

    deinit {
        lastKey.deallocate()
        separator.deallocate()
    }

    /// Adds an entry; its key must be above every key before it.
    ///
    /// - Throws: `StorageError` with code `corrupt` when the key is not above the one before: whoever builds a tree sorts what it
    ///   has, so that a file is to blame from which a part of the keys comes.
    package mutating func append(
        _ key: UnsafeRawBufferPointer,
        value: UnsafeRawBufferPointer
    ) throws(StorageError) {
        try ByteTree.checkLength(of: key)
        let key = KeyBytes(key)
        let payload = try LeafPayload(value, in: transaction)
        if open.isEmpty {
            open.append(try transaction.allocate(pageCount: 1, kind: .byteTreeLeaf))
            MutableKeyedPage(open[0].bytes).reset(prefix: key.first(0))
        } else if KeyBytes(start: lastKey, count: lastKeyByteCount).compare(to: key) >= 0 {
            throw StorageError(.corrupt, "The keys of an index do not ascend, or it has one already that is new.")
        }
        lastKey.copyMemory(from: key.start, byteCount: key.count)
        lastKeyByteCount = key.count
        let leaf = MutableKeyedPage(open[0].bytes)
        let prefix = leaf.page.prefix
        if key.starts(with: prefix),
            let target = leaf.reserve(
                at: leaf.page.count,
                suffix: key.dropFirst(prefix.count),
                payloadByteCount: payload.byteCount
            )
        {
            payload.store(to: target)
        } else {
            try appendRewriting(key, payload)
        }
    }

    private mutating func appendRewriting(_ key: KeyBytes, _ payload: LeafPayload) throws(StorageError) {
        let leaf = MutableKeyedPage(open[0].bytes)
        var room = try KeyedPage.makeRoom(
            in: leaf,
            at: leaf.page.count,
            for: key,
            payloadByteCount: payload.byteCount,
            isLast: true,
            separator: separator,
            transaction: transaction
        )
        payload.store(to: room.payload)
        var level = 0
        while let right = room.right {
            let left = MutablePage(reference: transaction.seal(open[level].reference), bytes: open[level].bytes)
            let separatorKey = KeyBytes(start: separator, count: room.separatorByteCount)
            open[level] = right
            level += 1
            if level == open.count {
                open.append(try ByteTree.newRoot(left, separator: separatorKey, right: right, in: transaction))
                break
            }
            let parent = MutableKeyedPage(open[level].bytes)
            let last = parent.page.count
            try parent.setChildCount(KeyedPage(left.bytes).subtreeCount, at: last - 1)
            parent.setChildReference(left.reference, at: last - 1)
            room = try KeyedPage.makeRoom(
                in: parent,
                at: last,
                for: separatorKey,
                payloadByteCount: KeyedPage.childPayloadByteCount,
                isLast: true,
                separator: separator,
                transaction: transaction
            )
            try right.storeChild(to: room.payload)
        }
        try transaction.spillIfNeeded()
    }

    /// The tree of everything appended, not sealed yet.
    package consuming func finish() throws(StorageError) -> ByteTree {
        guard let root = open.last else { return ByteTree() }
        for level in open.indices.dropFirst() {
            let parent = MutableKeyedPage(open[level].bytes)
            try parent.setChildCount(KeyedPage(open[level - 1].bytes).subtreeCount, at: parent.page.count - 1)
        }
        return ByteTree(root: root.reference)
    }
}

extension ByteTree {
    /// Builds a tree from entries that ascend by key.
    package static func build<Entries: Sequence>(
        sorted entries: Entries,
        in transaction: WriteTransaction
    ) throws(StorageError) -> ByteTree where Entries.Element == (key: [UInt8], value: [UInt8]) {
        var builder = ByteTreeBuilder(in: transaction)
        for (key, value) in entries {
            let result = key.withUnsafeBytes { key in
                value.withUnsafeBytes { value in
                    Result { () throws(StorageError) in try builder.append(key, value: value) }
                }
            }
            try result.get()
        }
        return try builder.finish()
    }
}
