import Foundation
import RealmStorage
import Testing

@testable import ActorRealm

@Suite("Whenever a write is cancelled or its actor goes, the others are not disturbed", .timeLimit(.minutes(60)))
struct WriteLifecycleTests {
    let file = TestFile()

    actor Store {
        var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        var names: [String] { realm.objects(Tally.self).map(\.name) }
        var scheduler: WriteScheduler { realm.core.coordinator.writes }

        func add(_ name: String) async throws {
            try await realm.asyncWrite { _ = realm.create(Tally.self, value: ["name": name]) }
        }

        /// Keeps the actor busy until a waiting writer has been chosen, and cancels it before it can begin.
        func cancelWhenChosen(_ task: Task<Void, any Error>, _ lock: ForeignWriteLock) {
            let scheduler = scheduler
            precondition(scheduler.waitingCount == 1)
            lock.release()
            while scheduler.waitingCount > 0 { Thread.sleep(forTimeInterval: 0.001) }
            task.cancel()
        }
    }

    @Test("A write that is cancelled when it is chosen, and has not begun, throws; the next one writes")
    func chosen() async throws {
        let store = try await Store(file.fast)
        let lock = try ForeignWriteLock(of: #require(file.fast.fileURL?.path))
        let task = Task { try await store.add("never") }
        while await store.scheduler.waitingCount == 0 { await Task.yield() }
        await store.cancelWhenChosen(task, lock)
        await #expect(throws: CancellationError.self) { try await task.value }
        try await store.add("next")
        #expect(await store.names == ["next"])
    }

    @Test("Of two writes of one actor's realm, the one that is cancelled throws and the other has its transaction")
    func oneOfTwo() async throws {
        for first in [true, false] {
            let store = try await Store(file.fast)
            let lock = try ForeignWriteLock(of: #require(file.fast.fileURL?.path))
            let one = Task { try await store.add("one \(first)") }
            while await store.scheduler.waitingCount < 1 { await Task.yield() }
            let two = Task { try await store.add("two \(first)") }
            while await store.scheduler.waitingCount < 2 { await Task.yield() }
            (first ? one : two).cancel()
            lock.release()
            await #expect(throws: CancellationError.self) { try await (first ? one : two).value }
            try await (first ? two : one).value
        }
        #expect(try await Store(file.fast).names == ["two true", "one false"])
    }

    @Test("An actor that nobody refers to but its waiting write lives until it is done")
    func lonelyActor() async throws {
        let lock: ForeignWriteLock
        let task: Task<Void, any Error>
        do {
            let store = try await Store(file.fast)
            lock = try ForeignWriteLock(of: #require(file.fast.fileURL?.path))
            task = Task { try await store.add("late") }
            while await store.scheduler.waitingCount == 0 { await Task.yield() }
        }
        lock.release()
        try await task.value
        #expect(try await Store(file.fast).names == ["late"])
    }

    @Test("A queue's writes that wait while its realm is let go of are made in order")
    func lonelyQueue() async throws {
        let configuration = file.fast
        try withNewRealm(configuration) { _ in }
        let lock = try ForeignWriteLock(of: #require(configuration.fileURL?.path))
        let queue = DispatchQueue(label: "lonely")
        await withCheckedContinuation { continuation in
            queue.async {
                let realm = try! Realm(configuration: configuration, queue: queue)
                for name in ["a", "b"] { realm.writeAsync { realm.create(Tally.self, value: ["name": name]) } }
                realm.writeAsync {
                } onComplete: { _ in
                    continuation.resume()
                }
                lock.release()
            }
        }
        #expect(try await Store(configuration).names == ["a", "b"])
    }

    /// What is left of a realm; only asked whether it is there.
    struct Left: @unchecked Sendable {
        let core: WeakReference<RealmCore>
    }

    actor Closer {
        private let configuration: Realm.Configuration
        private var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            self.configuration = configuration
            realm = try await Realm(configuration: configuration, actor: self)
        }

        /// Closes the realm while a write of its own waits, and uses another one for the time of a block meanwhile.
        func closeAroundBlock() async throws -> Bool {
            realm.beginWrite()
            let write = Task { try await self.write() }
            while !isWriting { await Task.yield() }
            realm.close()
            try await Realm.withRealm(configuration: configuration) { inner in
                #expect(inner === realm)
                realm.cancelWrite()
                try await write.value
                // Open as long as the block uses it.
                #expect(!inner.isClosed)
            }
            return realm.isClosed
        }

        /// Closes the realm while a write of its own waits, and thaws a frozen copy meanwhile.
        func closeAroundThawing() async throws -> Bool {
            let frozen = realm.freeze()
            realm.beginWrite()
            let write = Task { try await self.write() }
            while !isWriting { await Task.yield() }
            realm.close()
            #expect(frozen.thaw() === realm && frozen.objects(Tally.self).thaw() != nil)
            realm.cancelWrite()
            try await write.value
            return realm.isClosed
        }

        private var isWriting: Bool { realm.core.callbackWrites.count > 0 }
        private func write() async throws { try await realm.asyncWrite {} }

        /// Closes the realm behind a write that waits.
        func leave() -> Left {
            realm.writeAsync {}
            realm.close()
            return Left(core: WeakReference(realm.core))
        }
    }

    @Test("A realm that is closed while it writes is closed in the end, though a block uses it meanwhile")
    func closedAroundBlock() async throws {
        #expect(try await Closer(file.fast).closeAroundBlock())
    }

    @Test("A realm that is closed while it writes is closed in the end, though something is thawed in it meanwhile")
    func closedAroundThawing() async throws {
        #expect(try await Closer(file.fast).closeAroundThawing())
    }

    @Test("A realm that waits to be closed goes with its actor")
    func closingWithoutActor() async throws {
        let holder = try await Closer(file.fast)
        let lock = try ForeignWriteLock(of: file.directory.path("test.realm"))
        let left = try await Closer(file.fast).leave()
        lock.release()
        #expect(await eventually { left.core.object == nil })
        withExtendedLifetime(holder) {}
    }
}
