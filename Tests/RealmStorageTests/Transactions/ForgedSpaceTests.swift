import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// What the records of free space may say in a file that a stranger made.
@Suite struct ForgedSpaceTests {
    let directory = TemporaryDirectory()

    private var options: StorageOptions {
        var options = StorageOptions()
        options.durability = .none
        // A file is never at fault for a broken structure.
        options.invariantWasBroken = { Issue.record("A structure is broken: \($0)") }
        options.invariantScope = .whole
        return options
    }

    /// A closed file whose header says other things of its space.
    private func forge(_ name: String, _ edit: (inout FileHeader) -> Void) throws -> String {
        let path = directory.path(name)
        try write(path, commitCount: 2) { _, _ in }
        try editHeaders(of: path, edit)
        return path
    }

    /// Makes a file with a number of commits; `body` is called in each of them.
    private func write(
        _ path: String,
        commitCount: UInt64,
        _ body: (UInt64, WriteTransaction) throws -> Void
    ) throws {
        let file = try StorageFile.open(path: path, options: options)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        for round in 0..<commitCount {
            let transaction = try file.beginWrite()
            if round == 0 { try PageArray.create(in: transaction) }
            try PageArray.set(0, to: round, in: transaction)
            try body(round, transaction)
            try file.publish([try PageArray.commit(transaction)])
        }
    }

