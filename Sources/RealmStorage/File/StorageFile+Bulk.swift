import Synchronization

/// Writing more than memory should hold.
extension StorageFile {
    /// A commit that makes the file grow by more than this writes its content instead of zeros first.
    static var bulkGrowthByteCount: Int { 2 << 20 }

    /// Writes runs of the open transaction to their places before its commit, and lets them be read there.
    ///
    /// Waits for a commit that is being written at this moment: both may make the file longer.
    func spill(_ runs: [PreparedCommit.Run], of group: WriterGroup) throws(StorageError) {
        guard let last = runs.last else { return }
        try checkProcess()
        if group.byteCountBeforeSpill == nil { group.byteCountBeforeSpill = byteCount }
        try writeAhead(of: group) { (growth, byteCount) throws(StorageError) in
            try data.write(runs, of: reservation, leavingHolesIn: &growth, behind: &byteCount)
        }
        raisePageLimit(to: last.page + last.pageCount)
        for run in runs {
            reservation.verified[Int(run.page)].store(UInt32(truncatingIfNeeded: run.checksum), ordering: .relaxed)
            reservation.dropBuffers(page: Int(run.page), pageCount: 1)
        }
    }

    /// Writes to the file before the commit of a group.
    ///
    /// - Parameters:
    ///   - group: The group.
    ///   - write: What writes, with the holes of the file and its length, which it changes.
    /// - Throws: The failure; the file has its old length then.
    func writeAhead(
        of group: WriterGroup,
        _ write: (inout FileGrowth, inout Int) throws(StorageError) -> Void
    ) throws(StorageError) {
        let result = growth.withLock { (growth) -> Result<Void, StorageError> in
            let (old, before) = (byteCount, growth)
            do throws(StorageError) {
                growth.spilledVersion = group.firstVersion
                var reached = max(old, try data.currentByteCount())
                try write(&growth, &reached)
                note(byteCount: reached)
                return .success(())
            } catch {
                growth = before
                try? data.setByteCount(old)
                return .failure(error)
            }
        }
        try result.get()
    }

    /// Gives back what a group that wrote to the file before its commit has added to it, from the first hole on.
    ///
    /// Nothing of that is read any more. Where commits may be left without pages, all of it goes: it was never flushed, and would count as room
    /// for them.
    ///
    /// - Parameters:
    ///   - group: The group.
    ///   - pageCount: The end of what is kept of it, or before it.
    func cutBack(_ group: WriterGroup, to pageCount: UInt32) {
        // In a forked child, and after `leave()`, the end of the file is another instance's.
        guard group.hasSpilled, let lock, lock.isOwn else { return }
        growth.withLock { growth in
            let published = state.withLock { Int($0.published.pageCount) * pageByteCount }
            // Earlier commits may have written to the file as well, and not be published yet.
            let needed = max(published, growth.committedByteCount, Int(pageCount) * pageByteCount)
            if leavesPages, let before = group.byteCountBeforeSpill {
                let end = max(before, needed)
                if end < byteCount { cut(at: end, &growth) }
                return
            }
            guard let hole = growth.holes.first(where: { $0.upperBound > needed }) else { return }
            cut(at: max(hole.lowerBound, needed), &growth)
        }
    }

    /// Forgets the commits that failed, and gives back what a bulk commit among them has added to the file, so that blocks
    /// whose first write failed are not used again.
    ///
    /// A transaction that is open reads what they wrote early in the file, some of it by addresses that it has kept: where
    /// there is one, the file is cut off when it ends.
    ///
    /// - Parameters:
    ///   - error: Why they failed.
    ///   - published: The header of the newest version that is published.
    ///   - version: The version that failed; nothing is cut off while a later one has written to the file already.
    func loseCommits(_ error: StorageError, cuttingBackTo published: FileHeader, afterFailureOf version: UInt64) {
        // Nobody writes to the file early in between.
        growth.withLock { growth in
            let isRead = loseCommits(error)
            guard growth.spilledVersion <= version else { return }
            if isRead {
                growth.owesCut = true
            } else {
                cut(at: Int(published.pageCount) * pageByteCount, &growth)
            }
        }
    }

