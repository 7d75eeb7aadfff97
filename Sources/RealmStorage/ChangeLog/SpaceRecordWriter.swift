/// Writes the record of space that a commit leaves, and of what it changed.
///
/// It is made for one commit, behind everything else that is sealed: the record tells what the group takes, keeps and gives up. What leads to
/// the record afterwards stands in the writer's state. The transaction that is sealed gives it pages, and takes those of older records.
struct SpaceRecordWriter {
    /// The transaction that is sealed.
    private let transaction: WriteTransaction
    /// What the commit changed.
    private let changeSet: ChangeSet
    private let state: WriterState
    private let group: WriterGroup

    /// One for a commit whose group has taken over what its members changed.
    init(for transaction: WriteTransaction, of changeSet: ChangeSet) {
        self.transaction = transaction
        self.changeSet = changeSet
        state = transaction.state
        group = transaction.group
    }

    private var file: StorageFile { transaction.file }
    private var version: UInt64 { transaction.version }
    private var view: PageView { transaction.view }

    /// The record as things stand: taking a page for it makes it another one.
    private var record: SpaceRecord {
        SpaceRecord(
            version: version,
            pageCount: state.space.pageCount,
            allocated: group.keptExtents(),
            retired: group.retired,
            changes: changeSet
        )
    }

    /// Puts the record into the header, or, when the header is full, moves the records there to a segment.
    func write() throws(StorageError) {
        let own = record
        // With room for more than the record of a small commit; the header before this one has the bytes until now.
        var writer = ByteWriter(behind: state.recordBytes, capacity: 256)
        own.encode(into: &writer)
        var writesPicture = state.writesPicture && mayWritePicture
        if !writesPicture, writer.bytes.count <= FileHeader.maximumRecordByteCount {
            state.recordBytes = writer.bytes
            note(own)
            state.records.append(own)
            return
        }
        if !writesPicture, state.segments.count >= 8, state.differenceCount >= state.space.extentCount / 2 {
            writesPicture = mayWritePicture
        }
        if writesPicture {
            try writePicture()
        } else {
            try writeSegment()
        }
        state.records = []
        state.recordBytes = []
    }

    /// Whether a picture of free space may be written where one is due.
    ///
    /// It is as long as all that is free or held back ask for, whatever the group changes. So it is in no estimate of what is owed
    /// (``OwedSpace``), and is put off where the file has no room for it.
    private var mayWritePicture: Bool {
        if group.owedCount == 0 { return true }
        var space = state.space
        space.endChunk()
        space.release(group.spare.extents)
        var writer = ByteWriter()
        SpaceRecord.encode(space.freeExtents, into: &writer)
        SpaceRecord.encode(space.retired + group.retired, into: &writer)
        for item in state.recentChanges { item.changes.encode(into: &writer) }
        changeSet.encode(into: &writer)
        // It gives up those before it.
        let byteCount = writer.bytes.count + (state.segments.count + state.pictures.count) * Self.retiredByteCount
        // With a page for what `store` takes first.
        var pageCount = (byteCount + Self.storeByteCount + PageHeader.byteCount) / pageByteCount + 2
        // What those before say may come to it.
        for segment in state.pictures + state.segments.prefix(1) { pageCount += Int(segment.reference.pageCount) }
        return file.isLongEnough(for: Int(state.space.pageCount) + pageCount)
            || state.space.hasRoom(UInt32(pageCount), below: state.space.pageCount)
    }

    /// The most that an entry of retired pages takes in a segment.
    private static var retiredByteCount: Int { 20 }

    /// Room for the few entries that taking the pages of a segment itself may add.
    private static var storeByteCount: Int { 256 }

    private func note(_ record: SpaceRecord) {
        state.recentChanges.append(SpaceSegment.VersionChanges(version: version, changes: record.changes))
        state.differenceCount += record.allocated.count + record.retired.count
    }

