import Dispatch
import Foundation
import Testing

@testable import ActorRealm

@Suite("A wait for the write lock can be limited, and the error says who has it", .timeLimit(.minutes(60)))
struct WriteTimeoutTests {
    let file = TestFile()

    actor Store {
        var realm: Realm!
        private(set) var log: [String] = []
        /// The writes that stand in the queue, or did.
        private(set) var arrivals = 0

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        var count: Int { realm.objects(Tally.self).count }
        var waitingCount: Int { realm.core.coordinator.writes.waitingCount }

        func add(_ name: String, timeout: Duration? = nil) async throws {
            arrivals += 1
            if let timeout {
                try await realm.asyncWrite(timeout: timeout) { create(name) }
            } else {
                try await realm.asyncWrite { create(name) }
            }
        }

        func addWithRealm(_ name: String, timeout: Duration) async throws {
            try await realm.asyncWrite(timeout: timeout) { _ = $0.create(Tally.self, value: ["name": name]) }
        }

        func addBlocking(_ name: String, timeout: Duration) throws {
            try realm.write(timeout: timeout) { create(name) }
        }

        func begin(timeout: Duration) async throws {
            try await realm.beginAsyncWrite(timeout: timeout).cancel()
        }

        /// Holds the lock until it is told to go on.
        func hold(until release: AsyncStream<Void>, then started: AsyncStream<Void>.Continuation) async throws {
            let transaction = try await realm.beginAsyncWrite()
            started.finish()
            for await _ in release {}
            transaction.cancel()
        }

        private func create(_ name: String) {
            log.append(name)
            realm.create(Tally.self, value: ["name": name])
        }
    }

    private func error(_ body: () async throws -> Void) async -> Realm.Error? {
        do {
            try await body()
            return nil
        } catch {
            return error as? Realm.Error
        }
    }

    @Test("While another process writes, each form gives up in time and names that process")
    func otherProcess() async throws {
        let configuration = file.fast
        let store = try await Store(configuration)
        let lock = try ForeignWriteLock(of: #require(configuration.fileURL?.path))
        let started = ContinuousClock.now
        let errors = await [
            error { try await store.add("a", timeout: .milliseconds(50)) },
            error { try await store.addWithRealm("b", timeout: .milliseconds(50)) },
            error { try await store.addBlocking("c", timeout: .milliseconds(50)) },
            error { try await store.begin(timeout: .milliseconds(50)) },
        ]
        #expect(ContinuousClock.now - started >= .milliseconds(200))
        for error in errors {
            #expect(error?.code == .timedOut)
            #expect(error?.message.contains("process") == true, "\(error?.message ?? "no error")")
            #expect(error?.details?.holder?.contains("process") == true)
        }
        #expect(await store.log.isEmpty)
        lock.release()
        try await store.add("after", timeout: .seconds(1_800))
        #expect(await store.count == 1)
    }

    @Test("The writer of this process that holds the lock is named with its place in the program")
    func ownProcess() async throws {
        let configuration = file.fast
        let holder = try await Store(configuration)
        let store = try await Store(configuration)
        let (release, releaser) = AsyncStream<Void>.makeStream()
        let (started, starter) = AsyncStream<Void>.makeStream()
        let holding = Task { try await holder.hold(until: release, then: starter) }
        for await _ in started {}
        let failure = await error { try await store.add("a", timeout: .milliseconds(20)) }
        #expect(failure?.code == .timedOut)
        let message = failure?.message ?? ""
        #expect(message.contains("WriteTimeoutTests.swift"), "\(message)")
        #expect(message.contains("this process (\(getpid())"), "\(message)")
        #expect(failure?.details?.holder?.contains("WriteTimeoutTests.swift") == true)
        releaser.finish()
        try await holding.value
        try await store.add("b", timeout: .seconds(1_800))
        #expect(await store.count == 1)
    }

    @Test("Who gives up disturbs nobody: the others write in their order")
    func order() async throws {
        let configuration = file.fast
        let store = try await Store(configuration)
        let lock = try ForeignWriteLock(of: #require(configuration.fileURL?.path))
        var tasks: [Task<Void, any Error>] = []
        for index in 0..<30 {
            let timeout: Duration? = index % 3 == 1 ? .milliseconds(50) : nil
            tasks.append(Task { try await store.add("\(index)", timeout: timeout) })
            while await store.arrivals <= index { await Task.yield() }
        }
        for index in stride(from: 1, to: 30, by: 3) {
            await #expect(throws: Realm.Error(.timedOut, fileURL: configuration.fileURL)) {
                try await tasks[index].value
            }
        }
        lock.release()
        for (index, task) in tasks.enumerated() where index % 3 != 1 { try await task.value }
        #expect(await store.log == (0..<30).filter { $0 % 3 != 1 }.map { "\($0)" })
    }

    @Test("A write whose turn comes in time is not disturbed by its deadline")
    func inTime() async throws {
        let store = try await Store(file.fast)
        var written: [String] = []
        for index in 0..<200 {
            // Now and then one whose deadline comes shortly after its turn, or before it where the machine is busy.
            let isClose = index % 4 == 3
            do {
                try await store.add("\(index)", timeout: isClose ? .milliseconds(3) : .seconds(1_800))
                written.append("\(index)")
            } catch let error as Realm.Error where isClose && error.code == .timedOut {
            }
        }
        #expect(written.count >= 150)
        #expect(await store.log == written)
        #expect(await store.count == written.count)
    }

    @Test("Cancellation comes before the deadline when it comes first")
    func cancellation() async throws {
        let configuration = file.fast
        let store = try await Store(configuration)
        let lock = try ForeignWriteLock(of: #require(configuration.fileURL?.path))
        let task = Task { try await store.add("a", timeout: .seconds(1_800)) }
        while await store.waitingCount == 0 { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        lock.release()
        #expect(await store.count == 0)
    }

    @Test("Opening that has to write the schema gives up in time, too")
    @MainActor
    func opening() async throws {
        var configuration = file.fast
        configuration.objectTypes = [Todo.self]
        let keeper = try await Realm(configuration: configuration)
        configuration.objectTypes = [Todo.self, Tally.self]
        let path = try #require(configuration.fileURL?.path)
        let lock = try ForeignWriteLock(of: path)
        await #expect(throws: Realm.Error(.timedOut, fileURL: configuration.fileURL)) {
            _ = try await Realm.open(configuration: configuration, timeout: .milliseconds(50))
        }
        // The time that writes have is that of such an opening, too.
        configuration.writeTimeout = .milliseconds(50)
        await #expect(throws: Realm.Error(.timedOut, fileURL: configuration.fileURL)) {
            _ = try await Realm(configuration: configuration)
        }
        #expect(throws: Realm.Error(.timedOut, fileURL: configuration.fileURL)) {
            try withNewRealm(configuration) { _ in }
        }
        lock.release()
        let realm = try await Realm.open(configuration: configuration, timeout: .seconds(1_800))
        #expect(realm.isEmpty && keeper.isEmpty)
    }

