import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm
@testable import RealmStorage

@Suite("Writers wait for as long as it takes, and never in silence", .timeLimit(.minutes(60)))
struct LongWaitTests {
    let file = TestFile()

    actor Store {
        var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        var waitingCount: Int { realm.core.coordinator.writes.waitingCount }
        var count: Int { realm.objects(Tally.self).count }

        func add(_ name: String, _ options: Realm.WriteOptions? = nil) async throws {
            if let options {
                try await realm.asyncWrite(options) { $0.create(Tally.self, value: ["name": name]) }
            } else {
                try await realm.asyncWrite { _ = realm.create(Tally.self, value: ["name": name]) }
            }
        }

        func addBlocking(_ name: String, _ options: Realm.WriteOptions = .init()) throws {
            try realm.write(options) { _ = realm.create(Tally.self, value: ["name": name]) }
        }

        func begin() async throws { try await realm.beginAsyncWrite().cancel() }

        func beginBlocking() throws {
            try realm.beginWriteTransaction()
            realm.cancelWrite()
        }

        func addByCallback(_ name: String) async -> (any Error)? {
            let (results, result) = AsyncStream<(any Error)?>.makeStream()
            realm.writeAsync {
                self.assumeIsolated { _ = $0.realm.create(Tally.self, value: ["name": name]) }
            } onComplete: {
                result.yield($0)
                result.finish()
            }
            for await error in results { return error }
            return nil
        }

        func beginByCallback() {
            realm.beginAsyncWrite { Issue.record("the turn came") }
        }

        /// Waits for a turn, and gives it back.
        func beginByCallbackAndReturn() async {
            let (turns, turn) = AsyncStream<Void>.makeStream()
            realm.beginAsyncWrite { turn.finish() }
            for await _ in turns {}
        }

        /// Holds the lock until it is told to go on.
        func hold(until release: AsyncStream<Void>, then started: AsyncStream<Void>.Continuation) async throws {
            let transaction = try await realm.beginAsyncWrite()
            started.finish()
            for await _ in release {}
            transaction.cancel()
        }
    }

    private func loud(_ clock: HandClock, _ log: Journal<String>) -> Realm.Configuration {
        var configuration = file.fast
        configuration.clock = clock.clock
        configuration.logger = Logger(level: .warn) { _, message in log.add(message) }
        return configuration
    }

    @Test(
        "A writer that has waited for ten seconds is named with who has the lock, and again every minute, until its turn comes"
    )
    func warnings() async throws {
        let clock = HandClock()
        let log = Journal<String>()
        let configuration = loud(clock, log)
        let holder = try await Store(configuration)
        let store = try await Store(configuration)
        let (release, releaser) = AsyncStream<Void>.makeStream()
        let (started, starter) = AsyncStream<Void>.makeStream()
        let holding = Task { try await holder.hold(until: release, then: starter) }
        for await _ in started {}
        let writing = Task { try await store.add("a") }
        while clock.alarmCount == 0 { await Task.yield() }
        clock.advance(seconds: 9.9)
        #expect(log.entries.isEmpty)
        clock.advance(seconds: 0.1)
        #expect(log.entries.count == 1)
        let text = log.entries.first ?? "nothing"
        for part in [
            "A writer waits", "since 10.0 s", "LongWaitTests.swift", "this process (\(getpid())", "10.0 s ago",
        ] {
            #expect(text.contains(part), "\(text)")
        }
        clock.advance(seconds: 59.9)
        #expect(log.entries.count == 1)
        clock.advance(seconds: 0.1)
        #expect(log.entries.count == 2)
        clock.advance(seconds: 120)
        #expect(log.entries.count == 4)
        releaser.finish()
        try await holding.value
        try await writing.value
        clock.advance(seconds: 600)
        #expect(log.entries.count == 4 && clock.alarmCount == 0)
        #expect(await store.count == 1)
    }

