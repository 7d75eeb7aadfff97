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
    private final class WaitingDevice: ForwardingDevice {
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

    /// A file whose flushes may be waited in, and the write lock of which is held for the time of `body`.
    private func withFile(_ body: (StorageFile, WaitingDevice.Control) throws -> Void) throws {
        let control = WaitingDevice.Control()
        var options = LoggedFile.options()
        options.makeDevice = { WaitingDevice($0, control) }
        let file = try StorageFile.open(path: folder.path("a.realm"), options: options)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try body(file, control)
    }

    /// Publishes a commit on another thread, and calls `body` while that waits in a flush of the realm file.
    private func publish<Result>(
        _ commit: PreparedCommit,
        to file: StorageFile,
        _ control: WaitingDevice.Control,
        meanwhile body: () throws -> Result
    ) throws -> Result {
        control.isArmed.withLock { $0 = true }
        let thread = Thread {
            let outcome = Swift.Result { try file.publish([commit]) }
            control.result.withLock { $0 = outcome }
            control.isWaiting.signal()
        }
        thread.start()
        control.isWaiting.wait()
        let result = Swift.Result { try body() }
        control.mayGoOn.signal()
        control.isWaiting.wait()
        try control.result.withLock { $0 }?.get()
        return try result.get()
    }

    @Test("Rule 12: a transaction that begins while the log is being made leaves the log and its checkpoint alone")
    func besideTheBeginning() throws {
        try withFile { file, control in
            try file.publish([prepare(file, 1, (creates: true, recorded: false))])
            #expect(file.openLog == nil)
            let first = try prepare(file, 2)
            let second = try publish(first, to: file, control) {
                // The log has its name, and its header is on the way to the disk.
                #expect(FileManager.default.fileExists(atPath: file.path + ".log"))
                return try prepare(file, 3)
            }
            try file.publish([second])
            #expect(file.openLog != nil)
            #expect(file.checkpointVersion.load(ordering: .relaxed) == first.version - 1)
            for index in 4..<20 { try file.publish([prepare(file, index)]) }
            let values = try LoggedFile.valuesOfCopy(of: file.path, in: folder)
            #expect(Array(values.prefix(21)) == Array(UInt64(0)..<20) + [0])
        }
    }

    @Test("Rule 23: a transaction that begins while a deleted log is being left does not leave it, too")
    func besideTheEnd() throws {
        try withFile { file, control in
            try file.publish([prepare(file, 1, (creates: true, recorded: true))])
            try file.publish([prepare(file, 2)])
            try FileManager.default.removeItem(atPath: file.path + ".log")
            let second = try publish(prepare(file, 3), to: file, control) {
                let sequence = file.state.withLock { $0.published.sequence }
                let second = try prepare(file, 4)
                #expect(file.state.withLock { $0.published.sequence } == sequence, "it has written a header of its own")
                return second
            }
            try file.publish([second])
            #expect(try LoggedFile.valuesOfCopy(of: file.path, in: folder).prefix(6) == [0, 1, 2, 3, 4, 0])
        }
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
