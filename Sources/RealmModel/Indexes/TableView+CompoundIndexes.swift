import RealmStorage

/// Indexes over several properties.
extension TableView {
    /// The ordinals of the properties of each compound index.
    package var compoundIndexes: [[Int]] { compoundSources.map(\.ordinals) }

    /// Whether no two rows may have the same values in a compound index, null apart.
    package func isCompoundIndexUnique(_ index: Int) -> Bool { compoundSources[index].isUnique }

    /// Whether rows found by a value must be asked for it, because it does not stand whole in the keys of an index.
    package func isTruncated(_ value: StoredValue, inCompoundIndex index: Int) -> Bool {
        compoundSources[index].isTruncated(value)
    }

    // MARK: - Writing

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
                kind: slot.kind,
                to: out + length,
                limit: source.stringByteLimit
            )
        }
        return length
    }

    /// Notes what becomes of a row's entries in the compound indexes that hold a property, before its column is written.
    @inline(never)
    func updateCompoundIndexes(_ property: Int, key: Int64, to value: BorrowedValue) throws(StorageError) {
        guard let transaction = model.transaction else { return }
        for source in compoundSources where source.ordinals.contains(property) {
            guard key < pendingFrom[source.tree], let location = try locate(key) else { continue }
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
            noteChange(source.tree, removes: true) { Self.copy(oldKey, to: $0) }
            noteChange(source.tree, removes: false) { Self.copy(newKey, to: $0) }
        }
    }

    /// Notes that a row's entries in the compound indexes go.
    func removeFromCompoundIndexes(_ key: Int64, at location: RowLocation) throws(StorageError) {
        for source in compoundSources where key < pendingFrom[source.tree] {
            let buffer = openTransaction.keyBuffer
            let length = try encode(source, at: location, to: buffer)
            let entry = UnsafeRawBufferPointer(
                start: buffer,
                count: IndexKey.append(rowKey: key, to: buffer, at: length)
            )
            noteChange(source.tree, removes: true) { Self.copy(entry, to: $0) }
        }
    }

    // MARK: - Reading

    /// The rows whose first properties of a compound index equal some values, and whose next one lies between two bounds;
    /// ascending by value, then by key.
    ///
    /// Null comes first and only when `lower` is `.unbounded` or `.including(.null)`. Where a constant is truncated (see
    /// `isTruncated(_:inCompoundIndex:)`), rows that only look alike come along.
    package func compoundKeys(
        _ index: Int,
        equalTo values: [StoredValue],
        lower: IndexBound = .unbounded,
        upper: IndexBound = .unbounded
    ) throws -> [Int64] {
        let tree = try compoundTree(index)
        return try withBounds(compoundSources[index], values, lower, upper) { (start, end) throws(StorageError) in
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
    package func compoundCount(
        _ index: Int,
        equalTo values: [StoredValue],
        lower: IndexBound = .unbounded,
        upper: IndexBound = .unbounded
    ) throws -> Int {
        let tree = try compoundTree(index)
        return try withBounds(compoundSources[index], values, lower, upper) { (start, end) throws(StorageError) in
            try tree.count(from: start.isEmpty ? nil : start, to: end.isEmpty ? nil : end, in: view)
        }
    }

    /// The tree of a compound index, up to date.
    private func compoundTree(_ index: Int) throws(StorageError) -> ByteTree {
        let tree = compoundSources[index].tree
        if writer != nil { try catchUp(tree: tree) }
        return trees[tree]
    }

    /// Encodes the first key of a range and the first beyond it, which is empty when there is no end.
    func withBounds<R>(
        _ source: TreeSource,
        _ values: [StoredValue],
        _ lower: IndexBound,
        _ upper: IndexBound,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StorageError) -> R
    ) throws(StorageError) -> R {
        try withKeyBuffer { (start) throws(StorageError) -> R in
            try withKeyBuffer { (end) throws(StorageError) -> R in
                var prefix = 0
                for (place, value) in values.enumerated() { prefix += encode(value, source, place, to: start + prefix) }
                end.copyMemory(from: start, byteCount: prefix)
                var startCount = prefix
                switch lower {
                case .unbounded: break
                case .including(let value):
                    startCount += encode(value, source, values.count, to: start + prefix)
                case .excluding(let value):
                    startCount += encode(value, source, values.count, to: start + prefix)
                    if !source.isTruncated(value) {
                        startCount = IndexKey.appendUpperBound(to: start, at: startCount)
                    }
                }
                var endCount = prefix
                var isAfter = true
                switch upper {
                case .unbounded: break
                case .including(let value):
                    endCount += encode(value, source, values.count, to: end + prefix)
                case .excluding(let value):
                    endCount += encode(value, source, values.count, to: end + prefix)
                    isAfter = source.isTruncated(value)
                }
                if isAfter, endCount > 0 { endCount = IndexKey.appendUpperBound(to: end, at: endCount) }
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
        let kind = source.slots[place].kind
        precondition(value.isOf(kind), "The constant for a compound index is not of the property's type.")
        return value.withBorrowed { IndexKey.encode($0, kind: kind, to: out, limit: source.stringByteLimit) }
    }
}
