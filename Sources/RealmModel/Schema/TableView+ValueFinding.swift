import RealmStorage

/// Which rows hold something that a change of the schema would drop.
extension TableView {
    /// Calls a function with the key of each row whose value of a property is not what new rows have: neither null, nor the default that
    /// the file knows of, nor, where it knows of none, zero or empty where null is not allowed.
    ///
    /// The columns are read as they lie in the leaves, so that this costs a fraction of rewriting the rows. The function must not
    /// write.
    ///
    /// - Complexity: O(*n*) for *n* rows, a nanosecond or so for each; more where a default is compared.
    package func forEachValue(of property: Int, _ body: (Int64) throws -> Void) throws {
        let slot = slots[property]
        guard slot.column >= 0 else { return }
        let known = schema.properties[property].recordedDefault.value
        var cursor = leaves()
        var leafCount = 0
        while let leaf = try cursor.next() {
            // What a transaction has read stays in memory otherwise.
            leafCount += 1
            defer { if leafCount % 64 == 0 { model.transaction?.storage.releaseReadPages() } }
            let column = try column(property, in: leaf)
            if slot.isNullable {
                if column.nulls == nil || !column.isAbsent {
                    for row in 0..<leaf.rowCount where !column.isNull(row) {
                        let key = leaf.key(at: row)
                        if let known, try value(property, key: key).isIdentical(to: known) { continue }
                        try body(key)
                    }
                }
            } else if let known {
                for row in 0..<leaf.rowCount {
                    let key = leaf.key(at: row)
                    if try !value(property, key: key).isIdentical(to: known) { try body(key) }
                }
            } else if !column.isAbsent {
                for row in 0..<leaf.rowCount {
                    let key = leaf.key(at: row)
                    let isValue =
                        slot.collection == .none
                        ? try Self.isValue(slot, in: column, row: row)
                        : try hasElements(property, key, column.bytes(row))
                    if isValue { try body(key) }
                }
            }
        }
        model.transaction?.storage.releaseReadPages()
    }

    /// How many rows hold a value of a property, as ``forEachValue(of:_:)`` finds them.
    package func valueCount(of property: Int) throws -> Int {
        var count = 0
        try forEachValue(of: property) { _ in count += 1 }
        return count
    }

    /// Whether a row holds something else than zero or nothing, in a column without null.
    @inline(__always)
    private static func isValue(_ slot: PropertySlot, in column: ColumnView, row: Int) throws -> Bool {
        switch slot.columnKind {
        case .int: return column.int(row) != 0
        case .double: return column.double(row) != 0
        case .float: return column.float(row) != 0
        case .bytes:
            return try !column.bytes(row).isEmpty
        case .fixed12, .fixed16:
            let count = slot.columnKind == .fixed12 ? 12 : 16
            let bytes = UnsafeRawBufferPointer(start: column.fixed(row), count: count)
            if slot.kind == .decimal128, case .decimal(let value) = StoredValue(.bytes(bytes), kind: slot.kind) {
                return !value.number.isZero
            }
            return bytes.contains { $0 != 0 }
        }
    }

    /// Whether a collection has elements, given what stands in its row.
    private func hasElements(_ property: Int, _ key: Int64, _ bytes: UnsafeRawBufferPointer) throws -> Bool {
        if bytes.isEmpty { return false }
        // A sequence has elements, unless it is being changed.
        if bytes[0] == ListFormat.largeForm {
            return model.transaction?.sequences[place(property, key)].map { $0.count > 0 } ?? true
        }
        return try !ListView(bytes, slot: slots[property].elements, view: view).isEmpty
    }
}
