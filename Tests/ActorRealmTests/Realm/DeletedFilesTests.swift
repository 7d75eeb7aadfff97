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
