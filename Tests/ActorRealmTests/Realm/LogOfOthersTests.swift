import Dispatch
import Foundation
import RealmModel
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm
@testable import RealmStorage

/// A process that is to write beside another one's log ends that first.
@Suite("The log of another process, and who is to write", .timeLimit(.minutes(60)))
struct LogOfOthersTests {
    private let file = TestFile()
    private var path: String { file.directory.path("test.realm") }

    /// A file that stands for another process, with an open log.
    private func openOther() throws -> StorageFile {
        var log = LogOptions(forEachPage: ModelVerifier.forEachReachablePage) { _, transaction in
            try transaction.prepareCommit()
        }
        log.ringByteCount = 64 * LogHeader.blockByteCount
        log.pageCommitCount = 0
        var options = StorageOptions()
        options.log = log
        let other = try open(options)
        try other.lockForWriting()
        defer { other.unlockForWriting() }
        // A realm of this process that was closed just now may have the file for a moment yet.
        let deadline = ContinuousClock.now + .seconds(1_800)
        while other.openLog == nil {
            try #require(ContinuousClock.now < deadline)
            let transaction = try other.beginWrite()
            transaction.record = TransactionRecord(kind: .changes, content: [1])
            try other.publish([transaction.prepareCommit()])
        }
        return other
    }

    private func open(_ options: StorageOptions) throws -> StorageFile {
        let data = try StorageFile.openData(path: path, options: options)
        return try StorageFile.openUnshared(data: data, path: path, options: options)
    }

    /// The file of this process, whose flushes wait while a gate is closed.
    private func openOwn(_ control: GatedDevice.Control) throws -> StorageFile {
        var options = StorageOptions()
        options.makeDevice = { GatedDevice($0, control) }
        return try open(options)
    }

    private func makeScheduler(_ file: StorageFile) -> WriteScheduler {
        WriteScheduler(file: file, ioThread: DedicatedThread(name: "test-io"), didPublish: { _ in })
    }

    @Test("An asynchronous write that has to end it blocks no actor")
    func blocksNoActor() async throws {
        let control = GatedDevice.Control()
        var configuration = file.configuration
        configuration.keepLog()
        let adjust = configuration.adjustLog
        configuration.adjustLog = { log in
            adjust?(&log)
            log.pagesOnDemand = true
        }
        configuration.makeDevice = { GatedDevice($0, control) }
        try withNewRealm(configuration) { $0.close() }
        let other = try openOther()
        let place = OwingAsyncWritesTests.Place()
        _ = try await place.open(configuration)
        control.close()
        let limit = Task {
            try await Task.sleep(for: .seconds(1_800))
            control.open()
        }
        defer { limit.cancel() }
        let writing = Task { try await place.add("mine") }
        let deadline = ContinuousClock.now + .seconds(1_700)
        while !control.isHolding, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(1)) }
        #expect(control.isHolding)
        #expect(await place.names() == [])
        // The flush is not over.
        #expect(control.isHolding)
        control.open()
        try await writing.value
        #expect(await place.names() == ["mine"])
        await place.close()
        withExtendedLifetime(other) {}
    }

    @Test("The turn to write comes behind its end, for which writers wait as for the lock", arguments: [false, true])
    func waited(isHeld: Bool) async throws {
        let other = try openOther()
        let control = GatedDevice.Control()
        let own = try openOwn(control)
        let lock = try #require(own.lock)
        let scheduler = makeScheduler(own)
        if isHeld { try other.lockForWriting() }
        control.close()
        let isGranted = Mutex(false)
        let waiting = Task {
            let turn = try await scheduler.acquire(for: .none)
            isGranted.withLock { $0 = true }
            return turn
        }
        if isHeld {
            while other.waitingProcessCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
            other.unlockForWriting()
        }
        while !control.isHolding, !isGranted.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
        let isEarly = isGranted.withLock { $0 }
        try #require(!isEarly)
        let timeout = await #expect(throws: WriteScheduler.TurnTimeout.self) {
            try await scheduler.acquire(for: .none, deadline: ContinuousClock.now + .milliseconds(20))
        }
        // Nobody looks for a write of this process.
        #expect(timeout?.holder.contains("to end the log of another one") == true)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(control.isHolding)
        control.open()
        let turn = try await scheduler.acquire(for: .none)
        #expect(lock.logState == .none)
        scheduler.finish(turn)
    }

    @Test("Why it cannot be ended is told to whoever waits for the turn, and the lock is given back")
    func failure() async throws {
        let other = try openOther()
        let own = try openOwn(GatedDevice.Control())
        let scheduler = makeScheduler(own)
        let lock = try #require(own.lock)
        lock.stopWriting()
        let failure = await #expect(throws: StorageError.self) { try await scheduler.acquire(for: .none) }
        #expect(failure?.code == .writingStopped)
        let isFree = try other.tryLockForWriting()
        #expect(isFree)
        if isFree { other.unlockForWriting() }
    }
}
