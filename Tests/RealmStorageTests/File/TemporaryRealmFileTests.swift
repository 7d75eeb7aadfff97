import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// The two files of a realm that vanishes with its last user.
@Suite("Files that vanish with their last user")
struct TemporaryRealmFileTests {
    let directory = TemporaryDirectory()

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted() }
    }

    /// Makes the files while this process has a limit, and removes them again.
    ///
    /// - Returns: Whether they could be made.
    @discardableResult
    private func makeAndRemove(_ resource: __rlimit_resource, _ value: rlim_t) throws -> Bool {
        let resource = __rlimit_resource_t(resource.rawValue)
        var limit = rlimit()
        #expect(getrlimit(resource, &limit) == 0)
        var low = limit
        low.rlim_cur = value
        #expect(setrlimit(resource, &low) == 0)
        let made = Result { try TemporaryRealmFile.make(at: directory.path("a.realm")) }
        #expect(setrlimit(resource, &limit) == 0)
        guard let file = try? made.get() else { return false }
        file.remove()
        return true
    }

    @Test("Nothing of them stays where they cannot be made, however few descriptors there are")
    func fewDescriptors() async {
        await #expect(processExitsWith: .success) {
            let suite = TemporaryRealmFileTests()
            // The lowest that is free.
            let next = open("/dev/null", O_RDONLY | O_CLOEXEC)
            #expect(next > STDERR_FILENO)
            close(next)
            for more in 0..<4 {
                try suite.makeAndRemove(RLIMIT_NOFILE, rlim_t(Int(next) + more))
                #expect(try suite.names.isEmpty, "with \(more) descriptors")
            }
            withExtendedLifetime(suite) {}
        }
    }

    @Test("Nothing of them stays where there is no room for what they begin with")
    func noRoom() async {
        await #expect(processExitsWith: .success) {
            let suite = TemporaryRealmFileTests()
            // A write beyond the length is an error then, and no signal.
            signal(SIGXFSZ, SIG_IGN)
            let isMade = try suite.makeAndRemove(RLIMIT_FSIZE, 4_096)
            #expect(!isMade)
            let names = try suite.names
            #expect(names.isEmpty)
            withExtendedLifetime(suite) {}
        }
    }

    private typealias UserOfFiles = @convention(c) (uid_t) -> Int32

    /// As on a file system that shows one owner for all of its files.
    @Test("Whoever they belong to where they lie, they are this process's", .enabled(if: geteuid() == 0))
    func fixedOwner() async {
        await #expect(processExitsWith: .success) {
            let suite = TemporaryRealmFileTests()
            #expect(chmod(suite.directory.url.path, 0o777) == 0)
            let symbol = try #require(dlsym(UnsafeMutableRawPointer(bitPattern: 0), "setfsuid"))
            let makeFilesAs = unsafeBitCast(symbol, to: UserOfFiles.self)
            _ = makeFilesAs(65_533)
            let made = Result { try TemporaryRealmFile.make(at: suite.directory.path("a.realm")) }
            _ = makeFilesAs(0)
            let file = try #require(try made.get())
            var status = stat()
            #expect(stat(file.path, &status) == 0 && status.st_uid == 65_533)
            #expect(try suite.names == ["a.realm", "a.realm.lock"])
            let opened = try StorageFile.open(path: file.path)
            #expect(file.isOpen(as: opened))
            file.remove()
            #expect(try suite.names.isEmpty)
            withExtendedLifetime(suite) {}
        }
    }

    @Test("A name that is taken is left alone")
    func taken() throws {
        try Data("taken".utf8).write(to: URL(fileURLWithPath: directory.path("a.realm")))
        let first = try TemporaryRealmFile.make(at: directory.path("a.realm"))
        #expect(first?.path == nil)
        #expect(try names == ["a.realm"])
        try Data("taken".utf8).write(to: URL(fileURLWithPath: directory.path("b.realm.lock")))
        let second = try TemporaryRealmFile.make(at: directory.path("b.realm"))
        #expect(second?.path == nil)
        #expect(try names == ["a.realm", "b.realm.lock"])
    }
}
