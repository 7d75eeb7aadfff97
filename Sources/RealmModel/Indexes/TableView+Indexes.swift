package import RealmStorage

/// One end of a range of an index.
package enum IndexBound: Sendable, Hashable {
    case unbounded
    case including(StoredValue)
    case excluding(StoredValue)
}

extension TableView {
    /// The row with a primary key; nil when there is none, or when the value is not of the key's type.
    package func find(primaryKey: StoredValue) throws -> Int64? {
        guard primaryKeyProperty >= 0, primaryKey.isOf(slots[primaryKeyProperty].kind) else { return nil }
        return try primaryKey.withBorrowed { try find($0) }
    }

    /// The row with an int primary key.
    package func findInt(_ primaryKey: Int64) throws(StorageError) -> Int64? {
        precondition(
            primaryKeyProperty >= 0 && slots[primaryKeyProperty].kind == .int,
            "The primary key is not an int."
        )
        return try find(.int(primaryKey))
    }

    /// The rows around an int primary key whose keys go up with it; none when no row has the key.
    package func run(ofIntPrimaryKey primaryKey: Int64) throws(StorageError) -> PrimaryKeyRun {
        precondition(
            primaryKeyProperty >= 0 && slots[primaryKeyProperty].hasKeyRuns,
            "The primary key is not an int."
        )
        let tree = try currentTree(at: Int(slots[primaryKeyProperty].tree))
        return PrimaryKeyRun(tree.isEmpty ? nil : try KeyRuns.run(holding: primaryKey, in: tree, view: view))
    }

    /// The row with a string primary key, given in UTF-8.
    package func findString(_ primaryKey: UnsafeRawBufferPointer) throws(StorageError) -> Int64? {
        precondition(
            primaryKeyProperty >= 0 && slots[primaryKeyProperty].kind == .string,
            "The primary key is not a string."
        )
        return try find(.bytes(primaryKey))
    }

    /// The row with an ObjectId or UUID primary key, given as its 12 or 16 bytes.
    package func findFixed(_ primaryKey: UnsafeRawBufferPointer) throws(StorageError) -> Int64? {
        precondition(
            primaryKeyProperty >= 0 && fits(.bytes(primaryKey), slots[primaryKeyProperty]),
            "The primary key is not an `ObjectId` or a `UUID`, or has the wrong length."
        )
        return try find(.bytes(primaryKey))
    }

    /// The row with a primary key.
    func find(_ value: BorrowedValue) throws(StorageError) -> Int64? { try find(value, primaryKeyProperty) }

    /// The first row whose indexed property equals a value.
    @inline(__always)
    private func find(_ value: BorrowedValue, _ property: Int) throws(StorageError) -> Int64? {
        let slot = slots[property]
        var hasDeleted = false
        if let writer {
            if case .int(let value) = value, slot.hasKeyRuns, writer.knowsMaximum, value > writer.maximumPrimaryKey {
                return nil
            }
            hasDeleted = writer.lacksNothing(tree: Int(slot.tree))
            if !hasDeleted { try writer.catchUp(tree: Int(slot.tree)) }
        }
        let tree = tree(at: Int(slot.tree))
        if tree.isEmpty { return nil }
        if slot.hasKeyRuns {
            guard let key = try keyRuns(property).row(of: value) else { return nil }
            if hasDeleted, try !contains(key: key) { return nil }
            return key
        }
        return try withKeyBuffer { (buffer) throws(StorageError) -> Int64? in
            let length = IndexKey.encode(value, slot, to: buffer)
            let prefix = UnsafeRawBufferPointer(start: buffer, count: length)
            var cursor = tree.cursor(in: view)
            var isOnEntry = try cursor.seek(prefix)
            while isOnEntry, cursor.hasPrefix(prefix) {
                let key = IndexKey.rowKey(at: cursor)
                let isThere = hasDeleted ? try contains(key: key) : true
                if isThere, try isMatch(key, property, value, slot) { return key }
                isOnEntry = try cursor.next()
            }
            return nil
        }
    }

    /// Whether a property has an index (a primary key always has).
    package func hasIndex(_ property: Int) -> Bool { slots[property].tree >= 0 && !slots[property].makesLinks }

    /// The first row, in key order, whose indexed property equals a value, which must be of its kind.
    package func firstKey(property: Int, equalTo value: StoredValue) throws -> Int64? {
        precondition(hasIndex(property), "The property has no index.")
        return try value.withBorrowed { try find($0, property) }
    }

    /// The rows whose indexed property equals a value, ascending by key.
    package func indexedKeys(property: Int, equalTo value: StoredValue, limit: Int = .max) throws -> [Int64] {
        guard value.isOf(slots[property].kind) else { return [] }
        return try value.withBorrowed { try indexedKeys(property: property, equalTo: $0, limit: limit) }
    }

