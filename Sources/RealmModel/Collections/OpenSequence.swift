import RealmStorage

extension ModelTransaction.OpenSequence {
    func append(_ value: BorrowedValue, _ slot: PropertySlot, in transaction: WriteTransaction) throws(StorageError) {
        try insert(value, at: count, slot, in: transaction)
    }

    func insert(
        _ value: BorrowedValue,
        at index: Int,
        _ slot: PropertySlot,
        in transaction: WriteTransaction
    ) throws(StorageError) {
        try withElement(value, slot) { (bytes) throws(StorageError) in
            if index == count {
                try tree.append(bytes, in: transaction)
            } else {
                try tree.insert(bytes, at: index, in: transaction)
            }
            count += 1
            try addLength(bytes.count)
        }
    }

    func replace(
        at index: Int,
        with value: BorrowedValue,
        _ slot: PropertySlot,
        in transaction: WriteTransaction
    ) throws(StorageError) {
        let old = try tree.element(at: index, in: transaction.view).count
        try withElement(value, slot) { (bytes) throws(StorageError) in
            try tree.replace(at: index, with: bytes, in: transaction)
            try addLength(bytes.count - old)
        }
    }

    func remove(at index: Int, in transaction: WriteTransaction) throws(StorageError) {
        try addLength(-(try tree.element(at: index, in: transaction.view).count))
        try tree.remove(at: index, in: transaction)
        count -= 1
    }

    func removeAll(in transaction: WriteTransaction) throws(StorageError) {
        try tree.removeAll(in: transaction)
        count = 0
        byteCount = 0
    }

    /// Adds to the sum of the elements' lengths, which may be what a stranger said that it was.
    private func addLength(_ difference: Int) throws(StorageError) {
        byteCount += difference
        guard byteCount >= 0, byteCount <= ListFormat.greatestByteCount else {
            throw ListFormat.damaged("its elements are not as long as it says.")
        }
    }

    private func withElement(
        _ value: BorrowedValue,
        _ slot: PropertySlot,
        _ body: (UnsafeRawBufferPointer) throws(StorageError) -> Void
    ) throws(StorageError) {
        try ListFormat.withElement(
            value,
            width: ListFormat.width(of: slot.kind),
            isOptional: slot.isOptional,
            body
        )
    }

    /// Calls a function with what the row holds of the list.
    func withBytes(
        _ slot: PropertySlot,
        _ body: (UnsafeRawBufferPointer) throws(StorageError) -> Void
    ) throws(StorageError) {
        try withUnsafeTemporaryAllocation(byteCount: ListFormat.largeByteCount, alignment: 8) {
            (buffer) throws(StorageError) in
            let base = buffer.baseAddress!
            base.storeBytes(of: 0, as: UInt64.self)
            base.storeBytes(of: ListFormat.largeForm, as: UInt8.self)
            base.storeBytes(of: ListFormat.kindByte(slot), toByteOffset: 1, as: UInt8.self)
            base.storeBytes(of: UInt64(count).littleEndian, toByteOffset: 8, as: UInt64.self)
            base.storeBytes(of: UInt64(byteCount).littleEndian, toByteOffset: 16, as: UInt64.self)
            tree.root.store(to: base + ListFormat.rootOffset)
            try body(UnsafeRawBufferPointer(start: base, count: ListFormat.largeByteCount))
        }
    }
}
