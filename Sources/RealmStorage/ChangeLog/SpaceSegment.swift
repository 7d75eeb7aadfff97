/// A run of pages with the records of several versions; segments form a chain, newest first, each holding the
/// checksummed reference of the one before.
///
/// A plain segment holds the records that no longer fitted into the header. A picture holds all of
/// free space, and the changes of all versions since the picture before it, whose segments it replaces; the chain then
/// goes on at that picture. Pictures are written when the differences have grown to the size of the picture, so
/// that the cost of a commit follows what it changed.
struct SpaceSegment: Sendable {
    struct VersionChanges: Sendable {
        var version: UInt64
        var changes: ChangeSet
    }

    struct Picture: Sendable {
        var pageCount: UInt32
        var free: [Extent]
        var retired: [RetiredExtent]
        /// Ascending by version.
        var changes: [VersionChanges]
    }

    enum Content: Sendable {
        /// Ascending by version.
        case records([SpaceRecord])
        case picture(Picture)
    }

    /// The newest version in the segment.
    var version: UInt64
    /// The segment before, or, in a picture, the picture before.
    var previous: PageReference
    var previousVersion: UInt64
    var content: Content

    var isPicture: Bool {
        if case .picture = content { true } else { false }
    }

    /// The changes that the segment tells of, ascending by version.
    var changes: [VersionChanges] {
        switch content {
        case .records(let records): records.map { VersionChanges(version: $0.version, changes: $0.changes) }
        case .picture(let picture): picture.changes
        }
    }

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.write(isPicture ? 1 : 0)
        writer.write(version)
        writer.write(previous)
        writer.write(previousVersion)
        switch content {
        case .records(let records):
            for record in records { record.encode(into: &writer) }
        case .picture(let picture):
            writer.write(picture.pageCount)
            SpaceRecord.encode(picture.free, into: &writer)
            SpaceRecord.encode(picture.retired, into: &writer)
            writer.write(picture.changes.count)
            for item in picture.changes {
                writer.write(item.version)
                item.changes.encode(into: &writer)
            }
        }
        return writer.bytes
    }

    init(version: UInt64, previous: PageReference, previousVersion: UInt64, content: Content) {
        self.version = version
        self.previous = previous
        self.previousVersion = previousVersion
        self.content = content
    }

    /// Reads a segment's run of pages.
    static func read(_ reference: PageReference, in view: PageView) throws(StorageError) -> SpaceSegment {
        let page = try view.pointer(to: reference)
        let byteCount = Int(page.little(UInt32.self, at: PageHeader.payloadByteCountOffset))
        guard page.load(fromByteOffset: PageHeader.kindOffset, as: UInt8.self) == PageKind.spaceSegment.rawValue,
            byteCount <= Int(reference.pageCount) * pageByteCount - PageHeader.byteCount
        else { throw .corrupt("A space segment is malformed", page: reference.page) }
        do {
            return try SpaceSegment(UnsafeRawBufferPointer(start: page + PageHeader.byteCount, count: byteCount))
        } catch {
            throw .corrupt("A space segment is malformed", page: reference.page)
        }
    }

    private init(_ bytes: UnsafeRawBufferPointer) throws(ByteReader.Truncated) {
        var reader = ByteReader(bytes)
        let isPicture = try reader.number() == 1
        version = try reader.number()
        previous = try reader.reference()
        previousVersion = try reader.number()
        guard previousVersion < version else { throw ByteReader.Truncated() }
        if isPicture {
            let pageCount = try SpaceRecord.pageCount(from: &reader)
            var picture = Picture(
                pageCount: pageCount,
                free: try SpaceRecord.extents(from: &reader, below: pageCount),
                retired: try SpaceRecord.retired(from: &reader, below: pageCount, version: version),
                changes: []
            )
            for _ in 0..<(try reader.count()) {
                picture.changes.append(
                    VersionChanges(version: try reader.number(), changes: try ChangeSet(from: &reader))
                )
            }
            content = .picture(picture)
        } else {
            var records: [SpaceRecord] = []
            while !reader.isAtEnd { records.append(try SpaceRecord(from: &reader)) }
            content = .records(records)
        }
    }
}
