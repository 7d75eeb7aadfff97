import Dispatch
import RealmTestSupport
import Testing

@testable import ActorRealm

/// A hub that is late.
extension StalledObserverTests {
    @Test("an observer that was not looked after for a while has not lagged meanwhile")
    func lateHub() async throws {
        let worker = try await Worker(configuration(lag: 10))
        try await worker.add(1, "one")
        let changes = await worker.with { _, realm in realm.objects(Chore.self).changes() }
        var iterator = changes.makeAsyncIterator()
        #expect(await iterator.next()?.told == .initial(["one"]))
        try await worker.with { _, realm in
            try realm.write { _ = realm.create(ChoreOwner.self, value: ["name": "Ann"]) }
        }
        #expect(await eventually { await observedAt(worker).isEmpty })
        let hub = await worker.with { _, realm in realm.core.coordinator.observations }
        let gate = ThreadGate<Void>()
        hub.thread.perform { gate.wait() }
        try await rename(worker, 1, times: 50)
        gate.open(with: ())
        // It knows of fifty versions less than there are, and is asked for the first time.
        #expect(await eventually { await !observedAt(worker).isEmpty })
        if case .update(_, let deletions, let insertions, let modifications)? = await iterator.next() {
            #expect((deletions, insertions, modifications) == ([], [], [0]))
        } else {
            Issue.record("It began anew")
        }
    }

    @Test("an observer that waited has not lagged while it was not looked after, though it cannot fetch at once")
    func lateHubOfWaiting() async throws {
        let worker = try await Worker(configuration(lag: 10))
        try await worker.add(1, "one")
        let journal = Journal<Told>()
        let queue = DispatchQueue(label: "busy")
        let token = await worker.with { _, realm in
            realm.objects(Chore.self).observe(on: queue) { change in journal.add(change.told) }
        }
        #expect(await journal.wait(for: 1) == [.initial(["one"])])
        try await worker.with { _, realm in
            try realm.write { _ = realm.create(ChoreOwner.self, value: ["name": "Ann"]) }
        }
        #expect(await eventually { await observedAt(worker).isEmpty })
        let hub = await worker.with { _, realm in realm.core.coordinator.observations }
        let (gate, busy) = (ThreadGate<Void>(), ThreadGate<Void>())
        queue.async { busy.wait() }
        hub.thread.perform { gate.wait() }
        try await rename(worker, 1, times: 50)
        gate.open(with: ())
        // What happened is on its way to the queue when the hub has looked, and then it looks once more.
        await behindPass(of: hub)
        try await rename(worker, 1, times: 1)
        await behindPass(of: hub)
        busy.open(with: ())
        let told = await journal.wait(for: 2)
        if case .update(_, let deletions, let insertions, let modifications) = told[1] {
            #expect((deletions, insertions, modifications) == ([], [], [0]))
        } else {
            Issue.record("It began anew: \(told)")
        }
        token.invalidate()
    }

    /// Waits until a pass of the hub over its observers is over which began now or later.
    private func behindPass(of hub: ObservationHub) async {
        hub.schedule()
        await withCheckedContinuation { continuation in hub.thread.perform { continuation.resume() } }
    }
}
