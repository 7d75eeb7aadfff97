import Foundation
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

/// Whoever opens the file while a block is open that stands on what has no pages yet.
@Suite("Pages on demand, and who asks beside an open block", .timeLimit(.minutes(60)))
struct BesideOpenBlockTests {
    private let file = TestFile()
    private let clock = HandClock()
    private let failures = StepFailures()

    private var configuration: Realm.Configuration {
        var configuration = file.configuration
        configuration.keepLog()
        let before = configuration.adjustLog
        configuration.adjustLog = { log in
            before?(&log)
            log.pagesOnDemand = true
        }
        configuration.clock = clock.clock
        configuration.failures = failures
        return configuration
    }

    private struct Failure: Error {}

    /// Has something done by another task, for which the block of a write waits that stands on three commits without pages.
    ///
    /// The block adds "d", counts "a" and deletes "b". What is to be done behind it is done before its realm is closed.
    private func write(
        committing commits: Bool = true,
        beside body: @escaping @Sendable (RealmCoordinator) async throws -> Void,
        behind: @escaping @Sendable (Realm) throws -> Void = { _ in }
    ) async throws {
        let configuration = configuration
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            DispatchQueue(label: "writer")
                .async {
                    continuation.resume(
                        with: Result {
                            try withNewRealm(configuration) { realm in
                                defer { realm.close() }
                                try write(realm, commits, body)
                                try behind(realm)
                            }
                        }
                    )
                }
        }
    }

    private func write(
        _ realm: Realm,
        _ commits: Bool,
        _ body: @escaping @Sendable (RealmCoordinator) async throws -> Void
    ) throws {
        for name in ["a", "b", "c"] { try realm.write { _ = realm.create(Tally.self, value: ["name": name]) } }
        let coordinator = realm.core.coordinator
        try #require(coordinator.writes.owesPages)
        do {
            try realm.write {
                _ = realm.create(Tally.self, value: ["name": "d"])
                realm.object(ofType: Tally.self, forPrimaryKey: "a")?.count = 5
                if let other = realm.object(ofType: Tally.self, forPrimaryKey: "b") { realm.delete(other) }
                // The block's own thread finds it as well.
                #expect(try coordinator.file.beginRead().isInMemory)
                let isDone = DispatchSemaphore(value: 0)
                // Not on the shared threads, which other tests may block for as long as they like.
                Task.detached(executorPreference: TaskThread()) {
                    do { try await body(coordinator) } catch { Issue.record(error) }
                    isDone.signal()
                }
                // Then the process ends, since nothing could be closed.
                if isDone.wait(timeout: .now() + 120) == .timedOut { fatalError("Both wait for each other") }
                if !commits { throw Failure() }
            }
        } catch is Failure {}
        // What is left to be made is made. The turn is nobody's here, so others may ask at this moment, too.
        _ = try coordinator.file.makeOwedPages()
    }

    /// Runs the jobs of a task that are no actor's, on a thread that nobody else uses.
    private final class TaskThread: TaskExecutor {
        private let queue = DispatchQueue(label: "task")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    /// Runs the jobs of an actor, on a thread that nobody else uses.
    private final class ActorThread: SerialExecutor {
        private let queue = DispatchQueue(label: "actor")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }

        func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
    }

    /// One that opens the file, and observes it.
    private actor Reader {
        private let executor = ActorThread()
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        private(set) var realm: Realm!
        private var frozen: Realm?
        private var collection: CollectionChanges<Results<Tally>>.Iterator?
        private var changes: RealmChanges.Iterator?
        private var keys: [Int64: String] = [:]

        func open(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        var names: [String] { realm.objects(Tally.self).map(\.name).sorted() }

        var counts: [String: Int] {
            Dictionary(uniqueKeysWithValues: realm.objects(Tally.self).map { ($0.name, $0.count) })
        }

        var isInMemory: Bool { realm.core.model.snapshot.isInMemory }
        var version: UInt64 { realm.core.version }

        /// Registers, and takes the first element.
        func observe() async -> [String] {
            collection = realm.objects(Tally.self).sorted(byKeyPath: "name").changes().makeAsyncIterator()
            changes = realm.changes.makeAsyncIterator()
            guard case .initial(let first)? = await next() else { return [] }
            return first.map(\.name)
        }

        private func next() async -> RealmCollectionChange<Results<Tally>>? {
            var iterator = collection
            defer { collection = iterator }
            return await iterator?.next(isolation: self)
        }

        /// The next change of the collection: where something was deleted, inserted and modified.
        func told() async -> [[Int]]? {
            guard case .update(_, let deletions, let insertions, let modifications)? = await next() else {
                return nil
            }
            return [deletions, insertions, modifications]
        }

        /// The next change of the realm: how many objects were deleted, inserted and modified.
        func toldOfRealm() async -> [Int]? {
            var iterator = changes
            defer { changes = iterator }
            guard let change = await iterator?.next(isolation: self), !change.isReset else { return nil }
            let own = change.classes["Tally"]
            return [own?.deleted.count ?? 0, own?.inserted.count ?? 0, own?.modified.count ?? 0]
        }

        func refresh() async -> Bool { await realm.asyncRefresh() }

        func add(_ name: String) throws { try realm.write { _ = realm.create(Tally.self, value: ["name": name]) } }

        func freeze() { frozen = realm.freeze() }

        var frozenNames: [String] { frozen?.objects(Tally.self).map(\.name).sorted() ?? [] }

        func release() { frozen = nil }

        func copy(to path: String) throws { try realm.writeCopy(toFile: URL(fileURLWithPath: path)) }

        func verify() throws { try realm.verify() }

        func close() {
            collection = nil
            changes = nil
            realm.close()
        }
    }

    @Test(
        "A block may wait for somebody who opens the file, who finds all that was acknowledged",
        arguments: [true, false]
    )
    func opening(commits: Bool) async throws {
        let reader = Reader()
        let configuration = configuration
        try await write(committing: commits) { coordinator in
            let published = coordinator.file.newestVersion
            try await reader.open(configuration)
            #expect(await reader.names == ["a", "b", "c"])
            #expect(await reader.counts["a"] == 0)
            #expect(await reader.version == published + 2)
            #expect(await reader.isInMemory)
            #expect(coordinator.file.newestVersion == published)
            // What it holds is the version below.
            #expect(coordinator.file.activeVersions().map(\.version).contains(published))
            #expect(await !reader.refresh())
        }
        _ = await reader.refresh()
        #expect(await !reader.isInMemory)
        #expect(await reader.names == (commits ? ["a", "c", "d"] : ["a", "b", "c"]))
        #expect(await reader.counts["a"] == (commits ? 5 : 0))
        try await reader.add("e")
        #expect(await reader.names == (commits ? ["a", "c", "d", "e"] : ["a", "b", "c", "e"]))
        try await reader.verify()
        await reader.close()
        #expect(try withNewRealm(file.configuration) { $0.objects(Tally.self).count } == 4)
        #expect(!FileManager.default.fileExists(atPath: file.directory.path("test.realm.log")))
    }

    @Test("Observers of a version in memory are told exactly what has come behind it", arguments: [true, false])
    func observers(commits: Bool) async throws {
        let reader = Reader()
        let configuration = configuration
        try await write(committing: commits) { _ in
            try await reader.open(configuration)
            #expect(await reader.observe() == ["a", "b", "c"])
        }
        if commits {
            #expect(await reader.told() == [[1], [2], [0]])
            #expect(await reader.toldOfRealm() == [1, 1, 1])
            #expect(await reader.names == ["a", "c", "d"])
        }
        try await reader.add("e")
        #expect(await reader.told() == [[], [3], []])
        #expect(await reader.toldOfRealm() == [0, 1, 0])
        #expect(await !reader.isInMemory)
        await reader.close()
    }

    @Test("A frozen copy of a version in memory stays as it is when both realms are closed")
    func frozen() async throws {
        let reader = Reader()
        let configuration = configuration
        let pinned = Mutex<UInt64>(0)
        let coordinators = Mutex<RealmCoordinator?>(nil)
        try await write { coordinator in
            pinned.withLock { $0 = coordinator.file.newestVersion }
            coordinators.withLock { $0 = coordinator }
            try await reader.open(configuration)
            await reader.freeze()
        } behind: { realm in
            // Later commits use what is free, and nothing of what the copy reads.
            for round in 0..<40 {
                try realm.write { realm.object(ofType: Tally.self, forPrimaryKey: "c")?.count = round }
            }
        }
        _ = await reader.refresh()
        #expect(await reader.names == ["a", "c", "d"])
        await reader.close()
        #expect(await reader.frozenNames == ["a", "b", "c"])
        let version = pinned.withLock { $0 }
        let storage = try #require(coordinators.withLock { $0?.file })
        #expect(storage.activeVersions().map(\.version).contains(version))
        await reader.release()
        #expect(!storage.activeVersions().map(\.version).contains(version))
    }

    @Test("A copy of the file that is written beside a block has all that was acknowledged")
    func copying() async throws {
        let reader = Reader()
        let configuration = configuration
        let path = file.directory.path("copy.realm")
        try await write { _ in
            try await reader.open(configuration)
            try await reader.copy(to: path)
            // What is checked is the file.
            try await reader.verify()
        }
        await reader.close()
        var copy = file.configuration
        copy.fileURL = URL(fileURLWithPath: path)
        try withNewRealm(copy) { realm in
            #expect(realm.objects(Tally.self).map(\.name).sorted() == ["a", "b", "c"])
            try realm.verify()
            realm.close()
        }
    }

    @Test("Whoever opens the file one after the other beside a block finds the same")
    func severalReaders() async throws {
        let readers = [Reader(), Reader(), Reader()]
        let configuration = configuration
        try await write { _ in
            for reader in readers {
                try await reader.open(configuration)
                #expect(await reader.names == ["a", "b", "c"])
            }
            await readers[0].close()
        }
        for reader in readers.dropFirst() {
            _ = await reader.refresh()
            #expect(await reader.names == ["a", "c", "d"])
            #expect(await !reader.isInMemory)
            await reader.close()
        }
    }

    @Test("Where the version cannot be made in memory, whoever asks waits for the block's end")
    func waiting() async throws {
        let found = Mutex<(version: UInt64, isInMemory: Bool)?>(nil)
        let group = DispatchGroup()
        let failures = failures
        try await write { coordinator in
            let published = coordinator.file.newestVersion
            DispatchQueue(label: "other")
                .async(group: group) {
                    failures.arm(after: 0)
                    let snapshot = try? coordinator.file.beginRead()
                    found.withLock { $0 = snapshot.map { ($0.version, $0.isInMemory) } }
                }
            while failures.outcome.failed == nil { try await Task.sleep(for: .milliseconds(1)) }
            // That it waits is shown by what it finds.
            #expect(coordinator.file.newestVersion == published)
            #expect(found.withLock { $0 == nil })
        } behind: { realm in
            group.wait()
            #expect(found.withLock { $0?.version } == realm.core.coordinator.file.newestVersion)
            #expect(found.withLock { $0?.isInMemory } == false)
        }
    }
}
