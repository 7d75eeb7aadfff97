import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// Logs that vanish under whoever writes to them, and files that are opened without durability.
@Suite("Logs that are deleted or left alone")
struct DeletedLogTests {
    let folder = TemporaryDirectory()

    /// Deletes the log right before a flush of it, when it is asked to.
    final class DeletingDevice: ForwardingDevice {
        let base: any StorageDevice
        let isArmed: Mutex<Bool>

        init(_ base: any StorageDevice) {
            self.base = base
            isArmed = Mutex(false)
        }

        func synchronize() throws(StorageError) {
            if isArmed.withLock({ $0 }) { unlink(path) }
            try base.synchronize()
        }
    }

    final class DeletingDirectory: ForwardingDirectory {
        let base: LogFile
        private let made = Mutex<[DeletingDevice]>([])

        /// Has the log be deleted before its next flush.
        func arm() {
            for device in made.withLock({ $0 }) { device.isArmed.withLock { $0 = true } }
        }

        init(_ base: LogFile) { self.base = base }

        func makeDevice(_ log: any StorageDevice) -> any StorageDevice {
            let device = DeletingDevice(log)
            made.withLock { $0.append(device) }
            return device
        }
    }

    private func commit(_ file: StorageFile, _ index: Int, creates: Bool = false) throws {
        let change = LoggedFile.Change(creates: creates, values: [(index, UInt64(index))])
        try file.publish([LoggedFile.prepare(change, in: file)])
    }

    @Test("Rule 23: when the log was deleted before a commit, everything comes to the realm file, and nothing is lost")
    func deletedBetween() throws {
        let path = folder.path("a.realm")
        let file = try StorageFile.open(path: path, options: LoggedFile.options())
        try file.lockForWriting()
        try commit(file, 1, creates: true)
        try commit(file, 2)
        try FileManager.default.removeItem(atPath: path + ".log")
        try commit(file, 3)
        try commit(file, 4)
        // As a kill leaves it, with the log that was begun since.
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder).prefix(6) == [0, 1, 2, 3, 4, 0])
        file.unlockForWriting()
    }

    @Test("Rule 23: a commit that was flushed to a log without a name is not acknowledged; those before it stay")
    func deletedWithin() throws {
        let path = folder.path("a.realm")
        var options = LoggedFile.options()
        let directory = DeletingDirectory(LogFile(besides: path))
        options.log?.makeDirectory = { _ in directory }
        let file = try StorageFile.open(path: path, options: options)
        try file.lockForWriting()
        try commit(file, 1, creates: true)
        try commit(file, 2)
        directory.arm()
        #expect(throws: StorageError.self) { try commit(file, 3) }
        #expect(file.hasStopped)
        #expect(try LoggedFile.values(of: file).values.prefix(4) == [0, 1, 2, 0])
        // As a kill leaves it.
        let copy = folder.path("copy.realm")
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        let found = try LoggedFile.values(of: StorageFile.open(path: copy))
        #expect(found.values.prefix(4) == [0, 1, 2, 0])
        file.unlockForWriting()
    }

    @Test("Rule 33: whoever opens without durability does not pass over a log")
    func unflushed() throws {
        let path = folder.path("a.realm")
        let file = try StorageFile.open(path: path, options: LoggedFile.options())
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try commit(file, 1, creates: true)
        try commit(file, 2)
        let copy = try LoggedFile.copy(of: path, in: folder)
        var options = LoggedFile.options()
        options.durability = .none
        let found = try LoggedFile.values(of: StorageFile.open(path: copy, options: options))
        #expect(found.values.prefix(4) == [0, 1, 2, 0])
        #expect(!FileManager.default.fileExists(atPath: copy + ".log"))
    }

    @Test("A log is deleted with its realm, and nothing else that stands at its name")
    func removal() throws {
        let path = folder.path("a.realm")
        let file = try StorageFile.open(path: path, options: LoggedFile.options())
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try commit(file, 1, creates: true)
        let copy = try LoggedFile.copy(of: path, in: folder)
        #expect(try StorageFile.removeLog(ofRealmAt: copy))
        #expect(!FileManager.default.fileExists(atPath: copy + ".log"))
        #expect(try !StorageFile.removeLog(ofRealmAt: copy))
        try Data("a log of the program".utf8).write(to: URL(fileURLWithPath: copy + ".log"))
        #expect(try !StorageFile.removeLog(ofRealmAt: copy))
        #expect(FileManager.default.fileExists(atPath: copy + ".log"))
    }
}
