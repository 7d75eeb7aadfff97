import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// A process that dies with the checkpoint lock.
// One after the other: a child has the locks that threads of other tests held when it was forked.
@Suite("The checkpoint lock of a dead process", .serialized, .timeLimit(.minutes(60)))
struct DeadHolderTests {
    let folder = TemporaryDirectory()

    /// A process that stands behind `taken` steps of a checkpoint; with a child of its own, which lives as long as the test has it.
    private func process(at path: String, taken: Int, withChild: Bool = false) throws -> ForkedProcess {
        let process = try ForkedProcess { parent in
            let file = try StorageFile.open(path: path, options: LoggedFile.options(blocks: 64, stepping: true))
            try file.lockForWriting()
            for value in UInt64(1)...7 { try LoggedFile.commit(file, 1, value) }
            file.unlockForWriting()
            file.beginCheckpoint()
            for _ in 0..<taken { _ = file.takeCheckpointStep() }
            if withChild {
                let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "fork")!
                if unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)() == 0 {
                    while parent.receive() != nil {}
                    _exit(0)
                }
            }
            parent.send(1)
            _ = parent.receive()
        }
        #expect(process.connection.receive() == 1)
        return process
    }

    @Test("Another one that has the file open goes on at once, behind each step", arguments: 0...3)
    func plain(taken: Int) throws {
        // Open before, so that the log is ended and not replayed.
        let path = folder.path("a.realm")
        let process = try process(at: path, taken: taken)
        let file = try StorageFile.open(path: path, options: LoggedFile.options())
        process.kill()
        process.end()
        try file.lockForWriting()
        try LoggedFile.commit(file, 2, 2)
        file.unlockForWriting()
        #expect(try LoggedFile.values(of: file).values[1...2] == [7, 2])
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder)[1...2] == [7, 2])
    }

    @Test("A child that it has forked, and that has the locks with it, lets nobody wait without end")
    func withChild() throws {
        let path = folder.path("a.realm")
        let process = try process(at: path, taken: 1, withChild: true)
        process.kill()
        var status = siginfo_t()
        while waitid(P_PID, id_t(process.process), &status, WEXITED | WNOWAIT) < 0 && errno == EINTR {}

        var options = LoggedFile.options()
        options.checkpointWait = .milliseconds(300)
        let file = try StorageFile.open(path: path, options: options)
        // Who has the lock cannot be told from one that flushes. Nothing is lost, and the next one asks anew.
        for _ in 0..<2 {
            try file.lockForWriting()
            defer { file.unlockForWriting() }
            #expect {
                try LoggedFile.commit(file, 2, 2)
            } throws: {
                ($0 as? StorageError)?.code == .timedOut
            }
        }
        process.end()
        // The child ends a moment later.
        while try file.lock?.tryLockForCheckpoint() != true { usleep(1_000) }
        file.lock?.unlockForCheckpoint()
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try LoggedFile.commit(file, 2, 2)
        #expect(try LoggedFile.values(of: file).values[1...2] == [7, 2])
    }
}
