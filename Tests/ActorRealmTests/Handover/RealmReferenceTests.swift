import Dispatch
import Foundation
import Testing

@testable import ActorRealm

@Suite("A realm itself can be handed over, frozen and thawed", .timeLimit(.minutes(60)))
struct RealmReferenceTests {
    let file = TestFile()

    @Test("A reference to a realm opens that of the isolation in which it is resolved, at its version at least")
    @MainActor
    func reference() async throws {
        let configuration = file.fast
        let realm = try await Realm(configuration: configuration)
        try realm.write { _ = realm.create(Tally.self, value: ["name": "a"]) }
        actor Receiver {
            func count(_ reference: ThreadSafeReference<Realm>) throws -> (Int, Bool) {
                let realm = try reference.resolve()
                return (realm.objects(Tally.self).count, try openSynchronously(realm.configuration) === realm)
            }

            private func openSynchronously(_ configuration: Realm.Configuration) throws -> Realm {
                try Realm(configuration: configuration)
            }
        }
        let reference = ThreadSafeReference(to: realm)
        #expect(!reference.isInvalidated)
        let (count, isActorsOwn) = try await Receiver().count(reference)
        #expect(count == 1 && isActorsOwn)
        #expect(reference.isInvalidated)

        let second = ThreadSafeReference(to: realm)
        let counted = await withCheckedContinuation { continuation in
            DispatchQueue(label: "background")
                .async {
                    continuation.resume(returning: try? second.resolve().objects(Tally.self).count)
                }
        }
        #expect(counted == 1)
        #expect(realm.resolve(ThreadSafeReference(to: realm)) === realm)
    }

    @Test("A realm's version stays in the file until the reference is resolved or let go of")
    @MainActor
    func pinning() async throws {
        let realm = try await Realm(configuration: file.fast)
        let storage = realm.core.coordinator.file
        var reference: ThreadSafeReference<Realm>? = ThreadSafeReference(to: realm)
        let pinned = realm.version
        try realm.write { _ = realm.create(Tally.self, value: ["name": "a"]) }
        #expect(storage.activeVersions().map(\.version).contains(pinned))
        #expect(reference?.isInvalidated == false)
        reference = nil
        #expect(!storage.activeVersions().map(\.version).contains(pinned))
    }

    @Test("A frozen realm is sent as a value, and a @ThreadSafe one is the realm of whoever reads it")
    @MainActor
    func values() async throws {
        let realm = try await Realm(configuration: file.fast)
        let frozen: Frozen<Realm> = realm.frozen
        try realm.write { _ = realm.create(Tally.self, value: ["name": "a"]) }
        let count = await Task.detached { frozen.value.objects(Tally.self).count }.value
        #expect(count == 0)
        #expect(realm.thaw(frozen) === realm)
        let shared = ThreadSafe(wrappedValue: realm)
        #expect(shared.wrappedValue === realm)
        let thawed: Realm? = realm.freeze().thaw()
        #expect(thawed === realm)
    }
}
