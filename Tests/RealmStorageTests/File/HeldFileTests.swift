import Dispatch
import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// Files that are closed though somebody holds them.
@Suite("Files that are closed and still held")
struct HeldFileTests {
    let directory = TemporaryDirectory()

    private var path: String { directory.path("held.realm") }

    private func open() throws -> StorageFile {
        var options = StorageOptions()
        options.durability = .none
        return try StorageFile.open(path: path, options: options)
    }

    private func commit(_ value: UInt64, to file: StorageFile) throws {
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite()
        if file.newestVersion == 1 { try PageArray.create(in: transaction) }
        try PageArray.set(0, to: value, in: transaction)
        try file.publish([try PageArray.commit(transaction)])
    }

    private func value(_ snapshot: Snapshot) throws -> UInt64? {
        try PageArray.values(of: snapshot.catalog.root, in: snapshot.view).first
    }

    /// What came of a call on another thread.
    private final class Outcome: Sendable {
        let result = Mutex<Result<Void, any Error>?>(nil)
    }

    private let ended = StorageError(.ended, "It was closed")

    @Test("one that nobody reads gives its place back, and changes nothing that is somebody else's afterwards")
    func place() throws {
        var old: StorageFile? = try open()
        try commit(1, to: #require(old))
        old?.countWriter(true)
        // From here on it keeps an entry for its writer.
        try commit(2, to: #require(old))
        old?.endUse(because: ended)
        #expect(old?.closeUnlessRead() == true && old?.isClosed == true)
        #expect(!StorageFile.isOpenAnywhere(path: path))

        let new = try open()
        #expect(new !== old)
        new.countWriter(true)
        let pinned = try new.beginRead()
        try commit(3, to: new)
        old?.countWriter(false)
        let error = #expect(throws: StorageError.self) { try old?.beginRead() }
        #expect(error?.code == .ended)
        #expect(throws: StorageError.self) { try old?.beginWrite() }
        old = nil
        #expect(StorageFile.isOpenAnywhere(path: path))
        #expect(new.lock?.readers().map(\.version) == [pinned.version])
        for number in UInt64(4)..<40 { try commit(number, to: new) }
        #expect(try value(pinned) == 2)
        #expect(try value(new.beginRead()) == 39)
    }

    @Test("one that somebody reads keeps its version from whoever opens it anew, until he has let go of it")
    func read() throws {
        let file = try open()
        try commit(1, to: file)
        var snapshot: Snapshot? = try file.beginRead()
        file.endUse(because: ended)
        #expect(!file.closeUnlessRead() && !file.isClosed)
        #expect(throws: StorageError.self) { try file.beginRead() }
        let new = try open()
        #expect(new !== file)
        for number in UInt64(2)..<40 { try commit(number, to: new) }
        #expect(try value(#require(snapshot)) == 1)
        snapshot = nil
        #expect(file.closeUnlessRead() && file.isClosed)
        #expect(try value(new.beginRead()) == 39)
    }

    @Test("whoever has waited for the write lock of one that was closed meanwhile gets an error, and keeps nobody out")
    func waiting() throws {
        let file = try open()
        try commit(1, to: file)
        file.endUse(because: ended)
        let new = try open()
        try new.lockForWriting()
        let (begins, ends) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let outcome = Outcome()
        let thread = Thread {
            begins.signal()
            let result = Result { try file.lockForWriting() }
            outcome.result.withLock { $0 = result }
            ends.signal()
        }
        thread.start()
        begins.wait()
        #expect(file.closeUnlessRead())
        new.unlockForWriting()
        ends.wait()
        #expect(throws: StorageError.self) { try outcome.result.withLock { $0 }?.get() }
        try commit(2, to: new)
        #expect(try value(new.beginRead()) == 2)
    }

    @Test("one with a log leaves everything in the realm file, and the log of the next life alone")
    func log() throws {
        var old: StorageFile? = try StorageFile.open(path: path, options: LoggedFile.options())
        func commit(_ value: UInt64, to file: StorageFile, creates: Bool = false) throws {
            try file.lockForWriting()
            defer { file.unlockForWriting() }
            try file.publish([LoggedFile.prepare(.init(creates: creates, values: [(0, value)]), in: file)])
        }
        try commit(1, to: #require(old), creates: true)
        try commit(2, to: #require(old))
        #expect(FileManager.default.fileExists(atPath: path + ".log"))
        old?.endUse(because: ended)
        #expect(old?.closeUnlessRead() == true && old?.isClosed == true)
        #expect(!FileManager.default.fileExists(atPath: path + ".log"))
        let new = try StorageFile.open(path: path, options: LoggedFile.options())
        try commit(3, to: new)
        old = nil
        #expect(FileManager.default.fileExists(atPath: path + ".log"))
        #expect(try LoggedFile.valuesOfCopy(of: path, in: directory).first == 3)
    }
}
