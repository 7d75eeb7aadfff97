import RealmModel
import RealmQuery
import Synchronization
import Testing

@testable import ActorRealm

@Suite("The last observer of a file", .timeLimit(.minutes(60)))
@MainActor
struct LastObserverTests {
    let file = TestFile()

    @Test("takes the change sets with it that the hub keeps for observers which go the same way")
    func changeSets() async throws {
        let realm = try await Realm(configuration: file.fast)
        let hub = realm.core.coordinator.observations
        let observers = try (0..<2)
            .map { _ in
                try ChangeCursor(
                    RealmSubject(),
                    coordinator: realm.core.coordinator,
                    at: realm.core.model.snapshot,
                    lagLimit: nil,
                    objectTypes: [Todo.self, Tally.self],
                    origin: nil
                )
            }
        let old = try hub.newest()
        try realm.write { realm.add(Tally(name: "a")) }
        let new = try hub.newest()
        var keepsAny: Bool { hub.state.withLock { !$0.recent.isEmpty } }
        _ = try hub.step(from: old, to: new)
        #expect(keepsAny)
        observers[0].cancel()
        #expect(keepsAny, "there is one more")
        observers[1].cancel()
        #expect(!keepsAny)
        // What is still being computed for it when it goes is kept for nobody.
        let step = try hub.step(from: old, to: new)
        #expect(step.rowCount == 1)
        #expect(!keepsAny)
    }
}
