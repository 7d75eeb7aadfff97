package import RealmStorage

/// Looks values up in the index of a property, one after the other, of one version.
package final class IndexReader {
    /// The ordinal of the property.
    package let property: Int
    private let table: TableView
    private let slot: PropertySlot
    /// In memory of its own, so that it is not copied to be used.
    private let cursor: UnsafeMutablePointer<ByteTreeCursor>
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
        cursor = .allocate(capacity: 1)
        cursor.initialize(to: tree.cursor(in: table.view))
        buffer = .allocate(byteCount: IndexKey.maximumByteCount, alignment: 8)
    }

    deinit {
        cursor.deinitialize(count: 1)
        cursor.deallocate()
        buffer.deallocate()
    }

    /// The first row, in key order, with a value.
    package func firstKey(equalTo value: StoredValue) throws -> Int64? {
        if case .string(let text) = value {
            let found = try text.utf8.withContiguousStorageIfAvailable {
                try firstKey(equalTo: .bytes(UnsafeRawBufferPointer($0)))
            }
            if let found { return found }
        }
        return try value.withBorrowed { try firstKey(equalTo: $0) }
    }

    private func firstKey(equalTo value: BorrowedValue) throws(StorageError) -> Int64? {
        let prefix = UnsafeRawBufferPointer(
            start: buffer,
            count: IndexKey.encode(value, slot, to: buffer)
        )
        return try firstKey(&cursor.pointee, prefix, value)
    }

    private func firstKey(
        _ cursor: inout ByteTreeCursor,
        _ prefix: UnsafeRawBufferPointer,
        _ value: BorrowedValue
    ) throws(StorageError) -> Int64? {
        var isOnEntry = try cursor.seek(prefix)
        while isOnEntry, let end = cursor.lastEightBytes(behind: prefix) {
            let key = IndexKey.shortRowKey(end) ?? IndexKey.rowKey(at: cursor)
            if try table.isMatch(key, property, value, slot) { return key }
            isOnEntry = try cursor.next()
        }
        return nil
    }
}
