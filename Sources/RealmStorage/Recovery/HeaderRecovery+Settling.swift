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
                guard isPartOfNewHeader(mapping + start) else { return false }
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
    private static func isPartOfNewHeader(_ bytes: UnsafeRawPointer) -> Bool {
        func word(_ offset: Int, isOneOf values: UInt64...) -> Bool {
            let word = bytes.little(UInt64.self, at: offset)
            return word == 0 || values.contains(word)
        }
        // The header of the format before has its version where this one has half of the identifier.
        let isFormer = bytes.little(UInt32.self, at: FileHeader.formatVersionOffset) == FileHeader.formerFormatVersion
        let version = isFormer ? FileHeader.Former.versionOffset : FileHeader.versionOffset
        let formats = [FileHeader.formerFormatVersion, FileHeader.formatVersion]
            .map { UInt64($0) | UInt64(pageByteCount) << 32 }
        return word(FileHeader.magicOffset, isOneOf: FileHeader.magic)
            && word(FileHeader.formatVersionOffset, isOneOf: formats[0], formats[1]) && word(version, isOneOf: 1)
            && (FileHeader.extentsOffset..<512).allSatisfy { bytes.load(fromByteOffset: $0, as: UInt8.self) == 0 }
    }
}
