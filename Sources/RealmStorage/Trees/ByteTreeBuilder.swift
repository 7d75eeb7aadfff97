/// Builds a `ByteTree` bottom-up from entries that arrive in ascending key order: full pages, no descents.
package struct ByteTreeBuilder {
    package init(in transaction: WriteTransaction) {
        preconditionFailure("stub")
    }

    /// Adds an entry; its key must be above every key before it.
    package mutating func append(
        _ key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
    ) throws(StorageError) {
        preconditionFailure("stub")
    }

    /// The tree of everything appended, not sealed yet.
    package mutating func finish() throws(StorageError) -> ByteTree {
        preconditionFailure("stub")
    }
}
