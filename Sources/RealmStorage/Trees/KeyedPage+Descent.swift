extension KeyedPage {
    /// The root page of a tree.
    @inline(__always)
    static func root(_ reference: PageReference, in view: PageView) throws(StorageError) -> KeyedPage {
        let page = KeyedPage(try view.pointer(to: reference))
        let tag = page.tag
        guard reference.pageCount == 1, tag == leafTag || tag & 0xFF == innerTag else {
            throw damaged(reference, "is not the root of a tree")
        }
        return page
    }

    /// A child of an inner page.
    ///
    /// It must be one level lower, so that a descent ends however the pages refer to each other.
    @inline(__always)
    func child(at index: Int, level: Int, in view: PageView) throws(StorageError) -> KeyedPage {
        let reference = childReference(at: index)
        let page =
            reference.checksum == 0
            // Only pages of the open transaction refer to dirty pages: validation refuses others.
            ? KeyedPage(view.buffer(of: reference.page))
            : KeyedPage(try view.pointer(to: reference))
        guard page.tag == KeyedPage.tag(level: level) else {
            throw KeyedPage.damaged(reference, "does not have level \(level) as its parent says")
        }
        return page
    }

    private static let leafTag = UInt16(PageKind.byteTreeLeaf.rawValue)
    private static let innerTag = UInt16(PageKind.byteTreeInner.rawValue)

    /// Kind and level of a page, as they stand in it.
    @inline(__always)
    private var tag: UInt16 {
        UInt16(littleEndian: base.load(fromByteOffset: PageHeader.kindOffset, as: UInt16.self))
    }

    @inline(__always)
    private static func tag(level: Int) -> UInt16 {
        level == 0 ? leafTag : innerTag | UInt16(truncatingIfNeeded: level &<< 8)
    }

    @inline(never)
    private static func damaged(_ reference: PageReference, _ what: String) -> StorageError {
        .corrupt("A page of a byte tree \(what)", page: reference.page)
    }
}
