import Dispatch
import Foundation
import Synchronization
import Testing

@testable import ActorRealm

@Suite("Writes commit, roll back, wait their turn and report misuse", .timeLimit(.minutes(60)))
struct RealmWritingTests {
    let file = TestFile()

    struct Refused: Error {}

    actor Store {
        var realm: Realm!
        var log: [String] = []

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        var count: Int { realm.objects(Tally.self).count }

        func add(_ name: String) async throws {
            try await realm.asyncWrite {
                log.append(name)
                _ = realm.create(Tally.self, value: ["name": name])
            }
        }

        func addSynchronously(_ name: String) throws {
            try realm.write { _ = realm.create(Tally.self, value: ["name": name]) }
        }

        func returnsLiveObject() async throws -> String {
            let object = try await realm.asyncWrite { realm.create(Tally.self, value: ["name": "live", "count": 3]) }
            return "\(object.name) \(object.count)"
        }

        func captures() async throws -> String {
            let tally = Tally(name: "captured")
            try await realm.asyncWrite { $0.add(tally) }
            return tally.name
        }

        func throwing() async throws {
            try await realm.asyncWrite {
                realm.create(Tally.self, value: ["name": "never"])
                throw Refused()
            }
        }

        func nestedInTransaction() async throws {
            realm.beginWrite()
            defer { realm.cancelWrite() }
            try await realm.asyncWrite {}
        }

        func nestedSynchronously() throws {
            try realm.write { try realm.write {} }
        }

        func ownEnding() async throws -> Bool {
            try await realm.asyncWrite {
                realm.create(Tally.self, value: ["name": "cancelled"])
                realm.cancelWrite()
            }
            return realm.isInWriteTransaction
        }

        /// Starts a write, and looks at the realm as another job while the write waits for the disk.
        func countBeforeAndAfter() async throws -> (inside: Int, waiting: Int, after: Int) {
            let inside = Mutex(0)
            let waiting = Counter()
            let observer = Task { watch(waiting) }
            try await realm.asyncWrite {
                realm.create(Tally.self, value: ["name": "x"])
                let count = realm.objects(Tally.self).count
                inside.withLock { $0 = count }
            }
            await observer.value
            return (inside.withLock { $0 }, waiting.value, count)
        }

        private func watch(_ counter: Counter) {
            for _ in 0..<count { counter.increment() }
        }

        func twoSteps(commits: Bool) async throws -> Bool {
            let transaction = try await realm.beginAsyncWrite()
            realm.create(Tally.self, value: ["name": "two steps"])
            if commits {
                try await transaction.commit()
            } else {
                transaction.cancel()
                transaction.cancel()
            }
            return realm.isInWriteTransaction
        }

        func abandonTransaction() async throws -> Bool {
            _ = try await realm.beginAsyncWrite()
            return realm.isInWriteTransaction
        }

        func commitTwice() async throws {
            let transaction = try await realm.beginAsyncWrite()
            try await transaction.commit()
            try await transaction.commit()
        }

        func cancelInBlock() async throws {
            try await realm.asyncWrite {
                withUnsafeCurrentTask { $0?.cancel() }
                _ = realm.create(Tally.self, value: ["name": "kept"])
            }
        }

        func leak() -> sending Realm {
            nonisolated(unsafe) let realm = realm!
            return realm
        }

        func statistics() -> (flushes: Int, commits: Int) { realm.core.coordinator.writes.statistics }
        func waitingCount() -> Int { realm.core.coordinator.writes.waitingCount }
    }

    @Test("An asynchronous write commits, and its task sees it")
    func asyncWrite() async throws {
        let store = try await Store(file.configuration)
        try await store.add("a")
        #expect(await store.count == 1)
        #expect(try await store.returnsLiveObject() == "live 3")
        #expect(try await store.captures() == "captured")
    }

    @Test("A block that throws leaves nothing behind, and its error arrives")
    func throwingBlock() async throws {
        let store = try await Store(file.fast)
        await #expect(throws: Refused.self) { try await store.throwing() }
        #expect(await store.count == 0)
        try await store.add("afterwards")
        #expect(await store.count == 1)
    }

    @Test("A block may cancel its own transaction")
    func ownEnding() async throws {
        let store = try await Store(file.fast)
        #expect(try await !store.ownEnding())
        #expect(await store.count == 0)
    }

