import Foundation
import Glibc
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
            "actor-realm-\(user)-\(getpid())-own.realm-1", "actor-realm-\(user)-1-other.realm-1",
            "actor-realm-\(user)-x-y.realm-1", "actor-realm-\(user + 1)-\(gone)-user.realm-1", "something.realm",
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
        #expect(try files().isEmpty)
    }

    @Test("belong to one name each, whatever bytes that has")
    func namesApart() {
        // Form feed, "2", line feed, "b" have the digits of the two bytes of the quotation mark.
        let names = ["\u{AB}", "\u{C}2\u{A}b", "_c2_ab", "\u{C}2_ab"]
        #expect(Set(names.map { TemporaryFiles.stem(for: $0) }).count == names.count)
    }
}
