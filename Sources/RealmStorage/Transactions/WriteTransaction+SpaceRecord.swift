/// The record of space that a commit leaves.
extension WriteTransaction {
    private func record(_ changeSet: ChangeSet) -> SpaceRecord {
        SpaceRecord(
            version: version,
            pageCount: state.space.pageCount,
            allocated: group.keptExtents(),
            retired: group.retired,
            changes: changeSet
        )
    }

    /// Puts this commit's record into the header, or, when the header is full, moves the records there to a segment.
    func writeRecord(_ changeSet: ChangeSet) throws(StorageError) {
        group.endSeries()
        let own = record(changeSet)
        // With room for more than the record of a small commit; the header before this one has the bytes until now.
        var writer = ByteWriter(behind: state.recordBytes, capacity: 256)
        own.encode(into: &writer)
        var writesPicture = state.writesPicture && mayWritePicture(changeSet)
        if !writesPicture, writer.bytes.count <= FileHeader.maximumRecordByteCount {
            state.recordBytes = writer.bytes
            note(own)
            state.records.append(own)
            return
        }
        if !writesPicture, state.segments.count >= 8, state.differenceCount >= state.space.extentCount / 2 {
            writesPicture = mayWritePicture(changeSet)
        }
        if writesPicture {
            try writePicture(changeSet)
        } else {
            try writeSegment(changeSet)
        }
        state.records = []
        state.recordBytes = []
    }

    /// Whether a picture of free space may be written where one is due.
    ///
    /// It is as long as all that is free or held back ask for, whatever the group changes. So it is in no estimate of what is owed
    /// (``OwedSpace``), and is put off where the file has no room for it.
    private func mayWritePicture(_ changeSet: ChangeSet) -> Bool {
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

    private func writeSegment(_ changeSet: ChangeSet) throws(StorageError) {
        let previous = state.segments.last
        let (reference, own) = try store { () -> (SpaceSegment, SpaceRecord) in
            let own = record(changeSet)
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
    private func writePicture(_ changeSet: ChangeSet) throws(StorageError) {
        let needed = min(group.pinned.first ?? .max, version - 1 - min(version - 1, file.options.changeLogRetention))
        var pictures = state.pictures
        for (index, segment) in state.segments.enumerated() {
            if index == 0, segment.version > needed, try SpaceSegment.read(segment.reference, in: view).isPicture {
                pictures.append(segment)
            } else {
                free(segment.reference)
            }
        }
        while let first = pictures.first, first.version <= needed {
            free(first.reference)
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

    /// Writes a segment whose content depends on the pages that it takes itself: makes it again until it fits.
    private func store<T>(_ make: () -> (SpaceSegment, T)) throws(StorageError) -> (PageReference, T) {
        var pageCount = 1
        while true {
            let page = try allocate(pageCount: pageCount, kind: .spaceSegment)
            let (segment, value) = make()
            let bytes = segment.encoded()
            if bytes.count <= page.byteCount - PageHeader.byteCount {
                bytes.withUnsafeBytes {
                    (page.bytes + PageHeader.byteCount).copyMemory(from: $0.baseAddress!, byteCount: $0.count)
                }
                page.bytes.storeLittle(UInt32(bytes.count), at: PageHeader.payloadByteCountOffset)
                return (seal(page.reference), value)
            }
            free(page.reference)
            pageCount = (bytes.count + Self.storeByteCount + PageHeader.byteCount + pageByteCount - 1) / pageByteCount
        }
    }
}
