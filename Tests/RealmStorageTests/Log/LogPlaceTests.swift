import Foundation
import Glibc
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// What stands at a log's name and is no log of the file, and who may use a log.
@Suite("The place of a log, and who may use it", .serialized)
struct LogPlaceTests {
    let folder = TemporaryDirectory()
    private var path: String { folder.path("a.realm") }

    private func hasLog(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path + ".log") }

    private func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

    /// Makes a file that had a log and was closed, with a number that was set to 2 in the end.
    private func makeClosed() throws {
        do {
            let file = try StorageFile.open(path: path, options: LoggedFile.options())
            for value in UInt64(1)...2 { try LoggedFile.write(file, value) }
            #expect(hasLog(path))
        }
        #expect(!hasLog(path))
    }

    /// Opens a file, and sets the number, which has a value, to the next one.
    private func goOn(from value: UInt64, at path: String, keepsLog: Bool = true) throws {
        var options = LoggedFile.options()
        if !keepsLog { options.log = nil }
        let file = try StorageFile.open(path: path, options: options)
        let found = try LoggedFile.values(of: file).values[1]
        guard found == value else { throw StorageError(.corrupt, "\(found) is there, and not \(value)") }
        try LoggedFile.write(file, value + 1)
    }

    // MARK: What is no log

    @Test("Beside a closed file that had a log, what is no log stays, and keeps nobody from opening the file")
    func besideClosed() throws {
        try makeClosed()
        let log = path + ".log"
        var value: UInt64 = 2
        for content in [Array("a log of the program".utf8), [], [UInt8](repeating: 0, count: 40_000)] {
            try Data(content).write(to: URL(fileURLWithPath: log))
            for keepsLog in [true, false] {
                try goOn(from: value, at: path, keepsLog: keepsLog)
                value += 1
                #expect(try bytes(log) == content)
            }
        }
        try FileManager.default.removeItem(atPath: log)
        try FileManager.default.createDirectory(atPath: log, withIntermediateDirectories: false)
        try goOn(from: value, at: path)
        try FileManager.default.removeItem(atPath: log)
        try FileManager.default.createSymbolicLink(atPath: log, withDestinationPath: folder.path("elsewhere"))
        try goOn(from: value + 1, at: path)
        try FileManager.default.removeItem(atPath: log)
        // A log can be made again.
        let file = try StorageFile.open(path: path, options: LoggedFile.options())
        #expect(try LoggedFile.values(of: file).values[1] == value + 2)
        try LoggedFile.write(file, 1)
        #expect(file.openLog != nil)
    }

    /// Counts the space that is made for a log.
    private struct CountingDirectory: ForwardingDirectory {
        final class Count: Sendable { let value = Atomic(0) }

        let base: LogFile
        let prepared: Count

        func prepare(ringByteCount: Int) throws(StorageError) -> UnnamedFile? {
            prepared.value.add(1, ordering: .relaxed)
            return try base.prepare(ringByteCount: ringByteCount)
        }
    }

    @Test("No space is made for a log while another file has its name, and a log comes when that is gone")
    func taken() throws {
        let prepared = CountingDirectory.Count()
        var options = LoggedFile.options()
        options.log?.makeDirectory = { CountingDirectory(base: LogFile(besides: $0), prepared: prepared) }
        let file = try StorageFile.open(path: path, options: options)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let own = Array("a log of the program".utf8)
        try Data(own).write(to: URL(fileURLWithPath: path + ".log"))
        for index in 1...20 { try LoggedFile.commit(file, index) }
        #expect(prepared.value.load(ordering: .relaxed) == 0)
        #expect(file.openLog == nil)
        #expect(try bytes(path + ".log") == own)
        try FileManager.default.removeItem(atPath: path + ".log")
        for _ in 0..<200 where file.openLog == nil { try LoggedFile.commit(file, 21) }
        #expect(file.openLog != nil)
        let values = try LoggedFile.values(of: file).values
        for index in 1...21 { #expect(values[index] == UInt64(index)) }
    }

    @Test("Why there is no log is told once in the life of a file")
    func toldOnce() throws {
        let reasons = Mutex<[StorageError]>([])
        var options = LoggedFile.options()
        options.log?.wasRefused = { reason in reasons.withLock { $0.append(reason) } }
        let log = path + ".log"
        try Data("a log of the program".utf8).write(to: URL(fileURLWithPath: log))
        let file = try StorageFile.open(path: path, options: options)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        for index in 1...20 { try LoggedFile.commit(file, index) }
        try FileManager.default.removeItem(atPath: log)
        try FileManager.default.createDirectory(atPath: log, withIntermediateDirectories: false)
        for index in 1...20 { try LoggedFile.commit(file, index) }
        #expect(file.openLog == nil)
        let told = reasons.withLock { $0 }
        #expect(told.count == 1)
        #expect(told.first?.code == .exists && told.first?.path == log)
    }

    @Test("Space that was made for a log is not put over a file that has come to its name meanwhile")
    func comesMeanwhile() throws {
        let reasons = Mutex<[StorageError.Code]>([])
        let log = path + ".log"
        let own = Array("a log of the program".utf8)
        var options = LoggedFile.options()
        options.log?.wasRefused = { reason in reasons.withLock { $0.append(reason.code) } }
        options.log?.runBeside = { kind, body in
            body()
            if kind == .space { _ = FileManager.default.createFile(atPath: log, contents: Data(own)) }
        }
        let file = try StorageFile.open(path: path, options: options)
        for value in UInt64(1)...3 { try LoggedFile.write(file, value) }
        #expect(file.openLog == nil)
        #expect(try bytes(log) == own)
        let told = reasons.withLock { $0 }
        #expect(told == [.exists])
        #expect(try LoggedFile.values(of: file).values[1] == 3)
    }

    // MARK: Who may use it

    private func status(_ path: String) throws -> stat {
        var status = stat()
        guard stat(path, &status) == 0 else { throw SystemCall.error(errno, "Cannot examine the file", path) }
        return status
    }

    @Test("A log has the mode of its realm, whether its space was made ahead or with it", arguments: [false, true])
    func mode(isMadeAhead: Bool) throws {
        try makeClosed()
        #expect(chmod(path, 0o640) == 0)
        let options = LoggedFile.options(recorder: isMadeAhead ? nil : LoggedFile.Recorder())
        let file = try StorageFile.open(path: path, options: options)
        try LoggedFile.write(file, 3)
        #expect(try status(path + ".log").st_mode & 0o7777 == 0o640)
        withExtendedLifetime(file) {}
    }

    @Test(
        "A log that root makes for another user's realm is that user's and that group's",
        .enabled(if: geteuid() == 0),
        arguments: [false, true]
    )
    func owner(isMadeAhead: Bool) throws {
        try makeClosed()
        #expect(chown(path, 65_533, 65_532) == 0 && chmod(path, 0o660) == 0)
        let options = LoggedFile.options(recorder: isMadeAhead ? nil : LoggedFile.Recorder())
        let file = try StorageFile.open(path: path, options: options)
        try LoggedFile.write(file, 3)
        let log = try status(path + ".log")
        #expect(log.st_uid == 65_533 && log.st_gid == 65_532 && log.st_mode & 0o7777 == 0o660)
        withExtendedLifetime(file) {}
    }

    /// Whether another user than this one comes to the folder that tests have theirs in.
    static let isReachable: Bool = {
        if geteuid() != 0 { return true }
        var folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        while folder.path != "/" {
            var status = stat()
            guard stat(folder.path, &status) == 0, status.st_mode & 0o001 != 0 else { return false }
            folder.deleteLastPathComponent()
        }
        return true
    }()

    /// Runs in a process that may do what the modes of the files allow.
    private func asAnotherUser(_ body: () throws -> Void) throws {
        let child = try ForkedProcess { _ in
            if geteuid() == 0, setgroups(0, nil) != 0 || setegid(65_532) != 0 || seteuid(65_533) != 0 { _exit(3) }
            try body()
        }
        #expect(child.end() == 0)
    }

    @Test(
        "A realm opens for its owner behind a process of root's that was killed",
        .enabled(if: geteuid() == 0 && LogPlaceTests.isReachable)
    )
    func killedRoot() throws {
        try makeClosed()
        #expect(unlink(path + ".lock") == 0)
        #expect(chown(path, 65_533, 65_532) == 0 && chown(folder.url.path, 65_533, 65_532) == 0)
        let child = try ForkedProcess { parent in
            let file = try StorageFile.open(path: path, options: LoggedFile.options())
            for value in UInt64(3)...4 { try LoggedFile.write(file, value) }
            parent.send(1)
            _ = parent.receive()
            withExtendedLifetime(file) {}
        }
        #expect(child.connection.receive() == 1)
        child.kill()
        child.end()
        #expect(hasLog(path))
        try asAnotherUser { try goOn(from: 4, at: path) }
        #expect(!hasLog(path))
        try goOn(from: 5, at: path)
    }

    @Test(
        "What this user may not read at the log's name keeps a realm that was closed from nobody",
        .enabled(if: LogPlaceTests.isReachable)
    )
    func unreadable() throws {
        try makeClosed()
        let own = Array("somebody else's".utf8)
        let log = path + ".log"
        try Data(own).write(to: URL(fileURLWithPath: log))
        #expect(chmod(log, 0) == 0 && chmod(path, 0o666) == 0 && chmod(path + ".lock", 0o666) == 0)
        #expect(chmod(folder.url.path, 0o777) == 0)
        try asAnotherUser {
            for value in UInt64(2)...3 { try goOn(from: value, at: path) }
        }
        #expect(chmod(log, 0o600) == 0)
        #expect(try bytes(log) == own)
        try goOn(from: 4, at: path)
    }

    @Test(
        "A log that this user may not remove is applied, and stays for whoever may",
        .enabled(if: LogPlaceTests.isReachable)
    )
    func irremovable() throws {
        try makeClosed()
        let killed: String
        do {
            let file = try StorageFile.open(path: path, options: LoggedFile.options())
            for value in UInt64(3)...4 { try LoggedFile.write(file, value) }
            killed = try LoggedFile.copy(of: path, in: folder)
        }
        #expect(hasLog(killed))
        // It leaves a lock file.
        #expect(throws: StorageError.self) { try StorageFile.open(path: killed) }
        for suffix in ["", ".log", ".lock"] { #expect(chmod(killed + suffix, 0o666) == 0) }
        #expect(chmod(folder.url.path, 0o555) == 0)
        try asAnotherUser {
            for value in UInt64(4)...5 { try goOn(from: value, at: killed) }
        }
        #expect(chmod(folder.url.path, 0o700) == 0)
        #expect(hasLog(killed))
        try goOn(from: 6, at: killed)
        #expect(!hasLog(killed))
    }

    @Test(
        "No log is begun that could not be the realm's owner's",
        .enabled(if: geteuid() == 0 && LogPlaceTests.isReachable)
    )
    func foreignOwner() throws {
        try makeClosed()
        #expect(chmod(path, 0o666) == 0 && chmod(path + ".lock", 0o666) == 0)
        #expect(chmod(folder.url.path, 0o777) == 0)
        try asAnotherUser {
            let reasons = Mutex<[StorageError.Code]>([])
            var options = LoggedFile.options()
            options.log?.wasRefused = { reason in reasons.withLock { $0.append(reason.code) } }
            let file = try StorageFile.open(path: path, options: options)
            for value in UInt64(3)...5 {
                try LoggedFile.write(file, value)
                if file.openLog != nil || hasLog(path) { _exit(2) }
            }
            let told = reasons.withLock { $0 }
            if told != [.permissionDenied] { _exit(4) }
        }
        #expect(!hasLog(path))
    }
}
