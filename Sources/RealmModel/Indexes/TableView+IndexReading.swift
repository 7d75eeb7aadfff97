import RealmStorage

/// Reads indexes of any number of properties.
extension TableView {
    /// The rows whose first properties of a compound index equal some values, and whose next one is in the tail; ascending
    /// by value, then by key.
    ///
    /// Where a constant is truncated (see `TableIndex.isTruncated`), rows that only look alike come along.
    package func keys(in index: TableIndex, equalTo values: [StoredValue], tail: IndexTail = .all) throws -> [Int64] {
        let tree = try upToDateTree(index)
        return try withBounds(index.source, values, tail) { (start, end) throws(StorageError) in
            var keys: [Int64] = []
            var cursor = tree.cursor(in: view)
            var isOnEntry = try cursor.seek(start)
            while isOnEntry, end.isEmpty || cursor.isBelow(end) {
                keys.append(IndexKey.rowKey(at: cursor))
                isOnEntry = try cursor.next()
            }
            return keys
        }
    }

    /// The number of those rows, in the time of two look-ups.
    package func count(in index: TableIndex, equalTo values: [StoredValue], tail: IndexTail = .all) throws -> Int {
        let tree = try upToDateTree(index)
        return try withBounds(index.source, values, tail) { (start, end) throws(StorageError) in
            try tree.count(from: start.isEmpty ? nil : start, to: end.isEmpty ? nil : end, in: view)
        }
    }

    /// The tree of an index, up to date.
    private func upToDateTree(_ index: TableIndex) throws(StorageError) -> ByteTree {
        try currentTree(at: index.source.tree)
    }

    // MARK: - In order

    /// Calls a function with the rows of a part of an index, in the order of the values of some properties, rows with the
    /// same values ascending by key, until it returns false.
    ///
    /// - Parameters:
    ///   - index: The index; not that of an int primary key.
    ///   - values: What its first properties equal.
    ///   - tail: What the next one is like.
    ///   - count: The number of properties, behind those, whose values make the order.
    ///   - isDescending: Whether greater values come first.
    ///   - body: Called with each row.
    /// - Returns: false when values met on the way do not stand whole in the index, so that it does not know their order.
    /// - Throws: what the function throws, or the storage's error.
    package func walk(
        _ index: TableIndex,
        equalTo values: [StoredValue],
        tail: IndexTail,
        ordering count: Int,
        isDescending: Bool,
        _ body: (Int64) throws -> Bool
    ) throws -> Bool {
        let source = index.source
        precondition(
            !source.hasKeyRuns,
            "Walk the index of an int primary key with `rangeKeys(property:lower:upper:)`."
        )
        let tree = try upToDateTree(index)
        let sorted = values.count + count
        // Rows with the same values stand together, in the order of their keys unless other properties follow.
        let collects = isDescending || sorted < source.slots.count
        var group: [UInt8] = []
        var keys: [Int64] = []
        func flush() throws -> Bool {
            if collects { keys.sort() }
            defer { keys.removeAll(keepingCapacity: true) }
            for key in keys { guard try body(key) else { return false } }
            return true
        }
        return try withAnyBounds(source, values, tail) { start, end in
            var cursor = tree.cursor(in: view)
            var isOnEntry =
                if !isDescending {
                    try cursor.seek(start)
                } else if end.isEmpty {
                    try cursor.seekLast()
                } else {
                    try cursor.seek(before: end)
                }
            while isOnEntry {
                if isDescending ? cursor.isBelow(start) : !end.isEmpty && !cursor.isBelow(end) { break }
                let key = IndexKey.rowKey(at: cursor)
                if collects || cursor.keyByteCount > source.stringByteLimit {
                    let bytes = cursor.key
                    guard let length = IndexKey.byteCount(of: sorted, source, in: bytes) else { return false }
                    if collects, !group.elementsEqual(bytes[..<length]) {
                        guard try flush() else { return true }
                        group = Array(bytes[..<length])
                    }
                }
                if collects {
                    keys.append(key)
                } else {
                    guard try body(key) else { return true }
                }
                isOnEntry = isDescending ? try cursor.previous() : try cursor.next()
            }
            _ = try flush()
            return true
        }
    }

    // MARK: - Bounds

    private func withAnyBounds<R>(
        _ source: TreeSource,
        _ values: [StoredValue],
        _ tail: IndexTail,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> R
    ) throws -> R {
        try withBounds(source, values, tail) { (start, end) throws(StorageError) in
            Result { try body(start, end) }
        }
        .get()
    }

    /// Encodes the first key of a part of an index and the first beyond it, which is empty when there is no end.
    private func withBounds<R>(
        _ source: TreeSource,
        _ values: [StoredValue],
        _ tail: IndexTail,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StorageError) -> R
    ) throws(StorageError) -> R {
        try withKeyBuffer { (start) throws(StorageError) -> R in
            try withKeyBuffer { (end) throws(StorageError) -> R in
                var prefix = 0
                for (place, value) in values.enumerated() { prefix += encode(value, source, place, to: start + prefix) }
                end.copyMemory(from: start, byteCount: prefix)
                var startCount = prefix
                var endCount = prefix
                var isEndless = true
                switch tail {
                case .all: break
                case .prefix(let bytes):
                    bytes.withUnsafeBytes {
                        startCount += IndexKey.encode(
                            stringPrefix: $0,
                            to: start + prefix,
                            limit: source.stringByteLimit
                        )
                    }
                    end.copyMemory(from: start, byteCount: startCount)
                    endCount = startCount
                case .range(let lower, let upper):
                    switch lower {
                    case .unbounded: break
                    case .including(let value):
                        startCount += encode(bound: value, isAfter: false, source, values.count, to: start + prefix)
                    case .excluding(let value):
                        let isAfter = !source.isTruncated(value)
                        startCount += encode(bound: value, isAfter: isAfter, source, values.count, to: start + prefix)
                    }
                    switch upper {
                    case .unbounded: break
                    case .including(let value):
                        endCount += encode(bound: value, isAfter: true, source, values.count, to: end + prefix)
                        isEndless = false
                    case .excluding(let value):
                        let isAfter = source.isTruncated(value)
                        endCount += encode(bound: value, isAfter: isAfter, source, values.count, to: end + prefix)
                        isEndless = false
                    }
                }
                if isEndless, endCount > 0 { endCount = IndexKey.appendUpperBound(to: end, at: endCount) }
                return try body(
                    UnsafeRawBufferPointer(start: start, count: startCount),
                    UnsafeRawBufferPointer(start: end, count: endCount)
                )
            }
        }
    }

    private func encode(
        _ value: StoredValue,
        _ source: TreeSource,
        _ place: Int,
        to out: UnsafeMutableRawPointer
    ) -> Int {
        let slot = slot(for: value, source, place)
        return value.withBorrowed { IndexKey.encode($0, slot, to: out, limit: source.stringByteLimit) }
    }

    private func encode(
        bound value: StoredValue,
        isAfter: Bool,
        _ source: TreeSource,
        _ place: Int,
        to out: UnsafeMutableRawPointer
    ) -> Int {
        let slot = slot(for: value, source, place)
        return value.withBorrowed {
            IndexKey.encode(bound: $0, slot, isAfter: isAfter, to: out, limit: source.stringByteLimit)
        }
    }

    /// The indexed property that a constant is compared with.
    @inline(__always)
    private func slot(for value: StoredValue, _ source: TreeSource, _ place: Int) -> PropertySlot {
        let slot = source.slots[place]
        precondition(value.isOf(slot.kind), "The constant for an index is not of the property's type.")
        return slot
    }
}
