import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Logs that could not be made whole, or not be removed, and files that are put beside them.
@Suite("What is left of a log is in nobody's way", .serialized)
struct LogLeftoverTests {
    let folder = TemporaryDirectory()

    private static func commit(_ file: StorageFile, _ index: Int, creates: Bool = false) throws {
        let change = LoggedFile.Change(creates: creates, values: [(index, UInt64(index))])
        try file.publish([LoggedFile.prepare(change, in: file)])
    }

    private func hasLog(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path + ".log") }

    /// Opens a file that is written with a log, and makes two commits.
    private func open(_ path: String, _ recorder: LoggedFile.Recorder = .init()) throws -> StorageFile {
        let file = try StorageFile.open(path: path, options: LoggedFile.options(recorder: recorder))
        try file.lockForWriting()
        try Self.commit(file, 1, creates: true)
        try Self.commit(file, 2)
        #expect(hasLog(path))
        return file
    }

    /// Puts a file with the same numbers into the place of one.
    private func replace(_ file: StorageFile) throws {
        try file.replace { snapshot, copy in
            let values = try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)
            let transaction = try copy.beginWrite()
            try PageArray.create(in: transaction)
            for (index, value) in values.enumerated() where value != 0 {
                try PageArray.set(index, to: value, in: transaction)
            }
            try copy.publish([PageArray.commit(transaction)])
        }
    }

    private func reopened(_ path: String) throws -> [UInt64] {
        try LoggedFile.values(of: StorageFile.open(path: path, options: LoggedFile.options())).values
    }

    @Test("Rule 42: a file that is replaced while its log is open leaves no log beside the new one")
    func replacing() throws {
        let path = folder.path("a.realm")
        do {
            let file = try open(path)
            try replace(file)
            #expect(!hasLog(path))
            file.unlockForWriting()
        }
        #expect(try reopened(path).prefix(4) == [0, 1, 2, 0])
    }

    @Test("Rule 42: no new file is put beside a closed log that could not be removed")
    func replacingBesideLeftover() throws {
        let path = folder.path("a.realm")
        do {
            let recorder = LoggedFile.Recorder()
            let file = try open(path, recorder)
            // Behind the flush of the pages, the header, and its flush.
            recorder.state.withLock { $0.failing = 3 }
            #expect(throws: StorageError.self) { try replace(file) }
            #expect(recorder.state.withLock { $0.didFail && $0.failing == -1 })
            #expect(hasLog(path))
            recorder.state.withLock { $0.failing = nil }
            try replace(file)
            #expect(!hasLog(path))
            file.unlockForWriting()
        }
        #expect(try reopened(path).prefix(4) == [0, 1, 2, 0])
    }

    @Test("A file that had a log is replaced beside what is no file at the log's name")
    func replacingBesideFolder() throws {
        let path = folder.path("a.realm")
        do {
            let file = try open(path)
            file.unlockForWriting()
        }
        #expect(!hasLog(path))
        try FileManager.default.createDirectory(atPath: path + ".log", withIntermediateDirectories: false)
        do {
            let file = try StorageFile.open(path: path, options: LoggedFile.options())
            try file.lockForWriting()
            try replace(file)
            file.unlockForWriting()
        }
        #expect(try reopened(path).prefix(4) == [0, 1, 2, 0])
        #expect(hasLog(path))
    }

    @Test("A closed log that could not be removed does not keep a new one from being made")
    func beginningBesideLeftover() throws {
        let path = folder.path("a.realm")
        do {
            let recorder = LoggedFile.Recorder()
            let file = try open(path, recorder)
            recorder.state.withLock { $0.failing = 3 }
            #expect(throws: StorageError.self) { try file.closeLog() }
            recorder.state.withLock { $0.failing = nil }
            #expect(hasLog(path))
            #expect(file.openLog == nil)
            try Self.commit(file, 3)
            #expect(file.openLog != nil)
            file.unlockForWriting()
        }
        #expect(!hasLog(path))
        #expect(try reopened(path).prefix(5) == [0, 1, 2, 3, 0])
    }

    @Test("Rule 32: a log is not closed behind a flush that failed, though the next one succeeds")
    func closingWhenStopped() throws {
        let path = folder.path("a.realm")
        let recorder = LoggedFile.Recorder()
        let file = try open(path, recorder)
        defer { file.unlockForWriting() }
        recorder.state.withLock { $0.failing = 0 }
        #expect(throws: StorageError.self) { try file.makeCheckpoint() }
        recorder.state.withLock { $0.failing = nil }
        #expect(file.hasStopped)
        let before = recorder.operations.count
        let error = #expect(throws: StorageError.self) { try file.closeLog() }
        #expect(error?.code == .writingStopped)
        #expect(recorder.operations.count == before)
        #expect(hasLog(path))
    }

    private func move(_ path: String, to other: String) throws {
        for suffix in ["", ".log", ".lock"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.moveItem(atPath: path + suffix, toPath: other + suffix)
        }
    }

    @Test("Rule 45: whoever closes a file that was moved does not remove the log of the one that came into its place")
    func closingBesideAnother() throws {
        let path = folder.path("a.realm")
        let moved = folder.path("b.realm")
        var next: StorageFile?
        do {
            let file = try open(path)
            try move(path, to: moved)
            next = try open(path)
            file.unlockForWriting()
        }
        #expect(hasLog(path))
        let other = try #require(next)
        try Self.commit(other, 3)
        #expect(other.checkpointVersion.load(ordering: .relaxed) == other.newestVersion - 3)
        other.unlockForWriting()
        next = nil
        #expect(try reopened(moved).prefix(4) == [0, 1, 2, 0])
        #expect(!hasLog(moved))
    }

    @Test("Rule 45: no log is begun at the name that a file had before it was moved")
    func beginningElsewhere() throws {
        let path = folder.path("a.realm")
        let moved = folder.path("b.realm")
        do {
            let file = try StorageFile.open(path: path, options: LoggedFile.options())
            try file.lockForWriting()
            try move(path, to: moved)
            // The space for a log is made beside the first commits.
            for round in 0..<20 {
                try Self.commit(file, 1, creates: round == 0)
                #expect(!hasLog(path))
                usleep(5_000)
            }
            #expect(file.openLog == nil)
            // As a kill leaves it.
            let copy = folder.path("copy.realm")
            try FileManager.default.copyItem(atPath: moved, toPath: copy)
            #expect(try reopened(copy).prefix(3) == [0, 1, 0])
            try move(moved, to: path)
            for _ in 0..<2_000 where file.openLog == nil {
                try Self.commit(file, 2)
                usleep(1_000)
            }
            #expect(file.openLog != nil)
            file.unlockForWriting()
        }
        #expect(try reopened(path).prefix(4) == [0, 1, 2, 0])
    }

    @Test("A log that was put into place, and could not be opened, does not keep the file from being opened later")
    func halfMade() throws {
        let path = folder.path("a.realm")
        let child = try ForkedProcess { _ in
            let file = try StorageFile.open(path: path, options: LoggedFile.options())
            try file.lockForWriting()
            // For the file alone, and not for its directory.
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let before = limit.rlim_cur
            let free = dup(0)
            close(free)
            limit.rlim_cur = rlim_t(free) + 1
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            try Self.commit(file, 1, creates: true)
            limit.rlim_cur = before
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            if file.openLog != nil { _exit(2) }
            try Self.commit(file, 2)
            file.unlockForWriting()
        }
        #expect(child.end() == 0)
        #expect(try reopened(path).prefix(4) == [0, 1, 2, 0])
    }
}
