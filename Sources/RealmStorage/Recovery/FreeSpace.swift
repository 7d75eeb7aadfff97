/// What a version calls free, to be compared with what it uses before somebody writes to it: a writer takes such pages for its own.
package struct FreeSpace {
    /// Ascending; none of them overlaps another one.
    private let extents: [Extent]
    private let pageCount: UInt64
    private let path: String
    /// The pages that say so.
    package let segments: [PageReference]

    /// Reads what a version calls free; nil where nobody writes by it.
    ///
    /// That is so in a file that is read only here, and where what the file says of its space cannot be read: no write begins there either,
    /// and what is in the file may be whole.
    package init?(of snapshot: Snapshot) {
        let (file, header) = (snapshot.file, snapshot.header)
        guard !file.data.isReadOnly, let state = try? WriterState.load(from: header, in: snapshot.view, path: file.path)
        else { return nil }
        extents = (state.space.freeExtents + state.space.retired.map(\.extent)).sorted { $0.page < $1.page }
        pageCount = header.pageCount
        path = file.path
        segments = (state.segments + state.pictures).map(\.reference)
    }

    /// Checks that none of a run of pages in use is called free.
    ///
    /// - Throws: `StorageError` with code `corrupt` that names the first page that is, or that lies behind the end of the version.
    /// - Complexity: O(log of the number of free extents).
    package func require(_ run: PageReference) throws(StorageError) {
        let end = UInt64(run.page) + UInt64(run.pageCount)
        guard end <= pageCount else {
            throw .corrupt("A page in use lies beyond the end of its version", page: run.page, path: path)
        }
        var (first, behind) = (0, extents.count)
        // The first extent that ends behind the beginning of the run.
        while first < behind {
            let middle = first + (behind - first) / 2
            let extent = extents[middle]
            if UInt64(extent.page) + UInt64(extent.pageCount) <= UInt64(run.page) {
                first = middle + 1
            } else {
                behind = middle
            }
        }
        guard first < extents.count, UInt64(extents[first].page) < end else { return }
        throw .corrupt(
            "A page is in use and free at once. The file can be opened for reading only, and salvaged",
            page: max(run.page, extents[first].page),
            path: path
        )
    }
}

extension StorageFile {
    /// Files up to this size are verified whole when they are opened, so that damage is an error at once and not a trap later, in a property
    /// that cannot throw.
    package static let verifiedByteCount = 16 << 20

    /// Checks that the published version of a file that an opening verifies uses no page that it calls free, before a log is applied to it.
    func requireFreeSpace(_ log: LogOptions) throws(StorageError) {
        guard byteCount <= Self.verifiedByteCount else { return }
        let snapshot = try beginRead(asking: .published)
        guard let free = FreeSpace(of: snapshot) else { return }
        var visited = VisitedPages()
        for segment in free.segments {
            try free.require(segment)
            try visited.enter(segment, in: snapshot.view)
        }
        try log.forEachPage(snapshot, &visited) { (run) throws(StorageError) in try free.require(run) }
    }
}
