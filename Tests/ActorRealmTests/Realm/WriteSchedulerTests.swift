import Dispatch
import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm
@testable import RealmStorage

@Suite("The write scheduler lets writers take turns and flushes their commits")
struct WriteSchedulerTests {
    /// A file and its scheduler.
    struct Fixture {
        let directory = TemporaryDirectory()
        let file: StorageFile
        let scheduler: WriteScheduler
        let ioThread = DedicatedThread(name: "test-io")

        init(
            durability: StorageOptions.Durability = .flushed,
            holdLimit: UInt64 = 10_000_000,
            clock: WriteScheduler.Clock = .system
        ) throws {
            var options = StorageOptions()
            options.durability = durability
            file = try StorageFile.open(path: directory.path("scheduler.realm"), options: options)
            scheduler = WriteScheduler(file: file, ioThread: ioThread, clock: clock, holdLimit: holdLimit) { _ in }
        }
    }

    /// One actor whose tasks write.
    actor Writer {
        var log: [Int] = []

        func write(_ number: Int, _ scheduler: WriteScheduler, _ file: StorageFile) async throws {
            let turn = try await scheduler.acquire(for: .object(ObjectIdentifier(self)))
            log.append(number)
            scheduler.transactionBegins()
            let commit = try file.beginWrite().prepareCommit()
            _ = try await scheduler.commit(commit, ending: turn).get()
        }

        func begin(_ scheduler: WriteScheduler, isOpenEnded: Bool) {
            scheduler.transactionBegins(isOpenEnded: isOpenEnded)
        }

        func writeSynchronously(_ number: Int, _ scheduler: WriteScheduler, _ file: StorageFile) throws {
            let turn = try scheduler.acquireBlocking(for: .object(ObjectIdentifier(self)))
            log.append(number)
            scheduler.transactionBegins()
            let commit = try file.beginWrite().prepareCommit()
            _ = try scheduler.commitBlocking(commit, ending: turn).get()
        }
    }

