import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// An instance on which writing has stopped, and which its last user is just letting go of on another thread.
@Suite("The end of a stopped instance", .timeLimit(.minutes(60)))
struct StoppedInstanceTests {
    let folder = TemporaryDirectory()

    private func write(_ file: StorageFile, _ value: UInt64) throws {
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let change = LoggedFile.Change(creates: file.newestVersion == 1, values: [(1, value)])
        try file.publish([LoggedFile.prepare(change, in: file)])
    }

    @Test(
        "Whoever opens the file anew waits until its place is given back, and writes; beside one that stays nobody writes",
        arguments: [true, false]
    )
    func waiting(goes: Bool) throws {
        let path = folder.path("a.realm")
        let place = Mutex<LockFile?>(nil)
        do {
            let file = try StorageFile.open(path: path, options: LoggedFile.options())
            try write(file, 7)
            file.stopWriting(after: StorageError(.io, "The device did not flush", path: path))
            place.withLock { $0 = file.lock }
        }
        let opened = Mutex<StorageFile?>(nil)
        let opening = OtherThread {
            let file = try StorageFile.open(path: path, options: LoggedFile.options())
            opened.withLock { $0 = file }
        }
        opening.waitUntilItWaits()
        if goes { place.withLock { $0 = nil } }
        try opening.end()
        let file = try #require(opened.withLock { $0 })
        #expect(try LoggedFile.values(of: file).values[1] == 7)
        if goes {
            try write(file, 8)
            #expect(try LoggedFile.values(of: file).values[1] == 8)
        } else {
            let error = #expect(throws: StorageError.self) { try write(file, 8) }
            #expect(error?.code == .writingStopped)
        }
    }
}
