/// Byte strings too large for a leaf: a run of pages each, written once and never changed.
package enum Overflow {
    /// Writes bytes to a run of their own.
    ///
    /// - Returns: the sealed reference of the run; it may be stored in a parent page as it is.
    package static func write(
        _ bytes: UnsafeRawBufferPointer, in transaction: WriteTransaction
    ) throws(StorageError) -> PageReference {
        preconditionFailure("stub")
    }

    /// The bytes of a run, in place.
    package static func read(
        _ reference: PageReference, in view: PageView
    ) throws(StorageError) -> UnsafeRawBufferPointer {
        preconditionFailure("stub")
    }

    /// Gives a run back.
    package static func free(_ reference: PageReference, in transaction: WriteTransaction) {
        transaction.free(reference)
    }

    /// What is wrong with the structure of an `overflow` run, nil when nothing is.
    static func validate(_ page: UnsafeRawBufferPointer) -> String? {
        preconditionFailure("stub")
    }
}
