/// A page of a `ByteTree`: a slotted page of entries ascending by key.
struct KeyedPage {
    /// What is wrong with the structure of a `byteTreeLeaf` or `byteTreeInner` page, nil when nothing is.
    static func validate(_ page: UnsafeRawBufferPointer) -> String? {
        preconditionFailure("stub")
    }
}