    private func writeSegment() throws(StorageError) {
        let previous = state.segments.last
        let (reference, own) = try store { () -> (SpaceSegment, SpaceRecord) in
            let own = record
            let segment = SpaceSegment(
                version: version,
                previous: previous?.reference ?? .none,
                previousVersion: previous?.version ?? 0,
                content: .records(state.records + [own])
            )
            return (segment, own)
        }
        state.segments.append(WriterState.Segment(version: version, reference: reference))
        note(own)
    }

    /// Replaces the segments since the last picture, and lets go of those that nobody can ask for.
    private func writePicture() throws(StorageError) {
        let needed = min(group.pinned.first ?? .max, version - 1 - min(version - 1, file.options.changeLogRetention))
        var pictures = state.pictures
        for (index, segment) in state.segments.enumerated() {
            if index == 0, segment.version > needed, try SpaceSegment.read(segment.reference, in: view).isPicture {
                pictures.append(segment)
            } else {
                transaction.free(segment.reference)
            }
        }
        while let first = pictures.first, first.version <= needed {
            transaction.free(first.reference)
            pictures.removeFirst()
        }
        var changes = SpaceSegment.merged(
            state.recentChanges.filter { $0.version > needed }
                + [SpaceSegment.VersionChanges(version: version, changes: changeSet)],
            pinned: group.pinned,
            retention: file.options.changeLogRetention
        )
        try foldPictures(&pictures, into: &changes, pinned: group.pinned)
        let previous = pictures.last
        let (reference, _) = try store { () -> (SpaceSegment, Void) in
            var space = state.space
            space.endChunk()
            space.release(group.spare.extents)
            let picture = SpaceSegment.Picture(
                pageCount: space.pageCount,
                free: space.freeExtents,
                retired: space.retired + group.retired,
                changes: changes
            )
            let segment = SpaceSegment(
                version: version,
                previous: previous?.reference ?? .none,
                previousVersion: previous?.version ?? 0,
                content: .picture(picture)
            )
            return (segment, ())
        }
        // Of what was given up here.
        if let damage = group.damage { throw damage }
        state.segments = [WriterState.Segment(version: version, reference: reference)]
        state.pictures = pictures
        state.oldestLogVersion = max(state.oldestLogVersion, needed)
        state.recentChanges = []
        state.differenceCount = 0
        state.writesPicture = false
    }

    /// Takes over the changes of older pictures that are no larger than the new one, so that few stay however long a
    /// reader does, and each change is copied a few times only.
    private func foldPictures(
        _ pictures: inout [WriterState.Segment],
        into changes: inout [SpaceSegment.VersionChanges],
        pinned: [UInt64]
    ) throws(StorageError) {
        var byteCount = SpaceSegment.byteCount(of: changes)
        while let last = pictures.last {
            let older = try SpaceSegment.read(last.reference, in: view).changes
            guard SpaceSegment.byteCount(of: older) <= byteCount * 2 + pageByteCount else { return }
            changes = SpaceSegment.merged(
                older + changes,
                pinned: pinned,
                retention: file.options.changeLogRetention
            )
            byteCount = SpaceSegment.byteCount(of: changes)
            transaction.free(last.reference)
            pictures.removeLast()
        }
    }

    /// Writes a segment whose content depends on the pages that it takes itself: makes it again until it fits.
    private func store<T>(_ make: () -> (SpaceSegment, T)) throws(StorageError) -> (PageReference, T) {
        var pageCount = 1
        while true {
            let page = try transaction.allocate(pageCount: pageCount, kind: .spaceSegment)
            let (segment, value) = make()
            let bytes = segment.encoded()
            if bytes.count <= page.byteCount - PageHeader.byteCount {
                bytes.withUnsafeBytes {
                    (page.bytes + PageHeader.byteCount).copyMemory(from: $0.baseAddress!, byteCount: $0.count)
                }
                page.bytes.storeLittle(UInt32(bytes.count), at: PageHeader.payloadByteCountOffset)
                return (transaction.seal(page.reference), value)
            }
            transaction.free(page.reference)
            pageCount = (bytes.count + Self.storeByteCount + PageHeader.byteCount + pageByteCount - 1) / pageByteCount
        }
    }
}
