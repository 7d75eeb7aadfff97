import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// The log of a file that nobody is to write to any more, and that somebody has yet.
// One after the other: children are forked.
@Suite("A log is ended where nobody has the turn to write", .serialized)
struct LogAtCloseTests {
    let folder = TemporaryDirectory()
    private var path: String { folder.path("a.realm") }
    private var hasLog: Bool { FileManager.default.fileExists(atPath: path + ".log") }

    private func open() throws -> StorageFile {
        let file = try StorageFile.open(path: path, options: LoggedFile.options())
        for value in UInt64(1)...3 { try LoggedFile.write(file, value) }
        #expect(hasLog)
        return file
    }

    @Test("Rule 32: all of it is in one file then, also what somebody reads, and the next commits have a log again")
    func held() throws {
        let file = try open()
        let before = try file.beginRead()
        try LoggedFile.write(file, 4)
        file.closeLogUnlessWritten()
        #expect(!hasLog && file.openLog == nil && !file.isClosed)
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder)[1] == 4)
        #expect(try PageArray.values(of: before.catalog.root, in: before.view)[1] == 3)
        for value in UInt64(5)...7 {
            try LoggedFile.write(file, value)
            #expect(hasLog)
            #expect(try LoggedFile.valuesOfCopy(of: path, in: folder)[1] == value)
        }
        #expect(try PageArray.values(of: before.catalog.root, in: before.view)[1] == 3)
        file.closeLogUnlessWritten()
        #expect(!hasLog)
        // There is none.
        file.closeLogUnlessWritten()
        #expect(try LoggedFile.values(of: file).values[1] == 7)
    }

    @Test("Whoever has the turn to write keeps it, and is not waited for")
    func written() throws {
        let file = try open()
        try file.lockForWriting()
        let transaction = try file.beginWrite()
        file.closeLogUnlessWritten()
        #expect(hasLog && file.openLog != nil)
        transaction.rollback()
        try LoggedFile.commit(file, 1, 4)
        file.unlockForWriting()
        #expect(hasLog)
        file.closeLogUnlessWritten()
        #expect(!hasLog)
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder)[1] == 4)
    }

    @Test("Rule 8: behind a flush that failed it stays")
    func stopped() throws {
        let file = try open()
        file.stopWriting(after: StorageError(.io, "The device did not flush", path: path))
        file.closeLogUnlessWritten()
        #expect(hasLog)
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder)[1] == 3)
    }

    @Test("A log that another process is to end by itself is not ended by whoever only looked at the file")
    func ofAnother() throws {
        let file = try open()
        let child = try ForkedProcess { parent in
            let other = try StorageFile.open(path: path, options: LoggedFile.options())
            if try LoggedFile.values(of: other).values[1] != 3 { _exit(2) }
            other.closeLogUnlessWritten()
            parent.send(1)
            _ = parent.receive()
        }
        #expect(child.connection.receive() == 1)
        #expect(hasLog && file.openLog != nil)
        #expect(child.end() == 0)
        try LoggedFile.write(file, 4)
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder)[1] == 4)
    }

    // MARK: The log of a process that was killed

    /// A process that has written three commits, and is killed when this one has the file.
    private func killedProcess() throws -> ForkedProcess {
        let child = try ForkedProcess { parent in
            let file = try StorageFile.open(path: path, options: LoggedFile.options(blocks: 64))
            for value in UInt64(1)...3 { try LoggedFile.write(file, value) }
            parent.send(1)
            _ = parent.receive()
        }
        #expect(child.connection.receive() == 1)
        return child
    }

    @Test("Rule 32: the last process that closes a file ends the log of one that was killed", arguments: [false, true])
    func ofKilled(isHeld: Bool) throws {
        let child = try killedProcess()
        do {
            let file = try StorageFile.open(path: path, options: LoggedFile.options(blocks: 64))
            child.kill()
            child.end()
            #expect(hasLog)
            if isHeld {
                file.closeLogUnlessWritten()
                #expect(!hasLog)
                #expect(try LoggedFile.valuesOfCopy(of: path, in: folder)[1] == 3)
                try LoggedFile.write(file, 4)
                #expect(hasLog)
            }
        }
        #expect(!hasLog)
        #expect(!StorageFile.isOpenAnywhere(path: path))
        #expect(try LoggedFile.values(of: StorageFile.open(path: path)).values[1] == (isHeld ? 4 : 3))
    }

    @Test("As long as another one has the file, it stays: whoever is the last one ends it")
    func besideAnother() throws {
        let child = try killedProcess()
        do {
            let options = LoggedFile.options(blocks: 64)
            let file = try StorageFile.open(path: path, options: options)
            child.kill()
            child.end()
            do {
                let data = try StorageFile.openData(path: path, options: options)
                let other = try StorageFile.openUnshared(data: data, path: path, options: options)
                other.closeLogUnlessWritten()
                #expect(hasLog)
                file.closeLogUnlessWritten()
                #expect(hasLog)
                withExtendedLifetime(other) {}
            }
            // Nor has it ended when that one has gone.
            #expect(hasLog)
            #expect(try LoggedFile.values(of: file).values[1] == 3)
        }
        #expect(!hasLog)
        #expect(try LoggedFile.values(of: StorageFile.open(path: path)).values[1] == 3)
    }

    @Test(
        "What that one has acknowledged without pages is applied first, or left to the next opening",
        arguments: [false, true]
    )
    func owedByKilled(isHeld: Bool) throws {
        let child = try OwedPagesTests.acknowledgingProcess(at: path)
        #expect(child.connection.receive() == 1)
        do {
            let file = try StorageFile.open(path: path, options: OwedPagesTests.options())
            child.connection.send(1)
            #expect(child.connection.receive() == 2)
            child.connection.send(1)
            #expect(child.end() == SIGKILL)
            if isHeld { file.closeLogUnlessWritten() }
            #expect(hasLog == !isHeld)
            #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == OwedPagesTests.model(5))
        }
        // Who lets go of a file last applies nothing.
        #expect(hasLog == !isHeld)
        let file = try StorageFile.open(path: path, options: OwedPagesTests.options())
        #expect(try LoggedFile.values(of: file).values == OwedPagesTests.model(5))
    }
}
