/// Copies runs of pages from a version of one file into a new file, in the order in which the trees are walked.
package struct PageCopier: RunMapper {
    package let view: PageView
    private let destination: StorageFile
    /// The destination's open transaction; others follow it, so that memory stays bounded.
    package private(set) var transaction: WriteTransaction
    private var uncommittedPageCount = 0
    private var visited = VisitedPages()
    package var isCutShort = false
    package let isExhausted = false

    /// Begins to copy; the caller holds the destination's write lock, and nobody else has that file.
    package init(from view: PageView, to destination: StorageFile) throws(StorageError) {
        self.view = view
        self.destination = destination
        transaction = try destination.beginWrite()
    }

    package mutating func beginWalk() {}

    package mutating func enter(_ reference: PageReference) throws(StorageError) {
        try visited.enter(reference, in: view)
    }

    package mutating func mapped(
        _ reference: PageReference,
        _ changes: [(offset: Int, reference: PageReference)]
    ) throws(StorageError) -> PageReference {
        if uncommittedPageCount > 16_384 {
            try commit()
            transaction = try destination.beginWrite()
        }
        let source = try view.pointer(to: reference)
        uncommittedPageCount += Int(reference.pageCount)
        let copy = try transaction.allocate(pageCount: Int(reference.pageCount), kind: .overflow)
        let page = copy.bytes.loadUnaligned(fromByteOffset: PageHeader.pageOffset, as: UInt32.self)
        let version = copy.bytes.loadUnaligned(fromByteOffset: PageHeader.versionOffset, as: UInt64.self)
        copy.bytes.copyMemory(from: source, byteCount: copy.byteCount)
        copy.bytes.storeBytes(of: page, toByteOffset: PageHeader.pageOffset, as: UInt32.self)
        copy.bytes.storeBytes(of: version, toByteOffset: PageHeader.versionOffset, as: UInt64.self)
        for change in changes { change.reference.store(to: copy.bytes + change.offset) }
        return transaction.seal(copy.reference)
    }

    /// Commits what was copied.
    package mutating func commit() throws(StorageError) {
        try destination.publish([try transaction.prepareCommit()])
        uncommittedPageCount = 0
    }
}
