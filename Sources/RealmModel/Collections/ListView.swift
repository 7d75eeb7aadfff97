package import RealmStorage

/// The elements of one list, read in place.
///
/// A list view is a handful of pointers: valid as long as the version, and in a transaction until its next write.
@frozen
package struct ListView {
    /// The number of elements.
    package let count: Int
    /// What the elements are.
    package let elementKind: PropertyKind
    /// Whether elements may be null.
    package let isElementOptional: Bool

    package var isEmpty: Bool { count == 0 }

    package func isNull(at index: Int) throws(StorageError) -> Bool { preconditionFailure("stub") }
    /// An int element, a bool (0 or 1), or the row key of a linked object.
    package func int(at index: Int) throws(StorageError) -> Int64 { preconditionFailure("stub") }
    package func float(at index: Int) throws(StorageError) -> Float { preconditionFailure("stub") }
    /// A double, or a date in seconds since the reference date.
    package func double(at index: Int) throws(StorageError) -> Double { preconditionFailure("stub") }
    /// A string's UTF-8, data, or the bytes of an ObjectId or UUID.
    package func bytes(at index: Int) throws(StorageError) -> UnsafeRawBufferPointer { preconditionFailure("stub") }
    /// An element of any kind, borrowed.
    package func borrowedValue(at index: Int) throws(StorageError) -> BorrowedValue { preconditionFailure("stub") }
    /// An element of any kind, owned.
    package func value(at index: Int) throws(StorageError) -> StoredValue { preconditionFailure("stub") }

    /// Calls a function with each position of a range (all of them by default) and its element.
    package func forEach(
        in range: Range<Int>? = nil, _ body: (Int, BorrowedValue) throws -> Void
    ) throws { preconditionFailure("stub") }

    /// All row keys of a list of links.
    package func links() throws(StorageError) -> [Int64] { preconditionFailure("stub") }

    /// All elements, owned.
    package func values() throws(StorageError) -> [StoredValue] { preconditionFailure("stub") }

    /// The first position of an element.
    package func firstIndex(of value: StoredValue) throws -> Int? { preconditionFailure("stub") }

    /// The first position of a borrowed element.
    package func firstIndex(of value: BorrowedValue) throws(StorageError) -> Int? { preconditionFailure("stub") }
}
