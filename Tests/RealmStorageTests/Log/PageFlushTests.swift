import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// Flushes of the realm file beside a log: the system tells one caller of a failure, and the next one of none.
@Suite("Flushes of pages beside a log")
struct PageFlushTests {
    let folder = TemporaryDirectory()

    /// Makes the file longer, by a commit that has a record.
    private func grow(_ file: StorageFile) throws {
        let transaction = try file.beginWrite()
        try PageArray.setBallast(200, in: transaction)
        transaction.changes.recordModify(table: 1, key: 1, column: 1)
        transaction.record = .init(kind: .changes, content: LoggedFile.Change().content)
        try file.publish([PageArray.commit(transaction)])
    }

    @Test("Rule 8: behind a flush that failed in a commit no checkpoint is made", arguments: 0...2)
    func failureInCommit(taken: Int) throws {
        let recorder = LoggedFile.Recorder()
        let path = folder.path("a.realm")
        do {
            let options = LoggedFile.options(blocks: 64, recorder: recorder, stepping: true)
            let file = try StorageFile.open(path: path, options: options)
            try file.lockForWriting()
            defer { file.unlockForWriting() }
            for value in UInt64(1)...7 { try LoggedFile.commit(file, 1, value) }
            let checkpoint = file.checkpointVersion.load(ordering: .relaxed)
            file.beginCheckpoint()
            for _ in 0..<taken { #expect(file.takeCheckpointStep()) }
            recorder.state.withLock { $0.failingFlush = .realm }
            let error = #expect(throws: StorageError.self) { try grow(file) }
            #expect(error?.code == .io)
            #expect(file.hasStopped)
            let before = recorder.operations.count
            while file.takeCheckpointStep() {}
            let isFlushed = recorder.operations[before...]
                .contains { if case .synchronize = $0 { true } else { false } }
            #expect(!isFlushed)
            #expect(file.checkpointVersion.load(ordering: .relaxed) == checkpoint)
            #expect(file.checkpoint.withLock { $0.takeUnneeded() } == nil)
            #expect(file.lock?.hasStopped == true)
        }
        #expect(FileManager.default.fileExists(atPath: path + ".log"))
        let file = try StorageFile.open(path: path, options: LoggedFile.options())
        #expect(try LoggedFile.values(of: file).values[1] == 7)
    }

    /// What goes on beside a flush that fails.
    private final class Control: Sendable {
        let flushCount = Atomic(0)
        /// What is done in the next flush, which fails.
        let body = Mutex<(@Sendable () -> Void)?>(nil)
        let thread = Mutex<OtherThread?>(nil)
    }

    private final class FailingDevice: ForwardingDevice {
        let base: any StorageDevice
        let control: Control

        init(_ base: any StorageDevice, _ control: Control) {
            self.base = base
            self.control = control
        }

        func synchronize() throws(StorageError) {
            control.flushCount.add(1, ordering: .relaxed)
            let body = control.body.withLock { body in
                defer { body = nil }
                return body
            }
            guard let body else { return try base.synchronize() }
            body()
            throw StorageError(.io, "Injected failure of a flush", errorNumber: 5)
        }
    }

    @Test("Rule 8: two threads flush one behind the other, and the second one not behind a failure")
    func twoAtOnce() throws {
        let control = Control()
        var options = LoggedFile.options(blocks: 64)
        options.makeDevice = { FailingDevice($0, control) }
        let file = try StorageFile.open(path: folder.path("a.realm"), options: options)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        for value in UInt64(1)...3 { try LoggedFile.commit(file, 1, value) }
        control.flushCount.store(0, ordering: .relaxed)
        control.body.withLock { body in
            body = {
                let thread = OtherThread { try file.synchronizePages() }
                control.thread.withLock { $0 = thread }
                thread.waitUntilItWaits()
            }
        }
        #expect(throws: StorageError.self) { try file.synchronizePages() }
        let thread = try #require(control.thread.withLock { $0 })
        #expect(throws: StorageError.self) { try thread.end() }
        #expect(control.flushCount.load(ordering: .relaxed) == 1)
        #expect(file.lock?.isPageFlushNoted == true)
    }
}
