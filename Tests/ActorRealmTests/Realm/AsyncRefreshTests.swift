import Foundation
import Testing

@testable import ActorRealm

@Suite("asyncRefresh waits for the newest version and for those who observe it", .timeLimit(.minutes(60)))
struct AsyncRefreshTests {
    let file = TestFile()

    private func write(_ name: String) throws {
        try withNewRealm(file.fast) { realm in
            try realm.write { _ = realm.create(Tally.self, value: ["name": name]) }
        }
    }

    @Test("It tells whether there was something new, and delivers the notifications before it returns")
    @MainActor
    func delivers() async throws {
        let realm = try await Realm(configuration: file.fast)
        realm.autorefresh = false
        var counts: [Int] = []
        var realmChanges = 0
        let tokens = [
            realm.objects(Tally.self)
                .observe { change in
                    if let collection = change.collection { counts.append(collection.count) }
                },
            realm.observe { notification, _ in if notification == .didChange { realmChanges += 1 } },
        ]
        #expect(await !realm.asyncRefresh())
        #expect(counts == [0])
        for round in 1...20 {
            try write("\(round)")
            #expect(await realm.asyncRefresh())
            #expect(counts.last == round)
            #expect(realmChanges == round)
            #expect(await !realm.asyncRefresh())
        }
        for token in tokens { token.invalidate() }
        try write("last")
        #expect(await realm.asyncRefresh())
    }

    @Test("Several tasks may wait for one move, and all are told of it")
    @MainActor
    func severalWaiters() async throws {
        let realm = try await Realm(configuration: file.fast)
        realm.autorefresh = false
        var delivered = 0
        let token = realm.objects(Tally.self).observe { _ in delivered += 1 }
        await realm.asyncRefresh()
        try write("a")
        let tasks = (0..<10)
            .map { _ in Task { @MainActor in (await realm.asyncRefresh(), realm.objects(Tally.self).count) } }
        for task in tasks {
            let (isMoved, count) = await task.value
            #expect(isMoved && count == 1)
        }
        #expect(delivered == 2)
        token.invalidate()
    }

    @Test("Cancelled it returns false: before it begins without a move, while it waits at once")
    @MainActor
    func cancellation() async throws {
        let realm = try await Realm(configuration: file.fast)
        realm.autorefresh = false
        try write("a")
        let before = Task { @MainActor in
            withUnsafeCurrentTask { $0?.cancel() }
            return await realm.asyncRefresh()
        }
        #expect(await !before.value)
        #expect(realm.isEmpty)

        let token = realm.objects(Tally.self).observe { _ in }
        // Of this version no observer is ever told: only the cancellation ends the wait.
        let ended = Counter()
        let waiting = Task { @MainActor in
            await realm.core.observersAreTold(of: .max, isMoved: false, isolation: #isolation)
            ended.increment()
        }
        await realm.asyncRefresh()
        let hub = realm.core.coordinator.observations
        while hub.listenerCount.load(ordering: .sequentiallyConsistent) == 0 { await Task.yield() }
        // The pass finds who waits, and whom it tells has ended behind what it posts.
        await realm.passTurns()
        await Task { @MainActor in }.value
        #expect(ended.value == 0)
        waiting.cancel()
        await waiting.value
        #expect(realm.objects(Tally.self).count == 1)
        token.invalidate()
    }

    @Test("In a write transaction it moves nothing, and does not wait")
    @MainActor
    func inTransaction() async throws {
        let realm = try await Realm(configuration: file.fast)
        let token = realm.objects(Tally.self).observe { _ in }
        let transaction = try await realm.beginAsyncWrite()
        #expect(await !realm.asyncRefresh())
        transaction.cancel()
        token.invalidate()
    }
}
