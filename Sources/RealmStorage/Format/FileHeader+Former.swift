/// The header of a file that no release with the present format has written to.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 32 | page header, kind 1 |
/// | 32 | 8 | magic `ActRealm` |
/// | 40 | 4 | format version, 1 |
/// | 44 | 4 | page size in bytes |
/// | 48 | 8 | file identifier, random at creation |
/// | 56 | 8 | version |
/// | 64 | 8 | newest version known to be durable when this was written |
/// | 72 | 16 | reference to the catalog |
/// | 88 | 16 | reference to the newest space segment |
/// | 104 | 8 | number of pages in use or free below the end |
/// | 112 | 4 | flags: bit 0, the pages were flushed before this header was written |
/// | 116 | 4 | number of extents |
/// | 120 | 8 | checksum over the checksums of the runs that this commit wrote |
/// | 128 | 8 | the changes of all versions above this one can be read |
/// | 136 | 4 | byte count of the newest space records |
/// | 144 | 8 × 120 | extents that this commit wrote: first page `u32`, page count `u32` |
/// | 1104 | 2984 | the space records since the newest space segment, one behind the other |
/// | 4088 | 8 | XXH64 of the 4,088 bytes before |
extension FileHeader {
    /// Where the fields of the former format stand.
    enum Former {
        static let identifierOffset = 48
        static let versionOffset = 56
        static let confirmedVersionOffset = 64
        static let catalogOffset = 72
        static let spaceSegmentOffset = 88
        static let pageCountOffset = 104
        static let flagsOffset = 112
        static let extentCountOffset = 116
        static let contentChecksumOffset = 120
        static let oldestLogVersionOffset = 128
        static let recordByteCountOffset = 136
        static let extentsOffset = 144
        static let recordsOffset = 1104
    }

    /// Whether it stands in the format before, and is to be carried over before anything is written.
    var isFormer: Bool { format == FileHeader.formerFormatVersion }

    /// The same version in the present format.
    ///
    /// - Parameter isDurable: Whether it is known to be on the disk.
    /// - Returns: The header that goes to the other slot.
    func carriedOver(asDurable isDurable: Bool) -> FileHeader {
        var header = self
        header.format = FileHeader.formatVersion
        header.identifier = identifier.completed
        header.sequence = 1
        if isDurable { header.confirmedVersion = version }
        if isDurable || extents.count > FileHeader.extentLimit(besides: records.count) {
            header.extents = []
            header.isContentFlushed = true
        }
        return header
    }

    func storeFormerFields(to bytes: UnsafeMutableRawPointer) {
        bytes.storeLittle(identifier.low, at: Former.identifierOffset)
        bytes.storeLittle(version, at: Former.versionOffset)
        bytes.storeLittle(confirmedVersion, at: Former.confirmedVersionOffset)
        catalog.store(to: bytes + Former.catalogOffset)
        spaceSegment.store(to: bytes + Former.spaceSegmentOffset)
        bytes.storeLittle(pageCount, at: Former.pageCountOffset)
        bytes.storeLittle(UInt32(isContentFlushed ? 1 : 0), at: Former.flagsOffset)
        bytes.storeLittle(UInt32(extents.count), at: Former.extentCountOffset)
        bytes.storeLittle(contentChecksum, at: Former.contentChecksumOffset)
        bytes.storeLittle(oldestLogVersion, at: Former.oldestLogVersionOffset)
        bytes.storeLittle(UInt32(records.count), at: Former.recordByteCountOffset)
    }

    /// Reads a copy whose checksum fits.
    static func readFormer(_ bytes: UnsafeRawPointer) -> Copy {
        var header = FileHeader(
            identifier: FileIdentifier(low: bytes.little(UInt64.self, at: Former.identifierOffset), high: 0)
        )
        header.format = formerFormatVersion
        header.version = bytes.little(UInt64.self, at: Former.versionOffset)
        header.confirmedVersion = bytes.little(UInt64.self, at: Former.confirmedVersionOffset)
        header.sequence = 0
        header.catalog = PageReference(load: bytes + Former.catalogOffset)
        header.spaceSegment = PageReference(load: bytes + Former.spaceSegmentOffset)
        header.pageCount = bytes.little(UInt64.self, at: Former.pageCountOffset)
        header.isContentFlushed = bytes.little(UInt32.self, at: Former.flagsOffset) & 1 != 0
        header.contentChecksum = bytes.little(UInt64.self, at: Former.contentChecksumOffset)
        header.oldestLogVersion = bytes.little(UInt64.self, at: Former.oldestLogVersionOffset)
        let extentCount = Int(bytes.little(UInt32.self, at: Former.extentCountOffset))
        let recordByteCount = Int(bytes.little(UInt32.self, at: Former.recordByteCountOffset))
        guard extentCount <= maximumExtentCount, recordByteCount <= maximumRecordByteCount else { return .damaged }
        return header.completed(
            extents: (bytes + Former.extentsOffset, extentCount),
            records: (bytes + Former.recordsOffset, recordByteCount)
        )
    }
}
