import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Who may read a file that takes the place of another one.
@Suite("Files that replace others")
struct ReplacedFileTests {
    let directory = TemporaryDirectory()

    private var path: String { directory.path("replaced.realm") }

    private static func status(_ path: String) throws -> stat {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return status
    }

    /// Replaces the file by one that holds as much; returns the mode that the new one has while it is made.
    @discardableResult
    private func replace(_ whileMade: () -> Void = {}) throws -> mode_t {
        var mode: mode_t = 0
        let file = try StorageFile.open(path: path)
        try file.replace { _, destination in
            let transaction = try destination.beginWrite()
            try PageArray.create(in: transaction)
            try destination.publish([try PageArray.commit(transaction)])
            mode = try Self.status(destination.path).st_mode & 0o7777
            whileMade()
        }
        return mode
    }

    @Test("keep its mode, and are their owner's alone while they are made", arguments: [0o600, 0o640, 0o660, 0o644])
    func mode(mode: Int) throws {
        _ = try StorageFile.open(path: path)
        #expect(chmod(path, mode_t(mode)) == 0)
        let before = try Self.status(path)
        #expect(try replace() == 0o600)
        let after = try Self.status(path)
        #expect(after.st_ino != before.st_ino && after.st_mode & 0o7777 == mode_t(mode))
    }

    @Test("keep its owner and group", .enabled(if: geteuid() == 0))
    func owner() throws {
        _ = try StorageFile.open(path: path)
        #expect(chown(path, 65_533, 65_532) == 0 && chmod(path, 0o660) == 0)
        try replace()
        let after = try Self.status(path)
        #expect(after.st_uid == 65_533 && after.st_gid == 65_532 && after.st_mode & 0o7777 == 0o660)
    }

    /// A new owner's own group has nothing of what the old group had.
    @Test("open to nobody else where the group cannot be kept", .enabled(if: geteuid() == 0))
    func foreignGroup() async {
        await #expect(processExitsWith: .success) {
            let suite = ReplacedFileTests()
            _ = try StorageFile.open(path: suite.path)
            unlink(suite.path + ".lock")
            #expect(chown(suite.path, 65_533, 0) == 0 && chmod(suite.path, 0o640) == 0)
            #expect(chown(suite.directory.url.path, 65_533, 0) == 0)
            #expect(setgroups(0, nil) == 0 && setegid(65_533) == 0 && seteuid(65_533) == 0)
            try suite.replace()
            let after = try Self.status(suite.path)
            #expect(after.st_uid == 65_533 && after.st_gid == 65_533 && after.st_mode & 0o7777 == 0o600)
            #expect(seteuid(0) == 0)
            withExtendedLifetime(suite) {}
        }
    }

    /// What a process leaves that is killed while it replaces a file of another user's is in nobody's way.
    @Test("are claimed, while they are made, in the name of their owner", .enabled(if: geteuid() == 0))
    func claim() throws {
        _ = try StorageFile.open(path: path)
        #expect(chown(path, 65_533, 65_532) == 0)
        var claim: stat?
        try replace { claim = try? Self.status(path + ".compacting.claim") }
        #expect(claim?.st_uid == 65_533)
        #expect(claim.map { $0.st_mode & 0o7777 } == 0o600)
    }

    // MARK: Access lists

    private static let attribute = "system.posix_acl_access"

    private typealias Getter =
        @convention(c) (
            UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int
        ) -> Int
    private typealias Setter =
        @convention(c) (
            UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer?, Int, Int32
        ) -> Int32

    private static func symbol<Function>(_ name: String) throws -> Function {
        unsafeBitCast(try #require(dlsym(UnsafeMutableRawPointer(bitPattern: 0), name)), to: Function.self)
    }

    /// The access list of a file, as the system has it; nil without one.
    private static func accessList(_ path: String) throws -> [UInt8]? {
        let get: Getter = try symbol("getxattr")
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = get(path, attribute, &bytes, bytes.count)
        return count < 0 ? nil : Array(bytes[..<count])
    }

    /// Gives a file a list by which one more user may read it, or, where all others may, this one may not; false where the file
    /// system has none.
    private static func setAccessList(_ path: String, refusing isRefusing: Bool = false) throws -> Bool {
        var bytes: [UInt8] = []
        func add<Value: FixedWidthInteger>(_ value: Value) {
            withUnsafeBytes(of: value.littleEndian) { bytes += Array($0) }
        }
        add(UInt32(2))
        let nobody = UInt32.max
        // The owner, a user, the group, the mask, and all others: what each may, and who it is.
        let (one, others): (UInt16, UInt16) = isRefusing ? (0, 4) : (4, 0)
        let entries: [(tag: UInt16, permission: UInt16, who: UInt32)] = [
            (0x01, 6, nobody), (0x02, one, 65_531), (0x04, others, nobody), (0x10, 4, nobody), (0x20, others, nobody),
        ]
        for entry in entries {
            add(entry.tag)
            add(entry.permission)
            add(entry.who)
        }
        let set: Setter = try symbol("setxattr")
        return bytes.withUnsafeBytes { set(path, attribute, $0.baseAddress, $0.count, 0) } == 0
    }

    private static let hasAccessLists: Bool = {
        let directory = TemporaryDirectory()
        let path = directory.path("probe")
        return FileManager.default.createFile(atPath: path, contents: nil) && (try? setAccessList(path)) == true
    }()

    @Test("keep its access list", .enabled(if: hasAccessLists))
    func accessList() throws {
        _ = try StorageFile.open(path: path)
        #expect(try Self.setAccessList(path))
        let before = try Self.accessList(path)
        #expect(before != nil)
        try replace()
        #expect(try Self.accessList(path) == before)
    }

    /// The list alone says who may not read what others may.
    @Test("open to their owner alone where group and access list cannot be kept", .enabled(if: canRefuse))
    func accessListOfForeignGroup() async {
        await #expect(processExitsWith: .success) {
            let suite = ReplacedFileTests()
            _ = try StorageFile.open(path: suite.path)
            unlink(suite.path + ".lock")
            #expect(chown(suite.path, 65_533, 0) == 0)
            let isListed = try Self.setAccessList(suite.path, refusing: true)
            #expect(isListed)
            #expect(try Self.status(suite.path).st_mode & 0o7777 == 0o644)
            #expect(chown(suite.directory.url.path, 65_533, 0) == 0)
            #expect(setgroups(0, nil) == 0 && setegid(65_533) == 0 && seteuid(65_533) == 0)
            try suite.replace()
            #expect(try Self.status(suite.path).st_mode & 0o7777 == 0o600)
            #expect(seteuid(0) == 0)
            withExtendedLifetime(suite) {}
        }
    }

    private static let canRefuse = geteuid() == 0 && hasAccessLists
}
