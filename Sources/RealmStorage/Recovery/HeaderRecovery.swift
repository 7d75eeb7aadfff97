/// Chooses the version with which a file is opened.
///
/// Falling back to the older slot is for unacknowledged commits only: a version that the file itself calls durable and
/// that fails its checks is damage and an error, never a reason to open an older one.
enum HeaderRecovery {
    struct Result {
        var header: FileHeader
        /// The slot that holds it; the next commit goes to the other one.
        var slot: Int
        /// The version of a torn commit that was rolled back.
        var rolledBack: UInt64?
        /// The highest sequence number that was found: whatever is written from now on comes behind it.
        ///
        /// The header keeps its own until it has been written once more as it is, so that a torn write leaves it whole.
        var sequence: UInt64 = 0
    }

    /// The newest intact copy of each slot; a header with the refused fingerprint counts as damaged.
    static func slots(
        in mapping: UnsafeRawPointer,
        path: String,
        refused: UInt64 = 0
    ) throws(StorageError) -> [FileHeader?] {
        var slots: [FileHeader?] = [nil, nil]
        var isForeign = true
        for page in 0..<FileHeader.slotPageCount {
            let slot = page / FileHeader.copiesPerSlot
            switch FileHeader.read(mapping + page * pageByteCount, page: PageNumber(page)) {
            case .valid(let header):
                isForeign = false
                if refused != 0, header.fingerprint == refused { continue }
                guard let other = slots[slot] else {
                    slots[slot] = header
                    continue
                }
                if header.isNewer(than: other) { slots[slot] = header }
            case .unsupported(let what):
                // Even if the other slot can be read: it is older.
                throw StorageError(.unsupportedFormat, "The realm file has \(what)", path: path)
            case .damaged:
                isForeign = false
            case .foreign:
                break
            }
        }
        if slots[0] != nil || slots[1] != nil { return slots }
        if isForeign { throw StorageError(.notADatabase, "The file is not a realm file", path: path) }
        throw .corrupt("Every copy of the file header is damaged", page: 0, path: path)
    }

    /// The header to open with.
    static func recover(
        mapping: UnsafeRawPointer,
        byteCount: Int,
        path: String,
        refused: UInt64 = 0
    ) throws(StorageError) -> Result {
        let slots = try slots(in: mapping, path: path, refused: refused)
        var result = try choose(from: slots, mapping: mapping, byteCount: byteCount, path: path)
        result.sequence = max(slots[0]?.sequence ?? 0, slots[1]?.sequence ?? 0)
        return result
    }

    private static func choose(
        from slots: [FileHeader?],
        mapping: UnsafeRawPointer,
        byteCount: Int,
        path: String
    ) throws(StorageError) -> Result {
        let order = [0, 1].filter { slots[$0] != nil }.sorted { slots[$0]!.isNewer(than: slots[$1]!) }
        if let first = slots[0], let second = slots[1], first.version == second.version {
            if first.mark != second.mark, !first.isFormer, !second.isFormer {
                // The log was opened or closed at this version: both are whole, and the newer one says which.
                let newest = slots[order[0]]!
                try checkLength(newest, byteCount: byteCount, path: path)
                return Result(header: newest, slot: order[0])
            }
            // One of them is the closing mark, which was not flushed: the next commit must overwrite that one, and leave
            // the header that was.
            let marked = second.confirmedVersion == second.version ? second : first
            try checkLength(marked, byteCount: byteCount, path: path)
            if first.isFormer != second.isFormer {
                // It was being carried over, and what was written for that need not be on the disk: it is written once more.
                var former = first.isFormer ? first : second
                if marked.confirmedVersion == marked.version {
                    former.confirmedVersion = former.version
                    former.extents = []
                }
                return Result(header: former, slot: first.isFormer ? 0 : 1)
            }
            return Result(header: marked, slot: first.confirmedVersion == first.version ? 1 : 0)
        }
        let newest = slots[order[0]]!
        // A file has its length before a header says so: one that is too short was cut, and no commit was torn.
        try checkLength(newest, byteCount: byteCount, path: path)
        if isIntact(newest, mapping: mapping, byteCount: byteCount) {
            return Result(header: newest, slot: order[0])
        }
        guard order.count == 2, let older = slots[order[1]], older.version >= newest.confirmedVersion,
            older.version < newest.version
        else {
            throw .corrupt(
                "The newest version of the file is damaged",
                page: newest.extents.first?.page ?? 0,
                path: path
            )
        }
        guard isIntact(older, mapping: mapping, byteCount: byteCount) || newest.confirmedVersion >= older.version else {
            throw .corrupt(
                "The newest version of the file is damaged",
                page: older.extents.first?.page ?? 0,
                path: path
            )
        }
        try checkLength(older, byteCount: byteCount, path: path)
        return Result(header: older, slot: order[1], rolledBack: newest.version)
    }

    /// Whether everything that a version's commit wrote is there; known without looking when it was flushed before the
    /// header, or when the version is marked as durable.
    static func isIntact(_ header: FileHeader, mapping: UnsafeRawPointer, byteCount: Int) -> Bool {
        if header.isContentFlushed || header.confirmedVersion == header.version { return true }
        var runs: [PreparedCommit.Run] = []
        for extent in header.extents {
            var page = Int(extent.page)
            let end = page + Int(extent.pageCount)
            guard page >= FileHeader.slotPageCount, end * pageByteCount <= byteCount else { return false }
            while page < end {
                let bytes = mapping + page * pageByteCount
                let pageCount = Int(bytes.little(UInt32.self, at: PageHeader.pageCountOffset))
                guard pageCount > 0, pageCount <= end - page else { return false }
                runs.append(
                    PreparedCommit.Run(
                        page: PageNumber(page),
                        pageCount: UInt32(pageCount),
                        checksum: PageChecksum.of(bytes, byteCount: pageCount * pageByteCount)
                    )
                )
                page += pageCount
            }
        }
        return PreparedCommit.contentChecksum(of: runs) == header.contentChecksum
    }

    private static func checkLength(_ header: FileHeader, byteCount: Int, path: String) throws(StorageError) {
        guard Int(header.pageCount) * pageByteCount <= byteCount else {
            throw .corrupt(
                "The file was cut short: it has \(byteCount) bytes and should have \(Int(header.pageCount) * pageByteCount)",
                page: PageNumber(byteCount / pageByteCount),
                path: path
            )
        }
    }
}