    @Test("One line speaks of all that wait; who comes later is spoken of after ten seconds of its own")
    func several() async throws {
        let clock = HandClock()
        let log = Journal<String>()
        let configuration = loud(clock, log)
        let store = try await Store(configuration)
        let lock = try ForeignWriteLock(of: #require(configuration.fileURL?.path))
        var tasks: [Task<Void, any Error>] = []
        func wait() async {
            let before = await store.waitingCount
            tasks.append(Task { try await store.add("\(before)") })
            while await store.waitingCount == before { await Task.yield() }
        }
        await wait()
        clock.advance(seconds: 4)
        await wait()
        clock.advance(seconds: 6)
        #expect(log.entries.map { $0.contains("2 writers wait") } == [true])
        clock.advance(seconds: 0.5)
        await wait()
        while clock.alarmCount < 2 { await Task.yield() }
        clock.advance(seconds: 9)
        #expect(log.entries.count == 1)
        clock.advance(seconds: 1)
        #expect(log.entries.count == 2 && log.entries[1].contains("3 writers wait"), "\(log.entries)")
        lock.release()
        for task in tasks { try await task.value }
        #expect(await store.count == 3)
    }

    @Test(
        "Every form of writing waits aloud",
        arguments: ["asyncWrite", "write", "writeAsync", "begin", "beginByCallback", "beginWrite", "beginBlocking"]
    )
    func forms(form: String) async throws {
        let clock = HandClock()
        let log = Journal<String>()
        let configuration = loud(clock, log)
        let store = try await Store(configuration)
        let lock = try ForeignWriteLock(of: #require(configuration.fileURL?.path))
        let done = Counter()
        // What blocks does so on a thread of its own: the pool's are for the tests.
        func onThread(_ body: @escaping @Sendable (Realm) throws -> Void) {
            Thread.detachNewThread {
                do { try body(Realm(configuration: configuration)) } catch { Issue.record(error) }
                done.increment()
            }
        }
        func inTask(_ body: @escaping @Sendable () async throws -> Void) {
            Task {
                do { try await body() } catch { Issue.record(error) }
                done.increment()
            }
        }
        switch form {
        case "asyncWrite": inTask { try await store.add("a") }
        case "write": onThread { realm in try realm.write {} }
        case "writeAsync": inTask { if let error = await store.addByCallback("a") { throw error } }
        case "begin": inTask { try await store.begin() }
        case "beginByCallback": inTask { await store.beginByCallbackAndReturn() }
        case "beginWrite":
            onThread { realm in
                realm.beginWrite()
                realm.cancelWrite()
            }
        default:
            onThread { realm in
                try realm.beginWriteTransaction()
                realm.cancelWrite()
            }
        }
        while clock.alarmCount == 0 { await Task.yield() }
        clock.advance(seconds: 10)
        #expect(log.entries.count == 1, "\(log.entries)")
        lock.release()
        _ = await eventually { done.value == 1 }
    }

    private func scheduler(_ file: StorageFile, _ clock: HandClock, _ waits: Journal<WriteScheduler.LongWait>)
        -> WriteScheduler
    {
        WriteScheduler(
            file: file,
            ioThread: DedicatedThread(name: "test-io"),
            clock: clock.clock,
            report: { waits.add($0) },
            didPublish: { _ in }
        )
    }

    private static func wait(for event: DispatchSemaphore) { event.wait() }

    @Test("A process that migrates is named with the place where it opens its realm")
    func migrating() async throws {
        var configuration = file.configuration
        try withNewRealm(configuration) { _ in }
        let path = try #require(configuration.fileURL?.path)
        let second = try StorageFile.openUnshared(
            data: try StorageFile.openData(path: path, options: StorageOptions()),
            path: path,
            options: StorageOptions()
        )
        let (begun, gate, done) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        configuration.schemaVersion += 1
        configuration.migrationBlock = { _, _ in
            begun.signal()
            gate.wait()
        }
        Thread.detachNewThread { [configuration] in
            let opener = Opener(origin: ReaderOrigin(fileID: "Migrating/Program.swift", line: 9))
            #expect(throws: Never.self) { try Realm.prepare(configuration, for: opener) }
            done.signal()
        }
        Self.wait(for: begun)
        let clock = HandClock()
        let waits = Journal<WriteScheduler.LongWait>()
        let waiter = scheduler(second, clock, waits)
        let waiting = Task { try await waiter.acquire(for: .none) }
        while clock.alarmCount == 0 { await Task.yield() }
        clock.advance(seconds: 10)
        let text = waits.entries.first?.holder ?? "nothing"
        #expect(text.contains("opened at Migrating/Program.swift:9"), "\(text)")
        gate.signal()
        Self.wait(for: done)
        waiter.finish(try await waiting.value)
    }

    @Test("A process that has the lock is named with the place where it opened its realm, and since when")
    func otherProcess() async throws {
        let path = file.directory.path("other.realm")
        let clock = HandClock()
        let waits = Journal<WriteScheduler.LongWait>()
        let first = try StorageFile.open(path: path)
        // As another process has it.
        let second = try StorageFile.openUnshared(
            data: try StorageFile.openData(path: path, options: StorageOptions()),
            path: path,
            options: StorageOptions()
        )
        let holder = scheduler(first, clock, waits)
        let waiter = scheduler(second, clock, waits)
        let turn = try await holder.acquire(for: .none)
        holder.transactionBegins()
        let transaction = try first.beginWrite(from: ReaderOrigin(fileID: "Other/Program.swift", line: 7))
        let waiting = Task { try await waiter.acquire(for: .none) }
        while clock.alarmCount == 0 { await Task.yield() }
        clock.advance(seconds: 10)
        let text = waits.entries.first?.holder ?? "nothing"
        for part in ["process \(getpid())", "opened at Other/Program.swift:7", "s ago"] {
            #expect(text.contains(part), "\(text)")
        }
        transaction.rollback()
        holder.finish(turn)
        waiter.finish(try await waiting.value)
    }

    @Test(
        "Commits on their way to the disk are named with the place and the time of the write that made the last of them"
    )
    func flush() async throws {
        let path = file.directory.path("flushed.realm")
        let clock = HandClock()
        let waits = Journal<WriteScheduler.LongWait>()
        let first = try StorageFile.open(path: path)
        let second = try StorageFile.openUnshared(
            data: try StorageFile.openData(path: path, options: StorageOptions()),
            path: path,
            options: StorageOptions()
        )
        let ioThread = DedicatedThread(name: "test-io")
        let holder = WriteScheduler(
            file: first,
            ioThread: ioThread,
            clock: clock.clock,
            // As soon as another process waits, nobody of this one begins before it.
            holdLimit: 0,
            report: { waits.add($0) },
            didPublish: { _ in }
        )
        let other = WriteScheduler(
            file: second,
            ioThread: DedicatedThread(name: "other-io"),
            clock: HandClock().clock,
            didPublish: { _ in }
        )
        // The disk is busy.
        let disk = ThreadGate<Void>()
        ioThread.perform { disk.wait() }
        let origin = ReaderOrigin(fileID: "Program/Main.swift", line: 12)
        let turn = try await holder.acquire(for: .none, origin: origin)
        clock.advance(seconds: 5)
        let others = Task { try await other.acquire(for: .none) }
        while !first.hasWaitingProcesses { await Task.yield() }
        holder.transactionBegins()
        let commit = try first.beginWrite().prepareCommit()
        let committing = Task { _ = try await holder.commit(commit, ending: turn).get() }
        while holder.preparedCount == 0 { await Task.yield() }
        let waiting = Task { try await holder.acquire(for: .none) }
        while clock.alarmCount == 0 { await Task.yield() }
        clock.advance(seconds: 10)
        #expect(waits.entries.count == 1)
        let text = waits.entries.first?.holder ?? "nothing"
        for part in [
            "this process (\(getpid())", "on their way to the disk", "begun at Program/Main.swift:12 15.0 s ago",
        ] {
            #expect(text.contains(part), "\(text)")
        }
        disk.open(with: ())
        try await committing.value
        other.finish(try await others.value)
        holder.finish(try await waiting.value)
    }

    @Test("Where the system starts no thread for the first look, the next writer that waits has all of them named")
    func noThread() async throws {
        let clock = HandClock()
        let log = Journal<String>()
        let refusals = Counter()
        var configuration = loud(clock, log)
        let sound = clock.clock
        configuration.clock.wake = { pause, body in
            // As `AlarmThread` does when `pthread_create` fails: nothing is called.
            if refusals.value > 0 { return sound.wake(pause, body) }
            refusals.increment()
            return false
        }
        let store = try await Store(configuration)
        let lock = try ForeignWriteLock(of: #require(configuration.fileURL?.path))
        let first = Task { try await store.add("a") }
        while refusals.value == 0 { await Task.yield() }
        clock.advance(seconds: 12)
        #expect(log.entries.isEmpty && clock.alarmCount == 0)
        let second = Task { try await store.add("b") }
        #expect(await eventually { clock.alarmCount > 0 })
        clock.advance(seconds: 0)
        #expect(
            log.entries.map { $0.contains("2 writers wait") && $0.contains("12.0 s ago") } == [true],
            "\(log.entries)"
        )
        clock.advance(seconds: 60)
        #expect(log.entries.count == 2)
        lock.release()
        try await first.value
        try await second.value
    }

    private func code(_ body: () async throws -> Void) async -> Realm.Error.Code? {
        do {
            try await body()
            return nil
        } catch { return (error as? Realm.Error)?.code }
    }

    @Test("The configuration's timeout is that of every form that can throw, and a write's own goes before it")
    func timeouts() async throws {
        var configuration = file.fast
        configuration.writeTimeout = .milliseconds(20)
        let store = try await Store(configuration)
        let lock = try ForeignWriteLock(of: #require(configuration.fileURL?.path))
        #expect(await code { try await store.add("a") } == .timedOut)
        #expect(await code { try await store.addBlocking("b") } == .timedOut)
        #expect(await code { try await store.begin() } == .timedOut)
        #expect(await code { try await store.beginBlocking() } == .timedOut)
        #expect((await store.addByCallback("c") as? Realm.Error)?.code == .timedOut)
        let patient = Task { try await store.add("d", Realm.WriteOptions(timeout: .seconds(Int64.max) * 9)) }
        while await store.waitingCount == 0 { await Task.yield() }
        #expect(await code { try await store.add("e", Realm.WriteOptions(timeout: .seconds(-1))) } == .timedOut)
        lock.release()
        try await patient.value
        #expect(await store.count == 1)
    }

    @Test("beginWrite() waits, whatever the configuration says")
    func patience() async throws {
        var configuration = file.fast
        configuration.writeTimeout = .zero
        let other = try await Store(configuration)
        let lock = try ForeignWriteLock(of: #require(configuration.fileURL?.path))
        let written = Counter()
        Thread.detachNewThread { [configuration] in
            do {
                let realm = try Realm(configuration: configuration)
                realm.beginWrite()
                realm.create(Tally.self, value: ["name": "a"])
                try realm.commitWrite()
            } catch { Issue.record(error) }
            written.increment()
        }
        while await other.waitingCount == 0 { await Task.yield() }
        // One that came later has given up.
        #expect(await code { try await other.add("b") } == .timedOut)
        #expect(await other.waitingCount == 1)
        lock.release()
        _ = await eventually { written.value == 1 }
        #expect(await eventually { await other.count == 1 })
    }

    @Test("A write without a completion block, whose turn does not come in time, is a line of the log")
    func unheardTimeout() async throws {
        let log = Journal<String>()
        var configuration = file.fast
        configuration.writeTimeout = .milliseconds(1)
        configuration.logger = Logger(level: .error) { _, message in log.add(message) }
        try withNewRealm(configuration) { _ in }
        let lock = try ForeignWriteLock(of: #require(configuration.fileURL).path)
        let store = try await Store(configuration)
        await store.beginByCallback()
        while log.entries.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        #expect(log.entries.first?.contains("An asynchronous write failed, and no block") == true, "\(log.entries)")
        lock.release()
    }
}
