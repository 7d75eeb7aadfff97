import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// `Docs/FileFormat.md` says what the code does: the offsets in its tables are the constants.
@Suite struct FileFormatDocumentTests {
    /// The offsets in the table that follows a line of the document, with what stands there.
    private func offsets(behind marker: String) throws -> [Int: String] {
        let rows = try FormatDocument().rows(behind: marker)
        return Dictionary(rows.map { ($0.offset, $0.text) }, uniquingKeysWith: { $1 })
    }

    @Test func `the page header`() throws {
        let table = try offsets(behind: "Every run starts with the page header")
        #expect(table[PageHeader.pageOffset] == "page number")
        #expect(table[PageHeader.pageCountOffset] == "page count of the run")
        #expect(table[PageHeader.versionOffset] == "version that wrote the run")
        #expect(table[PageHeader.kindOffset] == "kind")
        #expect(table[PageHeader.levelOffset]?.hasPrefix("level") == true)
        #expect(table[PageHeader.entryCountOffset]?.hasPrefix("entry count") == true)
        #expect(table[PageHeader.payloadByteCountOffset]?.hasPrefix("payload byte count") == true)
        #expect(table[PageHeader.auxiliaryOffset] == "kind-specific")
        #expect(table.count == 8)
    }

    @Test func `the file header`() throws {
        let table = try offsets(behind: "A header page (`FileHeader`)")
        let constants: [Int: String] = [
            0: "page header", FileHeader.magicOffset: "magic", FileHeader.formatVersionOffset: "format version",
            FileHeader.pageSizeOffset: "page size", FileHeader.identifierOffset: "file identifier",
            FileHeader.versionOffset: "version", FileHeader.confirmedVersionOffset: "newest version known",
            FileHeader.sequenceOffset: "sequence number", FileHeader.positionOffset: "position",
            FileHeader.schemaGenerationOffset: "schema generation",
            FileHeader.incompatibleOffset: "features without which the file cannot be read",
            FileHeader.readOnlyCompatibleOffset: "features without which the file cannot be written",
            FileHeader.compatibleOffset: "features that need not be known",
            FileHeader.flagsOffset: "flags", FileHeader.sealByteCountOffset: "bytes of a seal in a reference, 8",
            FileHeader.extentCountOffset: "number of extents",
            FileHeader.recordByteCountOffset: "byte count of the newest",
            FileHeader.pageCountOffset: "number of pages",
            FileHeader.oldestLogVersionOffset: "the changes of all versions",
            FileHeader.contentChecksumOffset: "checksum over", FileHeader.catalogOffset: "reference to the catalog",
            FileHeader.spaceSegmentOffset: "reference to the newest space segment",
            FileHeader.logIdentifierOffset: "identifier of the log",
            FileHeader.logPlaceOffset: "offset in the log",
            FileHeader.recordChecksumOffset: "checksum of that record",
            FileHeader.recordTimeOffset: "time of the newest commit record",
            FileHeader.reservedEncryptionOffset: "reserved: what an encrypted file",
            FileHeader.extentsOffset: "extents",
            FileHeader.checksumOffset: "XXH64",
        ]
        #expect(Set(table.keys) == Set(constants.keys))
        for (offset, text) in constants { #expect(table[offset]?.hasPrefix(text) == true, "offset \(offset)") }
    }

    @Test func `the first block of a log`() throws {
        let constants: [Int: String] = [
            LogHeader.magicOffset: "magic", LogHeader.layoutVersionOffset: "layout version, \(LogHeader.layoutVersion)",
            LogHeader.blockByteCountOffset: "bytes of a block, \(LogHeader.blockByteCount)",
            LogHeader.fileOffset: "identifier of the realm file", LogHeader.logOffset: "identifier of the log",
            LogHeader.ringByteCountOffset: "bytes of the ring", LogHeader.versionOffset: "version at which",
            LogHeader.positionOffset: "position", LogHeader.chainOffset: "chain", LogHeader.fieldsEnd: "zeros",
            LogHeader.checksumOffset: "XXH64",
        ]
        try compare(constants, with: "Its first block (`LogHeader`)")
    }

    @Test func `the frame of a commit record`() throws {
        typealias Frame = CommitRecord.Frame
        let constants: [Int: String] = [
            Frame.checksum: "checksum: XXH64", Frame.contentByteCount: "byte count of the content",
            Frame.format: "format, \(CommitRecord.format)", Frame.kind: "kind: 1 changes", Frame.flags: "flags: bit 0",
            Frame.reserved: "0", Frame.position: "position", Frame.version: "version",
            Frame.durableOffset: "durable offset", Frame.previous: "checksum of the record before",
            Frame.end: "content",
        ]
        try compare(constants, with: "The frame:")
    }

    @Test func `the checksum of the runs that a commit wrote is where opening looks for it`() throws {
        let text = try FormatDocument().text
        #expect(text.contains("is the one at offset \(FileHeader.contentChecksumOffset)."))
    }

    @Test func `the file header of the format before`() throws {
        typealias Former = FileHeader.Former
        let table = try offsets(behind: "### Format 1")
        let constants: [Int: String] = [
            0: "page header", FileHeader.magicOffset: "magic", FileHeader.formatVersionOffset: "format version, 1",
            FileHeader.pageSizeOffset: "page size", Former.identifierOffset: "file identifier",
            Former.versionOffset: "version", Former.confirmedVersionOffset: "newest version known",
            Former.catalogOffset: "reference to the catalog",
            Former.spaceSegmentOffset: "reference to the newest space segment",
            Former.pageCountOffset: "number of pages", Former.flagsOffset: "flags",
            Former.extentCountOffset: "number of extents", Former.contentChecksumOffset: "checksum over",
            Former.oldestLogVersionOffset: "the changes of all versions",
            Former.recordByteCountOffset: "byte count of the newest", Former.extentsOffset: "extents",
            Former.recordsOffset: "the space records", FileHeader.checksumOffset: "XXH64",
        ]
        #expect(Set(table.keys) == Set(constants.keys))
        for (offset, text) in constants { #expect(table[offset]?.hasPrefix(text) == true, "offset \(offset)") }
    }

    @Test func `the lock file`() throws {
        typealias Layout = LockFileLayout
        typealias Word = LockFileLayout.Word
        let words: [Int: String] = [
            Word.magic: "magic", Word.layoutVersion: "layout version, \(Layout.version)",
            Word.fileID: "file identifier",
            Word.newestVersion: "newest durable version", Word.wake: "wake word",
            Word.reservedDoorbell: "reserved: doorbell",
            Word.writerProcess: "process id of the writer", Word.watcherCount: "number of threads that watch",
            Word.slotEnd: "highest process slot", Word.turn: "turn word",
            Word.turnWaiterCount: "number of threads that wait",
            Word.isRecovered: "1 when the newest version", Word.device: "device", Word.inode: "inode",
            Word.refusedHeader: "fingerprint", Word.writerNanosecond: "nanosecond since boot",
            Word.writerPlace: "place of the writer", Word.writerSlot: "process slot of the writer",
            Word.bootID: "boot identifier", Word.logImage: "beside an open log",
            Word.durableOffset: "durable offset",
            Word.reservedAcknowledgedPosition: "reserved: acknowledged position",
            Word.logID: "low half of the identifier of the log",
            Word.reservedCheckpoint: "reserved: version of the checkpoint",
            Word.reservedCandidate: "reserved: version of the candidate",
            Word.reservedCandidateState: "reserved: whether the candidate",
            Word.stopped: "1 when writing has stopped",
            Word.reservedPageCommit: "reserved: page commit",
            Word.failedOffset: "offset behind which",
            Word.failedChain: "checksum of the record there", Word.ruleWithdrawer: "process slot of who withdraws",
            Word.ruleWithdrawer + 2: "number of that withdrawal",
            Word.pageFlush: "1 while the realm file is flushed",
            Word.reservedFlushNotes: "reserved: notes of flushes",
            Word.reservedCounters: "reserved: counters",
            Word.rowKeys: "by the number of a table modulo \(Word.rowKeyCount)",
            Layout.processIDs: "per process slot: its process id",
            Layout.waitingThreads: "per process slot: how many", Layout.images: "two images",
            Layout.baseByteCount: "the area of each process slot",
        ]
        try compare(words, with: "## The lock file")
        typealias Area = LockFileLayout.Area
        let area: [Int: String] = [
            Area.openingNanosecond: "nanosecond since boot", Area.readerEnd: "highest reader entry",
            Area.reservedHeartbeat: "reserved: heartbeat", Area.reservedDoorbell: "reserved: doorbell",
            Area.ruleCount: "number of the rules", Area.reservedCounters: "reserved: counters",
            Area.places: "places in the program", Area.rules: "numbers of the indexes", Area.readers: "reader entries",
        ]
        try compare(area, with: "The area of a process (offsets")
        typealias Reader = LockFileLayout.Reader
        let reader = [Reader.version: "version plus one", Reader.second: "second since boot", Reader.place: "place of"]
        try compare(reader, with: "A reader entry:")
        #expect(Word.rowKeys + 8 * Word.rowKeyCount == Word.end)
        #expect(Layout.Area.readers + Layout.readerCount * Reader.byteCount == Layout.areaByteCount)
        #expect(Area.places + Area.placeCount * Area.placeByteCount == Area.rules)
        #expect(Layout.images + 2 * Layout.imageByteCount == Layout.baseByteCount)
    }

    private func compare(_ constants: [Int: String], with marker: String) throws {
        let table = try offsets(behind: marker)
        #expect(Set(table.keys) == Set(constants.keys))
        for (offset, text) in constants { #expect(table[offset]?.hasPrefix(text) == true, "offset \(offset)") }
    }

    @Test func `the kinds of pages`() throws {
        let text = try FormatDocument().text
        let line = try #require(text.range(of: "The kinds are:"))
        let list = text[line.upperBound...].prefix { $0 != "." }.replacingOccurrences(of: "\n", with: " ")
        let numbers = list.split(separator: ",").compactMap { Int($0.split(separator: " ")[0]) }
        #expect(numbers == PageKind.allCases.map { Int($0.rawValue) })
    }
}
