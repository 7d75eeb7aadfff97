package import RealmStorage

/// Elements by type. Asking for another type than `elementKind` says, or for a null element, gives zero or nothing.
extension ListView {
    package func isNull(at index: Int) throws(StorageError) -> Bool { try borrowedValue(at: index).isNull }

    /// An int element, a bool (0 or 1), or the row key of a linked object.
    package func int(at index: Int) throws(StorageError) -> Int64 {
        if case .int(let value) = try borrowedValue(at: index) { return value }
        return 0
    }

    package func float(at index: Int) throws(StorageError) -> Float {
        if case .float(let value) = try borrowedValue(at: index) { return value }
        return 0
    }

    /// A double, or a date in seconds since the reference date.
    package func double(at index: Int) throws(StorageError) -> Double {
        if case .double(let value) = try borrowedValue(at: index) { return value }
        return 0
    }

    /// A string's UTF-8, data, or the bytes of an ObjectId or UUID.
    package func bytes(at index: Int) throws(StorageError) -> UnsafeRawBufferPointer {
        if case .bytes(let value) = try borrowedValue(at: index) { return value }
        return UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// An element of any kind, owned.
    package func value(at index: Int) throws(StorageError) -> StoredValue {
        StoredValue(try borrowedValue(at: index), kind: elementKind)
    }

    /// All row keys of a list of links.
    package func links() throws(StorageError) -> [Int64] {
        var keys: [Int64] = []
        keys.reserveCapacity(forClaimed: count)
        try visit { if case .int(let key) = $0 { keys.append(key) } }
        return keys
    }

    /// All elements, owned.
    package func values() throws(StorageError) -> [StoredValue] {
        var values: [StoredValue] = []
        values.reserveCapacity(forClaimed: count)
        try visit { values.append(StoredValue($0, kind: elementKind)) }
        return values
    }

    /// The first position of an element.
    package func firstIndex(of value: StoredValue) throws -> Int? {
        guard value.isOf(elementKind) else { return nil }
        // Numbers of equal value may have different bytes.
        if elementKind == .any || elementKind == .decimal128 {
            for index in 0..<count where try StoredValue.order(self.value(at: index), value) == 0 { return index }
            return nil
        }
        return try value.withBorrowed { try firstIndex(of: $0) }
    }

    /// The first position of a borrowed element.
    @_disfavoredOverload
    package func firstIndex(of value: BorrowedValue) throws(StorageError) -> Int? {
        for index in 0..<count where try borrowedValue(at: index).isSame(as: value) { return index }
        return nil
    }

    /// Calls a function with each element.
    func visit(_ body: (BorrowedValue) -> Void) throws(StorageError) {
        do {
            try forEach { _, value in body(value) }
        } catch let error as StorageError {
            throw error
        } catch {
            throw ListFormat.damaged("\(error)")
        }
    }
}

extension BorrowedValue {
    /// Equality of values of one kind as `StoredValue` has it: bytes by content, NaN equal to itself.
    package func isSame(as other: BorrowedValue) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.int(let left), .int(let right)): left == right
        case (.float(let left), .float(let right)): left == right || left.isNaN && right.isNaN
        case (.double(let left), .double(let right)): left == right || left.isNaN && right.isNaN
        case (.bytes(let left), .bytes(let right)): left.elementsEqual(right)
        default: false
        }
    }
}
