import Foundation
import Glibc
import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite("The files of a realm that is deleted")
struct DeletedFilesTests {
    let directory = TemporaryDirectory()

    private func configuration(_ name: String) -> Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: directory.path(name)),
            objectTypes: [Tally.self]
        )
        configuration.keepLog()
        return configuration
    }

    /// What the system calls a name that goes.
    private static let deleted: UInt32 = 0x200

    /// The names that go from the folder while a function runs, in order.
    private func deletions(during body: () throws -> Void) throws -> [String] {
        let descriptor = inotify_init1(O_NONBLOCK | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try #require(inotify_add_watch(descriptor, directory.url.path, Self.deleted) >= 0)
        try body()
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(descriptor, &bytes, bytes.count)
        try #require(count > 0)
        var names: [String] = []
        bytes[..<count]
            .withUnsafeBytes { bytes in
                var offset = 0
                while offset < bytes.count {
                    let length = Int(bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
                    let text = bytes[(offset + 16)..<(offset + 16 + length)].prefix { $0 != 0 }
                    names.append(String(decoding: text, as: UTF8.self))
                    offset += 16 + length
                }
            }
        return names
    }

    private func plain(_ name: String) -> Realm.Configuration {
        Realm.Configuration(fileURL: URL(fileURLWithPath: directory.path(name)), objectTypes: [Tally.self])
    }

    /// A closed file that holds one object.
    private func make(_ name: String) throws {
        try withNewRealm(plain(name)) { realm in
            try realm.write { realm.add(Tally(name: "a")) }
            realm.close()
        }
    }

    /// What a kill leaves while a file is compacted; without a claim it is the program's own.
    private func leaveCopy(of name: String, withClaim hasClaim: Bool) throws {
        for suffix in hasClaim ? ["", ".lock"] : [""] {
            try FileManager.default.copyItem(
                atPath: directory.path(name + suffix),
                toPath: directory.path(name + ".compacting" + suffix)
            )
        }
        if hasClaim {
            try #require(
                FileManager.default.createFile(atPath: directory.path(name + ".compacting.claim"), contents: nil)
            )
        }
    }

    private func names(beginningWith prefix: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.url.path).filter { $0.hasPrefix(prefix) }
    }

    @Test("What a kill has left of a copy goes with the files, and at the next opening", arguments: [true, false])
    func leftCopy(isDeleted: Bool) throws {
        try make("left.realm")
        try leaveCopy(of: "left.realm", withClaim: true)
        if isDeleted {
            let deleted = try Realm.deleteFiles(for: plain("left.realm"))
            #expect(deleted)
        } else {
            let count = try withNewRealm(plain("left.realm")) { $0.objects(Tally.self).count }
            #expect(count == 1)
        }
        #expect(try names(beginningWith: "left.realm.compacting") == [])
    }

    @Test("A file of the program's own that is called like an unfinished copy stays, as long as it is used")
    func ownFile() throws {
        try make("own.realm")
        try leaveCopy(of: "own.realm", withClaim: false)
        let (name, configuration) = ("own.realm.compacting", plain("own.realm"))
        try withNewRealm(plain(name)) { other in
            try withNewRealm(configuration) { $0.close() }
            let error = #expect(throws: Realm.Error.self) { try Realm.compact(configuration) }
            #expect(error?.code == .fileExists)
            let deleted = try Realm.deleteFiles(for: configuration)
            #expect(deleted)
            try other.write { other.add(Tally(name: "b")) }
            other.close()
        }
        let count = try withNewRealm(plain(name)) { $0.objects(Tally.self).count }
        #expect(count == 2)
    }

    @Test("What may not be deleted is an error, and not a file that was not there")
    func refused() async {
        await #expect(processExitsWith: .success) {
            let suite = DeletedFilesTests()
            // Who may do everything becomes somebody who may not.
            if getuid() == 0 { #expect(chown(suite.directory.url.path, 65_533, 0) == 0 && seteuid(65_533) == 0) }
            var found = stat()
            guard stat(suite.directory.url.path, &found) == 0 else {
                // Nobody else comes to the folder for temporary files: there is nothing to try.
                #expect(errno == EACCES && seteuid(0) == 0)
                return
            }
            let configuration = suite.plain("kept.realm")
            try suite.make("kept.realm")
            #expect(chmod(suite.directory.url.path, 0o555) == 0)
            let error = #expect(throws: Realm.Error.self) { try Realm.deleteFiles(for: configuration) }
            #expect(error?.code == .filePermissionDenied)
            #expect(Realm.fileExists(for: configuration))
            var anew = configuration
            anew.schemaVersion = 1
            anew.deleteRealmIfMigrationNeeded = true
            let refusal = #expect(throws: Realm.Error.self) { try withNewRealm(anew) { $0.close() } }
            #expect(refusal?.code == .filePermissionDenied)
            #expect(chmod(suite.directory.url.path, 0o755) == 0)
            let deleted = try Realm.deleteFiles(for: configuration)
            #expect(deleted && !Realm.fileExists(for: configuration))
            if getuid() == 0 { #expect(seteuid(0) == 0) }
            withExtendedLifetime(suite) {}
        }
    }

    /// The places that cannot be written, as far as the machine has any: systems mount such.
    private static func readOnlyMounts() -> [String] {
        let mounts = (try? String(contentsOfFile: "/proc/mounts", encoding: .utf8)) ?? ""
        return mounts.split(separator: "\n")
            .compactMap { line -> String? in
                let words = line.split(separator: " ")
                guard words.count > 3, ["sysfs", "proc", "squashfs", "iso9660"].contains(words[2]),
                    words[3].hasPrefix("ro")
                else { return nil }
                var found = stat()
                guard stat(String(words[1]), &found) == 0, found.st_mode & S_IFMT == S_IFDIR else { return nil }
                return String(words[1])
            }
    }

    @Test("Where nothing is, nothing is deleted, also on a file system that cannot be written")
    func nothingThere() throws {
        for folder in [directory.url.path] + Self.readOnlyMounts().prefix(1) {
            let url = URL(fileURLWithPath: folder + "/none.realm")
            let deleted = try Realm.deleteFiles(for: Realm.Configuration(fileURL: url, objectTypes: [Tally.self]))
            #expect(!deleted, "\(folder)")
        }
    }

    /// A log without its realm is another file's for whoever makes a realm of that name next, and a realm without its log is refused, as
    /// it should be.
    @Test("A log goes before its realm, so that a kill between the two leaves none alone")
    func logFirst() throws {
        try withNewRealm(configuration("open.realm")) { realm in
            defer { realm.close() }
            for name in ["a", "b"] { try realm.write { realm.add(Tally(name: name)) } }
            // As a kill leaves them.
            for suffix in ["", ".lock", ".log"] {
                try FileManager.default.copyItem(
                    atPath: directory.path("open.realm" + suffix),
                    toPath: directory.path("killed.realm" + suffix)
                )
            }
        }
        var isDeleted = false
        let names = try deletions { isDeleted = try Realm.deleteFiles(for: configuration("killed.realm")) }
            .filter { $0.hasPrefix("killed.realm") }
        #expect(isDeleted)
        #expect(Set(names) == ["killed.realm", "killed.realm.lock", "killed.realm.log"])
        #expect(names.first == "killed.realm.log")
    }
}