    /// The same for a borrowed value.
    @_disfavoredOverload
    package func indexedKeys(
        property: Int,
        equalTo value: BorrowedValue,
        limit: Int = .max
    ) throws(StorageError) -> [Int64] {
        let tree = try indexTree(property)
        let slot = slots[property]
        if slot.hasKeyRuns { return try keyRuns(property).row(of: value).map { [$0] } ?? [] }
        return try withKeyBuffer { (buffer) throws(StorageError) -> [Int64] in
            let length = IndexKey.encode(value, slot, to: buffer)
            let prefix = UnsafeRawBufferPointer(start: buffer, count: length)
            var cursor = tree.cursor(in: view)
            var isOnEntry = try cursor.seek(prefix)
            var keys: [Int64] = []
            while isOnEntry, cursor.hasPrefix(prefix) {
                let key = IndexKey.rowKey(at: cursor)
                if try isMatch(key, property, value, slot) { keys.append(key) }
                if keys.count >= limit { break }
                isOnEntry = try cursor.next()
            }
            return keys
        }
    }

    /// The number of rows whose indexed property equals a value, in the time of two look-ups (an upper bound for strings
    /// beyond 256 bytes).
    package func indexedCount(property: Int, equalTo value: StoredValue) throws -> Int {
        let slot = slots[property]
        guard slot.hashesLongStrings, case .string(let text) = value, text.utf8.count > IndexKey.stringByteLimit else {
            return try rangeCount(property: property, lower: .including(value), upper: .including(value))
        }
        precondition(value.isOf(slot.kind), "The bound of an index range is not of the property's type.")
        return try value.withBorrowed { try hashedCount($0, property, slot) }
    }

    /// The number of rows whose long string has the same beginning and hash.
    private func hashedCount(
        _ value: BorrowedValue,
        _ property: Int,
        _ slot: PropertySlot
    ) throws(StorageError) -> Int {
        let tree = try indexTree(property)
        return try withKeyBuffer { (lower) throws(StorageError) -> Int in
            try withKeyBuffer { (upper) throws(StorageError) -> Int in
                let length = IndexKey.encode(value, slot, to: lower)
                upper.copyMemory(from: lower, byteCount: length)
                let end = IndexKey.appendUpperBound(to: upper, at: length)
                return try tree.count(
                    from: UnsafeRawBufferPointer(start: lower, count: length),
                    to: UnsafeRawBufferPointer(start: upper, count: end),
                    in: view
                )
            }
        }
    }

    /// The rows whose indexed string begins with a prefix (UTF-8, bytewise), ascending by value, then by key.
    package func prefixKeys(property: Int, prefix: UnsafeRawBufferPointer, limit: Int = .max) throws -> [Int64] {
        let tree = try indexTree(property)
        precondition(slots[property].columnKind == .bytes, "Only strings have prefixes.")
        return try withKeyBuffer { (buffer) throws(StorageError) -> [Int64] in
            let length = IndexKey.encode(stringPrefix: prefix, to: buffer)
            let bound = UnsafeRawBufferPointer(start: buffer, count: length)
            let isExact = prefix.count <= IndexKey.stringByteLimit
            var cursor = tree.cursor(in: view)
            var isOnEntry = try cursor.seek(bound)
            var range = IndexRun(table: self, property: property)
            while isOnEntry, cursor.hasPrefix(bound), range.keys.count < limit || range.isInTruncatedRun {
                let key = IndexKey.rowKey(at: cursor)
                let isMatch = isExact ? true : try string(of: key, property) { $0.starts(with: prefix) }
                try range.append(key, at: &cursor, if: isMatch)
                isOnEntry = try cursor.next()
            }
            return try range.finish(limit: limit)
        }
    }

    // MARK: - Rows behind keys

    /// The index tree of a property, up to date.
    func indexTree(_ property: Int) throws(StorageError) -> ByteTree {
        precondition(hasIndex(property), "The property has no index.")
        return try currentTree(at: Int(slots[property].tree))
    }

    /// The index of an int primary key, which must be up to date.
    func keyRuns(_ property: Int) -> KeyRuns {
        KeyRuns(tree: tree(at: Int(slots[property].tree)), view: view, rowCount: count)
    }

    /// Calls a function with the bytes of a row that the index names.
    func string<R>(
        of key: Int64,
        _ property: Int,
        _ body: (UnsafeRawBufferPointer) -> R
    ) throws(StorageError) -> R {
        guard let location = try locate(key) else {
            throw corrupt("the index of '\(schema.properties[property].name)' names a row that does not exist.")
        }
        return body(try column(property, in: location.leaf).bytes(location.row))
    }

    /// Whether the row of an entry that matches has the value: strings that do not stand whole in the key are compared.
    @inline(__always)
    func isMatch(
        _ key: Int64,
        _ property: Int,
        _ value: BorrowedValue,
        _ slot: PropertySlot
    ) throws(StorageError) -> Bool {
        guard slot.columnKind == .bytes, case .bytes(let bytes) = value, IndexKey.isTruncated(bytes) else {
            return true
        }
        return try string(of: key, property) { $0.elementsEqual(bytes) }
    }

    /// Lends stack memory for one key.
    @inline(__always)
    func withKeyBuffer<R>(
        _ body: (UnsafeMutableRawPointer) throws(StorageError) -> R
    ) throws(StorageError) -> R {
        try withUnsafeTemporaryAllocation(byteCount: IndexKey.maximumByteCount, alignment: 8) {
            (buffer) throws(StorageError) -> R in
            try body(buffer.baseAddress!)
        }
    }
}
