import Foundation
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

/// Asynchronous writes that are acknowledged by their records, while one realm has the file.
@Suite("Pages on demand, and asynchronous writes", .timeLimit(.minutes(60)))
struct OwingAsyncWritesTests {
    typealias Hook = OwedPagesOfRealmTests.Hook

    private let file = TestFile()
    private let clock = HandClock()
    var path: String { file.directory.path("test.realm") }

    func configuration(
        ringByteCount: Int? = nil,
        isOn: Bool = true,
        _ adjust: @escaping @Sendable (inout LogOptions) -> Void = { _ in }
    ) -> Realm.Configuration {
        var configuration = file.configuration
        configuration.keepLog(ringByteCount: ringByteCount)
        let before = configuration.adjustLog
        configuration.adjustLog = { log in
            before?(&log)
            log.pagesOnDemand = isOn
            adjust(&log)
        }
        configuration.clock = clock.clock
        return configuration
    }

    /// What an opening finds that comes behind a kill.
    func namesBehindKill() throws -> [String] {
        let copy = file.directory.path("killed-\(UInt64.random(in: 0 ... .max)).realm")
        for suffix in ["", ".log"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        return try namesInFile(at: copy)
    }

    private func namesInFile(at path: String) throws -> [String] {
        var configuration = file.configuration
        configuration.fileURL = URL(fileURLWithPath: path)
        return try withNewRealm(configuration) { realm in
            defer { realm.close() }
            try realm.verify()
            return realm.objects(Tally.self).map(\.name).sorted()
        }
    }

    struct Failure: Error {}

    actor Place {
        private var opened: Realm?
        private(set) var log: [String] = []

        var realm: Realm { opened! }

        func open(_ configuration: Realm.Configuration) async throws -> RealmCoordinator {
            let realm = try await Realm(configuration: configuration, actor: self)
            opened = realm
            return realm.core.coordinator
        }

        func add(_ name: String, throwing isThrowing: Bool = false) async throws {
            try await realm.asyncWrite {
                _ = realm.create(Tally.self, value: ["name": name])
                if isThrowing { throw Failure() }
            }
            log.append(name)
        }

        /// As many tasks, each of which has joined or is recorded when this returns; nothing is flushed while the thread is held.
        func begin(_ names: [String], throwing: Set<String> = []) -> [Task<Void, any Error>] {
            names.map { name in Task { try await self.add(name, throwing: throwing.contains(name)) } }
        }

        func addBlocking(_ name: String) throws {
            try realm.write { _ = realm.create(Tally.self, value: ["name": name]) }
        }

        func names() -> [String] { realm.objects(Tally.self).map(\.name).sorted() }

        func perform<Result: Sendable>(_ body: (Realm) throws -> Result) rethrows -> Result { try body(realm) }

        /// What is read behind a block that threw, before any other task of the actor goes on.
        func namesBehindRollback(_ coordinator: RealmCoordinator, _ hold: Hold) async -> [String] {
            hold.end()
            drain(coordinator)
            try? await realm.asyncWrite { throw Failure() }
            return names()
        }

        private func drain(_ coordinator: RealmCoordinator) {
            let isDone = DispatchSemaphore(value: 0)
            coordinator.io.thread.perform { isDone.signal() }
            isDone.wait()
        }

        /// What a task reads behind its commit while a transaction stands open.
        func namesBesideOpen(_ task: Task<Void, any Error>, _ hold: DispatchSemaphore) async throws -> [String] {
            let transaction = try await realm.beginAsyncWrite()
            _ = realm.create(Tally.self, value: ["name": "open"])
            let reading = Task {
                try await task.value
                return self.names()
            }
            hold.signal()
            let found = try await reading.value
            _ = realm.create(Tally.self, value: ["name": "still open"])
            try await transaction.commit()
            return found
        }

        /// So many objects in one write, with names that make the file much longer.
        func addMany(_ count: Int, of length: Int) async throws {
            try await realm.asyncWrite {
                for index in 0..<count {
                    _ = realm.create(Tally.self, value: ["name": "\(index)" + String(repeating: "x", count: length)])
                }
            }
        }

        /// What is found behind the commit of a transaction that was set aside: it begins while a record is being flushed, and is committed
        /// when that is acknowledged, and its pages are being written.
        func namesBehindCommit(
            _ task: Task<Void, any Error>,
            _ mayFlush: DispatchSemaphore,
            _ mayWrite: DispatchSemaphore
        ) async throws -> [String] {
            let transaction = try await realm.beginAsyncWrite()
            _ = realm.create(Tally.self, value: ["name": "open"])
            // It is set aside for that.
            _ = await Task { self.names() }.value
            mayFlush.signal()
            while realm.core.ahead.owedPages == nil { try await Task.sleep(for: .milliseconds(1)) }
            let failure: (any Error)? = await withCheckedContinuation { continuation in
                mayWrite.signal()
                realm.commitAsyncWrite { continuation.resume(returning: $0) }
            }
            if let failure { throw failure }
            try await task.value
            withExtendedLifetime(transaction) {}
            return names()
        }

        /// Whether a block stands on commits without pages.
        func joins(_ coordinator: RealmCoordinator) async throws -> Bool {
            try await realm.asyncWrite { coordinator.writes.owesPages }
        }

        func close() { realm.close() }
    }

    /// Holds the thread that flushes.
    final class Hold: Sendable {
        private let mayGo = DispatchSemaphore(value: 0)

        init(_ coordinator: RealmCoordinator) {
            let (isThere, mayGo) = (DispatchSemaphore(value: 0), mayGo)
            coordinator.io.thread.perform {
                isThere.signal()
                mayGo.wait()
            }
            isThere.wait()
        }

        func end() { mayGo.signal() }
    }

    /// Waits until so many commits are in a group or behind it.
    func waitForWriters(_ count: Int, _ coordinator: RealmCoordinator) async throws {
        let deadline = ContinuousClock.now + .seconds(1_800)
        while coordinator.writes.state.withLock({ $0.queue.recordedCount + $0.queue.joinedCount }) < count {
            try #require(ContinuousClock.now < deadline)
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// A realm of an actor with a log, which owes the pages of "b" and "c".
    func withOwing(
        _ configuration: Realm.Configuration? = nil,
        _ body: (Place, RealmCoordinator) async throws -> Void
    ) async throws {
        let place = Place()
        let coordinator = try await place.open(configuration ?? self.configuration())
        do {
            for name in ["a", "b", "c"] { try await place.add(name) }
            try #require(coordinator.writes.owesPages)
            try await body(place, coordinator)
        } catch {
            await place.close()
            throw error
        }
        await place.close()
    }

    func hooked(_ hook: Hook) -> Realm.Configuration {
        configuration { log in
            log.makeDirectory = { path in
                OwedPagesOfRealmTests.HookedDirectory(base: LogFile(besides: path), hook: { hook.call() })
            }
        }
    }

    /// A write whose record is being flushed, until the semaphore lets it go on; something happens behind that.
    func beginInFlush(
        _ name: String,
        _ place: Place,
        _ hook: Hook,
        _ body: @escaping @Sendable () -> Void = {}
    ) async throws -> (Task<Void, any Error>, DispatchSemaphore) {
        let mayGo = DispatchSemaphore(value: 0)
        var task: Task<Void, any Error>?
        let (isThere, arrives) = AsyncStream<Void>.makeStream()
        hook.set {
            arrives.finish()
            mayGo.wait()
            body()
        }
        task = await place.begin([name])[0]
        for await _ in isThere {}
        return (try #require(task), mayGo)
    }

    @Test("Without the setting each asynchronous commit has its pages")
    func off() async throws {
        let place = Place()
        let coordinator = try await place.open(configuration(isOn: false))
        let version = coordinator.file.newestVersion
        for name in ["a", "b", "c", "d"] {
            try await place.add(name)
            #expect(!coordinator.writes.owesPages)
        }
        #expect(coordinator.file.newestVersion == version + 4)
        await place.close()
    }

    @Test("Asynchronous writes behind each other leave the newest version as it is, and a kill loses none of them")
    func behindEachOther() async throws {
        try await withOwing { place, coordinator in
            var versions = Set<UInt64>()
            for index in 0..<40 {
                try await place.add("n\(index)")
                versions.insert(coordinator.file.newestVersion)
                if index % 10 == 0 { #expect(try namesBehindKill().count == 4 + index) }
            }
            #expect(versions.count < 15)
            let all = (["a", "b", "c"] + (0..<40).map { "n\($0)" }).sorted()
            #expect(try namesBehindKill() == all)
            #expect(await place.names() == all)
            #expect(!coordinator.writes.owesPages)
            #expect(try namesBehindKill() == all)
        }
        #expect(try namesInFile(at: path).count == 43)
        #expect(!FileManager.default.fileExists(atPath: path + ".log"))
    }

    @Test("Behind each asynchronous write its realm shows what it has written")
    func shown() async throws {
        try await withOwing { place, _ in
            for index in 0..<20 {
                try await place.add("n\(index)")
                #expect(await place.names().contains("n\(index)"))
            }
        }
    }

    @Test("Tasks that write at once share one flush of their records, and no page is written for it")
    func together() async throws {
        try await withOwing { place, coordinator in
            let version = coordinator.file.newestVersion
            let before = coordinator.writes.statistics
            let hold = Hold(coordinator)
            let names = (0..<5).map { "n\(10 + $0)" }
            let tasks = await place.begin(names)
            try await waitForWriters(6, coordinator)
            #expect(try namesBehindKill() == ["a", "b", "c"])
            hold.end()
            for task in tasks { try await task.value }
            let after = coordinator.writes.statistics
            #expect(after.flushes == before.flushes + 1)
            #expect(after.commits == before.commits + 5)
            #expect(coordinator.file.newestVersion == version)
            #expect(coordinator.writes.owesPages)
            #expect(await Array(place.log.suffix(5)) == names)
            #expect(try namesBehindKill() == ["a", "b", "c"] + names)
            #expect(await place.names() == ["a", "b", "c"] + names)
        }
    }

    @Test("A block that throws leaves what stands before and behind it, and is told behind the flush of what it saw")
    func rolledBack() async throws {
        try await withOwing { place, coordinator in
            let hold = Hold(coordinator)
            let tasks = await place.begin(["d", "e", "f", "g"], throwing: ["e", "g"])
            try await waitForWriters(3, coordinator)
            hold.end()
            let results = await [tasks[0].result, tasks[1].result, tasks[2].result, tasks[3].result]
            for (index, result) in results.enumerated() {
                switch result {
                case .success: #expect(index % 2 == 0)
                case .failure(let error): #expect(error is Failure && index % 2 == 1)
                }
            }
            #expect(await Array(place.log.suffix(2)) == ["d", "f"])
            #expect(await place.names() == ["a", "b", "c", "d", "f"])
            #expect(try namesBehindKill() == ["a", "b", "c", "d", "f"])
            // Alone, on top of what is acknowledged.
            try await place.add("h")
            await #expect(throws: Failure.self) { try await place.add("i", throwing: true) }
            #expect(coordinator.writes.owesPages)
            #expect(await place.names() == ["a", "b", "c", "d", "f", "h"])
        }
    }

    @Test("Whoever is rolled back on top of what is acknowledged sees it, though its writer has not gone on yet")
    func seenByRolledBack() async throws {
        try await withOwing { place, coordinator in
            _ = await place.names()
            let hold = Hold(coordinator)
            let task = await place.begin(["d"])[0]
            try await waitForWriters(2, coordinator)
            #expect(await place.namesBehindRollback(coordinator, hold) == ["a", "b", "c", "d"])
            try await task.value
        }
    }

    @Test("Records that cannot be made durable fail all that wait, and leave what was acknowledged", arguments: 0..<3)
    func failedRecords(step: Int) async throws {
        let failures = StepFailures()
        var configuration = configuration()
        configuration.failures = failures
        let place = Place()
        let coordinator = try await place.open(configuration)
        for name in ["a", "b", "c"] { try await place.add(name) }
        try #require(coordinator.writes.owesPages)
        let hold = Hold(coordinator)
        let tasks = await place.begin(["d", "e", "f"])
        try await waitForWriters(4, coordinator)
        failures.arm(after: step)
        hold.end()
        for task in tasks {
            await #expect(throws: Realm.Error.self) { try await task.value }
        }
        failures.arm(after: nil)
        #expect(coordinator.file.hasStopped)
        await #expect(throws: Realm.Error.self) { try await place.add("g") }
        #expect(try namesBehindKill().prefix(3) == ["a", "b", "c"])
        await place.close()
        #expect(try namesInFile(at: path).prefix(3) == ["a", "b", "c"])
    }

    @Test("Commits that are recorded beside a flush that fails fail with it")
    func behindFailure() async throws {
        let hook = Hook()
        try await withOwing(hooked(hook)) { place, coordinator in
            let path = path
            let (first, mayGo) = try await beginInFlush("d", place, hook) { unlink(path) }
            let second = await place.begin(["e"])[0]
            try await waitForWriters(2, coordinator)
            mayGo.signal()
            await #expect(throws: Realm.Error.self) { try await first.value }
            await #expect(throws: Realm.Error.self) { try await second.value }
            #expect(coordinator.file.hasStopped)
        }
    }

    @Test("Records that wait behind a flush which was not enough are sealed with what they stand on, in their order")
    func refused() async throws {
        let hook = Hook()
        try await withOwing(hooked(hook)) { place, coordinator in
            let path = path
            // Within the flush the log loses its name.
            let (first, mayGo) = try await beginInFlush("d", place, hook) { unlink(path + ".log") }
            let rest = await place.begin(["e", "f"])
            try await waitForWriters(3, coordinator)
            mayGo.signal()
            for task in [first] + rest { try await task.value }
            #expect(await Array(place.log.suffix(3)) == ["d", "e", "f"])
            #expect(!coordinator.writes.owesPages)
            #expect(try namesBehindKill() == ["a", "b", "c", "d", "e", "f"])
            #expect(await place.names() == ["a", "b", "c", "d", "e", "f"])
        }
    }

    @Test("A log that is half full has pages made of asynchronous commits, too", arguments: [8, 64])
    func fullLog(blocks: Int) async throws {
        let place = Place()
        _ = try await place.open(configuration(ringByteCount: blocks * 4_096))
        let all = (0..<200).map { "name \(1_000 + $0)" }
        for round in 0..<20 {
            let names = all[(round * 10)..<(round * 10 + 10)]
            if round % 2 == 0 {
                for name in names { try await place.add(name) }
            } else {
                for task in await place.begin(Array(names)) { try await task.value }
            }
            if round % 5 == 4 { #expect(try namesBehindKill() == Array(all[..<(round * 10 + 10)])) }
        }
        #expect(await place.names() == all)
        try await place.perform { try $0.verify() }
        await place.close()
    }

    @Test("Rule 23: a log that is deleted before the flush is left, and the commits have their pages")
    func deletedLog() async throws {
        try await withOwing { place, coordinator in
            let hold = Hold(coordinator)
            let tasks = await place.begin(["d", "e"])
            try await waitForWriters(3, coordinator)
            unlink(path + ".log")
            hold.end()
            for task in tasks { try await task.value }
            #expect(!coordinator.writes.owesPages)
            #expect(try namesBehindKill() == ["a", "b", "c", "d", "e"])
            #expect(await place.names() == ["a", "b", "c", "d", "e"])
        }
    }

    @Test("A synchronous write beside records that wait for their flush takes them with it")
    func besideBlocking() async throws {
        try await withOwing { place, coordinator in
            let hold = Hold(coordinator)
            let tasks = await place.begin(["d", "e"])
            try await waitForWriters(3, coordinator)
            hold.end()
            try await place.addBlocking("f")
            #expect(await place.names().contains("f"))
            for task in tasks { try await task.value }
            #expect(await place.names() == ["a", "b", "c", "d", "e", "f"])
            #expect(try namesBehindKill() == ["a", "b", "c", "d", "e", "f"])
        }
    }

    @Test("Callback writes are acknowledged by their records, in the order of their calls, and shown to their realm")
    func callbacks() async throws {
        let queue = DispatchQueue(label: "callbacks")
        nonisolated(unsafe) var kept: Realm?
        let told = Journal<String>()
        let configuration = configuration()
        try queue.sync { kept = try Realm(configuration: configuration, queue: queue) }
        let names = ["a", "b", "c"] + (0..<20).map { "n\(10 + $0)" }
        var versions = Set<UInt64>()
        for name in names {
            await withCheckedContinuation { continuation in
                queue.async {
                    let realm = kept!
                    realm.writeAsync {
                        _ = realm.create(Tally.self, value: ["name": name])
                    } onComplete: { error in
                        #expect(error == nil)
                        told.add(name)
                        continuation.resume()
                    }
                }
            }
            versions.insert(queue.sync { kept!.core.coordinator.file.newestVersion })
        }
        #expect(told.entries == names)
        #expect(versions.count < 10)
        #expect(try namesBehindKill() == names)
        let found = queue.sync { kept!.objects(Tally.self).map(\.name).sorted() }
        #expect(found == names)
        queue.sync {
            kept?.close()
            kept = nil
        }
        #expect(try namesInFile(at: path) == names)
    }
}