    @Test("A write inside a write is an error, not a deadlock")
    func nested() async throws {
        let store = try await Store(file.fast)
        let expected = Realm.Error(.alreadyInWriteTransaction, fileURL: file.fast.fileURL)
        await #expect(throws: expected) { try await store.nestedInTransaction() }
        await #expect(throws: expected) { try await store.nestedSynchronously() }
        try await store.add("afterwards")
    }

    @Test("Two realms of one synchronous call do not wait for each other for ever")
    func nestedInThread() throws {
        let one = try Realm(configuration: file.fast)
        let two = try Realm(configuration: file.fast)
        #expect {
            try one.write { try two.write {} }
        } throws: {
            ($0 as? Realm.Error)?.code == .alreadyInWriteTransaction
        }
    }

    @Test("While a write waits for the disk, other jobs of the actor read the last durable version")
    func reentrancy() async throws {
        let store = try await Store(file.configuration)
        let counts = try await store.countBeforeAndAfter()
        #expect(counts.inside == 1)
        #expect(counts.waiting <= 1)
        #expect(counts.after == 1)
    }

    @Test("Two steps: committed it is there, cancelled it is not, let go of it is rolled back")
    func twoSteps() async throws {
        let store = try await Store(file.fast)
        #expect(try await !store.twoSteps(commits: false))
        #expect(await store.count == 0)
        #expect(try await !store.abandonTransaction())
        #expect(try await !store.twoSteps(commits: true))
        #expect(await store.count == 1)
        await #expect(throws: Realm.Error(.invalidInput, fileURL: file.fast.fileURL)) {
            try await store.commitTwice()
        }
    }

    @Test("Tasks of many actors write at once, each is durable when it resumes, and they share flushes")
    func grouping() async throws {
        let control = GatedDevice.Control()
        var configuration = file.configuration
        configuration.makeDevice = { GatedDevice($0, control) }
        let stores = try await [Store(configuration), Store(configuration), Store(configuration)]
        let before = await stores[0].statistics()
        control.close()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<150 { group.addTask { try await stores[index % 3].add("n\(index)") } }
            // While the first of them is on its way to the device, others write.
            while await stores[0].log.count + stores[1].log.count + stores[2].log.count < 10 { await Task.yield() }
            control.open()
            try await group.waitForAll()
        }
        let after = await stores[0].statistics()
        #expect(after.commits - before.commits == 150)
        #expect(after.flushes - before.flushes < 145, "\(before), then \(after)")
        #expect(try withNewRealm(configuration) { $0.objects(Tally.self).count } == 150)
    }

    @Test("Synchronous and asynchronous writes of the same actors mix")
    func mixture() async throws {
        let configuration = file.fast
        let stores = try await [Store(configuration), Store(configuration)]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                let store = stores[index % 2]
                if index % 3 == 0 {
                    group.addTask { try await store.addSynchronously("s\(index)") }
                } else {
                    group.addTask { try await store.add("a\(index)") }
                }
            }
            try await group.waitForAll()
        }
        #expect(try withNewRealm(configuration) { $0.objects(Tally.self).count } == 200)
    }

    @Test("A write that is cancelled in the queue throws, and the others keep their transactions")
    func cancelledInQueue() async throws {
        let configuration = file.fast
        let store = try await Store(configuration)
        let lock = try ForeignWriteLock(of: #require(configuration.fileURL?.path))
        var tasks: [Task<Void, any Error>] = []
        for index in 0..<20 {
            tasks.append(Task { try await store.add("n\(index)") })
            while await store.waitingCount() <= index { await Task.yield() }
        }
        for index in stride(from: 1, to: 20, by: 2) { tasks[index].cancel() }
        lock.release()
        for (index, task) in tasks.enumerated() {
            if index % 2 == 1 {
                await #expect(throws: CancellationError.self) { try await task.value }
            } else {
                try await task.value
            }
        }
        #expect(await store.count == 10)
    }

    @Test("A task that is cancelled already does not write; one cancelled in its block commits")
    func cancelledBeforeAndInside() async throws {
        let store = try await Store(file.fast)
        let before = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await store.add("never")
        }
        await #expect(throws: CancellationError.self) { try await before.value }
        let inside = Task { try await store.cancelInBlock() }
        try await inside.value
        #expect(await store.count == 1)
    }

    @Test("An actor whose write waits for another process does its other jobs meanwhile")
    func unblockedActor() async throws {
        let configuration = file.fast
        let store = try await Store(configuration)
        let lock = try ForeignWriteLock(of: #require(configuration.fileURL?.path))
        let write = Task { try await store.add("late") }
        while await store.waitingCount() == 0 { await Task.yield() }
        // An actor that were blocked would do none of them before the lock is released.
        for _ in 0..<100 { #expect(await store.count == 0) }
        lock.release()
        try await write.value
        #expect(await store.count == 1)
    }

    @Test("A frozen realm and a foreign isolation cannot be written, and say why")
    func misuse() async throws {
        let configuration = file.fast
        try withNewRealm(configuration) { realm in
            #expect(throws: Realm.Error(.frozen, fileURL: configuration.fileURL)) { try realm.freeze().write {} }
        }
        let store = try await Store(configuration)
        nonisolated(unsafe) let realm = await store.leak()
        #expect(throws: Realm.Error(.wrongIsolation, fileURL: configuration.fileURL)) { try realm.write {} }
        await #expect(throws: Realm.Error(.wrongIsolation, fileURL: configuration.fileURL)) {
            try await realm.asyncWrite {}
        }
    }

    @Test("writeAsync runs its block on the queue and completes there when it is durable")
    func writeAsync() async throws {
        let queue = DispatchQueue(label: "async writes")
        let configuration = file.configuration
        let outcome = await withCheckedContinuation { continuation in
            queue.async {
                let realm = try! Realm(configuration: configuration, queue: queue)
                realm.writeAsync {
                    realm.create(Tally.self, value: ["name": "async"])
                } onComplete: { error in
                    dispatchPrecondition(condition: .onQueue(queue))
                    continuation.resume(returning: (error == nil, realm.objects(Tally.self).count))
                }
                precondition(realm.isPerformingAsynchronousWriteOperations)
            }
        }
        #expect(outcome.0 && outcome.1 == 1)
    }

    @Test("beginAsyncWrite commits what commitAsyncWrite is called for, and rolls back the rest, in order")
    func beginAsyncWrite() async throws {
        let queue = DispatchQueue(label: "async writes")
        let configuration = file.fast
        let names = await withCheckedContinuation { (continuation: CheckedContinuation<[String], Never>) in
            queue.async {
                let realm = try! Realm(configuration: configuration, queue: queue)
                realm.beginAsyncWrite { realm.create(Tally.self, value: ["name": "not committed"]) }
                realm.beginAsyncWrite {
                    realm.create(Tally.self, value: ["name": "one"])
                    realm.commitAsyncWrite(allowGrouping: true)
                }
                let cancelled = realm.beginAsyncWrite { preconditionFailure("this write was cancelled") }
                try! realm.cancelAsyncWrite(cancelled)
                realm.writeAsync { realm.create(Tally.self, value: ["name": "two"]) }
                realm.beginAsyncWrite {
                    realm.create(Tally.self, value: ["name": "three"])
                    realm.commitAsyncWrite { _ in
                        continuation.resume(returning: realm.objects(Tally.self).map { $0.name })
                    }
                }
            }
        }
        #expect(names == ["one", "two", "three"])
        queue.sync {
            let realm = try! Realm(configuration: configuration, queue: queue)
            #expect(!realm.isPerformingAsynchronousWriteOperations)
        }
    }

    @Test("Callback writes work on an actor too, and a synchronous write may come between")
    @MainActor
    func callbacksOnActor() async throws {
        let realm = try await Realm(configuration: file.fast)
        let completed: Int = try await withCheckedThrowingContinuation { continuation in
            realm.writeAsync {
                realm.create(Tally.self, value: ["name": "async"])
            } onComplete: { _ in
                MainActor.assertIsolated()
                continuation.resume(returning: realm.objects(Tally.self).count)
            }
            do {
                try realm.write { realm.create(Tally.self, value: ["name": "sync"]) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
        #expect(completed == 2)
    }

    @Test("Appends of eight actors through asyncWrite are all kept")
    func counting() async throws {
        let configuration = file.fast
        try withNewRealm(configuration) { realm in
            try realm.write { _ = realm.create(Tally.self, value: ["name": "total"]) }
        }
        actor Adder {
            func run(_ configuration: Realm.Configuration) async throws {
                let realm = try await Realm(configuration: configuration)
                for _ in 0..<25 {
                    try await realm.asyncWrite {
                        realm.object(ofType: Tally.self, forPrimaryKey: "total")!.count += 1
                    }
                }
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { try await Adder().run(configuration) } }
            try await group.waitForAll()
        }
        let total = try withNewRealm(configuration) { $0.object(ofType: Tally.self, forPrimaryKey: "total")?.count }
        #expect(total == 200)
    }
}
