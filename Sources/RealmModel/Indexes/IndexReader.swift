package import RealmStorage

/// Looks values up in the index of a property, one after the other, of one version.
package final class IndexReader {
    /// The ordinal of the property.
    package let property: Int
    private let table: TableView
    private let slot: PropertySlot
    /// The cursor between two questions.
    private let kept: UnsafeMutablePointer<ByteTreeCursor>
    private let buffer: UnsafeMutableRawPointer

    /// - Parameters:
    ///   - property: The ordinal of the property; not that of an int primary key.
    ///   - table: The table, outside a transaction.
    /// - Throws: `StorageError` when a page is damaged.
    package init(_ property: Int, of table: TableView) throws(StorageError) {
        self.property = property
        self.table = table
        slot = table.slots[property]
        let tree = try table.indexTree(property)
        kept = .allocate(capacity: 1)
        kept.initialize(to: tree.cursor(in: table.view))
        buffer = .allocate(byteCount: IndexKey.maximumByteCount, alignment: 8)
    }

    deinit {
        kept.deinitialize(count: 1)
        kept.deallocate()
        buffer.deallocate()
    }

    /// The first row, in key order, with a value.
    package func firstKey(equalTo value: StoredValue) throws -> Int64? {
        if case .string(var text) = value {
            return try text.withUTF8 { try firstKey(equalTo: .bytes(UnsafeRawBufferPointer($0))) }
        }
        return try value.withBorrowed { try firstKey(equalTo: $0) }
    }

    private func firstKey(equalTo value: BorrowedValue) throws(StorageError) -> Int64? {
        let prefix = UnsafeRawBufferPointer(
            start: buffer,
            count: IndexKey.encode(value, kind: slot.kind, to: buffer)
        )
        // Used as a local value, which is not copied for every question.
        var cursor = kept.move()
        defer { kept.initialize(to: cursor) }
        var isOnEntry = try cursor.seek(prefix)
        while isOnEntry, cursor.hasPrefix(prefix) {
            let key = IndexKey.rowKey(at: cursor)
            if try table.isMatch(key, property, value, slot) { return key }
            isOnEntry = try cursor.next()
        }
        return nil
    }
}
