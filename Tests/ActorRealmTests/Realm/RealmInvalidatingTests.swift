import Foundation
import Testing

@testable import ActorRealm

@Suite("Realms let go of versions and of files when they are told to", .timeLimit(.minutes(60)))
struct RealmInvalidatingTests {
    let file = TestFile()

    @MainActor
    private func add(_ name: String, _ realm: Realm) throws {
        try realm.write { _ = realm.create(Tally.self, value: ["name": name]) }
    }

    @Test("invalidate() unpins the version at once, though objects are kept, and the next use reads anew")
    @MainActor
    func unpinning() async throws {
        let realm = try await Realm(configuration: file.fast)
        try add("a", realm)
        let kept = realm.objects(Tally.self).first!
        let list = realm.objects(Tally.self).where { $0.count == 0 }
        #expect(realm.core.coordinator.file.activeVersions().count == 1)
        let coordinator = realm.core.coordinator
        realm.invalidate()
        realm.invalidate()
        #expect(coordinator.file.activeVersions().isEmpty)
        #expect(kept.isInvalidated && list.isInvalidated)
        #expect(list.isEmpty && list.first == nil && Array(list).isEmpty)
        for tally in list { Issue.record("\(tally) is there") }
        #expect(coordinator.file.activeVersions().isEmpty, "looking at what was invalidated pins nothing")
        #expect(!realm.isFrozen && realm.configuration == file.fast)
        #expect(realm.objects(Tally.self).count == 1)
        #expect(coordinator.file.activeVersions().count == 1)
        let again = try await Realm(configuration: file.fast)
        #expect(again === realm)
    }

    @Test("An invalidated realm is the one that the next opening gives, and stands at the newest version")
    @MainActor
    func reopening() async throws {
        let realm = try await Realm(configuration: file.fast)
        realm.invalidate()
        try withNewRealm(file.fast) { other in
            try other.write { _ = other.create(Tally.self, value: ["name": "b"]) }
        }
        #expect(try await Realm(configuration: file.fast) === realm)
        #expect(realm.objects(Tally.self).count == 1)
    }

    @Test("invalidate() rolls an open transaction back")
    @MainActor
    func transaction() async throws {
        let realm = try await Realm(configuration: file.fast)
        realm.beginWrite()
        realm.create(Tally.self, value: ["name": "a"])
        realm.invalidate()
        #expect(!realm.isInWriteTransaction && realm.isEmpty)
        try add("b", realm)
        #expect(realm.objects(Tally.self).map(\.name) == ["b"])
    }

