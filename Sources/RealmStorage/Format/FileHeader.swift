/// One version's entry into the file.
///
/// Two slots take turns; each slot is stored twice, on pages of its own, so that one flipped byte cannot hide the
/// newest version.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 32 | page header, kind 1 |
/// | 32 | 8 | magic `ActRealm` |
/// | 40 | 4 | format version |
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
package struct FileHeader: Sendable, Equatable {
    static let slotPageCount = 4
    static let copiesPerSlot = 2
    static let magic: UInt64 = 0x6D6C_6165_5274_6341  // "ActRealm", little-endian
    static let formatVersion: UInt32 = 1
    /// No header names a later version: sums of versions do not overflow.
    static let greatestVersion: UInt64 = 1 << 62
    /// No commit builds on a later one, and a group of commits has fewer members than there are beyond it.
    static let greatestWrittenVersion: UInt64 = 1 << 61
    static let maximumExtentCount = 120
    static let maximumRecordByteCount = checksumOffset - recordsOffset

    static let magicOffset = 32
    static let formatVersionOffset = 40
    static let pageSizeOffset = 44
    static let fileIDOffset = 48
    static let versionOffset = 56
    static let confirmedVersionOffset = 64
    static let catalogOffset = 72
    static let logOffset = 88
    static let pageCountOffset = 104
    static let flagsOffset = 112
    static let extentCountOffset = 116
    static let contentChecksumOffset = 120
    static let oldestLogVersionOffset = 128
    static let recordByteCountOffset = 136
    static let extentsOffset = 144
    static let recordsOffset = 1104
    static let checksumOffset = 4088

    var fileID: UInt64
    var version: UInt64
    var confirmedVersion: UInt64
    var catalog: PageReference
    /// The newest space segment.
    var log: PageReference
    /// The space records since that segment.
    var records: [UInt8]
    var oldestLogVersion: UInt64
    var pageCount: UInt64
    /// Whether the pages were made durable by a flush of their own before the header was written.
    var isContentFlushed: Bool
    var extents: [Extent]
    var contentChecksum: UInt64

    /// The header of a file with nothing in it.
    init(newFile fileID: UInt64) {
        self.fileID = fileID
        version = 1
        confirmedVersion = 1
        catalog = .none
        log = .none
        records = []
        oldestLogVersion = 1
        pageCount = UInt64(FileHeader.slotPageCount)
        isContentFlushed = true
        extents = []
        contentChecksum = 0
    }

    /// Writes one copy, for the page where it will stand.
    func store(to bytes: UnsafeMutableRawPointer, page: PageNumber) {
        fill(bytes, page: page)
        FileHeader.seal(bytes, copies: 1)
    }

    /// Writes one copy but for its checksum.
    private func fill(_ bytes: UnsafeMutableRawPointer, page: PageNumber) {
        func clear(_ range: Range<Int>) {
            (bytes + range.lowerBound).initializeMemory(as: UInt8.self, repeating: 0, count: range.count)
        }
        clear(0..<FileHeader.extentsOffset)
        clear(FileHeader.extentsOffset + extents.count * 8..<FileHeader.recordsOffset)
        clear(FileHeader.recordsOffset + records.count..<FileHeader.checksumOffset)
        bytes.storeLittle(page, at: PageHeader.pageOffset)
        bytes.storeLittle(UInt32(1), at: PageHeader.pageCountOffset)
        bytes.storeLittle(version, at: PageHeader.versionOffset)
        bytes.storeLittle(PageKind.fileHeader.rawValue, at: PageHeader.kindOffset)
        bytes.storeLittle(FileHeader.magic, at: FileHeader.magicOffset)
        bytes.storeLittle(FileHeader.formatVersion, at: FileHeader.formatVersionOffset)
        bytes.storeLittle(UInt32(pageByteCount), at: FileHeader.pageSizeOffset)
        bytes.storeLittle(fileID, at: FileHeader.fileIDOffset)
        bytes.storeLittle(version, at: FileHeader.versionOffset)
        bytes.storeLittle(confirmedVersion, at: FileHeader.confirmedVersionOffset)
        catalog.store(to: bytes + FileHeader.catalogOffset)
        log.store(to: bytes + FileHeader.logOffset)
        bytes.storeLittle(oldestLogVersion, at: FileHeader.oldestLogVersionOffset)
        bytes.storeLittle(UInt32(records.count), at: FileHeader.recordByteCountOffset)
        records.withUnsafeBytes {
            UnsafeMutableRawBufferPointer(start: bytes + FileHeader.recordsOffset, count: $0.count).copyMemory(from: $0)
        }
        bytes.storeLittle(pageCount, at: FileHeader.pageCountOffset)
        bytes.storeLittle(UInt32(isContentFlushed ? 1 : 0), at: FileHeader.flagsOffset)
        bytes.storeLittle(UInt32(extents.count), at: FileHeader.extentCountOffset)
        bytes.storeLittle(contentChecksum, at: FileHeader.contentChecksumOffset)
        for (index, extent) in extents.enumerated() {
            bytes.storeLittle(extent.page, at: FileHeader.extentsOffset + index * 8)
            bytes.storeLittle(extent.pageCount, at: FileHeader.extentsOffset + index * 8 + 4)
        }
    }

    /// Stores the checksums of copies that differ in their first eight bytes only.
    private static func seal(_ bytes: UnsafeMutableRawPointer, copies: Int) {
        if copies == 2 {
            let other = UnsafeRawPointer(bytes + pageByteCount).little(UInt64.self, at: 0)
            let checksums = XXH64.hashes(bytes, count: checksumOffset, orBeginningWith: other)
            bytes.storeLittle(checksums.0, at: checksumOffset)
            bytes.storeLittle(checksums.1, at: pageByteCount + checksumOffset)
            return
        }
        for copy in 0..<copies {
            let page = bytes + copy * pageByteCount
            page.storeLittle(XXH64.hash(page, count: checksumOffset), at: checksumOffset)
        }
    }

    /// Tells this header from every other one of the file, wherever its copies stand.
    var fingerprint: UInt64 {
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: pageByteCount, alignment: pageByteCount)
        defer { bytes.deallocate() }
        store(to: bytes, page: 0)
        return UnsafeRawPointer(bytes).little(UInt64.self, at: FileHeader.checksumOffset)
    }

    /// Writes the copies of a slot, or the first of them only.
    func write(
        toSlot slot: Int,
        copies: Int = FileHeader.copiesPerSlot,
        of device: any StorageDevice
    ) throws(StorageError) {
        let byteCount = copies * pageByteCount
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: pageByteCount)
        defer { bytes.deallocate() }
        try write(toSlot: slot, copies: copies, of: device, by: bytes)
    }

    /// Writes them from memory that the caller has: as many pages as there are copies.
    func write(
        toSlot slot: Int,
        copies: Int = FileHeader.copiesPerSlot,
        of device: any StorageDevice,
        by bytes: UnsafeMutableRawPointer
    ) throws(StorageError) {
        let byteCount = copies * pageByteCount
        let first = slot * FileHeader.copiesPerSlot
        fill(bytes, page: PageNumber(first))
        for copy in 1..<max(copies, 1) {
            // They differ in the number of their page only.
            let page = bytes + copy * pageByteCount
            page.copyMemory(from: bytes, byteCount: pageByteCount)
            page.storeLittle(PageNumber(first + copy), at: PageHeader.pageOffset)
        }
        FileHeader.seal(bytes, copies: copies)
        try device.write([(UnsafeRawPointer(bytes), byteCount)], at: first * pageByteCount)
    }

    /// What one header page holds.
    enum Copy {
        case valid(FileHeader)
        /// The magic number is not there.
        case foreign
        /// Intact, but written by a library with another format.
        case otherFormat(UInt32)
        case damaged
    }

    /// Reads and checks one copy.
    static func read(_ bytes: UnsafeRawPointer, page: PageNumber) -> Copy {
        guard bytes.little(UInt64.self, at: magicOffset) == magic else { return .foreign }
        guard XXH64.hash(bytes, count: checksumOffset) == bytes.little(UInt64.self, at: checksumOffset) else {
            return .damaged
        }
        let format = bytes.little(UInt32.self, at: formatVersionOffset)
        guard format == formatVersion, bytes.little(UInt32.self, at: pageSizeOffset) == UInt32(pageByteCount) else {
            return .otherFormat(format)
        }
        let extentCount = Int(bytes.little(UInt32.self, at: extentCountOffset))
        let recordByteCount = Int(bytes.little(UInt32.self, at: recordByteCountOffset))
        guard bytes.little(UInt32.self, at: PageHeader.pageOffset) == page, extentCount <= maximumExtentCount,
            recordByteCount <= maximumRecordByteCount
        else { return .damaged }
        var header = FileHeader(newFile: bytes.little(UInt64.self, at: fileIDOffset))
        header.version = bytes.little(UInt64.self, at: versionOffset)
        header.confirmedVersion = bytes.little(UInt64.self, at: confirmedVersionOffset)
        header.catalog = PageReference(load: bytes + catalogOffset)
        header.log = PageReference(load: bytes + logOffset)
        header.oldestLogVersion = bytes.little(UInt64.self, at: oldestLogVersionOffset)
        header.records = Array(
            UnsafeRawBufferPointer(start: bytes + recordsOffset, count: recordByteCount)
        )
        header.pageCount = bytes.little(UInt64.self, at: pageCountOffset)
        header.isContentFlushed = bytes.little(UInt32.self, at: flagsOffset) & 1 != 0
        header.contentChecksum = bytes.little(UInt64.self, at: contentChecksumOffset)
        var end: UInt64 = 0
        for index in 0..<extentCount {
            let extent = Extent(
                page: bytes.little(UInt32.self, at: extentsOffset + index * 8),
                pageCount: bytes.little(UInt32.self, at: extentsOffset + index * 8 + 4)
            )
            // Extents that overlap would be read, and written again, as often as they like.
            guard UInt64(extent.page) >= end else { return .damaged }
            end = UInt64(extent.page) + UInt64(extent.pageCount)
            header.extents.append(extent)
        }
        guard header.version > 0, header.version <= greatestVersion, header.confirmedVersion <= header.version,
            header.oldestLogVersion <= header.version,
            header.pageCount >= UInt64(slotPageCount), header.pageCount < UInt64(UInt32.max)
        else { return .damaged }
        return .valid(header)
    }

    /// The records of the newest versions, which stand in the header itself.
    func spaceRecords(path: String) throws(StorageError) -> [SpaceRecord] {
        do {
            return try records.withUnsafeBytes { (bytes) throws(ByteReader.Truncated) in
                try SpaceRecord.list(in: bytes)
            }
        } catch {
            throw .corrupt("The space records in the file header are malformed", page: 0, path: path)
        }
    }
}
