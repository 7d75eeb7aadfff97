/// What is written when a file is opened that was not closed.
extension HeaderRecovery {
    /// Makes the version that was chosen durable before anybody sees it, and takes back a commit that was cut short.
    ///
    /// After the death of a process, what it wrote may stand in the system's memory and not on the disk; after a failed
    /// flush even a new flush would not bring it there. So the commit is written once more, to the same places, and
    /// flushed; only then is it marked as durable in the other slot, over what was cut short. Whatever of this a power cut
    /// lets through, the file opens at the same version or at the one before it, as it would have done.
    static func settle(
        _ result: inout Result,
        mapping: UnsafeRawPointer,
        in device: any StorageDevice
    ) throws(StorageError) {
        if result.header.confirmedVersion == result.header.version, result.rolledBack == nil {
            // A commit that was cut short before a copy of its header was whole may have left a torn one beside the mark that it
            // was to overwrite: the mark takes its place.
            let other = 1 - result.slot
            if !isWhole(slot: other, mapping: mapping) { try result.header.write(toSlot: other, of: device) }
            return
        }
        if result.header.confirmedVersion < result.header.version, !result.header.isContentFlushed {
            for extent in result.header.extents { try rewrite(extent, mapping: mapping, in: device) }
        }
        try result.header.write(toSlot: result.slot, of: device)
        try device.synchronize()
        result.header.confirmedVersion = result.header.version
        result.header.extents = []
        try result.header.write(toSlot: 1 - result.slot, of: device)
    }

    private static func isWhole(slot: Int, mapping: UnsafeRawPointer) -> Bool {
        let first = slot * FileHeader.copiesPerSlot
        return (first..<first + FileHeader.copiesPerSlot)
            .allSatisfy { page in
                guard case .valid = FileHeader.read(mapping + page * pageByteCount, page: PageNumber(page)) else {
                    return false
                }
                return true
            }
    }

    private static func rewrite(
        _ extent: Extent,
        mapping: UnsafeRawPointer,
        in device: any StorageDevice
    ) throws(StorageError) {
        let limit = try device.currentByteCount()
        let end = Int(extent.page) * pageByteCount + Int(extent.pageCount) * pageByteCount
        guard Int(extent.page) >= FileHeader.slotPageCount, end <= limit else { return }
        let chunk = 1 << 20
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: chunk, alignment: pageByteCount)
        defer { bytes.deallocate() }
        var offset = Int(extent.page) * pageByteCount
        while offset < end {
            let count = min(chunk, end - offset)
            bytes.copyMemory(from: mapping + offset, byteCount: count)
            try device.write([(UnsafeRawPointer(bytes), count)], at: offset)
            offset += count
        }
    }

    /// Whether a file is empty, or was being created in place of an empty one when the power was cut: no commit can have
    /// been made to it.
    static func isUnfinished(mapping: UnsafeRawPointer, byteCount: Int) -> Bool {
        guard byteCount <= FileHeader.slotPageCount * pageByteCount, byteCount % pageByteCount == 0 else {
            return false
        }
        let bytes = UnsafeRawBufferPointer(start: mapping, count: byteCount)
        // A torn copy of the first header has a part of its first sector, or its last with nothing but the checksum, or neither.
        let sector = 512
        for start in stride(from: 0, to: byteCount, by: sector) {
            let content = bytes[start..<(start + sector)]
            if content.allSatisfy({ $0 == 0 }) { continue }
            let page = start / pageByteCount
            switch start % pageByteCount {
            case 0:
                guard isPartOfNewHeader(mapping + start, page: PageNumber(page)) else { return false }
                // A whole copy in a file of full length is a realm.
                if byteCount == FileHeader.slotPageCount * pageByteCount,
                    case .valid = FileHeader.read(mapping + page * pageByteCount, page: PageNumber(page))
                {
                    return false
                }
            case FileHeader.checksumOffset / sector * sector:
                guard content.dropLast(8).allSatisfy({ $0 == 0 }) else { return false }
            default: return false
            }
        }
        return true
    }

    /// Whether the first sector of a page holds nothing but words of a header without commits, some of which may be missing.
    ///
    /// Whatever else stands there belongs to somebody, and is not written over.
    private static func isPartOfNewHeader(_ bytes: UnsafeRawPointer, page: PageNumber) -> Bool {
        let expected = UnsafeMutableRawPointer.allocate(byteCount: pageByteCount, alignment: pageByteCount)
        defer { expected.deallocate() }
        return [FileHeader.formatVersion, FileHeader.formerFormatVersion]
            .contains { format in
                var header = FileHeader(
                    identifier: FileIdentifier(
                        low: bytes.little(UInt64.self, at: FileHeader.identifierOffset),
                        high: bytes.little(UInt64.self, at: FileHeader.identifierOffset + 8)
                    )
                )
                header.format = format
                header.store(to: expected, page: page)
                return stride(from: 0, to: 512, by: 8)
                    .allSatisfy { offset in
                        let word = bytes.little(UInt64.self, at: offset)
                        return word == 0 || word == UnsafeRawPointer(expected).little(UInt64.self, at: offset)
                    }
            }
    }
}
