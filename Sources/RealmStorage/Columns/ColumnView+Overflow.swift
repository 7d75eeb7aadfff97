extension ColumnView {
    /// The value that lives in an overflow run.
    @usableFromInline
    @inline(never)
    func overflowBytes(_ row: Int) throws(StorageError) -> UnsafeRawBufferPointer {
        preconditionFailure("stub")
    }
}
