/// Walks a `SequenceTree` upwards. The tree must not change while the cursor is in use.
package struct SequenceCursor {
    /// The next element, in place; nil at the end.
    package mutating func next() throws(StorageError) -> UnsafeRawBufferPointer? {
        preconditionFailure("stub")
    }
}
