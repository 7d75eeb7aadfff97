import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// Verification of what the log of an open file holds.
@Suite("Verification of a log", .serialized)
struct LogAuditTests {
    typealias Owed = OwedPagesTests

    let folder = TemporaryDirectory()
    private var path: String { folder.path("a.realm") }

    /// A file with eight commits in its log, each in a block of its own.
    private func open(_ options: StorageOptions = LoggedFile.options(blocks: 64)) throws -> StorageFile {
        let file = try StorageFile.open(path: path, options: options)
        for value in UInt64(1)...8 { try LoggedFile.write(file, value) }
        try #require(file.openLog != nil)
        return file
    }

    /// Changes a byte of a block of the log, which changes it back the next time.
    private func flip(_ byte: Int, inBlock block: Int) throws {
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path + ".log"))
        defer { try? handle.close() }
        let offset = UInt64(LogHeader.blockByteCount * (1 + block) + byte)
        try handle.seek(toOffset: offset)
        let found = try #require(try handle.read(upToCount: 1)?.first)
        try handle.seek(toOffset: offset)
        try handle.write(contentsOf: Data([found ^ 1]))
    }

    @Test("Rule 46: damage to any record behind the checkpoint is told, the last one included", arguments: 0..<8)
    func damaged(block: Int) throws {
        let file = try open()
        try LogAudit.check(file)
        // The checksum, and what it covers.
        for byte in [0, 16, 50] {
            try flip(byte, inBlock: block)
            let damage = #expect(throws: StorageError.self) { try LogAudit.check(file) }
            #expect(damage?.code == .corrupt)
            #expect(damage?.message.contains("log") == true)
            try flip(byte, inBlock: block)
            try LogAudit.check(file)
        }
        // It pins nothing any more.
        #expect(file.activeVersions().isEmpty)
    }

    @Test("Rule 46: records that cannot be applied to the checkpoint are told")
    func notApplied() throws {
        let refuses = Mutex(false)
        var options = LoggedFile.options(blocks: 64)
        let replay = try #require(options.log).replay
        options.log?.replay = { records, transaction in
            if refuses.withLock({ $0 }) { throw StorageError(.corrupt, "as a test has it") }
            #expect(records.count == 8)
            return try replay(records, transaction)
        }
        let file = try open(options)
        try LogAudit.check(file)
        refuses.withLock { $0 = true }
        let damage = #expect(throws: StorageError.self) { try LogAudit.check(file) }
        #expect(damage?.message == "as a test has it")
    }

    @Test("Rule 46: records of commits without pages are read, too, also where there was no space for these")
    func owed() throws {
        let isFull = FullDevice.Switch()
        var options = Owed.options()
        options.makeDevice = { FullDevice($0, isFull) }
        let file = try StorageFile.open(path: path, options: options)
        try Owed.begin(file)
        defer { file.unlockForWriting() }
        #expect(try Owed.acknowledge(5, in: file))
        try LogAudit.check(file)
        try flip(50, inBlock: 5)
        #expect(throws: StorageError.self) { try LogAudit.check(file) }
        try flip(50, inBlock: 5)
        let commit = try #require(try file.sealGroup())
        isFull.isOn = true
        #expect(throws: StorageError.self) { try file.publish([commit]) }
        #expect(throws: StorageError.self) { try file.beginWrite() }
        try LogAudit.check(file)
        try flip(50, inBlock: 5)
        #expect(throws: StorageError.self) { try LogAudit.check(file) }
        try flip(50, inBlock: 5)
        isFull.isOn = false
        try file.beginWrite().rollback()
        try LogAudit.check(file)
        #expect(try LoggedFile.values(of: file).values == Owed.model(5))
    }

    @Test("Rule 46: a log that has lost its name is told, and one that is another file's")
    func missing() throws {
        let file = try open()
        let moved = path + ".moved"
        try FileManager.default.moveItem(atPath: path + ".log", toPath: moved)
        let missing = #expect(throws: StorageError.self) { try LogAudit.check(file) }
        #expect(missing?.message.contains("missing") == true)
        let other = try StorageFile.open(path: folder.path("b.realm"), options: LoggedFile.options())
        try LoggedFile.write(other, 1)
        try FileManager.default.copyItem(atPath: folder.path("b.realm.log"), toPath: path + ".log")
        withExtendedLifetime(other) {}
        let foreign = #expect(throws: StorageError.self) { try LogAudit.check(file) }
        #expect(foreign?.message.contains("belong together") == true)
        try FileManager.default.removeItem(atPath: path + ".log")
        try FileManager.default.moveItem(atPath: moved, toPath: path + ".log")
        try LogAudit.check(file)
    }

    @Test("Without a log, and behind its end, there is nothing to be told")
    func withoutLog() throws {
        var options = LoggedFile.options(blocks: 64)
        options.log?.pageCommitCount = 100
        let plain = try StorageFile.open(path: folder.path("plain.realm"), options: options)
        try LoggedFile.write(plain, 1)
        try LogAudit.check(plain)
        let file = try open()
        file.closeLogUnlessWritten()
        try #require(file.openLog == nil)
        try LogAudit.check(file)
    }

    @Test("Another process that has the file open reads the log, too")
    func beside() throws {
        let file = try open()
        let options = LoggedFile.options(blocks: 64)
        let other = try StorageFile.openUnshared(
            data: StorageFile.openData(path: path, options: options),
            path: path,
            options: options
        )
        try LogAudit.check(other)
        try flip(50, inBlock: 3)
        #expect(throws: StorageError.self) { try LogAudit.check(other) }
        try flip(50, inBlock: 3)
        try LogAudit.check(other)
        withExtendedLifetime(file) {}
    }

    @Test("Rule 46: what was found while the checkpoint became another one is no damage, however often that happens")
    func changingCheckpoints() throws {
        let lookCount = Mutex(0)
        let changed = Mutex<StorageFile?>(nil)
        var options = LoggedFile.options(blocks: 64)
        options.log?.replay = { _, _ in
            let isFirst = lookCount.withLock { count in
                count += 1
                return count == 1
            }
            // Once it stays.
            if !isFirst, let file = changed.withLock({ $0 }) {
                try file.lockForWriting()
                defer { file.unlockForWriting() }
                try file.makeCheckpoint()
                try LoggedFile.commit(file, 1, 9)
            }
            throw StorageError(.corrupt, "as a test has it")
        }
        let file = try open(options)
        changed.withLock { $0 = file }
        defer { changed.withLock { $0 = nil } }
        try LogAudit.check(file)
        #expect(lookCount.withLock { $0 } == 100)
        // Where it stays, it is damage.
        changed.withLock { $0 = nil }
        let damage = #expect(throws: StorageError.self) { try LogAudit.check(file) }
        #expect(damage?.message == "as a test has it")
    }

    @Test("Commits and checkpoints that go on meanwhile are no damage")
    func meanwhile() throws {
        let file = try StorageFile.open(path: path, options: LoggedFile.options(blocks: 8))
        try LoggedFile.write(file, 1)
        let isOver = Mutex(false)
        let writer = OtherThread {
            var value: UInt64 = 1
            while !isOver.withLock({ $0 }) {
                value += 1
                try LoggedFile.write(file, value)
            }
        }
        let result = Result { for _ in 0..<200 { try LogAudit.check(file) } }
        isOver.withLock { $0 = true }
        try writer.end()
        try result.get()
        #expect(file.activeVersions().isEmpty)
    }
}
