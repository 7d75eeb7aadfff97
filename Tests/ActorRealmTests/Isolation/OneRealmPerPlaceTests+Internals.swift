import CRealmShims
import RealmStorage
import Testing

@testable import ActorRealm

/// What is seen from inside the library only.
extension OneRealmPerPlaceTests {
    @Test("No task has the number of another one, whatever its address")
    func taskNumbers() async {
        var numbers: Set<UInt64> = []
        #expect(await Task.detached { crealm_current_task() }.value != 0)
        for _ in 0..<200 { numbers.insert(await Task.detached { crealm_current_task() }.value) }
        #expect(numbers.count == 200)
    }

    // MARK: Actors that are gone

    struct Observed: @unchecked Sendable {
        let tokens: [NotificationToken]
        let core: WeakReference<RealmCore>
    }

    actor Passing {
        func observe(_ configuration: Realm.Configuration) async throws -> Observed {
            let realm = try await Realm(configuration: configuration, actor: self)
            let tokens = [
                realm.objects(Tally.self).observe { _ in }, realm.observe { _, _ in },
                realm.objects(Todo.self).observe { _ in },
            ]
            return Observed(tokens: tokens, core: WeakReference(realm.core))
        }
    }

    @Test(
        "The realm of an actor that is gone lets go of its version with the next commit, though its tokens live elsewhere"
    )
    func orphans() async throws {
        let configuration = file.fast
        let store = try await Store(configuration)
        let observed = try await Passing().observe(configuration)
        try await store.helperWrites("next")
        while observed.core.object != nil { await Task.yield() }
        #expect(observed.tokens.allSatisfy { !$0.invalidate() }, "each has ended by itself")
    }

    /// Whether a core goes: jobs that are under way hold it, for as long as a busy machine lets them.
    private func isGone(_ core: WeakReference<RealmCore>) async -> Bool {
        await eventually { core.object == nil }
    }

    @Test("It does so as well when an observer fails of which nobody can be told, and with the next opening")
    func unheardFailures() async throws {
        struct Failure: Error {}
        let configuration = file.fast
        let failing = try await Passing().observe(configuration)
        do {
            let core = try #require(failing.core.object)
            while core.isolation.isAlive { await Task.yield() }
            for member in core.signals.deliverers(before: .max) { member.fail(Failure()) }
        }
        #expect(await isGone(failing.core), "its observers have failed")
        let opened = try await Passing().observe(configuration)
        if let isolation = opened.core.object?.isolation { while isolation.isAlive { await Task.yield() } }
        _ = try await Store(configuration)
        #expect(await isGone(opened.core), "somebody else has opened the file")
        #expect((failing.tokens + opened.tokens).allSatisfy { !$0.invalidate() }, "each has ended by itself")
    }
}
