import RealmStorage

extension TableView {
    /// Creates a row, every other property at its default (null, zero, empty).
    ///
    /// - Parameter primaryKey: The value of the primary key; nil for a class without one.
    /// - Returns: the key of the new row.
    /// - Throws: `ModelError.duplicatePrimaryKey`, `ModelError.invalidValue`, or the storage's error.
    package func insert(primaryKey: StoredValue? = nil) throws -> Int64 {
        guard let primaryKey else {
            precondition(primaryKeyProperty < 0, "A class with a primary key needs its value to create an object.")
            return try appendRow(openWriter())
        }
        precondition(primaryKeyProperty >= 0, "The class has no primary key.")
        let slot = slots[primaryKeyProperty]
        guard primaryKey.isOf(slot.kind) else { throw invalidValue(primaryKeyProperty, primaryKey) }
        if case .int(let value) = primaryKey { return try insert(intPrimaryKey: value) }
        return try primaryKey.withBorrowed { value in
            guard fits(value, slot) else { throw invalidValue(primaryKeyProperty, primaryKey) }
            return try insert(value)
        }
    }

    /// Creates a row of a class with an int primary key.
    ///
    /// A key above every other one, as counters give them, needs no look-up.
    package func insert(intPrimaryKey value: Int64) throws -> Int64 {
        precondition(
            primaryKeyProperty >= 0 && slots[primaryKeyProperty].kind == .int,
            "The primary key is not an int."
        )
        let writer = try openWriter()
        if !writer.knowsMaximum { try learnMaximum(writer) }
        guard value > writer.maximumPrimaryKey else { return try insert(.int(value)) }
        let key = try appendRow(writer)
        try writer.rows.setInt(value, key: key, column: Int(slots[primaryKeyProperty].column))
        writer.maximumPrimaryKey = value
        return key
    }

    /// Creates a row of a class with a string, ObjectId or UUID primary key, given as UTF-8 or as its 12 or 16 bytes.
    package func insert(bytesPrimaryKey value: UnsafeRawBufferPointer) throws -> Int64 {
        precondition(
            primaryKeyProperty >= 0 && fits(.bytes(value), slots[primaryKeyProperty]),
            "The primary key is not a string, an `ObjectId` or a `UUID`, or has the wrong length."
        )
        return try insert(.bytes(value))
    }

    /// Looks for the key, appends the row, and puts it into the index at once.
    private func insert(_ value: BorrowedValue) throws -> Int64 {
        let property = primaryKeyProperty
        let slot = slots[property]
        let tree = Int(slot.tree)
        if case .bytes(let bytes) = value, !slot.hashesLongStrings, IndexKey.isTruncated(bytes), !takesLongKeys {
            throw keyTooLong(property, byteCount: bytes.count, limit: IndexKey.stringByteLimit)
        }
        let writer = try openWriter()
        if let existing = try find(value) {
            guard try exists(existing) else { throw missing(existing, namedBy: "the index of the primary key") }
            throw ModelError.duplicatePrimaryKey(
                className: schema.name,
                property: schema.properties[property].name,
                value: Self.describe([StoredValue(value, kind: slot.kind)]),
                existing: existing
            )
        }
        let transaction = try openTransaction
        try writer.catchUp(tree: tree)
        let key = try appendRow(writer)
        try store(value, slot, key: key, writer)
        if slot.hasKeyRuns {
            try KeyRuns.insert(KeyRun(value, row: key), into: &writer.trees[tree].tree, in: transaction.storage)
            writer.trees[tree].pendingFrom = key + 1
            if case .int(let value) = value, writer.knowsMaximum {
                writer.maximumPrimaryKey = max(writer.maximumPrimaryKey, value)
            }
            return key
        }
        let length = PendingEntries.encode(value, slot: slot, rowKey: key, to: transaction.keyBuffer)
        try writer.trees[tree].tree
            .insert(
                UnsafeRawBufferPointer(start: transaction.keyBuffer, count: length),
                value: UnsafeRawBufferPointer(start: nil, count: 0),
                in: transaction.storage
            )
        writer.trees[tree].pendingFrom = key + 1
        return key
    }

    @inline(__always)
    private func appendRow(_ writer: TableWriter) throws(StorageError) -> Int64 {
        try limitPending(writer)
        let key = try writer.rows.append()
        writer.rows.transaction.changes.recordInsert(table: id, key: key)
        writer.liveKey = key
        return key
    }

    /// Finds the greatest int primary key.
    private func learnMaximum(_ writer: TableWriter) throws(StorageError) {
        try writer.catchUp(tree: Int(slots[primaryKeyProperty].tree))
        writer.maximumPrimaryKey = try keyRuns(primaryKeyProperty).maximum() ?? .min
        writer.knowsMaximum = true
    }

    /// Bounds the number of rows that wait for their index entries.
    @inline(__always)
    private func limitPending(_ writer: TableWriter) throws(StorageError) {
        let count = writer.rows.tree.nextKey &- writer.firstNewKey
        if count & (pendingRowLimit - 1) == 0, count != 0 { try writer.putAside() }
    }
}
