import Foundation
import Glibc
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite("The files of in-memory realms")
struct TemporaryFilesTests {
    let directory = TemporaryDirectory()

    /// The number of a process that has ended.
    private func endedProcess() throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/true")
        try process.run()
        process.waitUntilExit()
        return process.processIdentifier
    }

    private func age(_ path: String) {
        let past = timespec(tv_sec: time(nil) - 120, tv_nsec: 0)
        #expect(utimensat(AT_FDCWD, path, [past, past], 0) == 0)
    }

    private func leave(_ name: String, isOld: Bool = true) throws {
        for path in OpenSettings.files(of: directory.path(name)) {
            // What is no lock file would stay.
            let content = path.hasSuffix(".lock") ? "ARealmLk" : "left behind"
            try Data(content.utf8).write(to: URL(fileURLWithPath: path))
            if isOld { age(path) }
        }
    }

    @Test("go when their process is gone, and nothing else goes")
    func abandoned() throws {
        let gone = try endedProcess()
        let user = getuid()
        let name = "actor-realm-\(user)-\(gone)-a.realm-1"
        let kept = [
            "actor-realm-\(user)-1-other.realm-1", "actor-realm-\(user)-x-y.realm-1",
            "actor-realm-\(user + 1)-\(gone)-user.realm-1", "something.realm",
        ]
        try leave(name)
        for name in kept { try leave(name) }
        let young = "actor-realm-\(user)-\(gone)-young.realm-1"
        try leave(young, isOld: false)
        let used = "actor-realm-\(user)-\(gone)-used.realm-1"
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: directory.path(used)))
        configuration.objectTypes = [Tally.self]
        try withNewRealm(configuration) { _ in
            for path in OpenSettings.files(of: directory.path(used)) { age(path) }
            TemporaryFiles.removeAbandoned(in: directory.url.path)
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
        #expect(Set(left) == Set((kept + [young, used]).flatMap { OpenSettings.files(of: $0) }))
    }

    /// A container that is started anew has its processes under the numbers of those that were killed.
    @Test("go when their process had the number of this one, unless somebody has them open")
    func abandonedByTheSameNumber() throws {
        let name = "actor-realm-\(getuid())-\(getpid())-own.realm-1"
        let used = "actor-realm-\(getuid())-\(getpid())-used.realm-1"
        try leave(name)
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: directory.path(used)))
        configuration.objectTypes = [Tally.self]
        try withNewRealm(configuration) { _ in
            for path in OpenSettings.files(of: directory.path(used)) { age(path) }
            TemporaryFiles.removeAbandoned(in: directory.url.path)
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
        #expect(Set(left) == Set(OpenSettings.files(of: used)))
    }

    private func configuration() -> Realm.Configuration {
        let name = "files \(UInt64.random(in: 0 ... .max))"
        return Realm.Configuration(inMemoryIdentifier: name, objectTypes: [Tally.self])
    }

    @Test("are not those of another process that has the number of this one, and shares the folder")
    func sameNumber() throws {
        let configuration = configuration()
        // The first realm in memory of each of two processes, which containers have.
        let other = try RealmRegistry().coordinator(for: configuration)
        var own: RealmCoordinator? = try RealmRegistry().coordinator(for: configuration)
        #expect(own?.file.path != other.file.path)
        #expect(own?.file.isInPlace == true && other.file.isInPlace)
        own = nil
        #expect(other.file.isInPlace)
    }

    @Test("are removed for what they are, not for their names")
    func anotherAtTheName() throws {
        let configuration = configuration()
        let (coordinator, files) = try withNewRealm(configuration) { realm in
            let files = OpenSettings.files(of: realm.core.coordinator.file.path)
            for path in files {
                try FileManager.default.removeItem(atPath: path)
                // Begins as a lock file does.
                try Data("ARealmLk".utf8).write(to: URL(fileURLWithPath: path))
            }
            return (WeakReference(realm.core.coordinator), files)
        }
        #expect(coordinator.object == nil)
        for path in files {
            #expect(FileManager.default.fileExists(atPath: path))
            unlink(path)
        }
    }

    @Test("have names that nobody has guessed")
    func guessedName() throws {
        let configuration = configuration()
        let name = try #require(configuration.inMemoryIdentifier)
        // What this process cannot remove, as it cannot remove another user's file.
        let guessed = TemporaryFiles.stem(for: name) + "-1"
        try FileManager.default.createDirectory(atPath: guessed, withIntermediateDirectories: false)
        defer { rmdir(guessed) }
        let coordinator = try RealmRegistry().coordinator(for: configuration)
        #expect(coordinator.file.isInPlace)
    }

    /// Whether this process can play two users of a folder that all of them write to.
    private static let canBeTwoUsers: Bool = {
        var status = stat()
        return geteuid() == 0 && stat("/dev/shm", &status) == 0 && status.st_mode & 0o1777 == 0o1777
    }()

    @Test("are this user's, and not what another one has put there", .enabled(if: canBeTwoUsers), .secondProcess)
    func anotherUser() async {
        await #expect(processExitsWith: .success) {
            let (user, stranger): (uid_t, uid_t) = (65_533, 65_532)
            let path = "/dev/shm/actor-realm-\(user)-\(getpid())-guessed.realm-1"
            let planted = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
            try #require(planted >= 0)
            #expect(fchmod(planted, 0o666) == 0 && fchown(planted, stranger, stranger) == 0)
            // The way back stays open.
            #expect(setreuid(user, 0) == 0 && seteuid(user) == 0)
            let configuration = Realm.Configuration(inMemoryIdentifier: "guessed", objectTypes: [Tally.self])
            #expect(throws: Never.self) {
                try withNewRealm(configuration) { realm in try realm.write { realm.add(Tally(name: "secret")) } }
            }
            var status = stat()
            #expect(fstat(planted, &status) == 0 && status.st_size == 0)
            #expect(seteuid(0) == 0 && setreuid(0, 0) == 0)
            for name in OpenSettings.files(of: path) { unlink(name) }
        }
    }

    @Test("have names as long as the file system allows with the lock file's, whatever is random in them")
    func longNames() throws {
        let stem = URL(fileURLWithPath: TemporaryFiles.stem(for: "")).lastPathComponent
        // What a life adds, and the ending of the lock file.
        let longest = 255 - stem.utf8.count - 14 - 5
        for round in 0..<40 {
            func configuration(_ byteCount: Int) -> Realm.Configuration {
                let name = "\(round)-" + String(repeating: "n", count: byteCount)
                return Realm.Configuration(
                    inMemoryIdentifier: String(name.prefix(byteCount)),
                    objectTypes: [Tally.self]
                )
            }
            #expect(throws: Never.self) { try withNewRealm(configuration(longest)) { _ in } }
            #expect(throws: Realm.Error.self) { try withNewRealm(configuration(longest + 1)) { _ in } }
        }
    }

    @Test("go when a realm's last user closes it")
    func closed() throws {
        let name = "closed \(UInt64.random(in: 0 ... .max))"
        let path = TemporaryFiles.stem(for: name)
        func files() throws -> [String] {
            let url = URL(fileURLWithPath: path)
            return try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
                .filter { $0.hasPrefix(url.lastPathComponent) }
        }
        var configuration = Realm.Configuration(inMemoryIdentifier: name)
        configuration.objectTypes = [Tally.self]
        try withNewRealm(configuration) { realm in
            try realm.write { _ = realm.create(Tally.self, value: ["name": "a"]) }
            #expect(try files().count == 2)
        }
        // A thread that has just committed may have the file for a moment more.
        for _ in 0..<60_000 where try !files().isEmpty { usleep(1_000) }
        #expect(try files().isEmpty)
    }

    @Test("belong to one name each, whatever bytes that has")
    func namesApart() {
        // Form feed, "2", line feed, "b" have the digits of the two bytes of the quotation mark.
        let names = ["\u{AB}", "\u{C}2\u{A}b", "_c2_ab", "\u{C}2_ab"]
        #expect(Set(names.map { TemporaryFiles.stem(for: $0) }).count == names.count)
    }
}