    actor Blocker {
        /// Writes, blocking its thread.
        func write(_ configuration: Realm.Configuration) throws {
            try Realm(configuration: configuration).write(Self.nothing)
        }

        /// Keeps a transaction open until somebody gave up waiting for it.
        func hold(_ configuration: Realm.Configuration, until failures: Counter, _ begun: Counter) async throws {
            let realm = try await Realm(configuration: configuration)
            let transaction = try await realm.beginAsyncWrite()
            begun.increment()
            while failures.value == 0 { await Task.yield() }
            try await transaction.commit()
        }

        private static func nothing() {}
    }

    @Test(
        "When every thread of the pool blocks behind a transaction whose task needs one of them, one gives up and says why"
    )
    func wholePool() async {
        // In a process of its own: elsewhere other tests need the pool, too.
        await #expect(processExitsWith: .success) {
            let file = TestFile()
            let configuration = file.fast
            try withNewRealm(configuration) { _ in }
            let failures = Counter()
            let begun = Counter()
            let messages = Journal<String>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await Blocker().hold(configuration, until: failures, begun) }
                while begun.value == 0 { await Task.yield() }
                for _ in 0..<(2 * ProcessInfo.processInfo.activeProcessorCount) {
                    group.addTask {
                        do {
                            try await Blocker().write(configuration)
                        } catch let error as Realm.Error where error.code == .timedOut {
                            messages.add(error.message)
                            failures.increment()
                        }
                    }
                }
                // Without somebody who gives up this waits for ever.
                try await group.waitForAll()
            }
            let message = messages.entries.first ?? "nobody gave up"
            precondition(message.contains("for ever") && message.contains("WriteTimeoutTests.swift"), message)
            try withNewRealm(configuration) { try $0.write(timeout: .seconds(1_800)) {} }
        }
    }

    /// Whether a callback write gives up within seconds where every thread of the pool blocks; then the lock is released for these.
    private static func givesUp(_ configuration: Realm.Configuration, behind lock: ForeignWriteLock) -> Bool {
        defer { lock.release() }
        while !BlockedPool.swift.isExhausted { usleep(1_000) }
        let told = DispatchSemaphore(value: 0)
        let codes = Journal<Realm.Error.Code?>()
        let queue = DispatchQueue(label: "blocked pool")
        queue.async {
            do {
                let realm = try Realm(configuration: configuration, queue: queue)
                realm.writeAsync({}) { error in
                    codes.add((error as? Realm.Error)?.code)
                    told.signal()
                }
            } catch {
                told.signal()
            }
        }
        return told.wait(timeout: .now() + 5) == .success && codes.entries == [.timedOut]
    }

    @Test("A callback write gives up in time where every thread of the pool blocks")
    func blockedPool() async {
        // In a process of its own: elsewhere other tests need the pool, too.
        await #expect(processExitsWith: .success) {
            let file = TestFile()
            let configuration = file.fast
            let keeper = try await Store(configuration)
            guard let path = configuration.fileURL?.path else { preconditionFailure("The file has no path.") }
            let lock = try ForeignWriteLock(of: path)
            let count = 2 * ProcessInfo.processInfo.activeProcessorCount
            let writers = (0..<count).map { _ in Task.detached { try await Blocker().write(configuration) } }
            var patient = configuration
            patient.writeTimeout = .milliseconds(100)
            let limited = patient
            let isInTime = await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(returning: WriteTimeoutTests.givesUp(limited, behind: lock))
                }
            }
            for writer in writers { try await writer.value }
            precondition(isInTime)
            try await keeper.add("after")
        }
    }

    /// Writes, blocking the thread; how it went.
    private static func code(writing configuration: Realm.Configuration, timeout: Duration) -> Realm.Error.Code? {
        do {
            try Realm(configuration: configuration).write(timeout: timeout) {}
            return nil
        } catch {
            return (error as? Realm.Error)?.code ?? .fail
        }
    }

    @Test("A blocking write gives up in time, however often other threads of the pool begin to block meanwhile")
    func wokenAgainAndAgain() async {
        // In a process of its own, whose pool passes for blocked.
        await #expect(processExitsWith: .success) {
            let file = TestFile()
            let configuration = file.fast
            try withNewRealm(configuration) { _ in }
            guard let path = configuration.fileURL?.path else { preconditionFailure("The file has no path.") }
            let lock = try ForeignWriteLock(of: path)
            let pool = BlockedPool.swift
            for _ in 0..<pool.threadCount { pool.enter() }
            // As commits to other files do, without a pause; not for ever, so that the test ends.
            let (stops, stopped) = (Counter(), Counter())
            for _ in 0..<3 {
                Thread.detachNewThread {
                    let end = ContinuousClock.now + .seconds(10)
                    while stops.value == 0, ContinuousClock.now < end {
                        pool.enter()
                        pool.leave()
                    }
                    stopped.increment()
                }
            }
            let code =
                await Task.detached {
                    WriteTimeoutTests.code(writing: configuration, timeout: .milliseconds(100))
                }
                .value
            let isInTime = stopped.value == 0
            stops.increment()
            lock.release()
            precondition(code == .timedOut && isInTime, "\(String(describing: code)), \(isInTime)")
            withExtendedLifetime(file) {}
        }
    }

    @Test("A callback write that a blocking one has passed gives up in time, too")
    func passed() async throws {
        var configuration = file.fast
        configuration.writeTimeout = .milliseconds(50)
        let queue = DispatchQueue(label: "passed")
        let opened = configuration
        let error: Realm.Error? = await withCheckedContinuation { continuation in
            queue.async {
                do {
                    // Used on its queue only.
                    nonisolated(unsafe) let realm = try Realm(configuration: opened, queue: queue)
                    realm.writeAsync({}) { error in
                        if realm.isInWriteTransaction { realm.cancelWrite() }
                        continuation.resume(returning: error as? Realm.Error)
                    }
                    // Its turn has come, and it cannot begin before this job ends; nor then, as long as this is open.
                    realm.beginWrite()
                } catch {
                    Issue.record(error)
                    continuation.resume(returning: nil)
                }
            }
        }
        #expect(error?.code == .timedOut)
    }

    @Test("A limit may have any length")
    func anyLength() async throws {
        // In a process of its own, which an overflow would end.
        await #expect(processExitsWith: .success) {
            actor Opener {
                func run() async throws {
                    let configuration = Realm.Configuration(inMemoryIdentifier: "long", objectTypes: [Tally.self])
                    for timeout in [Duration(attoseconds: .max), Duration(attoseconds: .min), .zero] {
                        let realm = try? await Realm.open(configuration: configuration, timeout: timeout)
                        try? await realm?.asyncWrite(timeout: timeout) {}
                        try? realm?.write(timeout: timeout) {}
                        realm?.close()
                    }
                }
            }
            try await Opener().run()
        }
    }
}
