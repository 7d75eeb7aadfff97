package import RealmStorage

extension TableView {
    /// The rows of an origin class that link to a row of this one, ascending; one that holds it twice comes twice.
    ///
    /// - Parameters:
    ///   - key: The row that is linked to.
    ///   - origin: The table of the origin class.
    ///   - property: The ordinal of the linking property in the origin class.
    /// - Returns: the keys of the origin rows.
    /// - Throws: `StorageError` when a page is damaged.
    package func backlinkKeys(of key: Int64, from origin: UInt32, property: Int) throws(StorageError) -> [Int64] {
        guard let table = try model.table(id: origin) else { return [] }
        return try backlinkKeys(of: key, from: table, property: property)
    }

    /// The rows of an origin class that link to a row of this one, ascending; one that holds it twice comes twice.
    package func backlinkKeys(of key: Int64, from origin: TableView, property: Int) throws(StorageError) -> [Int64] {
        var keys: [Int64] = []
        try forEachBacklink(of: key, from: origin, property: property) { (originKey, multiplicity) in
            for _ in 0..<multiplicity { keys.append(originKey) }
        }
        return keys
    }

    /// The number of links from one property to a row, multiplicities included.
    package func backlinkCount(of key: Int64, from origin: UInt32, property: Int) throws(StorageError) -> Int {
        guard let table = try model.table(id: origin) else { return 0 }
        let tree = try table.linkTree(property)
        if table.slots[property].isDeferrable {
            return try withKeyBuffer { (buffer) throws(StorageError) -> Int in
                let lower = IndexKey.backlink(target: key, origin: .min, to: buffer + 16)
                buffer.copyMemory(from: lower.baseAddress!, byteCount: 8)
                return try tree.count(
                    from: UnsafeRawBufferPointer(start: buffer, count: 8),
                    to: UnsafeRawBufferPointer(
                        start: buffer,
                        count: IndexKey.appendUpperBound(to: buffer, at: 8)
                    ),
                    in: table.view
                )
            }
        }
        var count = 0
        try forEachBacklink(of: key, from: table, property: property) { (_, multiplicity) in count += multiplicity }
        return count
    }

    /// Whether any property of any class links to the row.
    package func hasBacklinks(to key: Int64) throws(StorageError) -> Bool { try owner(of: key) != nil }

    /// The row that owns an embedded row (or any row that links to another one), and through which property it does.
    package func owner(of key: Int64) throws(StorageError) -> (table: UInt32, property: Int, key: Int64)? {
        for origin in linkOrigins {
            guard let table = try model.table(id: origin.tableID) else { continue }
            let tree = try table.linkTree(origin.property)
            if tree.isEmpty { continue }
            let found = try withKeyBuffer { (buffer) throws(StorageError) -> Int64? in
                let prefix = Self.prefix(linkNumber(of: key, in: table.slots[origin.property]), in: buffer)
                var cursor = tree.cursor(in: table.view)
                guard try cursor.seek(prefix), cursor.hasPrefix(prefix) else { return nil }
                return Int64(bitPattern: cursor.lastEightBytes)
            }
            if let found { return (origin.tableID, origin.property, found) }
        }
        return nil
    }

    /// Calls a function with each origin of links to a row and the number of its links.
    func forEachBacklink(
        of key: Int64,
        from origin: UInt32,
        property: Int,
        _ body: (Int64, Int) -> Void
    ) throws(StorageError) {
        guard let table = try model.table(id: origin) else { return }
        try forEachBacklink(of: key, from: table, property: property, body)
    }

    @inline(__always)
    private func forEachBacklink(
        of key: Int64,
        from table: TableView,
        property: Int,
        _ body: (Int64, Int) -> Void
    ) throws(StorageError) {
        let tree = try table.linkTree(property)
        if tree.isEmpty { return }
        try withKeyBuffer { (buffer) throws(StorageError) in
            let prefix = Self.prefix(linkNumber(of: key, in: table.slots[property]), in: buffer)
            var cursor = tree.cursor(in: table.view)
            var isOnEntry = try cursor.seek(prefix)
            var left = table.greatestLinkCount
            while isOnEntry, cursor.hasPrefix(prefix) {
                let count = try table.multiplicity(cursor.value, among: &left)
                body(Int64(bitPattern: cursor.lastEightBytes), count)
                isOnEntry = try cursor.next()
            }
        }
    }

    /// The bytes with which all backlinks of a row begin.
    private static func prefix(_ target: Int64, in buffer: UnsafeMutableRawPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: IndexKey.backlink(target: target, origin: 0, to: buffer)[..<8])
    }

    /// The backlinks that a property of this table makes, up to date.
    func linkTree(_ property: Int) throws(StorageError) -> ByteTree {
        precondition(slots[property].makesLinks, "The property is not a link.")
        let tree = Int(slots[property].tree)
        return slots[property].isDeferrable ? try currentTree(at: tree) : self.tree(at: tree)
    }

    /// The number of links that an entry stands for.
    func multiplicity(_ value: UnsafeRawBufferPointer) throws(StorageError) -> Int {
        if value.isEmpty { return 1 }
        guard value.count == 4 else { throw corrupt("a backlink has a damaged count.") }
        return Int(UInt32(littleEndian: value.loadUnaligned(as: UInt32.self)))
    }

    /// The same where so many links are left of those that there can be.
    func multiplicity(_ value: UnsafeRawBufferPointer, among left: inout Int) throws(StorageError) -> Int {
        let count = try multiplicity(value)
        left -= count
        guard left >= 0 else { throw corrupt("a backlink counts more links than the file has room for.") }
        return count
    }

    /// No object has more links to it through one property: neither the pages nor what a transaction keeps in memory have room for more.
    var greatestLinkCount: Int {
        guard let transaction = model.transaction else { return view.pageLimit * pageByteCount / 4 }
        return max(view.pageLimit, transaction.storage.pageCount) * pageByteCount / 4 + 1 << 28
    }

    /// Counts one link more or less from a row's collection to a target.
    func adjustBacklink(_ property: Int, target: Int64, origin: Int64, by delta: Int) throws(StorageError) {
        let transaction = try openTransaction
        let writer = try openWriter()
        let tree = Int(slots[property].tree)
        let key = IndexKey.backlink(target: target, origin: origin, to: transaction.keyBuffer)
        let count: Int
        if let value = try writer.trees[tree].tree.value(for: key, in: transaction.storage.view) {
            count = try multiplicity(value) + delta
        } else {
            count = delta
        }
        switch count {
        case ..<0: throw corrupt("the backlinks of '\(schema.properties[property].name)' do not match its lists.")
        case 0: try writer.trees[tree].tree.remove(key, in: transaction.storage)
        case 1:
            try writer.trees[tree].tree.insert(key, value: .none, in: transaction.storage)
        default:
            var bytes = UInt32(clamping: count).littleEndian
            try withUnsafeBytes(of: &bytes) { (bytes) throws(StorageError) in
                _ = try writer.trees[tree].tree.insert(key, value: bytes, in: transaction.storage)
            }
        }
    }

    /// Removes the entry of a target and an origin, whatever its count.
    func removeBacklink(_ property: Int, target: Int64, origin: Int64) throws(StorageError) {
        let transaction = try openTransaction
        let key = IndexKey.backlink(target: target, origin: origin, to: transaction.keyBuffer)
        try openWriter().trees[Int(slots[property].tree)].tree.remove(key, in: transaction.storage)
    }
}
