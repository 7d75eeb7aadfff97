import Synchronization

/// Pages that may not be on the disk, since the process that flushed them has died within that.
///
/// The flush may have failed, and the system tells nobody else: it calls the pages clean, and a later flush passes them over.
extension StorageFile {
    /// Has the next flush bring to the disk whatever the one before may have left out: the pages of the published version that the checkpoint
    /// does not have, and both header slots.
    ///
    /// The caller has the write lock and the checkpoint lock, no transaction is open, and every prepared commit has been published. Where this
    /// process dies in here, or fails, the next one begins anew: everything is written as it is, to the same place.
    ///
    /// - Parameter image: The published version.
    /// - Throws: `writingStopped` where a page cannot be read any more as it was written: the log has what it held. Whatever else fails stops
    ///   nobody.
    func writeOnceMore(behind image: LockFile.LogImage) throws(StorageError) {
        do throws(StorageError) {
            let slots = (0..<FileHeader.slotPageCount / FileHeader.copiesPerSlot).map { headers(inSlot: $0) }
            try cutEnd(at: slots.joined().reduce(image.header.pageCount) { max($0, $1.pageCount) })
            try rewritePages(of: image.header, behind: flushedHeader(behind: image, in: slots))
            // One of them at most is in doubt. The other one is on the disk as it is here, and stays so where a write is torn.
            for slot in slots.indices {
                keepSlot(slot)
                try restoreSlot(slot)
            }
        } catch {
            guard error.code == .corrupt else { throw error }
            stopWriting(after: error)
            throw reasonOfStop ?? error
        }
    }

    /// The header of a version all of whose pages are on the disk, and have stayed up to the published one.
    private func flushedHeader(
        behind image: LockFile.LogImage,
        in slots: [[FileHeader]]
    ) throws(StorageError) -> FileHeader {
        let published = image.header
        let own = slots[image.slot].filter { $0.identifier == published.identifier && $0.version <= published.version }
        // Whoever takes over writes over it, once the other slot has the published version.
        let other = slots[1 - image.slot]
            .filter {
                $0.identifier == published.identifier && $0.version == published.version
            }
        guard let header = own.max(by: { $0.version < $1.version }) ?? other.first else {
            throw .corrupt("The checkpoint's header cannot be read", page: 0, path: path)
        }
        guard header.pageCount <= UInt64(reservation.pageCapacity) else { throw outgrown }
        return header
    }

    /// Cuts off what lies behind the end that every version keeps.
    ///
    /// The flush may have been that of a new length: of a page whose first write fails some file systems make a hole that no later write fills.
    private func cutEnd(at pageCount: UInt64) throws(StorageError) {
        let byteCount = try data.currentByteCount()
        guard pageCount < UInt64(byteCount / pageByteCount) else { return }
        let end = Int(pageCount) * pageByteCount
        // Before the cut, so that not even a damaged reference leads behind it.
        setPageLimit(atLeast: 0, byteCount: end)
        try data.setByteCount(end)
        note(byteCount: end)
        growth.withLock { $0.cut(at: end) }
    }

    /// Writes the pages of a version once more that an earlier one does not have.
    ///
    /// Pages of the earlier one were kept since: whatever stands in the place of one is that one, and what it refers to is the earlier one's,
    /// too. So nothing below such a page is read.
    private func rewritePages(of header: FileHeader, behind flushed: FileHeader) throws(StorageError) {
        let before = try usedPages(of: flushed)
        let young = try usedPages(of: header).enumerated().map { $1 && !($0 < before.count && before[$0]) }
        let count = young.count { $0 }
        if count == 0 { return }
        guard let log = options.log ?? options.recovery else {
            throw StorageError(
                .unsupportedFormat,
                "Another process has ended while it brought the realm to the disk, and this one cannot go on with that",
                path: path
            )
        }
        // What was verified may have been dropped since, and read from the disk.
        for page in young.indices.prefix(view.pageLimit) where young[page] {
            reservation.verified[page].store(0, ordering: .relaxed)
        }
        var writtenCount = 0
        func rewrite(_ reference: PageReference) throws(StorageError) {
            try writeOnceMore(reference)
            writtenCount += Int(reference.pageCount)
        }
        let snapshot = try beginRead(asking: .published)
        var visited = VisitedPages(only: young)
        for segment in try SpaceAudit.spaceSegments(of: snapshot) {
            if try visited.enter(segment, in: view) { try rewrite(segment) }
        }
        try log.forEachPage(snapshot, &visited, rewrite)
        guard writtenCount == count else {
            throw .corrupt("Of \(count) new pages \(writtenCount) are in use", page: 0, path: path)
        }
    }

    /// Writes a run once more, as it stands in the system's memory.
    private func writeOnceMore(_ reference: PageReference) throws(StorageError) {
        let (offset, byteCount) = (Int(reference.page) * pageByteCount, Int(reference.pageCount) * pageByteCount)
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: pageByteCount)
        defer { bytes.deallocate() }
        bytes.copyMemory(from: reservation.mapping + offset, byteCount: byteCount)
        // Of the copy: what is looked at is what is written.
        guard PageChecksum.of(bytes, byteCount: byteCount) == reference.checksum else {
            throw .corrupt("A page fails its checksum: the file is damaged", page: reference.page, path: path)
        }
        try data.write([(UnsafeRawPointer(bytes), byteCount)], at: offset)
    }

    /// Per page whether a version uses it.
    private func usedPages(of header: FileHeader) throws(StorageError) -> [Bool] {
        let state = try WriterState.load(from: header, in: view, path: path)
        // What was verified before may be another one by now.
        for segment in state.segments + state.pictures { _ = try view.verifiedPointer(to: segment.reference) }
        let space = state.space
        var isUsed = [Bool](repeating: true, count: Int(space.pageCount))
        let slots = Extent(page: 0, pageCount: UInt32(FileHeader.slotPageCount))
        for extent in [slots] + space.freeExtents + space.retired.map(\.extent) {
            for page in Int(extent.page)..<Int(extent.page) + Int(extent.pageCount) where page < isUsed.count {
                isUsed[page] = false
            }
        }
        return isUsed
    }
}
