// Belongs to Tests/RealmStorageTests/Log.
import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// A process that dies with the checkpoint lock.
@Suite("The checkpoint lock of a dead process", .timeLimit(.minutes(2)))
struct DeadHolderTests {
    let folder = TemporaryDirectory()

    private static func commit(_ file: StorageFile, _ index: Int, _ value: UInt64) throws {
        let change = LoggedFile.Change(creates: file.newestVersion == 1, values: [(index, value)])
        try file.publish([LoggedFile.prepare(change, in: file)])
    }

    /// A process that was killed behind `taken` steps of a checkpoint.
    ///
    /// - Parameter withChild: Whether a child of its own lives on for 15 seconds.
    private func killed(taken: Int, withChild: Bool) throws -> String {
        let path = folder.path("a.realm")
        let process = try ForkedProcess { parent in
            let file = try StorageFile.open(path: path, options: LoggedFile.options(blocks: 64, stepping: true))
            try file.lockForWriting()
            for value in UInt64(1)...7 { try Self.commit(file, 1, value) }
            file.unlockForWriting()
            file.beginCheckpoint()
            for _ in 0..<taken { _ = file.takeCheckpointStep() }
            if withChild {
                let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "fork")!
                if unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)() == 0 {
                    alarm(15)
                    while true { pause() }
                }
            }
            parent.send(1)
            _ = parent.receive()
        }
        #expect(process.connection.receive() == 1)
        process.kill()
        process.end()
        return path
    }

    @Test("Another one that has the file open goes on at once, behind each step", arguments: 0...3)
    func plain(taken: Int) throws {
        // Open before, so that the log is ended and not replayed.
        let path = folder.path("a.realm")
        let process = try ForkedProcess { parent in
            let file = try StorageFile.open(path: path, options: LoggedFile.options(blocks: 64, stepping: true))
            try file.lockForWriting()
            for value in UInt64(1)...7 { try Self.commit(file, 1, value) }
            file.unlockForWriting()
            file.beginCheckpoint()
            for _ in 0..<taken { _ = file.takeCheckpointStep() }
            parent.send(1)
            _ = parent.receive()
        }
        #expect(process.connection.receive() == 1)
        let file = try StorageFile.open(path: path, options: LoggedFile.options())
        process.kill()
        process.end()
        try file.lockForWriting()
        try Self.commit(file, 2, 2)
        file.unlockForWriting()
        #expect(try LoggedFile.values(of: file).values[1...2] == [7, 2])
        #expect(!FileManager.default.fileExists(atPath: path + ".log"))
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder)[1...2] == [7, 2])
    }

    @Test("A child that it has forked, and that has the locks with it, lets nobody wait without end")
    func withChild() throws {
        let path = try killed(taken: 1, withChild: true)
        let file = try StorageFile.open(path: path, options: LoggedFile.options())
        let begin = ContinuousClock.now
        let thread = OtherThread {
            try file.lockForWriting()
            defer { file.unlockForWriting() }
            try Self.commit(file, 2, 2)
        }
        // It may write or be refused: who holds the lock cannot be told from one that flushes.
        do { try thread.end() } catch let error as StorageError { #expect(error.code == .locked) }
        #expect(ContinuousClock.now - begin < .seconds(12))
    }
}
