import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// Space that was made for a log, and that no log takes.
@Suite("Space for a log that does not come")
struct LogSpaceHeldTests {
    let folder = TemporaryDirectory()

    private final class Work: Sendable { let bodies = Mutex<[@Sendable () -> Void]>([]) }

    /// The files without a name in the folder that this process has open.
    private var unnamedCount: Int {
        let folder = self.folder.url.resolvingSymlinksInPath().path
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return numbers.count { number in
            let target = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")) ?? ""
            return target.hasPrefix(folder) && target.hasSuffix("(deleted)")
        }
    }

    /// A file whose space is made, and not taken yet; the caller has the write lock.
    private func open(_ name: String) throws -> StorageFile {
        let work = Work()
        var options = LoggedFile.options()
        options.log?.runBeside = { kind, body in
            if kind == .space { work.bodies.withLock { $0.append(body) } } else { body() }
        }
        let file = try StorageFile.open(path: folder.path(name + ".realm"), options: options)
        try file.lockForWriting()
        try LoggedFile.commit(file, 1)
        for body in work.bodies.withLock({ $0 }) { body() }
        work.bodies.withLock { $0 = [] }
        #expect(unnamedCount == 1)
        return file
    }

    @Test("A file whose use has ended gives it back, though somebody still holds the file")
    func endOfUse() throws {
        let file = try open("ended")
        file.unlockForWriting()
        // As a frozen copy does.
        let snapshot = try file.beginRead()
        file.endUse(because: StorageError(.ended, "The file was closed"))
        #expect(unnamedCount == 0)
        _ = snapshot
    }

    @Test("Beside another process, where no log is begun, it is given back")
    func otherProcess() throws {
        let file = try open("shared")
        defer { file.unlockForWriting() }
        let options = LoggedFile.options()
        let data = try StorageFile.openData(path: file.path, options: options)
        let other = try StorageFile.openUnshared(data: data, path: file.path, options: options)
        for index in 2..<80 { try LoggedFile.commit(file, index) }
        #expect(file.openLog == nil)
        #expect(unnamedCount == 0)
        _ = other
    }

    /// A place with no room for a log.
    private struct FullDirectory: ForwardingDirectory {
        let base: LogFile
        let calls: Calls

        final class Calls: Sendable {
            let prepared = Atomic(0)
            let created = Atomic(0)
        }

        func prepare(ringByteCount: Int) throws(StorageError) -> UnnamedFile? {
            calls.prepared.add(1, ordering: .relaxed)
            throw StorageError(.full, "Injected: the disk is full", path: path)
        }

        func create(
            _ header: LogHeader,
            in space: UnnamedFile?,
            forUsersOf realm: (any StorageDevice)?
        ) throws(StorageError) -> any StorageDevice {
            calls.created.add(1, ordering: .relaxed)
            throw StorageError(.full, "Injected: the disk is full", path: path)
        }
    }

    /// A file beside which there is no room for a log; the caller has the write lock.
    private func openOnFullDisk() throws -> (file: StorageFile, calls: FullDirectory.Calls) {
        let calls = FullDirectory.Calls()
        var options = LoggedFile.options()
        options.log?.pageCommitCount = 4
        options.log?.makeDirectory = { FullDirectory(base: LogFile(besides: $0), calls: calls) }
        let file = try StorageFile.open(path: folder.path("full.realm"), options: options)
        try file.lockForWriting()
        return (file, calls)
    }

    @Test("Where it cannot be made, no commit fills the disk with zeros in its place")
    func fullDisk() throws {
        let (file, calls) = try openOnFullDisk()
        defer { file.unlockForWriting() }
        for index in 1...40 { try LoggedFile.commit(file, index) }
        #expect(calls.prepared.load(ordering: .relaxed) > 1, "it is tried again")
        #expect(calls.prepared.load(ordering: .relaxed) <= 8, "and not by each commit")
        #expect(calls.created.load(ordering: .relaxed) == 0)
    }

    @Test("While it cannot be made it is tried less and less often")
    func lessOften() throws {
        let (file, calls) = try openOnFullDisk()
        defer { file.unlockForWriting() }
        for index in 1...400 { try LoggedFile.commit(file, index % 100) }
        #expect((4...8).contains(calls.prepared.load(ordering: .relaxed)))
    }

    @Test("For a file that has been moved none is made")
    func moved() throws {
        let (file, calls) = try openOnFullDisk()
        defer { file.unlockForWriting() }
        try LoggedFile.commit(file, 1)
        try FileManager.default.moveItem(atPath: file.path, toPath: file.path + ".away")
        for index in 2...40 { try LoggedFile.commit(file, index) }
        #expect(calls.prepared.load(ordering: .relaxed) == 0)
    }

    @Test("What is left for a file is asked of its own device, wherever its path leads since")
    func ownDevice() throws {
        let (release, link) = (folder.path("release"), folder.path("current"))
        try FileManager.default.createDirectory(atPath: release, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: release)
        try Data("a file".utf8).write(to: URL(fileURLWithPath: release + "/a"))
        let data = try DataFile.open(path: link + "/a", isReadOnly: true)
        _ = try #require(data.freeByteCount)
        try FileManager.default.removeItem(atPath: link)
        #expect(data.freeByteCount != nil)
        #expect(DataFile.freeByteCount(besides: data.path) == nil)
    }

    @Test("A device with less than four times as much left keeps it for commits")
    func lastSpace() async throws {
        let path = folder.path("a.realm")
        let free = try #require(DataFile.freeByteCount(besides: path))
        await #expect(processExitsWith: .success) { [path = path as String, byteCount = free / 2 as Int] in
            // What would write it all the same ends there.
            var limit = rlimit(rlim_cur: 1 << 20, rlim_max: 1 << 20)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            signal(SIGXFSZ, SIG_IGN)
            let log = LogFile(besides: path)
            let error = #expect(throws: StorageError.self) { try log.prepare(ringByteCount: byteCount) }
            #expect(error?.errorNumber == nil)
            #expect(error?.code == .full)
        }
    }
}
