/// One version's entry into the file.
///
/// Two slots take turns; each slot is stored twice, on pages of its own, so that one flipped byte cannot hide the
/// newest version.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 32 | page header, kind 1 |
/// | 32 | 8 | magic `ActRealm` |
/// | 40 | 4 | format version, 2 |
/// | 44 | 4 | page size in bytes |
/// | 48 | 16 | file identifier, random at creation |
/// | 64 | 8 | version |
/// | 72 | 8 | newest version known to be durable when this was written |
/// | 80 | 8 | sequence number of the header |
/// | 88 | 8 | position: the number of the newest commit record |
/// | 96 | 8 | schema generation |
/// | 104 | 8 | features without which the file cannot be read |
/// | 112 | 8 | features without which the file cannot be written |
/// | 120 | 8 | features that need not be known |
/// | 128 | 4 | flags: bit 0, the pages were flushed before this header was written; bit 1, commits are kept as history |
/// | 132 | 4 | bytes of a seal in a reference, 8 |
/// | 136 | 4 | number of extents `n` |
/// | 140 | 4 | byte count of the newest space records |
/// | 144 | 8 | number of pages in use or free below the end |
/// | 152 | 8 | the changes of all versions above this one can be read |
/// | 160 | 8 | checksum over the checksums of the runs that this commit wrote |
/// | 168 | 40 | reference to the catalog |
/// | 208 | 40 | reference to the newest space segment |
/// | 248 | 16 | identifier of the log that the header knows last |
/// | 264 | 8 | offset in the log behind the version's last record |
/// | 272 | 8 | checksum of that record |
/// | 280 | 8 | time of the newest commit record that was made |
/// | 288 | 32 | reserved: encryption |
/// | 320 | 8 × `n` | extents that this commit wrote: first page `u32`, page count `u32` |
/// | 320 + 8 `n` | | the space records since the newest space segment, one behind the other |
/// | 4088 | 8 | XXH64 of the 4,088 bytes before |
///
/// A file of the format before is read as it is, and gets this one with its first commit.
package struct FileHeader: Sendable, Equatable {
    static let slotPageCount = 4
    static let copiesPerSlot = 2
    static let magic: UInt64 = 0x6D6C_6165_5274_6341  // "ActRealm", little-endian
    static let formatVersion: UInt32 = 2
    /// The format before, which can be read and carried over.
    static let formerFormatVersion: UInt32 = 1
    /// The bytes of a seal in a reference: an XXH64.
    static let sealByteCount: UInt32 = 8
    /// No header names a later version: sums of versions do not overflow.
    static let greatestVersion: UInt64 = 1 << 62
    /// No commit builds on a later one.
    ///
    /// A group of commits has fewer members than there are beyond it. The same goes for the other numbers that a commit raises.
    static let greatestWrittenVersion: UInt64 = 1 << 61
    static let maximumExtentCount = 120
    static let maximumRecordByteCount = 2984

    static let magicOffset = 32
    static let formatVersionOffset = 40
    static let pageSizeOffset = 44
    static let identifierOffset = 48
    static let versionOffset = 64
    static let confirmedVersionOffset = 72
    static let sequenceOffset = 80
    static let positionOffset = 88
    static let schemaGenerationOffset = 96
    static let incompatibleOffset = 104
    static let readOnlyCompatibleOffset = 112
    static let compatibleOffset = 120
    static let flagsOffset = 128
    static let sealByteCountOffset = 132
    static let extentCountOffset = 136
    static let recordByteCountOffset = 140
    static let pageCountOffset = 144
    static let oldestLogVersionOffset = 152
    static let contentChecksumOffset = 160
    static let catalogOffset = 168
    static let spaceSegmentOffset = 208
    static let logIdentifierOffset = 248
    static let logPlaceOffset = 264
    static let recordChecksumOffset = 272
    static let recordTimeOffset = 280
    static let reservedEncryptionOffset = 288
    static let extentsOffset = 320
    static let checksumOffset = 4088

    /// How many extents a header can list beside its records.
    static func extentLimit(besides recordByteCount: Int) -> Int {
        min(maximumExtentCount, (checksumOffset - extentsOffset - recordByteCount) / 8)
    }

    /// The format in which it stands in the file, or will.
    var format: UInt32
    var identifier: FileIdentifier
    var version: UInt64
    var confirmedVersion: UInt64
    /// Goes up with each header; the mark of a version has that of its header.
    var sequence: UInt64
    var numbers: CommitNumbers
    /// Without the bit of an open log, which is in the mark.
    var features: FileFeatures
    /// The log, and how far the version stands in it.
    var mark: LogMark
    var catalog: PageReference
    /// The newest space segment.
    var spaceSegment: PageReference
    /// The space records since that segment.
    var records: [UInt8]
    var oldestLogVersion: UInt64
    var pageCount: UInt64
    /// Whether the pages were made durable by a flush of their own before the header was written.
    var isContentFlushed: Bool
    /// Whether commits are kept as history; no release that has only this format does.
    var keepsHistory: Bool
    var extents: [Extent]
    var contentChecksum: UInt64

    /// What the lock file knows the file by.
    var fileID: UInt64 { identifier.low }

    /// The header of a file with nothing in it.
    init(newFile beginning: FileBeginning) {
        self.init(beginning, identifier: beginning.identifier ?? .random())
    }

    init(_ beginning: FileBeginning = FileBeginning(), identifier: FileIdentifier) {
        format = FileHeader.formatVersion
        self.identifier = identifier
        version = beginning.version
        confirmedVersion = beginning.version
        sequence = 1
        numbers = beginning.numbers
        features = FileFeatures()
        mark = .none
        catalog = .none
        spaceSegment = .none
        records = []
        oldestLogVersion = beginning.version
        pageCount = UInt64(FileHeader.slotPageCount)
        isContentFlushed = true
        keepsHistory = beginning.keepsHistory
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
        let isFormer = isFormer
        let extentsStart = isFormer ? Former.extentsOffset : FileHeader.extentsOffset
        let extentsEnd = extentsStart + extents.count * 8
        let recordsStart = isFormer ? Former.recordsOffset : extentsEnd
        clear(0..<extentsStart)
        clear(extentsEnd..<recordsStart)
        clear(recordsStart + records.count..<FileHeader.checksumOffset)
        bytes.storeLittle(page, at: PageHeader.pageOffset)
        bytes.storeLittle(UInt32(1), at: PageHeader.pageCountOffset)
        bytes.storeLittle(version, at: PageHeader.versionOffset)
        bytes.storeLittle(PageKind.fileHeader.rawValue, at: PageHeader.kindOffset)
        bytes.storeLittle(FileHeader.magic, at: FileHeader.magicOffset)
        bytes.storeLittle(format, at: FileHeader.formatVersionOffset)
        bytes.storeLittle(UInt32(pageByteCount), at: FileHeader.pageSizeOffset)
        if isFormer { storeFormerFields(to: bytes) } else { storeFields(to: bytes) }
        store(extents, to: bytes + extentsStart)
        store(records, to: bytes + recordsStart)
    }

    private func storeFields(to bytes: UnsafeMutableRawPointer) {
        bytes.storeLittle(identifier.low, at: FileHeader.identifierOffset)
        bytes.storeLittle(identifier.high, at: FileHeader.identifierOffset + 8)
        bytes.storeLittle(version, at: FileHeader.versionOffset)
        bytes.storeLittle(confirmedVersion, at: FileHeader.confirmedVersionOffset)
        bytes.storeLittle(sequence, at: FileHeader.sequenceOffset)
        bytes.storeLittle(numbers.position, at: FileHeader.positionOffset)
        bytes.storeLittle(numbers.schemaGeneration, at: FileHeader.schemaGenerationOffset)
        bytes.storeLittle(numbers.recordTime, at: FileHeader.recordTimeOffset)
        let openLog = mark.isOpen ? FileFeatures.openLog : 0
        bytes.storeLittle(features.incompatible | openLog, at: FileHeader.incompatibleOffset)
        bytes.storeLittle(features.readOnlyCompatible, at: FileHeader.readOnlyCompatibleOffset)
        bytes.storeLittle(features.compatible, at: FileHeader.compatibleOffset)
        bytes.storeLittle(
            UInt32(isContentFlushed ? 1 : 0) | (keepsHistory ? 2 : 0),
            at: FileHeader.flagsOffset
        )
        bytes.storeLittle(FileHeader.sealByteCount, at: FileHeader.sealByteCountOffset)
        bytes.storeLittle(UInt32(extents.count), at: FileHeader.extentCountOffset)
        bytes.storeLittle(UInt32(records.count), at: FileHeader.recordByteCountOffset)
        bytes.storeLittle(pageCount, at: FileHeader.pageCountOffset)
        bytes.storeLittle(oldestLogVersion, at: FileHeader.oldestLogVersionOffset)
        bytes.storeLittle(contentChecksum, at: FileHeader.contentChecksumOffset)
        catalog.store(to: bytes + FileHeader.catalogOffset)
        spaceSegment.store(to: bytes + FileHeader.spaceSegmentOffset)
        bytes.storeLittle(mark.log.low, at: FileHeader.logIdentifierOffset)
        bytes.storeLittle(mark.log.high, at: FileHeader.logIdentifierOffset + 8)
        bytes.storeLittle(mark.point.offset, at: FileHeader.logPlaceOffset)
        bytes.storeLittle(mark.point.chain, at: FileHeader.recordChecksumOffset)
    }

    private func store(_ extents: [Extent], to bytes: UnsafeMutableRawPointer) {
        for (index, extent) in extents.enumerated() {
            bytes.storeLittle(extent.page, at: index * 8)
            bytes.storeLittle(extent.pageCount, at: index * 8 + 4)
        }
    }

    private func store(_ records: [UInt8], to bytes: UnsafeMutableRawPointer) {
        records.withUnsafeBytes {
            UnsafeMutableRawBufferPointer(start: bytes, count: $0.count).copyMemory(from: $0)
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
        /// Intact, and with something that this release does not know: what the file has, to be said in an error.
        case unsupported(String)
        case damaged
    }

    /// Reads and checks one copy.
    static func read(_ bytes: UnsafeRawPointer, page: PageNumber) -> Copy {
        guard bytes.little(UInt64.self, at: magicOffset) == magic else { return .foreign }
        guard XXH64.hash(bytes, count: checksumOffset) == bytes.little(UInt64.self, at: checksumOffset) else {
            return .damaged
        }
        let format = bytes.little(UInt32.self, at: formatVersionOffset)
        guard format == formatVersion || format == formerFormatVersion else {
            return .unsupported(
                "format \(format); this version of the library reads the formats \(formerFormatVersion) and \(formatVersion)"
            )
        }
        let pageSize = bytes.little(UInt32.self, at: pageSizeOffset)
        guard pageSize == UInt32(pageByteCount) else {
            return .unsupported(
                "pages of \(pageSize) bytes; this version of the library reads pages of \(pageByteCount)"
            )
        }
        guard bytes.little(UInt32.self, at: PageHeader.pageOffset) == page else { return .damaged }
        if format == formerFormatVersion { return readFormer(bytes) }
        let features = FileFeatures(
            incompatible: bytes.little(UInt64.self, at: incompatibleOffset),
            readOnlyCompatible: bytes.little(UInt64.self, at: readOnlyCompatibleOffset),
            compatible: bytes.little(UInt64.self, at: compatibleOffset)
        )
        if let unreadable = features.unreadable {
            return .unsupported("\(unreadable), which this version of the library does not know")
        }
        let seal = bytes.little(UInt32.self, at: sealByteCountOffset)
        guard seal == sealByteCount else {
            return .unsupported("seals of \(seal) bytes; this version of the library reads seals of \(sealByteCount)")
        }
        let flags = bytes.little(UInt32.self, at: flagsOffset)
        guard flags & ~3 == 0 else {
            return .unsupported("the flags \(flags & ~3), which this version of the library does not know")
        }
        var header = FileHeader(
            identifier: FileIdentifier(
                low: bytes.little(UInt64.self, at: identifierOffset),
                high: bytes.little(UInt64.self, at: identifierOffset + 8)
            )
        )
        header.version = bytes.little(UInt64.self, at: versionOffset)
        header.confirmedVersion = bytes.little(UInt64.self, at: confirmedVersionOffset)
        header.sequence = bytes.little(UInt64.self, at: sequenceOffset)
        header.numbers.position = bytes.little(UInt64.self, at: positionOffset)
        header.numbers.schemaGeneration = bytes.little(UInt64.self, at: schemaGenerationOffset)
        header.numbers.recordTime = bytes.little(Int64.self, at: recordTimeOffset)
        header.features = features
        header.features.incompatible &= ~FileFeatures.openLog
        header.mark = LogMark(
            log: LogIdentifier(
                low: bytes.little(UInt64.self, at: logIdentifierOffset),
                high: bytes.little(UInt64.self, at: logIdentifierOffset + 8)
            ),
            point: LogPoint(
                offset: bytes.little(UInt64.self, at: logPlaceOffset),
                chain: bytes.little(UInt64.self, at: recordChecksumOffset)
            ),
            isOpen: features.incompatible & FileFeatures.openLog != 0
        )
        header.isContentFlushed = flags & 1 != 0
        header.keepsHistory = flags & 2 != 0
        header.pageCount = bytes.little(UInt64.self, at: pageCountOffset)
        header.oldestLogVersion = bytes.little(UInt64.self, at: oldestLogVersionOffset)
        header.contentChecksum = bytes.little(UInt64.self, at: contentChecksumOffset)
        header.catalog = PageReference(load: bytes + catalogOffset)
        header.spaceSegment = PageReference(load: bytes + spaceSegmentOffset)
        let extentCount = Int(bytes.little(UInt32.self, at: extentCountOffset))
        let recordByteCount = Int(bytes.little(UInt32.self, at: recordByteCountOffset))
        guard recordByteCount <= maximumRecordByteCount,
            extentCount <= extentLimit(besides: recordByteCount)
        else { return .damaged }
        return header.completed(
            extents: (bytes + extentsOffset, extentCount),
            records: (bytes + extentsOffset + extentCount * 8, recordByteCount)
        )
    }

    /// The header with what stands behind its fields, where all that it says can be.
    func completed(
        extents: (start: UnsafeRawPointer, count: Int),
        records: (start: UnsafeRawPointer, count: Int)
    ) -> Copy {
        var header = self
        header.records = Array(UnsafeRawBufferPointer(start: records.start, count: records.count))
        header.extents.reserveCapacity(extents.count)
        var end: UInt64 = 0
        for index in 0..<extents.count {
            let extent = Extent(
                page: extents.start.little(UInt32.self, at: index * 8),
                pageCount: extents.start.little(UInt32.self, at: index * 8 + 4)
            )
            // Extents that overlap would be read, and written again, as often as they like.
            guard UInt64(extent.page) >= end else { return .damaged }
            end = UInt64(extent.page) + UInt64(extent.pageCount)
            header.extents.append(extent)
        }
        guard version > 0, version <= FileHeader.greatestVersion, confirmedVersion <= version,
            oldestLogVersion <= version, sequence <= FileHeader.greatestVersion,
            mark.point.offset <= FileHeader.greatestVersion,
            numbers.position <= FileHeader.greatestVersion, numbers.schemaGeneration <= FileHeader.greatestVersion,
            pageCount >= UInt64(FileHeader.slotPageCount), pageCount < UInt64(UInt32.max)
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
