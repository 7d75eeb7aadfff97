import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// Files that are made under another name and put into place.
@Suite("New files", .serialized, .timeLimit(.minutes(60)))
struct NewFileTests {
    let directory = TemporaryDirectory()

    private var path: String { directory.path("new.realm") }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted() }
    }

    private func fill(_ ballast: Int) -> (StorageFile) throws -> Void {
        { file in
            let transaction = try file.beginWrite()
            try PageArray.create(in: transaction)
            try PageArray.setBallast(ballast, in: transaction)
            try file.publish([try PageArray.commit(transaction)])
        }
    }

    // What the system calls them.
    private static let moved: UInt32 = 0x80
    private static let created: UInt32 = 0x100

    /// What makes a name in the folder while a function runs, in order.
    private func events(of name: String, during body: () throws -> Void) throws -> [UInt32] {
        let descriptor = inotify_init1(O_NONBLOCK | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let mask = Self.created | Self.moved
        try #require(inotify_add_watch(descriptor, directory.url.path, mask) >= 0)
        try body()
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(descriptor, &bytes, bytes.count)
        try #require(count > 0)
        var found: [UInt32] = []
        bytes[..<count]
            .withUnsafeBytes { bytes in
                var offset = 0
                while offset < bytes.count {
                    let length = Int(bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
                    let text = bytes[(offset + 16)..<(offset + 16 + length)].prefix { $0 != 0 }
                    if String(decoding: text, as: UTF8.self) == name {
                        found.append(bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self) & mask)
                    }
                    offset += 16 + length
                }
            }
        return found
    }

    /// While it had two, a kill would leave it with both for good: a file with a second name is not compacted.
    @Test("A new file never has two names")
    func oneName() throws {
        let made = try events(of: "made.realm") { _ = try StorageFile.open(path: directory.path("made.realm")) }
        #expect(made == [Self.moved])
        let built = try events(of: "built.realm") {
            try StorageFile.build(
                at: directory.path("built.realm"),
                replaces: false,
                beginning: FileBeginning(),
                fill(3)
            )
        }
        #expect(built == [Self.moved])
        let seeded = try events(of: "new.realm") {
            try StorageFile.buildUnlessMade(at: path, beginning: FileBeginning(), fill(3))
        }
        #expect(seeded == [Self.moved])
    }

    @Test("What stands at the name of a new file stays")
    func taken() throws {
        try StorageFile.buildUnlessMade(at: path, beginning: FileBeginning(version: 7), fill(1))
        #expect(throws: StorageError.self) {
            try StorageFile.build(at: path, replaces: false, beginning: FileBeginning(version: 70), fill(1))
        }
        try StorageFile.buildUnlessMade(at: path, beginning: FileBeginning(version: 70), fill(1))
        #expect(try StorageFile.open(path: path).newestVersion == 8)
        #expect(try names == ["new.realm", "new.realm.lock"])
    }

    @Test("Whoever makes a file beside one that is killed in that makes it whole, and what that one has left goes")
    func killed() throws {
        for isWaiting in [false, true] {
            let child = try ForkedProcess { parent in
                try StorageFile.buildUnlessMade(at: path, beginning: FileBeginning(version: 100)) { file in
                    try fill(40)(file)
                    parent.send(1)
                    _ = parent.receive()
                }
            }
            #expect(child.connection.receive() == 1)
            if !isWaiting {
                child.kill()
                #expect(child.end() == SIGKILL)
            }
            let isBegun = DispatchSemaphore(value: 0)
            let isDone = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                isBegun.signal()
                do {
                    try StorageFile.buildUnlessMade(at: path, beginning: FileBeginning(version: 7), fill(1))
                } catch {
                    Issue.record(error)
                }
                isDone.signal()
            }
            isBegun.wait()
            if isWaiting {
                child.kill()
                #expect(child.end() == SIGKILL)
            }
            isDone.wait()
            do {
                let file = try StorageFile.open(path: path)
                #expect(file.newestVersion == 8)
            }
            #expect(try names == ["new.realm", "new.realm.lock"], "waiting: \(isWaiting)")
            for name in try names { try FileManager.default.removeItem(atPath: directory.path(name)) }
        }
    }

    /// What a process leaves that is killed while it makes a file in another user's folder is in nobody's way.
    @Test("A new file is claimed, while it is made, in the name of its folder's owner", .enabled(if: geteuid() == 0))
    func claim() throws {
        #expect(chown(directory.url.path, 65_533, 65_532) == 0)
        var status = stat()
        try StorageFile.buildUnlessMade(at: path, beginning: FileBeginning()) { file in
            try fill(1)(file)
            let result = stat(path + ".compacting.claim", &status)
            #expect(result == 0)
        }
        #expect(status.st_uid == 65_533 && status.st_mode & 0o7777 == 0o600)
        #expect(try names == ["new.realm"])
    }

    @Test(
        "The folder of a file is found by the bytes of its path, whatever mark its name begins with",
        arguments: ["\u{301}a.realm", "\u{200D}a.realm", "\u{FE0F}", "a\u{301}.realm"]
    )
    func folder(name: String) {
        #expect(DataFile.directory(of: "/srv/data/" + name) == "/srv/data")
        #expect(DataFile.directory(of: "/" + name) == "/")
        #expect(DataFile.directory(of: name) == ".")
    }

    private func isRefused(_ error: any Error) -> Bool {
        guard let error = error as? StorageError else { return false }
        return error.errorNumber == EEXIST || error.code == .alreadyOpen
    }

    /// They write to files of one temporary name, which is moved to the place of the file when it is complete.
    @Test("Of those who make one file at once one does, and the others learn that")
    func atOnce() throws {
        for round in 0..<20 {
            let failures = Mutex<[any Error]>([])
            DispatchQueue.concurrentPerform(iterations: 6) { _ in
                do {
                    try StorageFile.build(at: path, replaces: false, beginning: FileBeginning(version: 5), fill(60))
                } catch {
                    failures.withLock { $0.append(error) }
                }
            }
            let others = failures.withLock { $0 }
            #expect(others.count == 5 && others.allSatisfy(isRefused), "round \(round): \(others)")
            do {
                let file = try StorageFile.open(path: path)
                #expect(file.newestVersion == 6, "round \(round)")
            }
            #expect(try names == ["new.realm", "new.realm.lock"], "round \(round)")
            for name in try names { try FileManager.default.removeItem(atPath: directory.path(name)) }
        }
    }

    @Test("A file that is replaced is whole beside others who want to make one at its place")
    func besideReplacing() throws {
        try StorageFile.build(at: path, replaces: false, beginning: FileBeginning(version: 5), fill(60))
        for round in 0..<20 {
            let failures = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 4) { number in
                let isReplacing = number == 0
                do {
                    try StorageFile.build(
                        at: path,
                        replaces: isReplacing,
                        beginning: FileBeginning(version: isReplacing ? 5 : 100),
                        fill(60)
                    )
                    if !isReplacing { failures.withLock { $0.append("made where one is") } }
                } catch {
                    if !isRefused(error) { failures.withLock { $0.append("\(number): \(error)") } }
                }
            }
            #expect(failures.withLock { $0 } == [], "round \(round)")
            let file = try StorageFile.open(path: path)
            #expect(file.newestVersion == 6, "round \(round)")
        }
    }
}
