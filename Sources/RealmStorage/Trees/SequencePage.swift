/// A page of a `SequenceTree`.
enum SequencePage {
    /// What is wrong with the structure of a `sequenceLeaf` or `sequenceInner` page, nil when nothing is.
    static func validate(_ page: UnsafeRawBufferPointer) -> String? {
        preconditionFailure("stub")
    }
}
