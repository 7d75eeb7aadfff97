import RealmStorage

/// The missing entries of a tree, sorted.
struct PendingEntries: ~Copyable {
    private struct Entry {
        /// The key's bytes 1 to 8 as a big-endian number, so that most comparisons touch nothing else.
        var order: UInt64
        var offset: Int
        var byteCount: Int
    }

    /// The keys one after the other.
    private var bytes: UnsafeMutableRawBufferPointer
    private var entries: [Entry] = []

    init(of table: TableView, property: Int, from first: Int64) throws(StorageError) {
        var cursor = table.leaves(from: first)
        try self.init(slot: table.slots[property], cursor: &cursor, from: first) {
            (leaf) throws(StorageError) -> ColumnView in
            try table.column(property, in: leaf)
        }
    }

    /// Collects the entries of a property for the rows from a key on.
    init(
        slot: PropertySlot,
        cursor: inout LeafCursor,
        from first: Int64,
        column: (LeafView) throws(StorageError) -> ColumnView
    ) throws(StorageError) {
        bytes = .allocate(byteCount: IndexKey.maximumByteCount, alignment: 8)
        var used = 0
        while let leaf = try cursor.next() {
            let column = try column(leaf)
            let start = leaf.lowerBound(of: first)
            guard start < leaf.rowCount else { continue }
            for row in start..<leaf.rowCount {
                let value = try TableView.value(slot, in: column, row: row)
                if slot.isLink && value.isNull { continue }
                if bytes.count - used < IndexKey.maximumByteCount { grow(keeping: used) }
                let out = bytes.baseAddress! + used
                let byteCount = Self.encode(value, slot: slot, rowKey: leaf.key(at: row), to: out)
                entries.append(
                    Entry(
                        order: UInt64(bigEndian: out.loadUnaligned(fromByteOffset: 1, as: UInt64.self)),
                        offset: used,
                        byteCount: byteCount
                    )
                )
                used += byteCount
            }
        }
        sort()
    }

    deinit {
        bytes.deallocate()
    }

    private mutating func grow(keeping used: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count * 2, alignment: 8)
        larger.baseAddress!.copyMemory(from: bytes.baseAddress!, byteCount: used)
        bytes.deallocate()
        bytes = larger
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
        return IndexKey.append(rowKey: rowKey, to: out, at: IndexKey.encode(value, kind: slot.kind, to: out))
    }

    private func key(_ entry: Entry) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: bytes.baseAddress! + entry.offset, count: entry.byteCount)
    }

    private mutating func sort() {
        let base = UnsafeRawPointer(bytes.baseAddress!)
        // A key is at least 9 bytes long, so the first difference is in the tag, in `order`, or after both.
        func isBelow(_ left: Entry, _ right: Entry) -> Bool {
            let leftKey = base + left.offset
            let rightKey = base + right.offset
            let leftTag = leftKey.load(as: UInt8.self)
            let rightTag = rightKey.load(as: UInt8.self)
            if leftTag != rightTag { return leftTag < rightTag }
            if left.order != right.order { return left.order < right.order }
            let common = min(left.byteCount, right.byteCount)
            var offset = 9
            while offset + 8 <= common {
                let leftWord = leftKey.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                let rightWord = rightKey.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                if leftWord != rightWord { return leftWord.byteSwapped < rightWord.byteSwapped }
                offset += 8
            }
            while offset < common {
                let leftByte = leftKey.load(fromByteOffset: offset, as: UInt8.self)
                let rightByte = rightKey.load(fromByteOffset: offset, as: UInt8.self)
                if leftByte != rightByte { return leftByte < rightByte }
                offset += 1
            }
            return left.byteCount < right.byteCount
        }
        for index in entries.indices.dropFirst() where isBelow(entries[index], entries[index - 1]) {
            entries.sort(by: isBelow)
            return
        }
    }

    /// Puts the entries into a tree that holds none of them.
    func insert(into tree: inout ByteTree, in transaction: WriteTransaction) throws(StorageError) {
        guard !entries.isEmpty else { return }
        if entries.count > 512, entries.count > (try tree.count(in: transaction.view)) / 5 {
            try merge(into: &tree, in: transaction)
            return
        }
        for entry in entries {
            try tree.insert(key(entry), value: UnsafeRawBufferPointer(start: nil, count: 0), in: transaction)
        }
    }

    /// Builds the tree anew from its entries and the missing ones: cheaper than many descents.
    private func merge(into tree: inout ByteTree, in transaction: WriteTransaction) throws(StorageError) {
        var builder = ByteTreeBuilder(in: transaction)
        var cursor = tree.cursor(in: transaction.view)
        var isOnEntry = try cursor.seekFirst()
        for entry in entries {
            let key = key(entry)
            while isOnEntry, cursor.isBelow(key) {
                try builder.append(cursor.key, value: cursor.value)
                isOnEntry = try cursor.next()
            }
            try builder.append(key, value: UnsafeRawBufferPointer(start: nil, count: 0))
        }
        while isOnEntry {
            try builder.append(cursor.key, value: cursor.value)
            isOnEntry = try cursor.next()
        }
        let merged = builder.finish()
        try tree.removeAll(in: transaction)
        tree = merged
    }
}
