import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// What is done to the files while commits are acknowledged and have no pages.
@Suite("Commits without pages, and files that are deleted or taken over", .serialized)
struct LostOwedPagesTests {
    typealias Owed = OwedPagesTests

    let folder = TemporaryDirectory()

    private func byteCount(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }

    /// A process that acknowledges five commits when it is told to, and is killed.
    private func logger(_ path: String) throws -> ForkedProcess {
        let child = try ForkedProcess { parent in
            let file = try StorageFile.open(path: path, options: Owed.options())
            try Owed.begin(file)
            parent.send(1)
            _ = parent.receive()
            parent.send(try Owed.acknowledge(5, in: file) ? 2 : 0)
            _ = parent.receive()
            kill(getpid(), SIGKILL)
        }
        #expect(child.connection.receive() == 1)
        return child
    }

    private func end(_ logger: ForkedProcess) {
        #expect(logger.ask() == 2)
        logger.connection.send(1)
        #expect(logger.end() == SIGKILL)
    }

    @Test("Rule 30: whoever takes over without durability flushes what it applies all the same, before the log goes")
    func unflushedTaker() throws {
        let path = folder.path("a.realm")
        let logger = try logger(path)
        let recorder = LoggedFile.Recorder()
        var options = Owed.options(recorder)
        options.recovery = options.log
        options.log = nil
        options.durability = .none
        let file = try StorageFile.open(path: path, options: options)
        end(logger)
        // What it has left counts as flushed.
        var disk = PowerCutDisk(realm: Array(try Data(contentsOf: URL(fileURLWithPath: path))))
        let before = recorder.operations.count
        try file.lockForWriting()
        try file.beginWrite().rollback()
        file.unlockForWriting()
        #expect(!FileManager.default.fileExists(atPath: path + ".log"))
        for operation in recorder.operations[before...] { disk.perform(operation) }
        var random = SplitMix64(seed: 1)
        for variant in 0..<disk.variantCount {
            let copy = folder.path("cut-\(variant).realm")
            try Data(disk.survivor(variant: variant, using: &random).realm).write(to: URL(fileURLWithPath: copy))
            #expect(try LoggedFile.values(of: StorageFile.open(path: copy)).values == Owed.model(5))
        }
    }

    @Test("Rule 35: whoever opens the file for reading beside a process that has died waits for nobody")
    func readBesideDead() throws {
        let path = folder.path("a.realm")
        let logger = try logger(path)
        // It keeps the lock file alive.
        let file = try StorageFile.open(path: path, options: Owed.options())
        end(logger)
        let refusal = #expect(throws: StorageError.self) { try Owed.openBeside(path, forReading: true) }
        #expect(refusal?.code == .unsupportedFormat)
        #expect(try LoggedFile.values(of: Owed.openBeside(path)).values == Owed.model(5))
        #expect(try LoggedFile.values(of: file).values == Owed.model(5))
        #expect(!FileManager.default.fileExists(atPath: path + ".log"))
    }

    @Test(
        "Rule 33: a kill behind the deletion of the log leaves all that was acknowledged, or a file that misses its log"
    )
    func deletedLog() throws {
        var (whole, missing) = (0, 0)
        for call in 0..<16 {
            let path = folder.path("deleted-\(call).realm")
            let child = try ForkedProcess { _ in
                let recorder = LoggedFile.Recorder()
                let file = try StorageFile.open(path: path, options: Owed.options(recorder))
                try Owed.begin(file)
                guard try Owed.acknowledge(5, in: file), let commit = try file.sealGroup() else { return }
                unlink(path + ".log")
                recorder.state.withLock { state in
                    state.failing = call
                    state.isKilled = true
                }
                try file.publish([commit])
                _exit(3)
            }
            let end = child.end()
            #expect(end == SIGKILL || end == 3 << 8)
            // With what the lock file says, and without.
            let copy = try LoggedFile.copy(of: path, in: folder)
            for path in [copy, path] {
                do {
                    let file = try StorageFile.open(path: path, options: Owed.options())
                    #expect(try LoggedFile.values(of: file).values == Owed.model(5))
                    whole += 1
                } catch let error as StorageError {
                    #expect(end == SIGKILL)
                    #expect(error.message.contains("is missing"))
                    missing += 1
                }
            }
        }
        #expect(whole > 2)
        #expect(missing > 2)
    }

