import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// What an opening finds of an instance on which writing has stopped, or which looks so for a moment.
@Suite("Beside an instance on which writing has stopped", .timeLimit(.minutes(60)))
struct StoppedBesideTests {
    let folder = TemporaryDirectory()

    private func openBeside(_ path: String) throws -> StorageFile {
        let options = LoggedFile.options()
        let data = try StorageFile.openData(path: path, options: options)
        return try StorageFile.openUnshared(data: data, path: path, options: options)
    }

    /// A flush that failed says so to the task, which closes its realm and opens it anew, while the thread that flushed has the file yet.
    @Test("A thread that holds the file for a moment more, and reads nothing, keeps nobody from writing")
    func heldByThread() throws {
        // It is waited for for a second: where it does not let go in that time, as it had no processor, nothing is shown.
        var isShown = false
        for attempt in 0..<100 where !isShown { isShown = try writeBehindThread(at: folder.path("\(attempt).realm")) }
        #expect(isShown)
    }

    /// Opens a file that another thread holds; whether that let go before who opens stopped waiting.
    private func writeBehindThread(at path: String) throws -> Bool {
        let held = Mutex<StorageFile?>(nil)
        do {
            let file = try StorageFile.open(path: path, options: LoggedFile.options())
            try LoggedFile.write(file, 7)
            file.stopWriting(after: StorageError(.io, "The device did not flush", path: path))
            held.withLock { $0 = file }
        }
        let opened = Mutex<StorageFile?>(nil)
        let begin = ContinuousClock.now
        let opening = OtherThread {
            let file = try StorageFile.open(path: path, options: LoggedFile.options())
            opened.withLock { $0 = file }
        }
        opening.waitUntilItWaits()
        do {
            // The last reference goes outside the lock.
            let last = held.withLock { held in
                defer { held = nil }
                return held
            }
            withExtendedLifetime(last) {}
        }
        let isInTime = ContinuousClock.now - begin < .milliseconds(900)
        try opening.end()
        guard isInTime else { return false }
        let file = try #require(opened.withLock { $0 })
        try LoggedFile.write(file, 8)
        #expect(try LoggedFile.values(of: file).values[1] == 8)
        return true
    }

    /// `RealmCoordinator.isForsaken` and `RealmRegistry.closeStopped` ask for ``StorageFile/hasStopped``: without it the process that is told
    /// to close the realm and to open it again gets the same file as long as a variable has something of the closed realm.
    @Test("Whoever finds that writing has stopped elsewhere knows that for his own file, too")
    func refused() throws {
        let path = folder.path("a.realm")
        let file = try StorageFile.open(path: path, options: LoggedFile.options())
        try LoggedFile.write(file, 7)
        let other = try openBeside(path)
        file.stopWriting(after: StorageError(.io, "The device did not flush", path: path))
        let error = #expect(throws: StorageError.self) { try LoggedFile.write(other, 8) }
        #expect(error?.code == .writingStopped)
        #expect(other.hasStopped)
    }

    /// In two containers the processes that share a realm may have the same number, as two instances of this process have.
    @Test("A flush that is under way in a process of the same number is not taken for an instance that ends")
    func sameNumber() throws {
        // An opening that waits for an end takes a second, however often: one that does not can take as long on a busy machine.
        var isShown = false
        for attempt in 0..<100 where !isShown { isShown = try opensBehindFlush(at: folder.path("\(attempt).realm")) }
        #expect(isShown)
    }

    private func opensBehindFlush(at path: String) throws -> Bool {
        try LoggedFile.write(StorageFile.open(path: path, options: LoggedFile.options()), 7)
        let other = try openBeside(path)
        // As who makes a checkpoint beside its commits has it.
        #expect(try other.lock?.tryLockForCheckpoint() == true)
        other.lock?.notePageFlush(true)
        let flush = OtherThread {
            usleep(200_000)
            other.lock?.notePageFlush(false)
            other.lock?.unlockForCheckpoint()
        }
        let begin = ContinuousClock.now
        let file = try StorageFile.open(path: path, options: LoggedFile.options())
        let duration = ContinuousClock.now - begin
        try flush.end()
        withExtendedLifetime((file, other)) {}
        // It has met the flush, and has gone on behind it.
        return (.milliseconds(100)..<(.milliseconds(900))).contains(duration)
    }
}
