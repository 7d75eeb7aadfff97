import Foundation
import RealmStorage
import RealmTestSupport
import Testing

/// Files that are deleted, replaced or foreign, lock files that are, and who may have a file open beside whom.
///
/// Processes are played by copies of the files and by hard links here; `Tests/Torture` does the same with real ones.
@Suite struct LockFileTests {
    let directory = TemporaryDirectory()

    private func makeFile(_ name: String) throws -> String {
        let path = directory.path(name)
        try commit(7, to: path, creates: true)
        return path
    }

    private func commit(_ value: UInt64, to path: String, creates: Bool = false) throws {
        try commit(value, to: StorageFile.open(path: path), creates: creates)
    }

    private func commit(_ value: UInt64, to file: StorageFile, creates: Bool = false) throws {
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite()
        if creates { try PageArray.create(in: transaction) }
        try PageArray.set(0, to: value, in: transaction)
        try file.publish([try PageArray.commit(transaction)])
    }

    private func value(_ file: StorageFile) throws -> UInt64 {
        let snapshot = try file.beginRead()
        return try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)[0]
    }

    @Test func `a lock file of another layout is refused while it is in use, and replaced when it is not`() throws {
        let path = try makeFile("layout.realm")
        let lock = path + ".lock"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: lock))
        bytes[8] = 99
        try bytes.write(to: URL(fileURLWithPath: lock))
        #expect(try value(StorageFile.open(path: path)) == 7)
    }

    @Test func `a lock file that is a folder, a link or a pipe is an error`() throws {
        for kind in ["folder", "link", "pipe"] {
            let path = directory.path("\(kind).realm")
            let lock = path + ".lock"
            switch kind {
            case "folder":
                try FileManager.default.createDirectory(atPath: lock, withIntermediateDirectories: false)
            case "link":
                try FileManager.default.createSymbolicLink(atPath: lock, withDestinationPath: "/etc/passwd")
            default: mkfifo(lock, 0o600)
            }
            #expect(throws: StorageError.self) { try StorageFile.open(path: path) }
        }
        // Beside a realm that is there, also where it belongs to root, which looks before it makes one.
        let path = try makeFile("there.realm")
        #expect(unlink(path + ".lock") == 0 && mkfifo(path + ".lock", 0o600) == 0)
        let error = #expect(throws: StorageError.self) { try StorageFile.open(path: path) }
        #expect(error?.code == .incompatibleLockFile)
    }

    @Test func `a file that was cut to nothing is damage, and no new realm`() throws {
        let path = try makeFile("nothing.realm")
        truncate(path, 0)
        let error = #expect(throws: StorageError.self) { try StorageFile.open(path: path) }
        #expect(error?.code == .corrupt)
        // Nor where the file system has another device number since the machine was started anew.
        let lock = try FileHandle(forUpdating: URL(fileURLWithPath: path + ".lock"))
        try lock.seek(toOffset: 64)
        try lock.write(contentsOf: Data(repeating: 0xA5, count: 8))
        try lock.close()
        #expect(throws: StorageError.self) { try StorageFile.open(path: path) }
        // One that is put into its place has held nothing.
        let other = directory.path("other")
        try Data().write(to: URL(fileURLWithPath: other))
        rename(other, path)
        #expect(try StorageFile.open(path: path).newestVersion == 1)
    }

    @Test func `an empty file becomes a realm, also when its creation was cut short anywhere`() throws {
        let whole = directory.path("new.realm")
        _ = try StorageFile.open(path: whole)
        let content = try Data(contentsOf: URL(fileURLWithPath: whole))
        #expect(content.count == 4 * 4096)
        let seed = UInt64.random(in: 0...9999)
        var random = SplitMix64(seed: seed)
        for round in 0..<100 {
            var torn = Data(count: Int.random(in: 0...4, using: &random) * 4096)
            for start in stride(from: 0, to: torn.count, by: 512) where Bool.random(using: &random) {
                torn.replaceSubrange(start..<(start + 512), with: content[start..<(start + 512)])
            }
            // One whole copy in a file of full length is a realm, and made by the same bytes.
            let path = directory.path("torn-\(round).realm")
            try torn.write(to: URL(fileURLWithPath: path))
            let file = try StorageFile.open(path: path)
            #expect(file.newestVersion == 1, "seed \(seed)")
            try commit(1, to: file, creates: true)
            #expect(try value(file) == 1, "seed \(seed)")
        }
    }

    @Test func `a stopped file is opened anew while the old one is still read`() throws {
        let path = try makeFile("stopped.realm")
        let log = RecordingDevice.Log()
        var options = StorageOptions()
        options.makeDevice = { RecordingDevice($0, log: log) }
        let stopped = try StorageFile.open(path: path, options: options)
        let snapshot = try stopped.beginRead()
        // Pages, header, flush.
        log.fail(at: 2)
        #expect(throws: StorageError.self) { try commit(8, to: stopped) }
        let error = #expect(throws: StorageError.self) { try commit(9, to: stopped) }
        #expect(error?.code == .writingStopped)
        let fresh = try StorageFile.open(path: path)
        #expect(try value(fresh) == 7)
        try commit(10, to: fresh)
        #expect(try value(fresh) == 10)
        #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)[0] == 7)
        #expect(try value(stopped) == 10)
    }

    @Test func `a failed flush of a growing file stops writing, a full disk does not`() throws {
        for isFull in [false, true] {
            let path = directory.path("growing-\(isFull).realm")
            let log = RecordingDevice.Log()
            var options = StorageOptions()
            options.makeDevice = { RecordingDevice($0, log: log) }
            let file = try StorageFile.open(path: path, options: options)
            // The first commit grows the file: zeros, then their flush.
            log.fail(at: 1, code: isFull ? .full : .io)
            #expect(throws: StorageError.self) { try commit(1, to: file, creates: true) }
            log.fail(at: nil)
            if isFull {
                try commit(1, to: file, creates: true)
                #expect(try value(file) == 1)
            } else {
                let error = #expect(throws: StorageError.self) { try commit(1, to: file, creates: true) }
                #expect(error?.code == .writingStopped)
            }
        }
    }

    @Test func `verification reads what has been read before`() throws {
        let path = try makeFile("again.realm")
        let snapshot = try StorageFile.open(path: path).beginRead()
        _ = try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)
        _ = try snapshot.view.verifiedPointer(to: snapshot.catalog.root)
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        try handle.seek(toOffset: UInt64(snapshot.catalog.root.page) * 4096 + 4000)
        try handle.write(contentsOf: Data([1]))
        try handle.close()
        let error = #expect(throws: StorageError.self) {
            try snapshot.view.verifiedPointer(to: snapshot.catalog.root)
        }
        #expect(error?.page == snapshot.catalog.root.page)
    }
}