    /// Cuts the file off where that had to wait for a transaction, which is over now and was lost: nothing behind the published
    /// version is anybody's.
    func cutBackAsOwed() {
        // In a forked child, and after `leave()`, the end of the file is another instance's.
        guard let lock, lock.isOwn else { return }
        growth.withLock { growth in
            guard growth.owesCut else { return }
            growth.owesCut = false
            let published = state.withLock { Int($0.published.pageCount) * pageByteCount }
            cut(at: published, &growth)
        }
    }

    /// Cuts the file off at what nobody has written to, before another process may write there: what is known of it here would be
    /// wrong then.
    ///
    /// The caller holds the write lock, and every prepared commit has been published or has failed: all that is left lies behind the
    /// newest version.
    func forgetHoles() {
        growth.withLock { growth in
            guard let hole = growth.holes.first else { return }
            let published = state.withLock { Int($0.published.pageCount) * pageByteCount }
            cut(at: max(hole.lowerBound, published), &growth)
            growth.cut(at: 0)
        }
    }

    /// Cuts the file off, but nothing that was secured: the next opening may have no other space for what the log has.
    private func cut(at end: Int, _ growth: inout FileGrowth) {
        let end = owesPages.load(ordering: .relaxed) ? max(end, growth.securedByteCount) : end
        // Before the cut, so that not even a damaged reference leads behind it.
        setPageLimit(atLeast: 0, byteCount: end)
        try? data.setByteCount(end)
        growth.cut(at: end)
        if let byteCount = try? data.currentByteCount() { note(byteCount: byteCount) }
    }
}

extension StorageDevice {
    /// Writes the buffers of some runs, ascending, wherever the file ends: what they leave out behind its end is noted.
    func write(
        _ runs: [PreparedCommit.Run],
        of reservation: Reservation,
        leavingHolesIn growth: inout FileGrowth,
        behind byteCount: inout Int
    ) throws(StorageError) {
        var pieces: [(UnsafeRawPointer, Int)] = []
        pieces.reserveCapacity(min(runs.count, 64))
        var index = 0
        while index < runs.count {
            let offset = Int(runs[index].page) * pageByteCount
            let length = nextStretch(of: runs, from: &index, in: reservation, into: &pieces)
            try write(pieces, at: offset)
            if offset > byteCount { growth.skip(byteCount..<offset) }
            growth.fill(offset..<(offset + length))
            byteCount = max(byteCount, offset + length)
        }
    }

    /// Fills what nobody has written to before an end with zeros, and makes the file as long as that.
    func fillHoles(
        of growth: inout FileGrowth,
        behind byteCount: inout Int,
        to end: Int
    ) throws(StorageError) {
        if byteCount < end {
            growth.skip(byteCount..<end)
            byteCount = end
        }
        while let hole = growth.holes.first, hole.lowerBound < end {
            let bytes = hole.clamped(to: 0..<end)
            try writeZeros(from: bytes.lowerBound, to: bytes.upperBound)
            growth.fill(bytes)
        }
    }

    /// Collects the buffers of neighbouring runs, from `index` on, and returns how many bytes they are.
    private func nextStretch(
        of runs: [PreparedCommit.Run],
        from index: inout Int,
        in reservation: Reservation,
        into pieces: inout [(UnsafeRawPointer, Int)]
    ) -> Int {
        pieces.removeAll(keepingCapacity: true)
        var length = 0
        var end = runs[index].page
        while index < runs.count, runs[index].page == end {
            guard let buffer = reservation.buffer(of: Int(end)) else {
                preconditionFailure("A run of a commit that is not written has lost its memory")
            }
            let count = Int(runs[index].pageCount) * pageByteCount
            if let last = pieces.last, last.0 + last.1 == UnsafeRawPointer(buffer) {
                pieces[pieces.count - 1].1 += count
            } else {
                pieces.append((UnsafeRawPointer(buffer), count))
            }
            length += count
            end += runs[index].pageCount
            index += 1
        }
        return length
    }

    private func writeZeros(from start: Int, to end: Int) throws(StorageError) {
        let zeros = UnsafeMutableRawPointer.allocate(byteCount: min(1 << 20, end - start), alignment: pageByteCount)
        defer { zeros.deallocate() }
        zeros.initializeMemory(as: UInt8.self, repeating: 0, count: min(1 << 20, end - start))
        var position = start
        while position < end {
            let count = min(1 << 20, end - position)
            try write([(UnsafeRawPointer(zeros), count)], at: position)
            position += count
        }
    }
}
