import RealmStorage

/// The entries of a tree that the rows from a key on are missing, sorted; what does not fit into memory stands in trees
/// of its own until all are merged.
struct PendingEntries: ~Copyable {
    private let source: TreeSource
    private var list = KeyList()
    /// Entries that came before, in trees that nobody else knows.
    private(set) var parts: [ByteTree]

    /// - Parameters:
    ///   - source: What the tree is made from.
    ///   - parts: What was collected before.
    init(_ source: TreeSource, parts: [ByteTree] = []) {
        self.source = source
        self.parts = parts
    }

    /// Collects the entries of the rows from a key on.
    mutating func collect(
        _ cursor: inout LeafCursor,
        from first: Int64,
        in transaction: WriteTransaction,
        column: (LeafView, PropertySlot) throws(StorageError) -> ColumnView
    ) throws(StorageError) {
        let slot = source.slots[0]
        var leafCount = 0
        while true {
            leafCount += 1
            if leafCount % 128 == 0 { transaction.releaseReadPages() }
            // Before the leaf is at hand: pages may move to the file.
            if list.isFull { try putAside(in: transaction) }
            guard let leaf = try cursor.next() else { return }
            let start = leaf.lowerBound(of: first)
            guard start < leaf.rowCount else { continue }
            if source.isCompound {
                try collect(leaf, from: start, column)
                continue
            }
            let column = try column(leaf, slot)
            for row in start..<leaf.rowCount {
                let value = try TableView.value(slot, in: column, row: row)
                if slot.isLink && value.isNull { continue }
                let key = leaf.key(at: row)
                list.append(removes: false) { Self.encode(value, slot: slot, rowKey: key, to: $0) }
            }
        }
    }

    /// Collects the entries of a compound index from the rows of a leaf.
    private mutating func collect(
        _ leaf: LeafView,
        from start: Int,
        _ column: (LeafView, PropertySlot) throws(StorageError) -> ColumnView
    ) throws(StorageError) {
        var columns: [ColumnView] = []
        for slot in source.slots { columns.append(try column(leaf, slot)) }
        for row in start..<leaf.rowCount {
            let key = leaf.key(at: row)
            var failure: StorageError?
            list.append(removes: false) { out in
                var length = 0
                do throws(StorageError) {
                    for (slot, column) in zip(source.slots, columns) {
                        length += IndexKey.encode(
                            try TableView.value(slot, in: column, row: row),
                            slot,
                            to: out + length,
                            limit: source.stringByteLimit
                        )
                    }
                } catch {
                    failure = error
                }
                return IndexKey.append(rowKey: key, to: out, at: length)
            }
            if let failure { throw failure }
        }
    }

    /// Writes the whole key of a row's entry and returns its length.
    @inline(__always)
    static func encode(
        _ value: BorrowedValue,
        slot: PropertySlot,
        rowKey: Int64,
        to out: UnsafeMutableRawPointer
    ) -> Int {
        if slot.isLink, case .int(let target) = value {
            return IndexKey.backlink(target: target, origin: rowKey, to: out).count
        }
        return IndexKey.append(rowKey: rowKey, to: out, at: IndexKey.encode(value, slot, to: out))
    }

    /// Makes a tree of the entries in memory.
    mutating func putAside(in transaction: WriteTransaction) throws(StorageError) {
        guard list.count > 0 else { return }
        list.sort()
        var builder = ByteTreeBuilder(in: transaction)
        for index in 0..<list.count { try builder.append(list.key(at: index), value: .none) }
        var tree = try builder.finish()
        try tree.seal(in: transaction)
        parts.append(tree)
        list.removeAll()
    }

    /// Puts the entries into a tree that holds none of them.
    consuming func insert(into tree: inout ByteTree, in transaction: WriteTransaction) throws(StorageError) {
        list.sort()
        let stored = list.count > 512 ? try tree.count(in: transaction.view) : 0
        let isMany = list.count > 512 && list.count > stored / 5
        if parts.isEmpty, !isMany {
            for index in 0..<list.count {
                try tree.insert(list.key(at: index), value: .none, in: transaction)
            }
            return
        }
        // Building the tree anew is cheaper than many descents.
        var merge = EntryMerge(tree.isEmpty ? parts : [tree] + parts, in: transaction)
        tree = try merge.merged(with: list)
    }
}

extension UnsafeRawBufferPointer {
    /// No bytes: the value of most entries.
    static var none: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}
