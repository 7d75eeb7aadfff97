/// A position in a `ByteTree`. Its tree must not change while the cursor is in use.
package struct ByteTreeCursor {
    /// Whether the cursor stands on an entry.
    package var isValid: Bool { preconditionFailure("stub") }

    /// Moves to the first entry whose key is not below a bound; false when there is none.
    package mutating func seek(_ lowerBound: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        preconditionFailure("stub")
    }

    /// Moves to the first entry; false when the tree is empty.
    package mutating func seekFirst() throws(StorageError) -> Bool {
        preconditionFailure("stub")
    }

    /// Moves to the last entry; false when the tree is empty.
    package mutating func seekLast() throws(StorageError) -> Bool {
        preconditionFailure("stub")
    }

    /// Moves to the last entry whose key is below a bound; false when there is none.
    package mutating func seek(before upperBound: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        preconditionFailure("stub")
    }

    /// Moves to the next entry; false at the end, where the cursor stands nowhere.
    package mutating func next() throws(StorageError) -> Bool {
        preconditionFailure("stub")
    }

    /// Moves to the previous entry; false at the beginning, where the cursor stands nowhere.
    package mutating func previous() throws(StorageError) -> Bool {
        preconditionFailure("stub")
    }

    /// The key, valid until the cursor moves or goes away. Prefer `hasPrefix`, `isBelow` and `lastEightBytes` in loops:
    /// they need no assembling of the key.
    package var key: UnsafeRawBufferPointer {
        mutating get { preconditionFailure("stub") }
    }

    /// The length of the key in bytes.
    package var keyByteCount: Int { preconditionFailure("stub") }

    /// The last eight bytes of the key as a big-endian number (of a shorter key: its bytes, zero-extended on the left).
    package var lastEightBytes: UInt64 { preconditionFailure("stub") }

    /// Whether the key starts with the given bytes.
    package func hasPrefix(_ prefix: UnsafeRawBufferPointer) -> Bool {
        preconditionFailure("stub")
    }

    /// Whether the key is below a bound.
    package func isBelow(_ upperBound: UnsafeRawBufferPointer) -> Bool {
        preconditionFailure("stub")
    }

    /// The value, in place, valid as long as the version.
    package var value: UnsafeRawBufferPointer {
        get throws(StorageError) { preconditionFailure("stub") }
    }
}