    @Test(
        "Pages that cannot be made when the log was deleted stop writing, and nobody is told that the log has them",
        arguments: 0..<8
    )
    func failedBehindDeletion(call: Int) throws {
        let path = folder.path("a.realm")
        let recorder = LoggedFile.Recorder()
        let file = try StorageFile.open(path: path, options: Owed.options(recorder))
        try Owed.begin(file)
        defer { file.unlockForWriting() }
        #expect(try Owed.acknowledge(5, in: file))
        let commit = try #require(try file.sealGroup())
        unlink(path + ".log")
        recorder.state.withLock { $0.failing = call }
        do {
            try file.publish([commit])
            recorder.state.withLock { $0.failing = nil }
            #expect(try LoggedFile.values(of: file).values == Owed.model(5))
            #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == Owed.model(5))
            // It goes on with another log.
            #expect(try Owed.acknowledge(file, 9, 9) == false)
            try file.publish([LoggedFile.prepare(.init(values: [(9, 9)]), in: file)])
            #expect(try Owed.acknowledge(file, 10, 10))
            #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == Owed.model(5, more: [9: 9, 10: 10]))
        } catch {
            recorder.state.withLock { $0.failing = nil }
            let refusal = file.reasonOfStop
            #expect(refusal?.code == .writingStopped)
            #expect(refusal?.message.contains("bring it back") == true)
            #expect(try file.beginRead().isInMemory)
            let missing = #expect(throws: StorageError.self) { try LoggedFile.valuesOfCopy(of: path, in: folder) }
            #expect(missing?.message.contains("is missing") == true)
        }
    }

    @Test(
        "Rule 23: a log that is deleted within the flush of a commit takes nothing with it that was acknowledged before"
    )
    func deletedWithin() throws {
        let path = folder.path("a.realm")
        var options = Owed.options()
        let directory = DeletedLogTests.DeletingDirectory(LogFile(besides: path))
        options.log?.makeDirectory = { _ in directory }
        let file = try StorageFile.open(path: path, options: options)
        try Owed.begin(file)
        defer { file.unlockForWriting() }
        #expect(try Owed.acknowledge(5, in: file))
        let last = try file.beginWrite(joining: true)
        let change = LoggedFile.Change(values: [(9, 9)])
        try change.apply(to: last)
        last.record = .init(kind: .changes, content: change.content)
        let commit = try PageArray.commit(last)
        directory.arm()
        try file.publish([commit])
        #expect(!file.hasStopped)
        #expect(!FileManager.default.fileExists(atPath: path + ".log"))
        #expect(try LoggedFile.values(of: file).values == Owed.model(5, more: [9: 9]))
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == Owed.model(5, more: [9: 9]))
    }

    @Test("A forked child makes no file of its parent longer for a commit without pages")
    func forkedChild() throws {
        let path = folder.path("a.realm")
        let file = try StorageFile.open(path: path, options: Owed.options())
        try Owed.begin(file)
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite(joining: true)
        let change = LoggedFile.Change(values: [(1, 100)])
        try change.apply(to: transaction)
        transaction.record = .init(kind: .changes, content: change.content)
        let before = try byteCount(path)
        let status = try ForkedChild.run { LoggedCommit(of: transaction).mayOwePages ? 1 : 0 }
        #expect(status == 0)
        #expect(try byteCount(path) == before)
        // The parent does.
        #expect(LoggedCommit(of: transaction).mayOwePages)
        #expect(try byteCount(path) > before)
        transaction.rollback()
    }

    @Test(
        "Nothing is acknowledged to a realm file that was deleted, with its log or without",
        arguments: [true, false]
    )
    func deletedFile(withLog isLogDeleted: Bool) throws {
        let path = folder.path("a.realm")
        let file = try StorageFile.open(path: path, options: Owed.options())
        try Owed.begin(file)
        defer { file.unlockForWriting() }
        #expect(try Owed.acknowledge(2, in: file))
        unlink(path)
        if isLogDeleted { unlink(path + ".log") }
        #expect(throws: StorageError.self) { try Owed.acknowledge(file, 9, 9) }
        #expect(file.hasStopped)
    }

    @Test("A commit with pages is not acknowledged to such a file, either")
    func deletedFileBehindOthers() throws {
        let path = folder.path("a.realm")
        let file = try StorageFile.open(path: path, options: Owed.options())
        try Owed.begin(file)
        defer { file.unlockForWriting() }
        #expect(try Owed.acknowledge(2, in: file))
        let last = try file.beginWrite(joining: true)
        let change = LoggedFile.Change(values: [(9, 9)])
        try change.apply(to: last)
        last.record = .init(kind: .changes, content: change.content)
        let commit = try PageArray.commit(last)
        unlink(path)
        #expect(throws: StorageError.self) { try file.publish([commit]) }
        #expect(file.hasStopped)
    }
}