    @Test("Every task resumes when its own commit is durable")
    func durability() async throws {
        let fixture = try Fixture()
        let file = fixture.file
        let scheduler = fixture.scheduler
        let first = file.newestVersion
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<50 {
                let writer = Writer()
                group.addTask {
                    try await writer.write(index, scheduler, file)
                    #expect(file.newestVersion > first)
                }
            }
            try await group.waitForAll()
        }
        #expect(file.newestVersion == first + 50)
    }

    @Test("Commits that wait share their flushes")
    func grouping() async throws {
        let fixture = try Fixture(holdLimit: .max)
        let file = fixture.file
        let scheduler = fixture.scheduler
        let writer = Writer()
        // The disk is busy until all commits are prepared.
        let disk = ThreadGate<Void>()
        fixture.ioThread.perform { disk.wait() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<200 { group.addTask { try await writer.write(index, scheduler, file) } }
            while scheduler.preparedCount < 200 { await Task.yield() }
            disk.open(with: ())
            try await group.waitForAll()
        }
        #expect(scheduler.statistics.commits == 200)
        #expect(scheduler.statistics.flushes == 1)
    }

    /// A clock that stands, whose writes follow each other therefore, and a scheduler that keeps the lock behind them.
    private func keepingFixture(_ clock: WriteScheduler.Clock) async throws -> Fixture {
        let fixture = try Fixture(durability: .none, clock: clock)
        try await Writer().writeSynchronously(1, fixture.scheduler, fixture.file)
        #expect(try !ForeignWriteLock.isHeld(of: fixture.file.path), "one write is no loop")
        try await Writer().writeSynchronously(2, fixture.scheduler, fixture.file)
        return fixture
    }

    @Test("Writes that follow each other keep the lock, which is free as soon as none has followed for a moment")
    func keptLock() async throws {
        let clock = HandClock()
        let fixture = try await keepingFixture(clock.clock)
        #expect(try ForeignWriteLock.isHeld(of: fixture.file.path))
        try await Writer().writeSynchronously(3, fixture.scheduler, fixture.file)
        #expect(clock.alarmCount == 1)
        clock.advance(seconds: 0.005)
        #expect(try !ForeignWriteLock.isHeld(of: fixture.file.path))
        #expect(clock.alarmCount == 0)
        try await Writer().writeSynchronously(4, fixture.scheduler, fixture.file)
        #expect(try !ForeignWriteLock.isHeld(of: fixture.file.path), "the pause was too long")
    }

    @Test("A lock that is kept is free at the close, when another process has the file, and where no alarm is set")
    func keptLockEnds() async throws {
        let clock = HandClock()
        let closed = try await keepingFixture(clock.clock)
        closed.scheduler.endKeeping()
        #expect(try !ForeignWriteLock.isHeld(of: closed.file.path))
        clock.advance(seconds: 1)
        let shared = try await keepingFixture(clock.clock)
        do {
            let other = try StorageFile.openUnshared(
                data: DataFile.open(path: shared.file.path, isReadOnly: false),
                path: shared.file.path,
                options: StorageOptions()
            )
            #expect(shared.file.hasOtherProcesses && other.hasOtherProcesses)
            try await Writer().writeSynchronously(3, shared.scheduler, shared.file)
            #expect(try !ForeignWriteLock.isHeld(of: shared.file.path))
        }
        #expect(!shared.file.hasOtherProcesses)
        var hasNoThread = clock.clock
        hasNoThread.wakeSoon = { _, _ in false }
        let unseen = try await keepingFixture(hasNoThread)
        for number in 3...5 {
            #expect(try !ForeignWriteLock.isHeld(of: unseen.file.path))
            try await Writer().writeSynchronously(number, unseen.scheduler, unseen.file)
        }
        #expect(try !ForeignWriteLock.isHeld(of: unseen.file.path))
    }

    @Test("Behind the last flush of a file that is closed no lock is kept, also where that comes later")
    func keptLockOfLateFlush() async throws {
        let fixture = try await keepingFixture(HandClock().clock)
        let turn = try await fixture.scheduler.acquire(for: .none)
        fixture.scheduler.transactionBegins()
        let commit = try fixture.file.beginWrite().prepareCommit()
        let disk = ThreadGate<Void>()
        fixture.ioThread.perform { disk.wait() }
        fixture.scheduler.commit(commit, ending: turn) { _ in }
        fixture.scheduler.endKeeping()
        #expect(try ForeignWriteLock.isHeld(of: fixture.file.path))
        disk.open(with: ())
        fixture.scheduler.waitForFlushes()
        #expect(try !ForeignWriteLock.isHeld(of: fixture.file.path))
    }

    @Test("Who waits for the lock is told since when the writer writes, and not since when its process keeps the lock")
    func keptLockOfHolder() async throws {
        let fixture = try await keepingFixture(HandClock().clock)
        #expect(try ForeignWriteLock.isHeld(of: fixture.file.path))
        let start = ContinuousClock.now
        try await Task.sleep(for: .milliseconds(300))
        let turn = try await fixture.scheduler.acquire(for: .none)
        let kept = ContinuousClock.now - start
        let transaction = try fixture.file.beginWrite()
        let holder = try #require(fixture.file.writeLockHolder)
        #expect(.nanoseconds(holder.nanoseconds) < kept, "\(holder.nanoseconds)")
        transaction.rollback()
        fixture.scheduler.finish(turn)
    }

    @Test("While another process has the lock, a hundred waiting writers hold up nobody else")
    func foreignLock() async throws {
        let fixture = try Fixture()
        let file = fixture.file
        let scheduler = fixture.scheduler
        let lock = try ForeignWriteLock(of: file.path)
        let writer = Writer()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<100 { group.addTask { try await writer.write(index, scheduler, file) } }
            while scheduler.waitingCount < 100 { await Task.yield() }
            let finished = Counter()
            await withTaskGroup(of: Void.self) { others in
                for _ in 0..<1_000 {
                    others.addTask {
                        await Task.yield()
                        finished.increment()
                    }
                }
            }
            #expect(finished.value == 1_000)
            #expect(await writer.log.isEmpty, "nobody may write while another process has the lock")
            #expect(scheduler.waitingCount == 100, "and nobody has been chosen to")
            lock.release()
            try await group.waitForAll()
        }
        #expect(await writer.log.count == 100)
    }

    @Test("A writer that fails at once leaves no deadline behind")
    func failingWithDeadline() async throws {
        let directory = TemporaryDirectory()
        let failures = StepFailures()
        var options = StorageOptions()
        options.failures = failures
        let file = try StorageFile.open(path: directory.path("scheduler.realm"), options: options)
        let scheduler = WriteScheduler(file: file, ioThread: DedicatedThread(name: "test-io")) { _ in }
        let deadline = ContinuousClock.now + .seconds(3_600)
        for _ in 0..<3 {
            failures.arm(after: 0)
            await #expect(throws: StorageError.self) {
                _ = try await scheduler.acquire(for: .none, deadline: deadline)
            }
            #expect(failures.outcome.failed == .lock)
            failures.arm(after: 0)
            _ = scheduler.acquire(for: .none, deadline: deadline) { _, _ in }
            #expect(failures.outcome.failed == .lock)
        }
        let later = deadline + .seconds(1)
        let left = scheduler.state.withLock { $0.deadlines.look(at: later, calledFor: later).due.count }
        #expect(left == 0)
    }

    @Test("Waiting tasks write in the order in which they came")
    func order() async throws {
        let fixture = try Fixture(durability: .none)
        let file = fixture.file
        let scheduler = fixture.scheduler
        let lock = try ForeignWriteLock(of: file.path)
        let writer = Writer()
        var tasks: [Task<Void, any Error>] = []
        for index in 0..<20 {
            tasks.append(Task { try await writer.write(index, scheduler, file) })
            while scheduler.waitingCount <= index { await Task.yield() }
        }
        lock.release()
        for task in tasks { try await task.value }
        #expect(await writer.log == Array(0..<20))
    }

    @Test("A task that is cancelled while it waits throws, and disturbs nobody")
    func cancellation() async throws {
        let fixture = try Fixture(durability: .none)
        let file = fixture.file
        let scheduler = fixture.scheduler
        let lock = try ForeignWriteLock(of: file.path)
        let writer = Writer()
        var tasks: [Task<Void, any Error>] = []
        for index in 0..<30 {
            tasks.append(Task { try await writer.write(index, scheduler, file) })
            while scheduler.waitingCount <= index { await Task.yield() }
        }
        for index in stride(from: 0, to: 30, by: 3) { tasks[index].cancel() }
        lock.release()
        for (index, task) in tasks.enumerated() {
            if index % 3 == 0 {
                await #expect(throws: CancellationError.self) { try await task.value }
            } else {
                try await task.value
            }
        }
        #expect(await writer.log == (0..<30).filter { $0 % 3 != 0 })
    }

    @Test("A writer that is cancelled before it waits is told so when it does", .timeLimit(.minutes(60)))
    func cancelledEarly() throws {
        let fixture = try Fixture(durability: .none)
        let scheduler = fixture.scheduler
        let lock = try ForeignWriteLock(of: fixture.file.path)
        let (ticket, isGranted) = scheduler.enqueue(.asynchronous, for: .none, priority: .medium)
        #expect(!isGranted)
        #expect(scheduler.cancel(ticket))
        let told = LockedArray<String>()
        scheduler.register(.callback { told.append("\($0)") }, for: ticket)
        #expect(told.all == ["cancelled"])
        lock.release()
    }

    @Test("Synchronous and asynchronous writers mix without deadlock or loss", .timeLimit(.minutes(60)))
    func mixture() async throws {
        let fixture = try Fixture(durability: .none)
        let file = fixture.file
        let scheduler = fixture.scheduler
        let first = file.newestVersion
        try await withThrowingTaskGroup(of: Void.self) { group in
            let writers = [Writer(), Writer(), Writer()]
            for index in 0..<300 {
                let writer = writers[index % 3]
                if index % 4 == 0 {
                    group.addTask { try await writer.writeSynchronously(index, scheduler, file) }
                } else {
                    group.addTask { try await writer.write(index, scheduler, file) }
                }
            }
            try await group.waitForAll()
        }
        #expect(file.newestVersion == first + 300)
    }

    @Test("Blocked threads of the whole pool do not keep each other waiting for ever", .timeLimit(.minutes(60)))
    func blockedPool() async throws {
        let fixture = try Fixture(durability: .none)
        let file = fixture.file
        let scheduler = fixture.scheduler
        let first = file.newestVersion
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<16 {
                let blocking = Writer()
                let suspending = Writer()
                group.addTask { try await suspending.write(index, scheduler, file) }
                group.addTask { try await blocking.writeSynchronously(index, scheduler, file) }
            }
            try await group.waitForAll()
        }
        #expect(file.newestVersion == first + 32)
    }

    @Test("Only a transaction that no block ends counts as one whose task may need a thread of the pool")
    func openEnded() async throws {
        let fixture = try Fixture(durability: .none)
        let scheduler = fixture.scheduler
        let actor = Writer()
        for isOpenEnded in [false, true, false] {
            let turn = try await scheduler.acquire(for: .object(ObjectIdentifier(actor)))
            await actor.begin(scheduler, isOpenEnded: isOpenEnded)
            #expect(scheduler.state.withLock { $0.holderOnPool } == (isOpenEnded ? turn : nil))
            scheduler.finish(turn)
            #expect(scheduler.state.withLock { $0.holderOnPool } == nil)
        }
        // On a thread of its own, a transaction goes on without the pool.
        let turn = try await scheduler.acquire(for: .object(ObjectIdentifier(actor)))
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                scheduler.transactionBegins(isOpenEnded: true)
                continuation.resume()
            }
        }
        #expect(scheduler.state.withLock { $0.holderOnPool } == nil)
        scheduler.finish(turn)
    }
}
