import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// An instance on which writing has stopped, and which its last user is just letting go of on another thread.
@Suite("The end of a stopped instance", .timeLimit(.minutes(60)))
struct StoppedInstanceTests {
    let folder = TemporaryDirectory()

    @Test(
        "Whoever opens the file anew waits until its place is given back, and writes; beside one that stays nobody writes",
        arguments: [true, false]
    )
    func waiting(goes: Bool) throws {
        // It waits for a second: where the place is not given back in that time, as this thread had no processor, nothing is shown.
        var isShown = false
        for attempt in 0..<100 where !isShown { isShown = try open(at: folder.path("\(attempt).realm"), goes: goes) }
        #expect(isShown)
    }

    /// Opens a file anew; whether what is to go did so before who opens stops waiting.
    private func open(at path: String, goes: Bool) throws -> Bool {
        let place = Mutex<LockFile?>(nil)
        do {
            let file = try StorageFile.open(path: path, options: LoggedFile.options())
            try LoggedFile.write(file, 7)
            file.stopWriting(after: StorageError(.io, "The device did not flush", path: path))
            place.withLock { $0 = file.lock }
        }
        let opened = Mutex<StorageFile?>(nil)
        let begin = ContinuousClock.now
        let opening = OtherThread {
            let file = try StorageFile.open(path: path, options: LoggedFile.options())
            opened.withLock { $0 = file }
        }
        opening.waitUntilItWaits()
        if goes { place.withLock { $0 = nil } }
        let isInTime = ContinuousClock.now - begin < .milliseconds(900)
        try opening.end()
        if goes, !isInTime { return false }
        let file = try #require(opened.withLock { $0 })
        #expect(try LoggedFile.values(of: file).values[1] == 7)
        if goes {
            try LoggedFile.write(file, 8)
            #expect(try LoggedFile.values(of: file).values[1] == 8)
        } else {
            let error = #expect(throws: StorageError.self) { try LoggedFile.write(file, 8) }
            #expect(error?.code == .writingStopped)
        }
        return true
    }
}
