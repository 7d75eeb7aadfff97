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
        try data.write(runs, of: reservation, extending: &byteCount, to: Int(pageCount) * pageByteCount)
        if byteCount > old { note(byteCount: byteCount) }
        raisePageLimit(to: pageCount)
        for run in runs {
            reservation.verified[Int(run.page)].store(UInt32(truncatingIfNeeded: run.checksum), ordering: .relaxed)
            reservation.dropBuffers(page: Int(run.page), pageCount: 1)
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
    /// Writes the buffers of some runs, ascending: one call for each stretch of neighbouring pages.
    func write(_ runs: [PreparedCommit.Run], of reservation: Reservation) throws(StorageError) {
        var pieces: [(UnsafeRawPointer, Int)] = []
        pieces.reserveCapacity(runs.count)
        var index = 0
        while index < runs.count {
            let offset = Int(runs[index].page) * pageByteCount
            let length = nextStretch(of: runs, from: &index, in: reservation, into: &pieces)
            assert(length > 0)
            try write(pieces, at: offset)
        }
    }

    /// Writes the buffers of some runs, ascending, and fills what lies between them beyond the end with zeros.
    func write(
        _ runs: [PreparedCommit.Run],
        of reservation: Reservation,
        extending byteCount: inout Int,
        to end: Int
    ) throws(StorageError) {
        var pieces: [(UnsafeRawPointer, Int)] = []
        var index = 0
        while index < runs.count {
            let offset = Int(runs[index].page) * pageByteCount
            let length = nextStretch(of: runs, from: &index, in: reservation, into: &pieces)
            if offset > byteCount {
                try writeZeros(from: byteCount, to: offset)
                byteCount = offset
            }
            try write(pieces, at: offset)
            byteCount = max(byteCount, offset + length)
        }
        if byteCount < end {
            try writeZeros(from: byteCount, to: end)
            byteCount = end
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
