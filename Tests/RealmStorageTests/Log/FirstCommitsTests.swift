import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// The commits of a life before it has a log, and the space of one that is to come.
@Suite("Before a log is made")
struct FirstCommitsTests {
    let folder = TemporaryDirectory()

    private func hasLog(_ file: StorageFile) -> Bool { FileManager.default.fileExists(atPath: file.path + ".log") }

    @Test("The first commits of a life are kept as pages, and the log begins behind them", arguments: [1, 5])
    func count(pageCommitCount: Int) throws {
        var options = LoggedFile.options()
        options.log?.pageCommitCount = pageCommitCount
        let file = try StorageFile.open(path: folder.path("a.realm"), options: options)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        for index in 1...pageCommitCount {
            try LoggedFile.commit(file, index)
            #expect(!hasLog(file))
        }
        let version = file.newestVersion
        try LoggedFile.commit(file, pageCommitCount + 1)
        #expect(hasLog(file))
        #expect(file.openLog?.header.version == version)
        #expect(file.checkpointVersion.load(ordering: .relaxed) == version)
        let values = try LoggedFile.values(of: file).values
        for index in 1...pageCommitCount + 1 { #expect(values[index] == UInt64(index)) }
    }

    @Test("Unless somebody says otherwise, 32 commits come before a log, and 32 before the next one")
    func usualCount() throws {
        var options = LoggedFile.options()
        let usual = LogOptions(forEachPage: PageArray.forEachPage) { _, _ in throw CocoaError(.featureUnsupported) }
        options.log?.pageCommitCount = usual.pageCommitCount
        let file = try StorageFile.open(path: folder.path("a.realm"), options: options)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        for _ in 0..<2 {
            for _ in 0..<32 {
                try LoggedFile.commit(file, 1)
                #expect(!hasLog(file))
            }
            try LoggedFile.commit(file, 1)
            #expect(hasLog(file))
            try file.closeLog()
        }
    }

    @Test("A life that writes once flushes no more than it does without the setting")
    func oneWrite() throws {
        var counts: [Int] = []
        for keepsLog in [false, true] {
            let recorder = LoggedFile.Recorder()
            var options = LoggedFile.options(recorder: recorder)
            let usual = LogOptions(forEachPage: PageArray.forEachPage) { _, _ in throw CocoaError(.featureUnsupported) }
            options.log?.pageCommitCount = usual.pageCommitCount
            if !keepsLog { options.log = nil }
            do {
                let file = try StorageFile.open(path: folder.path("\(keepsLog).realm"), options: options)
                try file.lockForWriting()
                try LoggedFile.commit(file, 1)
                file.unlockForWriting()
            }
            counts.append(recorder.operations.count { if case .synchronize = $0 { true } else { false } })
        }
        #expect(counts[0] == counts[1])
        #expect(counts[0] > 0)
    }

    @Test("Where commits are kept as pages, one behind the other, each has one flush again")
    func pagesInARow() throws {
        let recorder = LoggedFile.Recorder()
        let file = try StorageFile.open(
            path: folder.path("a.realm"),
            options: LoggedFile.options(recorder: recorder)
        )
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        for index in 1...3 { try LoggedFile.commit(file, index) }
        for value in UInt64(1)...40 { try LoggedFile.commit(file, 9, value, recorded: false) }
        #expect(file.openLog == nil && !hasLog(file))
        let before = recorder.operations.count
        try LoggedFile.commit(file, 9, 99, recorded: false)
        let flushes = recorder.operations[before...].count { if case .synchronize = $0 { true } else { false } }
        #expect(flushes == 1)
        #expect(try LoggedFile.valuesOfCopy(of: file.path, in: folder)[9] == 99)
        // The next record begins one again.
        try LoggedFile.commit(file, 4)
        #expect(hasLog(file))
        let values = try LoggedFile.valuesOfCopy(of: file.path, in: folder)
        #expect(values[1...4] == [1, 2, 3, 4] && values[9] == 99)
    }

    @Test("A log stays where records come between commits that are kept as pages")
    func pagesBetweenRecords() throws {
        let file = try StorageFile.open(path: folder.path("a.realm"), options: LoggedFile.options())
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try LoggedFile.commit(file, 1)
        let log = try #require(file.openLog?.header.log)
        for value in UInt64(1)...60 {
            try LoggedFile.commit(file, 9, value, recorded: value % 5 == 0)
            #expect(file.openLog?.header.log == log)
        }
        #expect(try LoggedFile.valuesOfCopy(of: file.path, in: folder)[9] == 60)
    }

    @Test("No commit waits for the space of a log: it is made beside them, without a name")
    func space() throws {
        final class Work: Sendable { let bodies = Mutex<[@Sendable () -> Void]>([]) }
        let path = folder.path("a.realm")
        let work = Work()
        var options = LoggedFile.options()
        options.log?.runBeside = { kind, body in
            if kind == .space { work.bodies.withLock { $0.append(body) } } else { body() }
        }
        do {
            let file = try StorageFile.open(path: path, options: options)
            try file.lockForWriting()
            for index in 1...4 { try LoggedFile.commit(file, index) }
            #expect(!hasLog(file))
            let bodies = work.bodies.withLock { $0 }
            #expect(bodies.count == 1, "it is asked for once")
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
            bodies[0]()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == names)
            try LoggedFile.commit(file, 5)
            #expect(hasLog(file))
            try LoggedFile.commit(file, 6)
            let copy = folder.path("copy.realm")
            for suffix in ["", ".log"] {
                try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
            }
            let found = try LoggedFile.values(of: StorageFile.open(path: copy, options: LoggedFile.options()))
            #expect(found.values[1...7] == [1, 2, 3, 4, 5, 6, 0])
            let length = try FileManager.default.attributesOfItem(atPath: path + ".log")[.size] as? Int
            #expect(length == 9 * 4096)
            file.unlockForWriting()
        }
        #expect(!FileManager.default.fileExists(atPath: path + ".log"))
    }

    @Test("Space that was made for a log is not put over a file that stands at its name")
    func nameIsTaken() throws {
        let path = folder.path("a.realm")
        let file = try StorageFile.open(path: path, options: LoggedFile.options())
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let own = Data("a log of the program".utf8)
        try own.write(to: URL(fileURLWithPath: path + ".log"))
        for index in 1...3 { try LoggedFile.commit(file, index) }
        #expect(file.openLog == nil)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + ".log")) == own)
        try FileManager.default.removeItem(atPath: path + ".log")
        try LoggedFile.commit(file, 4)
        #expect(hasLog(file))
        #expect(try LoggedFile.values(of: file).values[1...4] == [1, 2, 3, 4])
    }
}
