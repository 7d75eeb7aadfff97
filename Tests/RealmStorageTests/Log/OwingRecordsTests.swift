import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// Commits that join a group, and whose records are made durable elsewhere.
@Suite("Records of several commits without pages", .serialized)
struct OwingRecordsTests {
    private typealias Owed = OwedPagesTests
    private let folder = TemporaryDirectory()

    private func join(_ file: StorageFile, _ indices: Range<Int>) throws -> (group: UInt64, records: [OwingRecord]) {
        var group: UInt64 = 0
        let records = try indices.map { index in
            let transaction = try Owed.member(file, index + 1, UInt64(100 + index))
            try #require(LoggedCommit(of: transaction).mayJoinOwing)
            group = transaction.groupNumber
            return try LoggedCommit(of: transaction).joinOwing()
        }
        return (group, records)
    }

    private func open(_ path: String, _ adjust: (inout LogOptions) -> Void = { _ in }) throws -> StorageFile {
        var options = Owed.options()
        if var log = options.log {
            adjust(&log)
            options.log = log
        }
        let file = try StorageFile.open(path: path, options: options)
        try Owed.begin(file)
        return file
    }

    @Test("They are acknowledged by one flush, and become one version when the group is sealed")
    func oneFlush() throws {
        let path = folder.path("a.realm")
        let recorder = LoggedFile.Recorder()
        let file = try StorageFile.open(path: path, options: Owed.options(recorder))
        try Owed.begin(file)
        defer { file.unlockForWriting() }
        let version = file.newestVersion
        let (group, records) = try join(file, 0..<5)
        // The first ones secure the space.
        #expect(try file.acknowledge(records, of: group))
        let before = recorder.operations.count
        let (same, more) = try join(file, 5..<9)
        #expect(same == group)
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == Owed.model(5))
        #expect(try file.acknowledge(more, of: group))
        let operations = recorder.operations[before...]
        #expect(operations.count { if case .synchronize = $0 { true } else { false } } == 1)
        for operation in operations {
            switch operation {
            case .write(.realm, _, _), .synchronize(.realm): Issue.record("the realm file was touched")
            default: break
            }
        }
        #expect(file.newestVersion == version)
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == Owed.model(9))
        try file.publish([#require(try file.sealGroup())])
        #expect(file.newestVersion == version + 9)
        #expect(try LoggedFile.values(of: file).values == Owed.model(9))
    }

    @Test("A group that is sealed before its last records are flushed has these appended, and no others")
    func sealedInBetween() throws {
        let path = folder.path("a.realm")
        let file = try open(path)
        defer { file.unlockForWriting() }
        let (group, records) = try join(file, 0..<3)
        #expect(try file.acknowledge(records, of: group))
        let (_, rest) = try join(file, 3..<5)
        let commit = try #require(try file.sealGroup())
        // It is on its way.
        #expect(try !file.acknowledge(rest, of: group))
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == Owed.model(3))
        let end = try #require(file.openLog).end.offset
        try file.publish([commit])
        let log = try #require(file.openLog)
        #expect(log.end.offset > end)
        #expect(log.end.offset <= end + 2 * UInt64(LogHeader.blockByteCount))
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == Owed.model(5))
        #expect(try LoggedFile.values(of: file).values == Owed.model(5))
    }

    @Test("Records that were flushed while their group was being sealed are not appended again")
    func flushedWhileSealed() throws {
        let path = folder.path("a.realm")
        let directory = Directory(LogFile(besides: path))
        let file = try open(path) { $0.makeDirectory = { _ in directory } }
        defer { file.unlockForWriting() }
        let (group, records) = try join(file, 0..<3)
        let sealed = Mutex<PreparedCommit?>(nil)
        directory.hook.withLock { hook in
            hook = { sealed.withLock { $0 = try? file.sealGroup() } }
        }
        #expect(try file.acknowledge(records, of: group))
        let end = try #require(file.openLog).end.offset
        try file.publish([#require(sealed.withLock { $0 })])
        #expect(try #require(file.openLog).end.offset == end)
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == Owed.model(3))
        let owes = file.owesPages.load(ordering: .relaxed)
        #expect(!owes)
    }

    @Test("Rule 48: one thread at a time appends to the log and flushes it; who comes meanwhile waits with its records")
    func oneFlushAtATime() throws {
        let path = folder.path("a.realm")
        let directory = Directory(LogFile(besides: path))
        let file = try open(path) { $0.makeDirectory = { _ in directory } }
        defer { file.unlockForWriting() }
        let (group, first) = try join(file, 0..<2)
        // They secure the space.
        #expect(try file.acknowledge(first, of: group))
        let (_, records) = try join(file, 2..<4)
        let (_, more) = try join(file, 4..<6)
        let other = Mutex<OtherThread?>(nil)
        let acknowledged = Mutex<UInt64>(0)
        directory.hook.withLock { hook in
            hook = {
                let thread = OtherThread { _ = try file.acknowledge(more, of: group) }
                other.withLock { $0 = thread }
                thread.waitUntilItWaits()
                let version = file.acknowledgedVersion.load(ordering: .relaxed)
                acknowledged.withLock { $0 = version }
            }
        }
        #expect(try file.acknowledge(records, of: group))
        let thread = try #require(other.withLock { $0 })
        try thread.end()
        // Nothing of the other one's was durable while the first flush was on its way.
        #expect(acknowledged.withLock { $0 } == first.last?.entry.version)
        #expect(file.acknowledgedVersion.load(ordering: .relaxed) == more.last?.entry.version)
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == Owed.model(6))
        try file.publish([#require(try file.sealGroup())])
        #expect(try LoggedFile.values(of: file).values == Owed.model(6))
    }

    @Test("A group that is given up beside the flush of its records is not acknowledged", arguments: [false, true])
    func givenUp(isBehindOthers: Bool) throws {
        let path = folder.path("a.realm")
        let directory = Directory(LogFile(besides: path))
        let file = try open(path) { $0.makeDirectory = { _ in directory } }
        defer { file.unlockForWriting() }
        if isBehindOthers {
            let (group, records) = try join(file, 0..<2)
            #expect(try file.acknowledge(records, of: group))
        }
        let (group, records) = try join(file, 2..<4)
        nonisolated(unsafe) let last = try Owed.member(file, 9, 9)
        directory.hook.withLock { hook in
            hook = { last.abandonGroup(because: StorageError(.io, "as a test has it")) }
        }
        #expect(throws: StorageError.self) { try file.acknowledge(records, of: group) }
        #expect(file.hasStopped)
        let found = try LoggedFile.valuesOfCopy(of: path, in: folder).prefix(3)
        #expect(found == (isBehindOthers ? [1, 100, 101] : [1, 0, 0]))
    }

    @Test("A group stays given up when the next one is given up, too, beside the flush of its records")
    func givenUpTwice() throws {
        let path = folder.path("a.realm")
        let directory = Directory(LogFile(besides: path))
        let file = try open(path) { $0.makeDirectory = { _ in directory } }
        defer { file.unlockForWriting() }
        let (group, records) = try join(file, 2..<4)
        nonisolated(unsafe) let last = try Owed.member(file, 9, 9)
        let suite = self
        directory.hook.withLock { hook in
            hook = {
                last.abandonGroup(because: StorageError(.io, "the first one"))
                _ = try? suite.join(file, 5..<6)
                let next = try? Owed.member(file, 7, 7)
                next?.abandonGroup(because: StorageError(.io, "the second one"))
            }
        }
        let refusal = #expect(throws: StorageError.self) { try file.acknowledge(records, of: group) }
        #expect(refusal?.message == "the first one")
        #expect(file.hasStopped)
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder).prefix(3) == [1, 0, 0])
    }

    @Test("Each of two groups that were given up is told its own reason")
    func reasons() throws {
        let file = try open(folder.path("a.realm"))
        defer { file.unlockForWriting() }
        let (first, records) = try join(file, 0..<2)
        try Owed.member(file, 9, 9).abandonGroup(because: StorageError(.io, "the first one"))
        let (second, _) = try join(file, 4..<6)
        try Owed.member(file, 9, 9).abandonGroup(because: StorageError(.io, "the second one"))
        #expect(file.lossOfGroup(first).message == "the first one")
        #expect(file.lossOfGroup(second).message == "the second one")
        #expect(throws: StorageError.self) { try file.acknowledge(records, of: first) }
        #expect(!file.hasStopped)
    }

    @Test("Rule 22: what an open transaction has written ahead is no space for records that are acknowledged beside it")
    func besideSpilled() throws {
        let path = folder.path("a.realm")
        let file = try open(path)
        defer { file.unlockForWriting() }
        let (group, records) = try join(file, 0..<2)
        let large = try file.beginWrite(joining: true)
        for _ in 0..<100 {
            let page = try large.allocate(pageCount: 1, kind: .overflow)
            page.bytes.storeLittle(UInt32(8), at: PageHeader.payloadByteCountOffset)
            _ = large.seal(page.reference)
        }
        try large.spill()
        #expect(try !file.acknowledge(records, of: group))
        large.rollback()
        try file.publish([#require(try file.sealGroup())])
        #expect(try LoggedFile.values(of: file).values == Owed.model(2))
        let (next, others) = try join(file, 2..<4)
        #expect(try file.acknowledge(others, of: next))
    }

    @Test("A group that was given up before has nothing appended, and writing goes on")
    func givenUpBefore() throws {
        let path = folder.path("a.realm")
        let file = try open(path)
        defer { file.unlockForWriting() }
        let (group, records) = try join(file, 0..<2)
        try Owed.member(file, 9, 9).abandonGroup(because: StorageError(.io, "as a test has it"))
        let refusal = #expect(throws: StorageError.self) { try file.acknowledge(records, of: group) }
        #expect(refusal?.message == "as a test has it")
        #expect(!file.hasStopped)
        let (next, others) = try join(file, 4..<6)
        #expect(try file.acknowledge(others, of: next))
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder).prefix(7) == [1, 0, 0, 0, 0, 104, 105])
    }

    @Test("A flush that fails loses the whole group, those that joined behind it, too", arguments: 0..<2)
    func failed(call: Int) throws {
        let path = folder.path("a.realm")
        let recorder = LoggedFile.Recorder()
        let file = try StorageFile.open(path: path, options: Owed.options(recorder))
        try Owed.begin(file)
        defer { file.unlockForWriting() }
        let (group, records) = try join(file, 0..<2)
        #expect(try file.acknowledge(records, of: group))
        let (_, more) = try join(file, 2..<4)
        _ = try join(file, 4..<5)
        recorder.state.withLock { $0.failing = call }
        #expect(throws: StorageError.self) { try file.acknowledge(more, of: group) }
        recorder.state.withLock { $0.failing = nil }
        #expect(file.hasStopped)
        #expect(file.hasLost(group: group))
        #expect(throws: StorageError.self) { try file.beginWrite(joining: true) }
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder).prefix(3) == [1, 100, 101])
    }

    /// A log during the flush of which something happens once.
    private final class Directory: ForwardingDirectory {
        final class Device: ForwardingDevice {
            let base: any StorageDevice
            let directory: Directory

            init(_ base: any StorageDevice, _ directory: Directory) {
                self.base = base
                self.directory = directory
            }

            func synchronize() throws(StorageError) {
                let body = directory.hook.withLock { hook in
                    defer { hook = nil }
                    return hook
                }
                body?()
                try base.synchronize()
            }
        }

        let base: LogFile
        let hook = Mutex<(@Sendable () -> Void)?>(nil)

        init(_ base: LogFile) { self.base = base }

        func makeDevice(_ log: any StorageDevice) -> any StorageDevice { Device(log, self) }
    }
}
