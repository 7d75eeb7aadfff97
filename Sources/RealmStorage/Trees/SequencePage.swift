/// What the two kinds of pages of a `SequenceTree` share.
enum SequencePage {
    static let maximumLevel = 15

    /// What is wrong with the structure of a `sequenceLeaf` or `sequenceInner` page, nil when nothing is.
    static func validate(_ page: UnsafeRawBufferPointer) -> String? {
        validate(page, allowsDirtyReferences: false)
    }

    /// The same for a page of the open transaction, whose references to its dirty pages have no checksum yet.
    static func validate(_ page: UnsafeRawBufferPointer, allowsDirtyReferences: Bool) -> String? {
        guard page.count == pageByteCount, let base = page.baseAddress else { return "it is not one page long" }
        let level = Int(page[PageHeader.levelOffset])
        switch PageKind(rawValue: page[PageHeader.kindOffset]) {
        case .sequenceLeaf:
            guard level == 0 else { return "a leaf has level \(level)" }
            return SequenceLeaf(base).validate(allowsDirtyReferences: allowsDirtyReferences)
        case .sequenceInner:
            guard (1...maximumLevel).contains(level) else { return "an inner page has level \(level)" }
            return SequenceInner(base).validate(allowsDirtyReferences: allowsDirtyReferences)
        default: return "it is not a page of a sequence"
        }
    }

    /// The level of the root page of a sequence, and the page.
    static func root(
        _ reference: PageReference,
        in view: PageView
    ) throws(StorageError) -> (page: UnsafeRawPointer, level: Int) {
        let page = try view.pointer(to: reference)
        let level = Int(page.load(fromByteOffset: PageHeader.levelOffset, as: UInt8.self))
        let kind = page.load(fromByteOffset: PageHeader.kindOffset, as: UInt8.self)
        guard reference.pageCount == 1, level <= maximumLevel, kind == self.kind(level: level).rawValue else {
            throw .corrupt("A page of a sequence is not the root of one", page: reference.page)
        }
        // Everything below a root in the file is in the file: leaves that are shared must not make a sequence of any length.
        if level > 0, view.isInFile(page),
            SequenceInner(page).elementCount > view.pageLimit &* SequenceLeaf.maximumElementCount
        {
            throw .corrupt("A sequence counts more elements than its file has room for", page: reference.page)
        }
        return (page, level)
    }

    /// The kind of the pages of a level.
    static func kind(level: Int) -> PageKind {
        level == 0 ? .sequenceLeaf : .sequenceInner
    }

    /// The number of elements in or below a page.
    static func elementCount(_ page: UnsafeRawPointer, level: Int) -> Int {
        level == 0 ? SequenceLeaf(page).count : SequenceInner(page).elementCount
    }
}
