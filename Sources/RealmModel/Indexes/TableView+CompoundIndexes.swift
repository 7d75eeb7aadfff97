import RealmStorage

/// Indexes over several properties.
extension TableView {
    /// Writes the values of a row as an index holds them, one of them replaced, and returns the length.
    func encode(
        _ source: TreeSource,
        at location: RowLocation,
        to out: UnsafeMutableRawPointer,
        replacing property: Int = -1,
        by value: BorrowedValue = .null
    ) throws(StorageError) -> Int {
        var length = 0
        for (place, ordinal) in source.ordinals.enumerated() {
            let slot = source.slots[place]
            length += IndexKey.encode(
                ordinal == property
                    ? value : try Self.value(slot, in: try column(ordinal, in: location.leaf), row: location.row),
                slot,
                to: out + length,
                limit: source.stringByteLimit
            )
        }
        return length
    }

    /// Notes what becomes of a row's entries in the compound indexes that hold a property, before its column is written.
    @inline(never)
    func updateCompoundIndexes(_ property: Int, key: Int64, to value: BorrowedValue) throws(StorageError) {
        guard let transaction = model.transaction, let writer else { return }
        for source in layout.compoundSources where source.ordinals.contains(property) {
            guard key < writer.trees[source.tree].pendingFrom, let location = try locate(key) else { continue }
            let old = IndexKey.append(
                rowKey: key,
                to: transaction.keyBuffer,
                at: try encode(source, at: location, to: transaction.keyBuffer)
            )
            let new = IndexKey.append(
                rowKey: key,
                to: transaction.otherKeyBuffer,
                at: try encode(source, at: location, to: transaction.otherKeyBuffer, replacing: property, by: value)
            )
            let oldKey = UnsafeRawBufferPointer(start: transaction.keyBuffer, count: old)
            let newKey = UnsafeRawBufferPointer(start: transaction.otherKeyBuffer, count: new)
            if oldKey.elementsEqual(newKey) { continue }
            writer.noteChange(source.tree, removes: true) { Self.copy(oldKey, to: $0) }
            writer.noteChange(source.tree, removes: false) { Self.copy(newKey, to: $0) }
        }
    }

    /// Notes that a row's entries in the compound indexes go.
    func removeFromCompoundIndexes(
        _ key: Int64,
        at location: RowLocation,
        _ writer: TableWriter
    ) throws(StorageError) {
        for source in layout.compoundSources where key < writer.trees[source.tree].pendingFrom {
            let buffer = try openTransaction.keyBuffer
            let length = try encode(source, at: location, to: buffer)
            let entry = UnsafeRawBufferPointer(
                start: buffer,
                count: IndexKey.append(rowKey: key, to: buffer, at: length)
            )
            writer.noteChange(source.tree, removes: true) { Self.copy(entry, to: $0) }
        }
    }
}
