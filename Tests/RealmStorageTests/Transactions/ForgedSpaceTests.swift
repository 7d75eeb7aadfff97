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
        return options
    }

    /// A closed file whose header says other things of its space.
    private func forge(_ name: String, _ edit: (inout FileHeader) -> Void) throws -> String {
        let path = directory.path(name)
        do {
            let file = try StorageFile.open(path: path, options: options)
            try file.lockForWriting()
            defer { file.unlockForWriting() }
            for round in 0..<2 as Range<UInt64> {
                let transaction = try file.beginWrite()
                if round == 0 { try PageArray.create(in: transaction) }
                try PageArray.set(0, to: round, in: transaction)
                try file.publish([try PageArray.commit(transaction)])
            }
        }
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
        return path
    }

    /// Everything behind the header is in use, and the file had only so many pages before: what it grew by is free.
    private func records(_ header: FileHeader, growingFrom pageCount: UInt32) -> [UInt8] {
        var writer = ByteWriter()
        let end = UInt32(header.pageCount)
        SpaceRecord(
            version: header.version - 1,
            pageCount: pageCount,
            allocated: [],
            retired: [],
            changes: ChangeSet()
        )
        .encode(into: &writer)
        SpaceRecord(
            version: header.version,
            pageCount: end,
            allocated: [Extent(page: 4, pageCount: end - 4)],
            retired: [],
            changes: ChangeSet()
        )
        .encode(into: &writer)
        return writer.bytes
    }

    @Test(arguments: [0, 1, 3] as [UInt32])
    func `a file that was shorter than its header has no free pages in it`(pageCount: UInt32) throws {
        let path = try forge("short\(pageCount).realm") { header in
            header.spaceSegment = .none
            header.records = records(header, growingFrom: pageCount)
        }
        let file = try StorageFile.open(path: path, options: options)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let error = #expect(throws: StorageError.self) { try file.beginWrite().rollback() }
        #expect(error?.code == .corrupt)
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
            let bytes = segment.encoded()
            let page = try transaction.allocate(pageCount: 1, kind: .spaceSegment)
            bytes.withUnsafeBytes {
                (page.bytes + PageHeader.byteCount).copyMemory(from: $0.baseAddress!, byteCount: $0.count)
            }
            page.bytes.storeLittle(UInt32(bytes.count), at: PageHeader.payloadByteCountOffset)
            return try SpaceSegment.read(transaction.seal(page.reference), in: transaction.view)
        }
        #expect(try read(4).isPicture)
        let error = #expect(throws: StorageError.self) { try read(pageCount) }
        #expect(error?.code == .corrupt)
    }
}
