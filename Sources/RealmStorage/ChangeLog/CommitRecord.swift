/// What a commit says about itself: the space it took and gave up, and what it changed. The records of successive
/// versions form a chain, newest first, each holding the checksummed reference of the one before.
///
/// A plain record holds its own differences. A checkpoint holds the whole picture of free space, and the changes of all
/// versions since the checkpoint before it, whose records it replaces; the chain then goes on at that checkpoint.
/// Checkpoints are written when the differences have grown to the size of the picture, so that the cost of a commit
/// follows what it changed.
struct CommitRecord: Sendable {
    struct VersionChanges: Sendable {
        var version: UInt64
        var changes: ChangeSet
    }

    enum Space: Sendable {
        case difference(allocated: [Extent], retired: [RetiredExtent])
        case picture(free: [Extent], retired: [RetiredExtent])
    }

    var version: UInt64
    /// The record of the version before, or, in a checkpoint, of the checkpoint before.
    var previous: PageReference
    var previousVersion: UInt64
    /// The changes of versions above this one can be read by following the chain.
    var oldestLogVersion: UInt64
    var pageCount: UInt32
    var space: Space
    /// Ascending; the last is this version's own.
    var changes: [VersionChanges]

    var isCheckpoint: Bool {
        if case .picture = space { true } else { false }
    }

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.write(isCheckpoint ? 1 : 0)
        writer.write(version)
        writer.write(previous)
        writer.write(previousVersion)
        writer.write(oldestLogVersion)
        writer.write(pageCount)
        switch space {
        case .difference(let extents, let retired), .picture(let extents, let retired):
            writer.write(extents.count)
            var end: UInt32 = 0
            for extent in extents {
                writer.write(extent.page &- end)
                writer.write(extent.pageCount)
                end = extent.end
            }
            writer.write(retired.count)
            for item in retired {
                writer.write(item.extent.page)
                writer.write(item.extent.pageCount)
                writer.write(item.birth)
                writer.write(item.death)
            }
        }
        writer.write(changes.count)
        for item in changes {
            writer.write(item.version)
            item.changes.encode(into: &writer)
        }
        return writer.bytes
    }

    /// Reads a record's run of pages.
    static func read(_ reference: PageReference, in view: PageView) throws(StorageError) -> CommitRecord {
        let page = try view.pointer(to: reference)
        let byteCount = Int(page.little(UInt32.self, at: PageHeader.payloadByteCountOffset))
        guard page.load(fromByteOffset: PageHeader.kindOffset, as: UInt8.self) == PageKind.commitRecord.rawValue,
            byteCount <= Int(reference.pageCount) * pageByteCount - PageHeader.byteCount
        else { throw .corrupt("A commit record is malformed", page: reference.page) }
        do {
            return try CommitRecord(UnsafeRawBufferPointer(start: page + PageHeader.byteCount, count: byteCount))
        } catch {
            throw .corrupt("A commit record is malformed", page: reference.page)
        }
    }

    private init(_ bytes: UnsafeRawBufferPointer) throws(ByteReader.Truncated) {
        var reader = ByteReader(bytes)
        let isCheckpoint = try reader.number() == 1
        version = try reader.number()
        previous = try reader.reference()
        previousVersion = try reader.number()
        oldestLogVersion = try reader.number()
        pageCount = try reader.number32()
        guard previousVersion < version, oldestLogVersion < version else { throw ByteReader.Truncated() }
        var extents: [Extent] = []
        var end: UInt32 = 0
        for _ in 0..<(try reader.count()) {
            let page = end &+ (try reader.number32())
            let extent = Extent(page: page, pageCount: try reader.number32())
            try CommitRecord.check(extent, below: pageCount)
            extents.append(extent)
            end = extent.end
        }
        var retired: [RetiredExtent] = []
        for _ in 0..<(try reader.count()) {
            let extent = Extent(page: try reader.number32(), pageCount: try reader.number32())
            try CommitRecord.check(extent, below: pageCount)
            let birth = try reader.number()
            let death = try reader.number()
            guard birth <= death, death <= version else { throw ByteReader.Truncated() }
            retired.append(RetiredExtent(extent: extent, birth: birth, death: death))
        }
        space =
            isCheckpoint
            ? .picture(free: extents, retired: retired) : .difference(allocated: extents, retired: retired)
        changes = []
        for _ in 0..<(try reader.count()) {
            changes.append(VersionChanges(version: try reader.number(), changes: try ChangeSet(from: &reader)))
        }
    }

    init(
        version: UInt64, previous: PageReference, previousVersion: UInt64, oldestLogVersion: UInt64, pageCount: UInt32,
        space: Space, changes: [VersionChanges]
    ) {
        self.version = version
        self.previous = previous
        self.previousVersion = previousVersion
        self.oldestLogVersion = oldestLogVersion
        self.pageCount = pageCount
        self.space = space
        self.changes = changes
    }

    private static func check(_ extent: Extent, below pageCount: UInt32) throws(ByteReader.Truncated) {
        guard extent.page >= UInt32(FileHeader.slotPageCount), extent.pageCount > 0, extent.page < pageCount,
            extent.pageCount <= pageCount - extent.page
        else { throw ByteReader.Truncated() }
    }
}
