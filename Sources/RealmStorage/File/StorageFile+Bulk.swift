import Synchronization

/// Writing more than memory should hold.
extension StorageFile {
    /// A commit that makes the file grow by more than this writes its content instead of zeros first.
    static var bulkGrowthByteCount: Int { 4 << 20 }

    /// Writes runs of the open transaction to their places before its commit, and lets them be read there.
    func spill(
        _ runs: [PreparedCommit.Run],
        to pageCount: PageNumber
    ) throws(StorageError) {
        let old = byteCount
        var byteCount = old
        let extents = PreparedCommit.extents(of: runs)
        try data.write(extents, of: reservation, extending: &byteCount, to: Int(pageCount) * pageByteCount)
        if byteCount > old { note(byteCount: byteCount) }
        raisePageLimit(to: pageCount)
        for run in runs {
            reservation.verified[Int(run.page)].store(UInt32(truncatingIfNeeded: run.checksum), ordering: .relaxed)
            reservation.clearBuffered(Int(run.page), count: Int(run.pageCount))
        }
        for extent in extents {
            reservation.releaseBuffers(page: Int(extent.page), pageCount: Int(extent.pageCount))
        }
    }

    /// Gives back what a bulk commit that failed has added to the file, so that blocks whose first write failed are not
    /// used again.
    func cutBack(to published: FileHeader) {
        let pageCount = UInt32(truncatingIfNeeded: published.pageCount)
        reservation.verified[0].store(pageCount, ordering: .releasing)
        try? data.setByteCount(Int(pageCount) * pageByteCount)
        if let byteCount = try? data.currentByteCount() { note(byteCount: byteCount) }
    }
}

extension StorageDevice {
    /// Writes the buffers of some extents, ascending, and fills what lies between them beyond the end with zeros.
    func write(
        _ extents: [Extent],
        of reservation: Reservation,
        extending byteCount: inout Int,
        to end: Int
    ) throws(StorageError) {
        for extent in extents {
            let offset = Int(extent.page) * pageByteCount
            let length = Int(extent.pageCount) * pageByteCount
            if offset > byteCount {
                try writeZeros(from: byteCount, to: offset)
                byteCount = offset
            }
            try write([(UnsafeRawPointer(reservation.buffers + offset), length)], at: offset)
            byteCount = max(byteCount, offset + length)
        }
        if byteCount < end {
            try writeZeros(from: byteCount, to: end)
            byteCount = end
        }
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
