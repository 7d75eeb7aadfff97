import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

/// As ``AbandonedTurnTests/closedWhileCommitting()``, with a block that commits itself and cancels another transaction behind that: its end
/// waits for both.
@Suite(
    "A callback write that waits for its own commit and for what it saw is counted out with its actor",
    .timeLimit(.minutes(60))
)
struct LeftBehindCommitTests {
    private let memory = Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Tally.self])

    private actor Leaver {
        private var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func copied() -> (Frozen<Realm>, RealmCoordinator) { (realm.frozen, realm.core.coordinator) }

        func close() { realm.close() }

        func write(before gate: DispatchSemaphore, cancelsAnother: Bool) async {
            let realm = realm!
            await withCheckedContinuation { begun in
                realm.writeAsync {
                    realm.core.coordinator.io.thread.perform { gate.wait() }
                    realm.create(Tally.self, value: ["name": "late", "count": 1])
                    realm.commitAsyncWrite()
                    if cancelsAnother {
                        realm.beginWrite()
                        realm.cancelWrite()
                    }
                    begun.resume()
                }
            }
        }
    }

    /// With `false` it is green before and after: what the block is that stays tells nothing.
    @Test("and its realm in memory ends", arguments: [false, true])
    func ends(cancelsAnother: Bool) async throws {
        weak var gone: Leaver?
        let gate = DispatchSemaphore(value: 0)
        let (copy, coordinator) = try await {
            let leaver = try await Leaver(memory)
            gone = leaver
            let (copy, coordinator) = await leaver.copied()
            await leaver.write(before: gate, cancelsAnother: cancelsAnother)
            await leaver.close()
            return (copy, coordinator)
        }()
        #expect(await eventually { gone == nil })
        #expect(!coordinator.isEnded)
        gate.signal()
        #expect(await eventually { coordinator.isEnded })
        withExtendedLifetime(copy) {}
    }
}
