import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// What stands at the lock file's name and is none.
@Suite("Names that a lock file would take")
struct LockFileOwnershipTests {
    let directory = TemporaryDirectory()

    @Test(
        "a file that is no lock file is an error, stays as it is, and no realm is made beside it",
        arguments: [1, 7, 8, 40_000]
    )
    func foreignFile(byteCount: Int) throws {
        let path = directory.path("Cargo")
        let content = Data((0..<byteCount).map { UInt8(truncatingIfNeeded: $0 + 1) })
        try content.write(to: URL(fileURLWithPath: path + ".lock"))
        let error = #expect(throws: StorageError.self) { try StorageFile.open(path: path) }
        #expect(error?.code == .incompatibleLockFile)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + ".lock")) == content)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(!StorageFile.removeLockFile(ofRealmAt: path))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + ".lock")) == content)
    }

    @Test("beside a realm that is there the same holds, and it opens when the file has gone")
    func besideRealm() throws {
        let path = directory.path("there.realm")
        _ = try StorageFile.open(path: path)
        unlink(path + ".lock")
        let content = Data("somebody else's".utf8)
        try content.write(to: URL(fileURLWithPath: path + ".lock"))
        let error = #expect(throws: StorageError.self) { try StorageFile.open(path: path) }
        #expect(error?.code == .incompatibleLockFile)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + ".lock")) == content)
        unlink(path + ".lock")
        #expect(try StorageFile.open(path: path).newestVersion == 1)
    }

    @Test("what root makes for another user's realm is that user's", .enabled(if: geteuid() == 0))
    func otherUser() throws {
        let path = directory.path("other.realm")
        _ = try StorageFile.open(path: path)
        #expect(unlink(path + ".lock") == 0 && chown(path, 65_533, 65_532) == 0)
        _ = try StorageFile.open(path: path)
        var status = stat()
        #expect(stat(path + ".lock", &status) == 0)
        #expect(status.st_uid == 65_533 && status.st_mode & 0o7777 == 0o600)
        // Another user's lock file stays as it is.
        #expect(chown(path + ".lock", 65_531, 65_531) == 0)
        _ = try StorageFile.open(path: path)
        #expect(stat(path + ".lock", &status) == 0 && status.st_uid == 65_531)
    }

    @Test(
        "root uses no lock file that another user has put into a folder for all, where the system protects from that",
        .enabled(if: geteuid() == 0 && LockFileOwnershipTests.protectsFiles)
    )
    func plantedFile() throws {
        let folder = directory.path("shared")
        #expect(mkdir(folder, 0o700) == 0 && chmod(folder, 0o1777) == 0)
        let path = folder + "/planted.realm"
        _ = try StorageFile.open(path: path)
        #expect(chown(path + ".lock", 65_531, 65_531) == 0)
        let error = #expect(throws: StorageError.self) { try StorageFile.open(path: path) }
        #expect(error?.code == .permissionDenied)
        #expect(chown(path + ".lock", 0, 0) == 0)
        #expect(try StorageFile.open(path: path).newestVersion == 1)
    }

    /// Whether the system keeps those who would make a file in such a folder from opening another user's.
    private static var protectsFiles: Bool {
        let setting = try? String(contentsOfFile: "/proc/sys/fs/protected_regular", encoding: .utf8)
        return setting.map { !$0.hasPrefix("0") } ?? false
    }

    @Test("the target of a hard link is not overwritten, be it empty or nothing but zeros")
    func hardLink() throws {
        for content in [Data("a document".utf8), Data(), Data(count: 4096), Data(count: 94_224)] {
            let target = directory.path("document-\(content.count)")
            try content.write(to: URL(fileURLWithPath: target))
            let path = directory.path("linked-\(content.count).realm")
            #expect(link(target, path + ".lock") == 0)
            let error = #expect(throws: StorageError.self) { try StorageFile.open(path: path) }
            #expect(error?.code == .incompatibleLockFile)
            #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == content)
            #expect(!StorageFile.removeLockFile(ofRealmAt: path))
        }
    }

    @Test("zeros in a length that no lock file has are somebody else's", arguments: [1, 100, 4095, 5000, 94_225])
    func foreignZeros(byteCount: Int) throws {
        let path = directory.path("zeros.realm")
        try Data(count: byteCount).write(to: URL(fileURLWithPath: path + ".lock"))
        let error = #expect(throws: StorageError.self) { try StorageFile.open(path: path) }
        #expect(error?.code == .incompatibleLockFile)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + ".lock")) == Data(count: byteCount))
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("the target of a symbolic link is not overwritten, nor made")
    func symbolicLink() throws {
        let target = directory.path("target")
        let path = directory.path("symbolic.realm")
        try FileManager.default.createSymbolicLink(atPath: path + ".lock", withDestinationPath: target)
        #expect(throws: StorageError.self) { try StorageFile.open(path: path) }
        #expect(!FileManager.default.fileExists(atPath: target))
    }

    @Test(
        "what a crash leaves of a lock file is one: nothing, zeros, or the layout before",
        arguments: [0, 4096, 32_768, 77_824, 94_224, 98_304]
    )
    func leftovers(byteCount: Int) throws {
        let path = directory.path("crashed.realm")
        try Data(count: byteCount).write(to: URL(fileURLWithPath: path + ".lock"))
        #expect(try StorageFile.open(path: path).newestVersion == 1)
        var old = Data(count: 77_824)
        withUnsafeBytes(of: LockFileLayout.magic.littleEndian) { old.replaceSubrange(0..<8, with: $0) }
        old[8] = 3
        try old.write(to: URL(fileURLWithPath: path + ".lock"))
        #expect(try StorageFile.open(path: path).newestVersion == 1)
    }

    @Test(
        "one that was cut short between its parts is one, and a file with more in it is none",
        arguments: [8_192, 36_864, 94_224]
    )
    func cutShort(byteCount: Int) throws {
        let path = directory.path("short.realm")
        var made = Data(count: byteCount)
        // The number of the process that made it, without the words that come last.
        made.replaceSubrange(LockFileLayout.processIDs..<LockFileLayout.processIDs + 4, with: [1, 2, 3, 4])
        var other = made
        other[LockFileLayout.processIDs + 4] = 1
        try other.write(to: URL(fileURLWithPath: path + ".lock"))
        let error = #expect(throws: StorageError.self) { try StorageFile.open(path: path) }
        #expect(error?.code == .incompatibleLockFile)
        try made.write(to: URL(fileURLWithPath: path + ".lock"))
        #expect(try StorageFile.open(path: path).newestVersion == 1)
    }

    @Test("a realm cut to nothing is an error while the lock file knows it, even one that was never written to")
    func cutToNothing() throws {
        let path = directory.path("cut.realm")
        _ = try StorageFile.open(path: path)
        truncate(path, 0)
        let error = #expect(throws: StorageError.self) { try StorageFile.open(path: path) }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("delete it and the lock file") == true)
        // Another file of that name is a new realm. It is made before that one goes, whose number it would get.
        let other = directory.path("other")
        try Data().write(to: URL(fileURLWithPath: other))
        rename(other, path)
        #expect(try StorageFile.open(path: path).newestVersion == 1)
    }
}
