import RealmStorage
import Testing

@testable import ActorRealm

@Suite("Frozen sections that a loop outside actors is told", .timeLimit(.minutes(60)))
struct FrozenSectionChangesTests {
    @Test("stay as they are when the owner of their list is deleted")
    func ownerDeleted() async throws {
        let file = ObservedFile()
        let worker = try await Worker(file.configuration)
        let changes = try await worker.with { _, realm in
            let owner = try await realm.asyncWrite {
                let owner = realm.create(ChoreOwner.self, value: ["name": "Ann"])
                owner.tasks.append(realm.create(Chore.self, value: ["id": 1, "name": "one", "priority": 5]))
                return owner
            }
            return owner.tasks.sectioned(by: \.priority).changes()
        }
        var iterator = changes.makeAsyncIterator()
        guard case .initial(let first)? = await iterator.next() else {
            Issue.record("no initial sections")
            return
        }
        #expect(first[0][0].name == "one")
        try await worker.with { _, realm in
            try await realm.asyncWrite { realm.delete(realm.objects(ChoreOwner.self)) }
        }
        guard case .update(let last, _, _, _, _, _)? = await iterator.next() else {
            Issue.record("no end of the sections")
            return
        }
        #expect(last.isEmpty && last.isFrozen)
        // Where both are of one version the first ones were emptied, and reading them ends the process.
        let (before, after) = (first.realm?.version, last.realm?.version)
        try #require(before != nil && before != after)
        #expect(first.count == 1 && first[0].count == 1)
        #expect(first[0].map(\.name) == ["one"])
        let end = await iterator.next()
        #expect(end == nil)
    }

    @Test("hold no version when they are let go of, while the loop waits and others write what does not concern it")
    func pins() async throws {
        let file = TestFile()
        let worker = try await Worker(file.fast)
        let changes = try await worker.with { _, realm in
            try await realm.asyncWrite { realm.add(Tally(name: "a")) }
            return realm.objects(Tally.self).sectioned(by: \.count).changes()
        }
        var iterator = changes.makeAsyncIterator()
        _ = await iterator.next()
        let pinned = try await worker.with { _, realm in
            for _ in 0..<20 { try await realm.asyncWrite { realm.add(Todo()) } }
            let file = realm.core.coordinator.file
            // A pass over the observers may be under way on another thread.
            for _ in 0..<100 where file.pinnedVersionCount > 1 { await realm.passTurns() }
            return file.pinnedVersionCount
        }
        #expect(pinned == 1)
        withExtendedLifetime(iterator) {}
    }
}
