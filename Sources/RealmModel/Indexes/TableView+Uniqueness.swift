import RealmStorage

/// Unique indexes: no two rows have the same values, except where one of the values is null.
extension TableView {
    /// Notes that an indexed value of a row changes by itself: it is checked at the commit.
    @inline(never)
    func noteUniqueWrite(_ key: Int64) { writer?.uniqueness?.didChange(key) }

    /// Throws when another row has the values that a row, which was written to its end, has in a unique index.
    ///
    /// - Throws: `ModelError.duplicateValue`, `ModelError.keyTooLong`, or the storage's error.
    package func requireUnique(key: Int64) throws {
        guard let writer, let uniqueness = writer.uniqueness else { return }
        for (source, pending) in zip(layout.uniqueSources, uniqueness.pending) {
            try requireUnique(key, source, pending, uniqueness, writer)
        }
        uniqueness.didCheck(key)
    }

    /// Checks what was not checked yet, before the transaction commits.
    func checkUniqueness() throws {
        guard let uniqueness = writer?.uniqueness else { return }
        for key in try uncheckedKeys(uniqueness) { try requireUnique(key: key) }
        for key in uniqueness.changed.sorted() where try contains(key: key) { try requireUnique(key: key) }
    }

    /// The rows that ``checkUniqueness()`` is still to check.
    func keysToCheck() throws(StorageError) -> [Int64] {
        guard let uniqueness = writer?.uniqueness else { return [] }
        return try uncheckedKeys(uniqueness) + uniqueness.changed
    }

    /// Has rows checked by ``checkUniqueness()`` that another writer of the transaction was still to check.
    func checkLater(_ keys: [Int64]) throws(StorageError) {
        if keys.isEmpty || layout.uniqueSources.isEmpty { return }
        let uniqueness = try openWriter().uniqueness
        for key in keys { uniqueness?.didChange(key) }
    }

    /// The rows that are not checked yet.
    ///
    /// The rows are asked and not counted: how many keys were left out before them, a record says.
    func uncheckedKeys(_ uniqueness: Uniqueness) throws(StorageError) -> [Int64] {
        let first = uniqueness.checkedBelow
        guard first < nextKey else { return [] }
        var keys: [Int64] = []
        var cursor = leaves(from: first)
        while let leaf = try cursor.next() {
            for row in leaf.lowerBound(of: first)..<leaf.rowCount {
                let key = leaf.key(at: row)
                if !uniqueness.isChecked(key) { keys.append(key) }
            }
        }
        return keys
    }

    private func requireUnique(
        _ key: Int64,
        _ source: TreeSource,
        _ pending: Uniqueness.Pending,
        _ uniqueness: Uniqueness,
        _ writer: TableWriter
    ) throws {
        let tree = source.tree
        // What the filter does not know, or knows wrongly, must be in the tree.
        if writer.trees[tree].lagsBehind || pending.isStale || pending.firstKey > writer.trees[tree].pendingFrom {
            try writer.catchUp(tree: tree)
        }
        if writer.trees[tree].pendingFrom > pending.firstKey { pending.filter.removeAll() }
        pending.firstKey = writer.trees[tree].pendingFrom
        pending.isStale = false
        let buffer = try openTransaction.keyBuffer
        guard let length = try encodeWithoutNull(source, at: try row(of: key), to: buffer) else { return }
        if length > source.stringByteLimit, !source.slots[0].hashesLongStrings, !takesLongKeys {
            try requireShort(source, key: key)
        }
        let value = UnsafeRawBufferPointer(start: buffer, count: length)
        try requireNone(of: value, source, but: key, uniqueness)
        if key < writer.trees[tree].pendingFrom || pending.filter.insert(value) { return }
        // Another new row has the value, or looks so.
        try writer.catchUp(tree: tree)
        pending.filter.removeAll()
        pending.firstKey = writer.trees[tree].pendingFrom
        guard let length = try encodeWithoutNull(source, at: try row(of: key), to: buffer) else { return }
        try requireNone(of: UnsafeRawBufferPointer(start: buffer, count: length), source, but: key, uniqueness)
    }

