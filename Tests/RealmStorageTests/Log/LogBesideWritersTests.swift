import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// Transactions that begin while the thread that publishes begins a log, or makes a checkpoint.
@Suite("A log beside transactions of the same process")
struct LogBesideWritersTests {
    let folder = TemporaryDirectory()

    /// Waits in a flush of the realm file, when it is asked to.
    private final class WaitingDevice: StorageDevice {
        /// What it says, and is told.
        final class Control: Sendable {
            let isArmed = Mutex(false)
            /// What came of a call on another thread.
            let result = Mutex<Result<Void, any Error>?>(nil)
            let isWaiting = DispatchSemaphore(value: 0)
            let mayGoOn = DispatchSemaphore(value: 0)
        }

        let base: any StorageDevice
        let control: Control

        init(_ base: any StorageDevice, _ control: Control) {
            self.base = base
            self.control = control
        }

        var descriptor: Int32 { base.descriptor }
        var path: String { base.path }
        var isReadOnly: Bool { base.isReadOnly }

        func currentByteCount() throws(StorageError) -> Int { try base.currentByteCount() }
        func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError) {
            try base.write(pieces, at: offset)
        }
        func setByteCount(_ byteCount: Int) throws(StorageError) { try base.setByteCount(byteCount) }
        func synchronize() throws(StorageError) {
            if control.isArmed.withLock({ $0 }) {
                control.isArmed.withLock { $0 = false }
                control.isWaiting.signal()
                control.mayGoOn.wait()
            }
            try base.synchronize()
        }
    }

    private func prepare(_ file: StorageFile, _ index: Int, _ options: (creates: Bool, recorded: Bool) = (false, true))
        throws -> PreparedCommit
    {
        let change = LoggedFile.Change(creates: options.creates, values: [(index, UInt64(index))])
        return try LoggedFile.prepare(change, in: file, recorded: options.recorded)
    }

    /// What opening finds in copies of the files as they are.
    private func recovered(_ path: String) throws -> [UInt64] {
        let copy = folder.path("copy-\(UInt64.random(in: 0 ... .max)).realm")
        for suffix in ["", ".log"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        return try LoggedFile.values(of: StorageFile.open(path: copy, options: LoggedFile.options())).values
    }

    @Test("Rule 12: a transaction that begins while the log is being made leaves the log and its checkpoint alone")
    func besideTheBeginning() throws {
        let path = folder.path("a.realm")
        let control = WaitingDevice.Control()
        var options = LoggedFile.options()
        options.makeDevice = { WaitingDevice($0, control) }
        let file = try StorageFile.open(path: path, options: options)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try file.publish([prepare(file, 1, (creates: true, recorded: false))])
        #expect(file.openLog == nil)
        let first = try prepare(file, 2)
        control.isArmed.withLock { $0 = true }
        let thread = Thread {
            let outcome = Result { try file.publish([first]) }
            control.result.withLock { $0 = outcome }
            control.isWaiting.signal()
        }
        thread.start()
        control.isWaiting.wait()
        // The log has its name, and its header is on the way to the disk.
        #expect(FileManager.default.fileExists(atPath: path + ".log"))
        let second = try prepare(file, 3)
        control.mayGoOn.signal()
        control.isWaiting.wait()
        try control.result.withLock { $0 }?.get()
        try file.publish([second])
        #expect(file.openLog != nil)
        #expect(file.checkpointVersion.load(ordering: .relaxed) == first.version - 1)
        for index in 4..<20 { try file.publish([prepare(file, index)]) }
        #expect(try recovered(path).prefix(21) == [0] + (1..<20).map { UInt64($0) } + [0])
    }

    @Test("Rule 23: a transaction that begins while a deleted log is being left does not leave it, too")
    func besideTheEnd() throws {
        let path = folder.path("a.realm")
        let control = WaitingDevice.Control()
        var options = LoggedFile.options()
        options.makeDevice = { WaitingDevice($0, control) }
        let file = try StorageFile.open(path: path, options: options)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try file.publish([prepare(file, 1, (creates: true, recorded: true))])
        try file.publish([prepare(file, 2)])
        try FileManager.default.removeItem(atPath: path + ".log")
        let first = try prepare(file, 3)
        control.isArmed.withLock { $0 = true }
        let thread = Thread {
            let outcome = Result { try file.publish([first]) }
            control.result.withLock { $0 = outcome }
            control.isWaiting.signal()
        }
        thread.start()
        control.isWaiting.wait()
        let sequence = file.state.withLock { $0.published.sequence }
        let second = try prepare(file, 4)
        #expect(file.state.withLock { $0.published.sequence } == sequence, "it has written a header of its own")
        control.mayGoOn.signal()
        control.isWaiting.wait()
        try control.result.withLock { $0 }?.get()
        try file.publish([second])
        #expect(try recovered(path).prefix(6) == [0, 1, 2, 3, 4, 0])
    }

    @Test("Rule 12: what other processes still take for the newest version keeps its pages")
    func besideThePublishing() throws {
        let options = LoggedFile.options(blocks: 64)
        let file = try StorageFile.open(path: folder.path("a.realm"), options: options)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try file.publish([prepare(file, 1, (creates: true, recorded: true))])
        for index in 2..<9 { try file.publish([prepare(file, index)]) }
        let newest = file.newestVersion
        // The thread that publishes has got as far as this process, and no further.
        let word = try #require(file.lock).memory.word64(LockFileLayout.Word.newestVersion)
        word.store(newest - 1, ordering: .sequentiallyConsistent)
        let transaction = try file.beginWrite()
        #expect(transaction.group.pinned.contains(newest - 1))
        #expect(transaction.group.pinned.contains(newest))
        word.store(newest, ordering: .sequentiallyConsistent)
        transaction.rollback()
        let next = try file.beginWrite()
        #expect(!next.group.pinned.contains(newest - 1))
        next.rollback()
    }
}
