import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Logs that were made, and that no header names: their process was killed before, or its header failed.
@Suite("A log that no header names is in nobody's way", .serialized)
struct UnnamedLogTests {
    let folder = TemporaryDirectory()

    /// How a file is opened beside such a log.
    enum Way: CaseIterable {
        case withLog, withLogUnflushed, withoutLog, withoutLogUnflushed

        func options(_ recorder: LoggedFile.Recorder? = nil) -> StorageOptions {
            var options = LoggedFile.options(recorder: recorder)
            if self == .withoutLog || self == .withoutLogUnflushed { options.log = nil }
            if self == .withLogUnflushed || self == .withoutLogUnflushed { options.durability = .none }
            return options
        }
    }

    private func hasLog(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path + ".log") }

    private func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

    private func commit(_ index: Int, at path: String, _ way: Way = .withoutLog) throws {
        let file = try StorageFile.open(path: path, options: way.options())
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try LoggedFile.commit(file, index)
    }

    private func reopened(_ path: String) throws -> [UInt64] {
        try LoggedFile.values(of: StorageFile.open(path: path, options: LoggedFile.options())).values
    }

    /// Makes a file that never had a log, and has another process make one and be killed before a header names it.
    private func leaveUnnamedLog(at path: String) throws {
        try commit(1, at: path)
        let child = try ForkedProcess { _ in
            let recorder = LoggedFile.Recorder()
            let file = try StorageFile.open(path: path, options: LoggedFile.options(recorder: recorder))
            try file.lockForWriting()
            // Creating the log, and then the header.
            recorder.state.withLock { state in
                state.failing = 1
                state.isKilled = true
            }
            try LoggedFile.commit(file, 2)
        }
        #expect(child.end() == SIGKILL)
        #expect(hasLog(path))
    }

    /// Makes a file that never had a log, and has another process make one and fail to name it; this process opens the file beside that one.
    ///
    /// - Returns: The files right behind the failure.
    private func failNaming(
        at path: String,
        _ way: Way,
        then body: (StorageFile) throws -> Void
    ) throws -> (realm: [UInt8], log: [UInt8]) {
        try commit(1, at: path)
        let child = try ForkedProcess { parent in
            let recorder = LoggedFile.Recorder()
            let file = try StorageFile.open(path: path, options: LoggedFile.options(recorder: recorder))
            try file.lockForWriting()
            recorder.state.withLock { $0.failingFlush = .realm }
            var isMade = true
            do { try LoggedFile.commit(file, 2) } catch { isMade = false }
            file.unlockForWriting()
            if isMade || !file.hasStopped { _exit(2) }
            parent.send(1)
            _ = parent.receive()
        }
        #expect(child.connection.receive() == 1)
        let files = (realm: try bytes(path), log: try bytes(path + ".log"))
        let file = try StorageFile.open(path: path, options: way.options())
        #expect(child.end() == 0)
        #expect(hasLog(path))
        try body(file)
        return files
    }

    @Test("Rule 34: whoever opens the file removes it, with the setting and without", arguments: Way.allCases)
    func removal(way: Way) throws {
        let path = folder.path("a.realm")
        try leaveUnnamedLog(at: path)
        do {
            let file = try StorageFile.open(path: path, options: way.options())
            #expect(!hasLog(path))
            try file.lockForWriting()
            try LoggedFile.commit(file, 3)
            file.unlockForWriting()
        }
        #expect(try reopened(path).prefix(5) == [0, 1, 0, 3, 0])
    }

    @Test("Rule 34: it keeps nobody from opening the file behind commits that were made beside it")
    func passedOver() throws {
        let path = folder.path("a.realm")
        try leaveUnnamedLog(at: path)
        // As a release leaves it that knows of no logs.
        let log = try bytes(path + ".log")
        try FileManager.default.removeItem(atPath: path + ".log")
        for index in 3..<6 { try commit(index, at: path) }
        try Data(log).write(to: URL(fileURLWithPath: path + ".log"))
        #expect(try reopened(path).prefix(7) == [0, 1, 0, 3, 4, 5, 0])
        #expect(!hasLog(path))
        // A log can be made again.
        do {
            let file = try StorageFile.open(path: path, options: LoggedFile.options())
            try file.lockForWriting()
            try LoggedFile.commit(file, 6)
            #expect(file.openLog != nil)
            file.unlockForWriting()
        }
        #expect(try reopened(path).prefix(8) == [0, 1, 0, 3, 4, 5, 6, 0])
    }

    @Test(
        "Rule 34: a header that names it and whose flush failed keeps nobody from opening the file behind commits",
        arguments: [Way.withLog, .withoutLog]
    )
    func failedNaming(way: Way) throws {
        let path = folder.path("a.realm")
        _ = try failNaming(at: path, way) { file in
            try file.lockForWriting()
            try LoggedFile.commit(file, 3)
            file.unlockForWriting()
            #expect(file.openLog == nil)
        }
        #expect(try reopened(path).prefix(5) == [0, 1, 0, 3, 0])
        #expect(!hasLog(path))
    }

    /// The disk may have a header whose flush failed, under the mark that another process has closed the file with.
    ///
    /// Another flush that failed lost that mark.
    @Test("Rule 34: before it goes, no header on the disk names it", arguments: Way.allCases)
    func namedOnDisk(way: Way) throws {
        let path = folder.path("a.realm")
        let files = try failNaming(at: path, .withoutLog) { _ in }
        #expect(try bytes(path) != files.realm, "the mark of the close")
        #expect(hasLog(path))
        let recorder = LoggedFile.Recorder()
        do {
            let file = try StorageFile.open(path: path, options: way.options(recorder))
            #expect(try LoggedFile.values(of: file).values.prefix(3) == [0, 1, 0])
        }
        #expect(!hasLog(path))
        var operations = recorder.operations
        if way.options().log == nil {
            // Nothing notes what is done to a log without the setting: it goes behind the last flush.
            let flush = operations.lastIndex { if case .synchronize = $0 { true } else { false } }
            operations.insert(.remove, at: try #require(flush) + 1)
        }
        var disk = PowerCutDisk(realm: files.realm, log: files.log)
        var random = SplitMix64(seed: 34)
        let isWhole = try disk.forEachSurvivor(of: operations, in: folder, using: &random) { copy, state in
            defer { #expect(!hasLog(copy), "\(state)") }
            let values = try reopened(copy)
            #expect(values.prefix(3) == [0, 1, 0], "\(state)")
        }
        #expect(isWhole)
    }

    @Test(
        "Rule 33: a log of the file is passed over by nobody, though the header never named one",
        arguments: Way.allCases
    )
    func olderCopy(way: Way) throws {
        let path = folder.path("a.realm")
        try commit(1, at: path)
        let older = try bytes(path)
        let killed: String
        do {
            let file = try StorageFile.open(path: path, options: LoggedFile.options())
            try file.lockForWriting()
            try LoggedFile.commit(file, 2)
            try LoggedFile.commit(file, 3)
            killed = try LoggedFile.copy(of: path, in: folder)
            file.unlockForWriting()
        }
        let log = try bytes(killed + ".log")
        try Data(older).write(to: URL(fileURLWithPath: killed))
        let error = #expect(throws: StorageError.self) { try StorageFile.open(path: killed, options: way.options()) }
        #expect(error?.code == .corrupt)
        #expect(try bytes(killed) == older)
        #expect(try bytes(killed + ".log") == log)
    }

    @Test("What is no log of the file stays, and keeps nobody from opening one that never had a log")
    func programsFile() throws {
        let path = folder.path("a.realm")
        try commit(1, at: path)
        let other = folder.path("other.realm")
        try leaveUnnamedLog(at: other)
        let contents = [Array("a log of the program".utf8), [], try bytes(other + ".log")]
        for (index, content) in contents.enumerated() {
            try Data(content).write(to: URL(fileURLWithPath: path + ".log"))
            for way in Way.allCases {
                try commit(2 + index, at: path, way)
                #expect(try bytes(path + ".log") == content)
            }
        }
        try FileManager.default.removeItem(atPath: path + ".log")
        // A folder, too.
        try FileManager.default.createDirectory(atPath: path + ".log", withIntermediateDirectories: false)
        for way in Way.allCases { try commit(5, at: path, way) }
        try FileManager.default.removeItem(atPath: path + ".log")
        #expect(try reopened(path).prefix(7) == [0, 1, 2, 3, 4, 5, 0])
    }
}