    /// Throws when a string of a row does not stand whole in a unique index of a class that a release before has stored: all rows that
    /// begin like it would have to be compared with it.
    private func requireShort(_ source: TreeSource, key: Int64) throws {
        for (ordinal, value) in zip(source.ordinals, try values(source, key: key)) where source.isTruncated(value) {
            guard case .string(let text) = value else { continue }
            throw keyTooLong(ordinal, byteCount: text.utf8.count, limit: source.stringByteLimit)
        }
    }

    /// The error for a string that must be unique and is too long.
    func keyTooLong(_ property: Int, byteCount: Int, limit: Int) -> ModelError {
        .keyTooLong(
            className: schema.name,
            property: schema.properties[property].name,
            byteCount: byteCount,
            limit: limit
        )
    }

    /// Throws when the tree has an entry of another checked row with the encoded value.
    private func requireNone(
        of value: UnsafeRawBufferPointer,
        _ source: TreeSource,
        but key: Int64,
        _ uniqueness: Uniqueness
    ) throws {
        var others: [Int64] = []
        var cursor = tree(at: source.tree).cursor(in: view)
        var isOnEntry = try cursor.seek(value)
        while isOnEntry, cursor.hasPrefix(value) {
            let other = IndexKey.rowKey(at: cursor)
            if other != key, uniqueness.isChecked(other) { others.append(other) }
            isOnEntry = try cursor.next()
        }
        if others.isEmpty { return }
        let own = try values(source, key: key)
        let isTruncated = own.contains { source.isTruncated($0) }
        for other in others {
            guard try exists(other) else { throw missing(other, namedBy: "an index") }
            guard try values(source, key: other) == own else {
                if isTruncated { continue }
                throw corrupt("an index names row \(other) for values that it does not have.")
            }
            throw ModelError.duplicateValue(
                className: schema.name,
                properties: source.ordinals.map { schema.properties[$0].name },
                value: Self.describe(own),
                existing: other
            )
        }
    }

    /// The values that a row has in an index.
    func values(_ source: TreeSource, key: Int64) throws -> [StoredValue] {
        let location = try row(of: key)
        return try source.ordinals.map { try value($0, at: location) }
    }

    /// Writes the values of a row as an index holds them and returns the length; nil when one is null.
    private func encodeWithoutNull(
        _ source: TreeSource,
        at location: RowLocation,
        to out: UnsafeMutableRawPointer
    ) throws(StorageError) -> Int? {
        for slot in source.slots where slot.isNullable {
            let column = try location.leaf.column(Int(slot.column), isNullable: true)
            if column.isNull(location.row) { return nil }
        }
        return try encode(source, at: location, to: out)
    }

    /// Values in a message: `'ada@example.com'`, `('Lovelace', 7)`.
    package static func describe(_ values: [StoredValue]) -> String {
        let texts = values.map { value in
            switch value {
            case .null: return "nil"
            case .int(let value): return "\(value)"
            case .bool(let value): return "\(value)"
            case .date(let seconds): return "\(seconds) seconds since 2001-01-01"
            case .string(let text): return "'" + (text.count <= 100 ? text : text.prefix(100) + "…") + "'"
            case .objectId(let value): return hexadecimal(value.high, 8) + hexadecimal(UInt64(value.low), 4)
            case .uuid(let value): return hexadecimal(value.high, 8) + hexadecimal(value.low, 8)
            case .data(let bytes): return "\(bytes.count) bytes"
            case .list: return "a list"
            case .dictionary: return "a dictionary"
            default: return "\(value)"
            }
        }
        return texts.count == 1 ? texts[0] : "(" + texts.joined(separator: ", ") + ")"
    }

    private static func hexadecimal(_ number: UInt64, _ byteCount: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: max(0, 2 * byteCount - digits.count)) + digits
    }
}

extension ModelView {
    /// Checks the unique indexes of everything that the open transaction changed, before it commits.
    ///
    /// - Throws: `ModelError.duplicateValue`, or the storage's error.
    package func checkUniqueness() throws {
        guard let transaction, !transaction.isPrepared else { return }
        for table in transaction.touched { try table.checkUniqueness() }
    }
}
