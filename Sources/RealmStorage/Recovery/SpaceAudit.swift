/// Proves that the pages which a version uses and the pages which it calls free are together the whole file, once each.
package struct SpaceAudit {
    private var owners: [UInt8]
    private let path: String
    private let version: UInt64

    private static let used: UInt8 = 1
    private static let unused: UInt8 = 2

    /// Starts an audit of a version: its space segments and its free space are entered, its trees are the caller's.
    package init(_ snapshot: Snapshot) throws(StorageError) {
        path = snapshot.file.path
        version = snapshot.version
        owners = [UInt8](repeating: 0, count: Int(snapshot.header.pageCount))
        for page in 0..<FileHeader.slotPageCount { owners[page] = SpaceAudit.used }
        let state = try WriterState.load(from: snapshot.header, in: snapshot.view, path: path)
        for segment in state.segments + state.pictures {
            try checkVersion(of: snapshot.view.pointer(to: segment.reference), segment.reference)
            try enter(segment.reference)
        }
        for extent in state.space.freeExtents { try enter(extent, as: SpaceAudit.unused) }
        for retired in state.space.retired { try enter(retired.extent, as: SpaceAudit.unused) }
    }

    /// The segments of a version's change log.
    package static func spaceSegments(of snapshot: Snapshot) throws(StorageError) -> [PageReference] {
        let state = try WriterState.load(from: snapshot.header, in: snapshot.view, path: snapshot.file.path)
        return (state.segments + state.pictures).map(\.reference)
    }

    /// Throws where a run says that a later version wrote it: whoever gives it up would take it for damage.
    package func checkVersion(of page: UnsafeRawPointer, _ reference: PageReference) throws(StorageError) {
        if page.loadUnaligned(fromByteOffset: PageHeader.versionOffset, as: UInt64.self) > version {
            throw .corrupt("A page says that a later version wrote it", page: reference.page, path: path)
        }
    }

    /// Enters a run that a tree uses.
    package mutating func enter(_ reference: PageReference) throws(StorageError) {
        try enter(Extent(page: reference.page, pageCount: reference.pageCount), as: SpaceAudit.used)
    }

    private mutating func enter(_ extent: Extent, as owner: UInt8) throws(StorageError) {
        for page in Int(extent.page)..<(Int(extent.page) + Int(extent.pageCount)) {
            guard page < owners.count else {
                throw .corrupt("A page in use lies beyond the end of its version", page: PageNumber(page), path: path)
            }
            guard owners[page] == 0 else {
                let what = owners[page] == owner ? "is accounted for twice" : "is in use and free at once"
                throw .corrupt("A page \(what)", page: PageNumber(page), path: path)
            }
            owners[page] = owner
        }
    }

    /// Ends the audit: no page may be left over.
    package func finish() throws(StorageError) {
        if let page = owners.firstIndex(of: 0) {
            throw .corrupt("A page is neither in use nor free", page: PageNumber(page), path: path)
        }
    }

    /// The number of pages up to the end.
    package var pageCount: Int { owners.count }

    /// The number of pages that are free, or will be when their last reader has gone.
    package var freePageCount: Int {
        owners.count { $0 == SpaceAudit.unused }
    }
}
