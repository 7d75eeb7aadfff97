import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// The log of a file that nobody is to write to any more, and that somebody has yet.
@Suite("A log is ended where nobody has the turn to write")
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
}
