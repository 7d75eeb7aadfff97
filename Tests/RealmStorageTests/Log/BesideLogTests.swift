import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// Readers that may not bring to the file what a kill has left in its log.
@Suite("Reading beside a log that nobody applies", .serialized)
struct BesideLogTests {
    let folder = TemporaryDirectory()

    /// Files as a kill leaves them, behind commits that set a number to 4 in the end.
    private func killed() throws -> String {
        let path = folder.path("victim.realm")
        let file = try StorageFile.open(path: path, options: LoggedFile.options())
        for value in UInt64(1)...4 { try LoggedFile.write(file, value) }
        return try LoggedFile.copy(of: path, in: folder)
    }

    private func openBesideLog(_ path: String, _ adjust: (inout LogOptions) -> Void = { _ in }) throws -> StorageFile? {
        var options = LoggedFile.options()
        options.isReadOnly = true
        var log = try #require(options.log)
        adjust(&log)
        options.log = log
        let data = try DataFile.open(path: path, isReadOnly: true)
        return try StorageFile.openBesideLog(data: data, path: path, options: options, log)
    }

    private func contents(_ path: String) throws -> [Data] {
        try ["", ".log"].map { try Data(contentsOf: URL(fileURLWithPath: path + $0)) }
    }

    @Test("Rule 35: it reads all that was committed, registered before it looks, and takes no place in the lock file")
    func reads() throws {
        let path = try killed()
        let before = try contents(path)
        let reader = try #require(try openBesideLog(path))
        #expect(reader.lock == nil)
        let snapshot = try reader.beginRead()
        #expect(snapshot.isInMemory)
        #expect(try LoggedFile.values(of: reader).values[1] == 4)
        #expect(reader.newestVersionHere == snapshot.version && !reader.isAhead(of: snapshot))
        #expect(try reader.beginRead(asking: .atHand).isSame(as: snapshot))
        #expect(try reader.beginRead(asking: .inFile).version < snapshot.version)
        #expect(throws: StorageError.self) { try reader.beginWrite() }
        try LogAudit.check(reader)
        #expect(try contents(path) == before)
        #expect(!FileManager.default.fileExists(atPath: path + ".lock"))
    }

    @Test("Rule 35: whoever writes meanwhile is alone, applies the log, and uses none of the pages that are read")
    func besideWriter() throws {
        let path = try killed()
        var reader = try openBesideLog(path)
        let values = try LoggedFile.values(of: #require(reader)).values
        let file = try StorageFile.open(path: path, options: LoggedFile.options())
        #expect(file.lock?.hasOutsiders == true)
        #expect(try LoggedFile.values(of: file).values[1] == 4)
        for value in UInt64(5)...300 { try LoggedFile.write(file, value) }
        reader?.doubtEveryPage()
        #expect(try LoggedFile.values(of: #require(reader)).values == values)
        // Its log has ended: there is nothing to be verified any more.
        try LogAudit.check(#require(reader))
        reader = nil
        #expect(file.lock?.hasOutsiders == false)
        #expect(try LoggedFile.values(of: file).values[1] == 300)
    }

    /// What is done once.
    private final class Hook: Sendable {
        private let body: Mutex<(@Sendable () -> Void)?>

        init(_ body: @escaping @Sendable () -> Void) { self.body = Mutex(body) }

        func call() {
            let once = body.withLock { body in
                defer { body = nil }
                return body
            }
            once?()
        }
    }

    /// A log in whose way something happens before it is looked at.
    private struct HookedDirectory: ForwardingDirectory {
        let base: LogFile
        let hook: Hook

        func open(forReadingOnly isReadOnly: Bool) throws(StorageError) -> (any StorageDevice)? {
            hook.call()
            return try base.open(forReadingOnly: isReadOnly)
        }
    }

    @Test("Rule 35: where another process ends the log between both looks at the header, the opening begins anew")
    func endedMeanwhile() throws {
        let path = try killed()
        let hook = Hook { _ = try? StorageFile.open(path: path, options: LoggedFile.options()) }
        let reader = try openBesideLog(path) { log in
            log.makeDirectory = { HookedDirectory(base: LogFile(besides: $0), hook: hook) }
        }
        #expect(reader == nil)
        #expect(!FileManager.default.fileExists(atPath: path + ".log"))
        #expect(try LoggedFile.values(of: StorageFile.open(path: path)).values[1] == 4)
    }

    @Test("Rule 33: a log that is missing is an error for it, too, and so is a record that cannot be applied")
    func refused() throws {
        let path = try killed()
        #expect(throws: StorageError.self) {
            try openBesideLog(path) { $0.replay = { _, _ in throw StorageError(.io, "as a test has it") } }
        }
        try FileManager.default.removeItem(atPath: path + ".log")
        let missing = #expect(throws: StorageError.self) { try openBesideLog(path) }
        #expect(missing?.message.contains("missing") == true)
    }
}
