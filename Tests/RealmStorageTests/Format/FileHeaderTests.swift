import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite("What a header page says of a file, and what of it a release must know")
struct FileHeaderTests {
    private static func withPage<R>(_ header: FileHeader, _ body: (UnsafeMutableRawPointer) throws -> R) rethrows -> R {
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: pageByteCount, alignment: pageByteCount)
        defer { bytes.deallocate() }
        header.store(to: bytes, page: 2)
        return try body(bytes)
    }

    private static func seal(_ bytes: UnsafeMutableRawPointer) {
        bytes.storeLittle(XXH64.hash(bytes, count: FileHeader.checksumOffset), at: FileHeader.checksumOffset)
    }

    private static func header(extents: Int, recordByteCount: Int) -> FileHeader {
        var header = FileHeader(newFile: FileBeginning(version: 5))
        header.version = 12
        header.confirmedVersion = 11
        header.sequence = 77
        header.numbers = CommitNumbers(position: 40, schemaGeneration: 3)
        header.features.compatible = 6
        header.catalog = PageReference(page: 9, pageCount: 1, checksum: 10)
        header.spaceSegment = PageReference(page: 11, pageCount: 2, checksum: 12)
        header.records = (0..<recordByteCount).map { UInt8(truncatingIfNeeded: $0) }
        header.pageCount = 1_000
        header.isContentFlushed = false
        header.keepsHistory = true
        header.extents = (0..<extents).map { Extent(page: PageNumber(4 + 3 * $0), pageCount: 2) }
        header.contentChecksum = 13
        return header
    }

    @Test(
        "Every field comes back as it was written, with no extents, with as many as fit, and with the longest records"
    )
    func fields() {
        for (extents, records) in [(0, 0), (120, 2_808), (98, FileHeader.maximumRecordByteCount), (1, 1)] {
            let header = Self.header(extents: extents, recordByteCount: records)
            #expect(extents <= FileHeader.extentLimit(besides: records))
            Self.withPage(header) { bytes in
                guard case .valid(let read) = FileHeader.read(bytes, page: 2) else {
                    Issue.record("\(extents) extents and \(records) bytes of records are not read")
                    return
                }
                #expect(read == header)
                guard case .damaged = FileHeader.read(bytes, page: 3) else {
                    Issue.record("a page at the place of another one is read")
                    return
                }
            }
        }
        #expect(FileHeader.extentLimit(besides: 0) == 120)
        #expect(FileHeader.extentLimit(besides: FileHeader.maximumRecordByteCount) == 98)
    }

    @Test("A header of the format before comes back as it was, without what that format does not have")
    func former() {
        var header = Self.header(extents: 120, recordByteCount: FileHeader.maximumRecordByteCount)
        header.format = FileHeader.formerFormatVersion
        header.identifier.high = 0
        header.sequence = 0
        header.numbers = CommitNumbers()
        header.features = FileFeatures()
        header.keepsHistory = false
        Self.withPage(header) { bytes in
            guard case .valid(let read) = FileHeader.read(bytes, page: 2) else {
                Issue.record("it is not read")
                return
            }
            #expect(read == header)
        }
        for isDurable in [true, false] {
            let next = header.carriedOver(asDurable: isDurable)
            #expect(next.identifier.low == header.identifier.low && next.identifier.high != 0)
            #expect(next.sequence == 1 && next.format == FileHeader.formatVersion && next.records == header.records)
            #expect(next.confirmedVersion == (isDurable ? 12 : 11))
            Self.withPage(next) { bytes in
                guard case .valid(let read) = FileHeader.read(bytes, page: 2) else {
                    Issue.record("it does not fit into the present format")
                    return
                }
                #expect(read == next)
            }
        }
    }

    @Test("What a release does not know is refused by name")
    func unknown() {
        func reason(_ edit: (UnsafeMutableRawPointer) -> Void) -> String? {
            Self.withPage(Self.header(extents: 3, recordByteCount: 30)) { bytes in
                edit(bytes)
                Self.seal(bytes)
                guard case .unsupported(let reason) = FileHeader.read(bytes, page: 2) else { return nil }
                return reason
            }
        }
        let format = reason { $0.storeLittle(UInt32(3), at: FileHeader.formatVersionOffset) }
        #expect(format == "format 3; this version of the library reads the formats 1 and 2")
        #expect(
            reason { $0.storeLittle(UInt32(8192), at: FileHeader.pageSizeOffset) }?.hasPrefix("pages of 8192 bytes")
                == true
        )
        let seal = reason { $0.storeLittle(UInt32(28), at: FileHeader.sealByteCountOffset) }
        #expect(seal == "seals of 28 bytes; this version of the library reads seals of 8")
        let features = reason { $0.storeLittle(UInt64(1 << 40 | 5), at: FileHeader.incompatibleOffset) }
        #expect(
            features
                == "bitmaps of deleted rows, feature 40, which this version of the library does not know"
        )
        let flags = reason { $0.storeLittle(UInt32(7), at: FileHeader.flagsOffset) }
        #expect(flags == "the flags 4, which this version of the library does not know")
        #expect(reason { $0.storeLittle(UInt64.max, at: FileHeader.readOnlyCompatibleOffset) } == nil)
        #expect(reason { $0.storeLittle(UInt64.max, at: FileHeader.compatibleOffset) } == nil)
    }

    @Test("Impossible numbers are damage")
    func impossible() {
        func isDamaged(_ edit: (UnsafeMutableRawPointer) -> Void) -> Bool {
            Self.withPage(Self.header(extents: 3, recordByteCount: 30)) { bytes in
                edit(bytes)
                Self.seal(bytes)
                guard case .damaged = FileHeader.read(bytes, page: 2) else { return false }
                return true
            }
        }
        #expect(!isDamaged { _ in })
        for offset in [FileHeader.sequenceOffset, FileHeader.positionOffset, FileHeader.schemaGenerationOffset] {
            #expect(isDamaged { $0.storeLittle(UInt64.max, at: offset) })
        }
        #expect(isDamaged { $0.storeLittle(UInt64(13), at: FileHeader.confirmedVersionOffset) })
        #expect(isDamaged { $0.storeLittle(UInt64(13), at: FileHeader.oldestLogVersionOffset) })
        #expect(isDamaged { $0.storeLittle(UInt32(121), at: FileHeader.extentCountOffset) })
        #expect(isDamaged { $0.storeLittle(UInt32(2_985), at: FileHeader.recordByteCountOffset) })
        #expect(isDamaged { $0.storeLittle(UInt64(3), at: FileHeader.pageCountOffset) })
    }

    // MARK: Files

    let directory = TemporaryDirectory()

    /// A closed file with some commits.
    private func makeFile(_ name: String, edit: (inout FileHeader) -> Void = { _ in }) throws -> String {
        let path = directory.path(name)
        do {
            let file = try StorageFile.open(path: path)
            #expect(try file.tryLockForWriting())
            for round in 0..<3 {
                let transaction = try file.beginWrite()
                if round == 0 { try PageArray.create(in: transaction) }
                try PageArray.set(0, to: UInt64(round), in: transaction)
                transaction.changes.recordModify(table: 1, key: 0, column: 0)
                try file.publish([try PageArray.commit(transaction)])
            }
            file.unlockForWriting()
        }
        try FormerFile.editHeaders(path, edit)
        return path
    }

    @Test func `a file with a feature that writers must know can be read, and is not written`() throws {
        let path = try makeFile("feature.realm") { $0.features.readOnlyCompatible = 1 | 1 << 7 }
        let error = #expect(throws: StorageError.self) { try StorageFile.open(path: path) }
        #expect(error?.code == .unsupportedFormat)
        #expect(
            error?.message.contains("indexes of further kinds, feature 7, which") == true,
            "\(error?.message ?? "")"
        )
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        var options = StorageOptions()
        options.isReadOnly = true
        do {
            let snapshot = try StorageFile.open(path: path, options: options).beginRead()
            #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)[0] == 2)
            let copy = #expect(throws: StorageError.self) { try FileBeginning(copyOf: snapshot) }
            #expect(copy?.code == .unsupportedFormat)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
    }

    @Test func `a feature that need not be known stays`() throws {
        let path = try makeFile("compatible.realm") { $0.features.compatible = 1 << 63 }
        let file = try StorageFile.open(path: path)
        #expect(try file.tryLockForWriting())
        let transaction = try file.beginWrite()
        try PageArray.set(0, to: 9, in: transaction)
        try file.publish([try PageArray.commit(transaction)])
        file.unlockForWriting()
        #expect(try file.beginRead().header.features.compatible == 1 << 63)
    }

    @Test func `an older header beside one that cannot be read is not opened`() throws {
        let path = try makeFile("newer.realm")
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        var pages = [UInt8](try #require(try handle.read(upToCount: 4 * 4096)))
        // Both copies of the slot that the next commit would have taken.
        pages.withUnsafeMutableBytes { bytes in
            for page in 2..<4 {
                let start = bytes.baseAddress! + page * pageByteCount
                start.storeLittle(UInt32(3), at: FileHeader.formatVersionOffset)
                Self.seal(start)
            }
        }
        try handle.seek(toOffset: 0)
        try handle.write(contentsOf: Data(pages))
        try handle.close()
        let error = #expect(throws: StorageError.self) { try StorageFile.open(path: path) }
        #expect(error?.code == .unsupportedFormat)
    }

    @Test(
        "Numbers that a commit would raise to what is not read any more are an error, and lose nothing",
        arguments: 0..<3
    )
    func usedUp(number: Int) throws {
        let path = try makeFile("used up.realm") { header in
            switch number {
            case 0: header.sequence = FileHeader.greatestVersion
            case 1: header.numbers.position = FileHeader.greatestVersion
            default: header.numbers.schemaGeneration = FileHeader.greatestVersion
            }
        }
        for _ in 0..<2 {
            let file = try StorageFile.open(path: path)
            #expect(try file.tryLockForWriting())
            let error = #expect(throws: StorageError.self) {
                let transaction = try file.beginWrite()
                try PageArray.set(0, to: 9, in: transaction)
                transaction.changes.recordModify(table: 1, key: 0, column: 0)
                transaction.changesSchema = true
                try file.publish([try PageArray.commit(transaction)])
            }
            #expect(error?.code == .limit)
            file.unlockForWriting()
            let snapshot = try file.beginRead()
            #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)[0] == 2)
        }
    }

    @Test(
        "A file of others that is as short as a new realm is left as it is",
        arguments: [1, 2, 4],
        [0, 8, 48, 72, 300, 4_080] as [Int]
    )
    func foreign(pages: Int, offset: Int) throws {
        let path = directory.path("notes.txt")
        var content = [UInt8](repeating: 0, count: pages * pageByteCount)
        content.replaceSubrange(offset..<offset + 8, with: Array("my notes".utf8))
        // Behind the identifier, which may be anything.
        if offset == 48 { content.replaceSubrange(64..<72, with: Array("my notes".utf8)) }
        try Data(content).write(to: URL(fileURLWithPath: path))
        #expect(throws: StorageError.self) { try StorageFile.open(path: path) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(content))
    }

    @Test(
        "A new realm that was being made in place of an empty file, and was torn, is made anew",
        arguments: [1, 2] as [UInt32]
    )
    func torn(format: UInt32) throws {
        var header = FileHeader(newFile: FileBeginning())
        header.format = format
        if format == FileHeader.formerFormatVersion { header.identifier.high = 0 }
        var random = SplitMix64(seed: UInt64(format))
        for round in 0..<200 {
            let path = directory.path("torn \(round).realm")
            var content = [UInt8](repeating: 0, count: FileHeader.slotPageCount * pageByteCount)
            for page in 0..<FileHeader.slotPageCount {
                Self.withPage(header) { bytes in
                    header.store(to: bytes, page: PageNumber(page))
                    for word in stride(from: 0, to: pageByteCount, by: 8) where Bool.random(using: &random) {
                        content.replaceSubrange(
                            page * pageByteCount + word..<page * pageByteCount + word + 8,
                            with: UnsafeRawBufferPointer(start: bytes + word, count: 8)
                        )
                    }
                }
            }
            try Data(content).write(to: URL(fileURLWithPath: path))
            #expect(try StorageFile.open(path: path).beginRead().version == 1, "round \(round)")
        }
    }

    @Test func `headers are numbered, commits that change something have positions, and reopening goes on with both`()
        throws
    {
        let path = directory.path("numbers.realm")
        var last: FileHeader?
        for _ in 0..<3 {
            let file = try StorageFile.open(path: path)
            #expect(try file.tryLockForWriting())
            for round in 0..<4 {
                let before = try file.beginRead().header
                if let last, round == 0 {
                    #expect(before.numbers == last.numbers && before.sequence >= last.sequence)
                    #expect(before.identifier == last.identifier)
                }
                let transaction = try file.beginWrite()
                if before.catalog.isNone { try PageArray.create(in: transaction) }
                try PageArray.set(1, to: UInt64(round), in: transaction)
                if round % 2 == 0 { transaction.changes.recordModify(table: 1, key: 0, column: 0) }
                transaction.changesSchema = round == 2
                try file.publish([try PageArray.commit(transaction)])
                let after = try file.beginRead().header
                #expect(after.sequence == before.sequence + 1)
                #expect(after.numbers.position == before.numbers.position + (round % 2 == 0 ? 1 : 0))
                #expect(after.numbers.schemaGeneration == before.numbers.schemaGeneration + (round == 2 ? 1 : 0))
                last = after
            }
            file.unlockForWriting()
            try HeaderAudit.check(file.beginRead())
        }
        #expect(last?.numbers == CommitNumbers(position: 6, schemaGeneration: 3))
    }

    @Test func `members of a group have a position each, and what is rolled back has none`() throws {
        let file = try StorageFile.open(path: directory.path("group.realm"))
        #expect(try file.tryLockForWriting())
        func write(_ end: (WriteTransaction) throws -> Void) throws {
            let transaction = try file.beginWrite(joining: true)
            let bytes = [UInt8(truncatingIfNeeded: transaction.version)]
            _ = try bytes.withUnsafeBytes { try transaction.catalog.insert($0, value: $0, in: transaction) }
            transaction.changes.recordModify(table: 1, key: 0, column: 0)
            try end(transaction)
        }
        for _ in 0..<3 { try write { try $0.join() } }
        try write { $0.rollback() }
        try file.publish([#require(try file.sealGroup())])
        #expect(try file.beginRead().header.numbers.position == 3)
        for _ in 0..<2 { try write { try $0.join() } }
        // A group that is given up as a whole takes its numbers back.
        try write { $0.abandonGroup(because: StorageError(.io, "given up")) }
        try write { try $0.join() }
        try file.publish([#require(try file.sealGroup())])
        #expect(try file.beginRead().header.numbers.position == 4)
        file.unlockForWriting()
    }

    @Test func `a copy is another file that goes on counting, a compacted file is the same one`() throws {
        let path = try makeFile("original.realm") { $0.keepsHistory = true }
        let file = try StorageFile.open(path: path)
        let header = try file.beginRead().header
        let copy = try FileHeader(newFile: FileBeginning(copyOf: file.beginRead()))
        #expect(copy.identifier.low != header.identifier.low && copy.identifier.high != header.identifier.high)
        #expect(copy.numbers == header.numbers && header.numbers.position == 3 && !copy.keepsHistory)
        let replacement = try FileHeader(newFile: FileBeginning(replacementOf: file.beginRead()))
        #expect(replacement.identifier == header.identifier && replacement.keepsHistory)
        #expect(replacement.numbers == header.numbers)
    }
}
