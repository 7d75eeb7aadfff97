/// What a commit says about itself: the space it took and gave up, and what it changed.
///
/// The newest records stand in the file header itself, so that a small commit needs no page for its record; when they
/// outgrow it, they move to a `SpaceSegment` together.
struct SpaceRecord: Sendable {
    var version: UInt64
    /// The end of the file in pages.
    var pageCount: UInt32
    /// Taken by this commit, ascending.
    var allocated: [Extent]
    /// Given up by this commit.
    var retired: [RetiredExtent]
    var changes: ChangeSet

    func encode(into writer: inout ByteWriter) {
        writer.write(version)
        writer.write(pageCount)
        SpaceRecord.encode(allocated, into: &writer)
        SpaceRecord.encode(retired, into: &writer)
        changes.encode(into: &writer)
    }

    init(version: UInt64, pageCount: UInt32, allocated: [Extent], retired: [RetiredExtent], changes: ChangeSet) {
        self.version = version
        self.pageCount = pageCount
        self.allocated = allocated
        self.retired = retired
        self.changes = changes
    }

    init(from reader: inout ByteReader) throws(ByteReader.Truncated) {
        version = try reader.number()
        pageCount = try SpaceRecord.pageCount(from: &reader)
        allocated = try SpaceRecord.extents(from: &reader, below: pageCount)
        retired = try SpaceRecord.retired(from: &reader, below: pageCount, version: version)
        changes = try ChangeSet(from: &reader)
    }

    /// Reads the records that stand one behind the other.
    static func list(in bytes: UnsafeRawBufferPointer) throws(ByteReader.Truncated) -> [SpaceRecord] {
        var reader = ByteReader(bytes)
        var records: [SpaceRecord] = []
        while !reader.isAtEnd { records.append(try SpaceRecord(from: &reader)) }
        return records
    }

    // MARK: Pieces

    static func encode(_ extents: [Extent], into writer: inout ByteWriter) {
        writer.write(extents.count)
        var end: UInt32 = 0
        for extent in extents {
            writer.write(extent.page &- end)
            writer.write(extent.pageCount)
            end = extent.end
        }
    }

    static func encode(_ retired: [RetiredExtent], into writer: inout ByteWriter) {
        writer.write(retired.count)
        for item in retired {
            writer.write(item.extent.page)
            writer.write(item.extent.pageCount)
            writer.write(item.birth)
            writer.write(item.death)
        }
    }

    /// What a file grows by is free: one that was shorter than its header would give the header away.
    static func pageCount(from reader: inout ByteReader) throws(ByteReader.Truncated) -> UInt32 {
        let count = try reader.number32()
        guard count >= UInt32(FileHeader.slotPageCount) else { throw ByteReader.Truncated() }
        return count
    }

    static func extents(from reader: inout ByteReader, below pageCount: UInt32) throws(ByteReader.Truncated) -> [Extent]
    {
        var extents: [Extent] = []
        var end: UInt32 = 0
        for _ in 0..<(try reader.count()) {
            let page = end &+ (try reader.number32())
            let extent = Extent(page: page, pageCount: try reader.number32())
            try check(extent, below: pageCount)
            extents.append(extent)
            end = extent.end
        }
        return extents
    }

    static func retired(
        from reader: inout ByteReader,
        below pageCount: UInt32,
        version: UInt64
    ) throws(ByteReader.Truncated) -> [RetiredExtent] {
        var retired: [RetiredExtent] = []
        for _ in 0..<(try reader.count()) {
            let extent = Extent(page: try reader.number32(), pageCount: try reader.number32())
            try check(extent, below: pageCount)
            let birth = try reader.number()
            let death = try reader.number()
            guard birth <= death, death <= version else { throw ByteReader.Truncated() }
            retired.append(RetiredExtent(extent: extent, birth: birth, death: death))
        }
        return retired
    }

    private static func check(_ extent: Extent, below pageCount: UInt32) throws(ByteReader.Truncated) {
        guard extent.page >= UInt32(FileHeader.slotPageCount), extent.pageCount > 0, extent.page < pageCount,
            extent.pageCount <= pageCount - extent.page
        else { throw ByteReader.Truncated() }
    }
}
