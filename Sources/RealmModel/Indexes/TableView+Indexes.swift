package import RealmStorage

/// One end of a range of an index.
package enum IndexBound: Sendable, Hashable {
    case unbounded
    case including(StoredValue)
    case excluding(StoredValue)
}

extension TableView {
    /// The row with a primary key; nil when there is none or the class has no primary key.
    package func find(primaryKey: StoredValue) throws -> Int64? { preconditionFailure("stub") }

    /// The row with an int primary key.
    package func findInt(_ primaryKey: Int64) throws(StorageError) -> Int64? { preconditionFailure("stub") }

    /// The row with a string primary key, given in UTF-8.
    package func findString(_ primaryKey: UnsafeRawBufferPointer) throws(StorageError) -> Int64? {
        preconditionFailure("stub")
    }

    /// The row with an ObjectId or UUID primary key, given as its 12 or 16 bytes.
    package func findFixed(_ primaryKey: UnsafeRawBufferPointer) throws(StorageError) -> Int64? {
        preconditionFailure("stub")
    }

    /// Whether a property has an index (a primary key always has).
    package func hasIndex(_ property: Int) -> Bool { preconditionFailure("stub") }

    /// The rows whose indexed property equals a value, ascending by key.
    package func indexedKeys(property: Int, equalTo value: StoredValue) throws -> [Int64] {
        preconditionFailure("stub")
    }

    /// The same for a borrowed value.
    package func indexedKeys(property: Int, equalTo value: BorrowedValue) throws(StorageError) -> [Int64] {
        preconditionFailure("stub")
    }

    /// The number of rows whose indexed property equals a value, in the time of two look-ups (an estimate for strings
    /// beyond 256 bytes).
    package func indexedCount(property: Int, equalTo value: StoredValue) throws -> Int { preconditionFailure("stub") }

    /// The rows in a range of an indexed property, ascending by value, then by key.
    ///
    /// Null comes first and only when `lower` is `.unbounded` or `.including(.null)`; NaN comes last.
    package func rangeKeys(
        property: Int, lower: IndexBound, upper: IndexBound, limit: Int = .max
    ) throws -> [Int64] { preconditionFailure("stub") }

    /// The number of rows in a range, in the time of two look-ups (an estimate where strings exceed 256 bytes).
    package func rangeCount(property: Int, lower: IndexBound, upper: IndexBound) throws -> Int {
        preconditionFailure("stub")
    }

    /// The rows whose indexed string begins with a prefix (UTF-8, bytewise), ascending by value, then by key.
    package func prefixKeys(property: Int, prefix: UnsafeRawBufferPointer, limit: Int = .max) throws -> [Int64] {
        preconditionFailure("stub")
    }
}