    /// Changes every header of a closed file, and makes its checksum right.
    private func editHeaders(of path: String, _ edit: (inout FileHeader) -> Void) throws {
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        bytes.withUnsafeMutableBytes { bytes in
            for page in 0..<FileHeader.slotPageCount {
                let start = bytes.baseAddress! + page * pageByteCount
                guard case .valid(var header) = FileHeader.read(start, page: PageNumber(page)) else { continue }
                edit(&header)
                header.store(to: start, page: PageNumber(page))
            }
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    /// What refuses a transaction; nil where it begins and is rolled back.
    private func refusal(of path: String) throws -> StorageError? {
        let file = try StorageFile.open(path: path, options: options)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        do throws(StorageError) {
            try file.beginWrite().rollback()
            return nil
        } catch {
            return error
        }
    }

    /// Writes a segment to a page of its own.
    private func store(_ segment: SpaceSegment, in transaction: WriteTransaction) throws -> PageReference {
        let bytes = segment.encoded()
        let page = try transaction.allocate(pageCount: 1, kind: .spaceSegment)
        bytes.withUnsafeBytes {
            (page.bytes + PageHeader.byteCount).copyMemory(from: $0.baseAddress!, byteCount: $0.count)
        }
        page.bytes.storeLittle(UInt32(bytes.count), at: PageHeader.payloadByteCountOffset)
        return transaction.seal(page.reference)
    }

    /// The record of a commit after which the file has a number of pages.
    private func record(_ version: UInt64, pageCount: UInt32, allocated: [Extent] = []) -> SpaceRecord {
        SpaceRecord(
            version: version,
            pageCount: pageCount,
            allocated: allocated,
            retired: [],
            changes: ChangeSet()
        )
    }

    private func bytes(of records: [SpaceRecord]) -> [UInt8] {
        var writer = ByteWriter()
        for record in records { record.encode(into: &writer) }
        return writer.bytes
    }

    /// Everything behind the header is in use, and the file had only so many pages before: what it grew by is free.
    private func records(_ header: FileHeader, growingFrom pageCount: UInt32) -> [UInt8] {
        let end = UInt32(header.pageCount)
        let all = Extent(page: 4, pageCount: end - 4)
        return bytes(of: [
            record(header.version - 1, pageCount: pageCount),
            record(header.version, pageCount: end, allocated: [all]),
        ])
    }

    @Test(arguments: [0, 1, 3] as [UInt32])
    func `a file that was shorter than its header has no free pages in it`(pageCount: UInt32) throws {
        let path = try forge("short\(pageCount).realm") { header in
            header.spaceSegment = .none
            header.records = records(header, growingFrom: pageCount)
        }
        #expect(try refusal(of: path)?.code == .corrupt)
    }

    @Test func `a file that began with its header is written to`() throws {
        let path = try forge("whole.realm") { header in
            header.spaceSegment = .none
            header.records = records(header, growingFrom: 4)
        }
        let file = try StorageFile.open(path: path, options: options)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite()
        try PageArray.set(1, to: 7, in: transaction)
        try file.publish([try PageArray.commit(transaction)])
        let snapshot = try file.beginRead()
        #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)[1] == 7)
    }

    @Test(arguments: [0, 3] as [UInt32])
    func `a picture of a file that is shorter than its header is refused`(pageCount: UInt32) throws {
        let directory = TemporaryDirectory()
        let file = try StorageFile.open(path: directory.path("picture.realm"), options: options)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite()
        defer { transaction.rollback() }
        func read(_ pageCount: UInt32) throws -> SpaceSegment {
            let picture = SpaceSegment.Picture(pageCount: pageCount, free: [], retired: [], changes: [])
            let segment = SpaceSegment(version: 2, previous: .none, previousVersion: 0, content: .picture(picture))
            return try SpaceSegment.read(try store(segment, in: transaction), in: transaction.view)
        }
        #expect(try read(4).isPicture)
        let error = #expect(throws: StorageError.self) { try read(pageCount) }
        #expect(error?.code == .corrupt)
    }

    // MARK: Versions

    @Test(arguments: [0, 1] as [UInt64])
    func `a record in the header that the picture contains already is refused`(age: UInt64) throws {
        let path = directory.path("contained\(age).realm")
        try write(path, commitCount: 3) { round, transaction in transaction.state.writesPicture = round == 2 }
        var editCount = 0
        try editHeaders(of: path) { header in
            if header.spaceSegment.isNone { return }
            header.records = bytes(of: [record(header.version - age, pageCount: UInt32(header.pageCount))])
            editCount += 1
        }
        #expect(editCount > 0, "there is a picture")
        #expect(try refusal(of: path)?.code == .corrupt)
    }

    @Test func `a file with records behind a picture is written to`() throws {
        let path = directory.path("behind.realm")
        try write(path, commitCount: 3) { round, transaction in transaction.state.writesPicture = round == 1 }
        let file = try StorageFile.open(path: path, options: options)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite()
        #expect(transaction.state.segments.count == 1 && transaction.state.records.count == 1)
        try PageArray.set(1, to: 7, in: transaction)
        try file.publish([try PageArray.commit(transaction)])
        let snapshot = try file.beginRead()
        #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)[1] == 7)
        try PageArray.audit(snapshot)
    }

    /// How many versions before the newest one a plain segment is, the record in it, and the one in the header.
    struct Ages: Sendable {
        let segment: UInt64
        let record: UInt64
        let header: UInt64
    }

    /// What refuses a file with such versions; everything behind its header is in use.
    private func refusal(_ ages: Ages) throws -> StorageError? {
        let path = directory.path("\(ages.segment)\(ages.record)\(ages.header).realm")
        var version: UInt64 = 0
        var reference = PageReference.none
        try write(path, commitCount: 5) { round, transaction in
            guard round == 4 else { return }
            version = transaction.version
            let segment = SpaceSegment(
                version: version - ages.segment,
                previous: .none,
                previousVersion: 0,
                content: .records([record(version - ages.record, pageCount: 4)])
            )
            reference = try store(segment, in: transaction)
        }
        try editHeaders(of: path) { header in
            guard header.version == version else { return }
            let end = UInt32(header.pageCount)
            let all = Extent(page: 4, pageCount: end - 4)
            header.spaceSegment = reference
            header.records = bytes(of: [record(version - ages.header, pageCount: end, allocated: [all])])
        }
        return try refusal(of: path)
    }

    @Test(arguments: [Ages(segment: 1, record: 1, header: 0), Ages(segment: 1, record: 2, header: 0)])
    func `records that stand behind the segment before them are read`(ages: Ages) throws {
        #expect(try refusal(ages) == nil)
    }

    @Test(arguments: [Ages(segment: 1, record: 2, header: 1), Ages(segment: 2, record: 1, header: 0)])
    func `a segment that is newer than what follows it, or older than what it holds, is refused`(ages: Ages) throws {
        #expect(try refusal(ages)?.code == .corrupt)
    }
}