    @Test("Asynchronous writes hold invalidating back in nothing: they go on, and are counted until they are done")
    @MainActor
    func asynchronousWrites() async throws {
        let realm = try await Realm(configuration: file.fast)
        let lock = try ForeignWriteLock(of: #require(file.fast.fileURL?.path))
        let write = Task { try await realm.asyncWrite { _ = realm.create(Tally.self, value: ["name": "task"]) } }
        let done = AsyncStream<Bool>.makeStream()
        realm.writeAsync {
            realm.create(Tally.self, value: ["name": "callback"])
        } onComplete: {
            done.continuation.yield($0 == nil)
            done.continuation.finish()
        }
        while realm.core.coordinator.writes.waitingCount < 2 { await Task.yield() }
        realm.invalidate()
        #expect(realm.isPerformingAsynchronousWriteOperations)
        lock.release()
        try await write.value
        for await isWritten in done.stream { #expect(isWritten) }
        #expect(Set(realm.objects(Tally.self).map(\.name)) == ["task", "callback"])
        while realm.isPerformingAsynchronousWriteOperations { await Task.yield() }
    }

    @Test("Writes that wait behind one whose block invalidates the realm are done; that one throws, and is not")
    @MainActor
    func behindInvalidatingBlock() async throws {
        let realm = try await Realm(configuration: file.fast)
        let writes = realm.core.coordinator.writes
        let lock = try ForeignWriteLock(of: #require(file.fast.fileURL?.path))
        let first = Task {
            try await realm.asyncWrite {
                realm.create(Tally.self, value: ["name": "lost"])
                realm.invalidate()
            }
        }
        while writes.waitingCount < 1 { await Task.yield() }
        let second = Task { try await realm.asyncWrite { _ = realm.create(Tally.self, value: ["name": "task"]) } }
        while writes.waitingCount < 2 { await Task.yield() }
        let done = AsyncStream<Bool>.makeStream()
        realm.writeAsync {
            realm.create(Tally.self, value: ["name": "callback"])
        } onComplete: {
            done.continuation.yield($0 == nil)
            done.continuation.finish()
        }
        while writes.waitingCount < 3 { await Task.yield() }
        lock.release()
        let error = await #expect(throws: Realm.Error.self) { try await first.value }
        #expect(error?.code == .closed)
        try await second.value
        for await isWritten in done.stream { #expect(isWritten) }
        #expect(Set(realm.objects(Tally.self).map(\.name)) == ["task", "callback"])
        let stored = try withNewRealm(file.fast) { Set($0.objects(Tally.self).map(\.name)) }
        #expect(stored == ["task", "callback"])
    }

    @Test(
        "Writes whose commits wait for the device, and those behind them, are done where another job invalidates the realm"
    )
    @MainActor
    func behindInvalidatingJob() async throws {
        let gate = GatedDevice.Control()
        var configuration = file.configuration
        configuration.makeDevice = { GatedDevice($0, gate) }
        let realm = try await Realm(configuration: configuration)
        try await realm.asyncWrite { _ = realm.create(Tally.self, value: ["name": "before"]) }
        gate.close()
        let begun = Journal<Int>()
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<4 {
            tasks.append(
                Task { @MainActor in
                    try await realm.asyncWrite {
                        begun.add(number)
                        _ = realm.create(Tally.self, value: ["name": "\(number)"])
                    }
                }
            )
            // The first is on its way to the device, and the others are built on it, or wait.
            if number == 1 { _ = await begun.wait(for: 1) }
        }
        realm.invalidate()
        let last = Task { try await realm.asyncWrite { _ = realm.create(Tally.self, value: ["name": "last"]) } }
        for _ in 0..<10 { await Task.yield() }
        realm.invalidate()
        gate.open()
        for task in tasks { try await task.value }
        try await last.value
        let expected: Set = ["before", "0", "1", "2", "3", "last"]
        #expect(Set(realm.objects(Tally.self).map(\.name)) == expected)
        realm.close()
        let stored = try withNewRealm(file.configuration) { Set($0.objects(Tally.self).map(\.name)) }
        #expect(stored == expected)
    }

    @Test(
        "A realm that was invalidated and used while its commit is on the way moves to that",
        arguments: [true, false]
    )
    @MainActor
    func usedMeanwhile(suspends: Bool) async throws {
        let gate = GatedDevice.Control()
        var configuration = file.configuration
        configuration.makeDevice = { GatedDevice($0, gate) }
        let realm = try await Realm(configuration: configuration)
        try await realm.asyncWrite { _ = realm.create(Tally.self, value: ["name": "before"]) }
        realm.autorefresh = false
        gate.close()
        let done = AsyncStream<Bool>.makeStream()
        func end() {
            done.continuation.yield(realm.object(ofType: Tally.self, forPrimaryKey: "own") != nil)
            done.continuation.finish()
        }
        if suspends {
            Task { @MainActor in
                try? await realm.asyncWrite { _ = realm.create(Tally.self, value: ["name": "own"]) }
                end()
            }
        } else {
            realm.writeAsync {
                realm.create(Tally.self, value: ["name": "own"])
            } onComplete: { _ in
                end()
            }
        }
        while !gate.isHolding { await Task.yield() }
        realm.invalidate()
        #expect(realm.objects(Tally.self).map(\.name) == ["before"])
        gate.open()
        for await isThere in done.stream { #expect(isThere) }
        #expect(realm.objects(Tally.self).count == 2)
    }

    @Test(
        "A transaction that was asked for before is one of the realm as it is then; one that was open commits nothing"
    )
    @MainActor
    func transactionBehindInvalidatingJob() async throws {
        let realm = try await Realm(configuration: file.fast)
        let writes = realm.core.coordinator.writes
        let lock = try ForeignWriteLock(of: #require(file.fast.fileURL?.path))
        let waiting = Task { @MainActor in
            let transaction = try await realm.beginAsyncWrite()
            realm.create(Tally.self, value: ["name": "kept"])
            try await transaction.commit()
        }
        while writes.waitingCount < 1 { await Task.yield() }
        realm.invalidate()
        lock.release()
        try await waiting.value
        #expect(realm.objects(Tally.self).map(\.name) == ["kept"])
        let begun = Journal<Int>()
        let ended = Journal<Int>()
        let open = Task { @MainActor in
            let transaction = try await realm.beginAsyncWrite()
            realm.create(Tally.self, value: ["name": "lost"])
            begun.add(1)
            _ = await ended.wait(for: 1)
            try await transaction.commit()
        }
        _ = await begun.wait(for: 1)
        realm.invalidate()
        ended.add(1)
        await #expect(throws: Realm.Error.self) { try await open.value }
        try await realm.asyncWrite { _ = realm.create(Tally.self, value: ["name": "after"]) }
        #expect(Set(realm.objects(Tally.self).map(\.name)) == ["kept", "after"])
    }

    @Test("Asynchronous writes hold closing back; opening again meanwhile keeps the realm open")
    @MainActor
    func closing() async throws {
        let realm = try await Realm(configuration: file.fast)
        let path = try #require(file.fast.fileURL?.path)
        for reopens in [false, true] {
            let realm = try await Realm(configuration: file.fast)
            let lock = try ForeignWriteLock(of: path)
            let write = Task {
                try await realm.asyncWrite { _ = realm.create(Tally.self, value: ["name": "\(reopens)"]) }
            }
            while realm.core.coordinator.writes.waitingCount == 0 { await Task.yield() }
            realm.close()
            #expect(!realm.isClosed)
            if reopens { #expect(try await Realm(configuration: file.fast) === realm) }
            lock.release()
            try await write.value
            #expect(realm.isClosed == !reopens)
        }
        #expect(realm.isClosed)
        let last = try await Realm(configuration: file.fast)
        #expect(last.objects(Tally.self).map(\.name) == ["false", "true"])
    }

    @Test("A realm that is let go of while its writes wait stays open until they are done")
    func deallocation() async throws {
        let configuration = file.fast
        let queue = DispatchQueue(label: "deallocation")
        let done = AsyncStream<Int>.makeStream()
        queue.async {
            let realm = try! Realm(configuration: configuration, queue: queue)
            for index in 0..<3 {
                realm.writeAsync {
                    realm.create(Tally.self, value: ["name": "\(index)"])
                } onComplete: { _ in
                    done.continuation.yield(index)
                    if index == 2 { done.continuation.finish() }
                }
            }
        }
        var order: [Int] = []
        for await index in done.stream { order.append(index) }
        #expect(order == [0, 1, 2])
    }

    @Test("withRealm leaves a realm open that was open before, and closes its own also when the body throws")
    @MainActor
    func scoped() async throws {
        struct Refused: Error {}
        let configuration = file.fast
        await #expect(throws: Refused.self) {
            try await Realm.withRealm(configuration: configuration) { _ in throw Refused() }
        }
        #expect(try Realm.deleteFiles(for: configuration))
        let realm = try await Realm(configuration: configuration)
        let isSame = try await Realm.withRealm(configuration: configuration) { $0 === realm }
        #expect(isSame && !realm.isClosed)
    }

    @Test("Closing ends the observers and change sequences of the realm, an invalidated one's too")
    @MainActor
    func observers() async throws {
        for isInvalidated in [false, true] {
            let realm = try await Realm(configuration: file.fast)
            let sequence = realm.objects(Tally.self).changes()
            let told = Journal<Int>()
            let loop = Task { @MainActor in
                for await change in sequence { told.add(change.collection?.count ?? -1) }
            }
            _ = await told.wait(for: 1)
            if isInvalidated { realm.invalidate() }
            realm.close()
            await loop.value
            #expect(told.entries == [0])
        }
    }
}
