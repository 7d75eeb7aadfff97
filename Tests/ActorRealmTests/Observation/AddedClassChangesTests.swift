import ActorRealm
import Testing

/// Observers that go in one step over what was written and over a class that somebody adds to the file.
@Suite("Changes that come together with a new class", .timeLimit(.minutes(60)))
struct AddedClassChangesTests {
    private let file = ObservedFile()

    /// A worker that has written a chore with an owner.
    private func begun() async throws -> Worker {
        let worker = try await Worker(file.configuration)
        try await worker.with { _, realm in
            try await realm.asyncWrite {
                let chore = realm.create(Chore.self, value: ["id": 1, "name": "one"])
                chore.owner = realm.create(ChoreOwner.self, value: ["name": "Ann"])
            }
        }
        return worker
    }

    /// Opens the file with a class more, and adds a chore, so that there is something to tell in any case.
    private func addClass() async throws -> Worker {
        var wider = file.configuration
        wider.objectTypes = [Chore.self, ChoreOwner.self, Newcomer.self]
        let other = try await Worker(wider)
        try await other.add(2, "two")
        return other
    }

    @Test("tell what was written to a linked object")
    func linked() async throws {
        let worker = try await begun()
        var all = await worker.changes().makeAsyncIterator()
        #expect(await all.next()?.told == .initial(["one"]))
        try await worker.with { _, realm in
            try await realm.asyncWrite { realm.objects(ChoreOwner.self).first?.name = "Bea" }
        }
        let other = try await addClass()
        #expect(await all.next()?.told == .update(["one", "two"], deletions: [], insertions: [1], modifications: [0]))
        await other.close()
    }

    @Test("tell of no property that the key paths do not name")
    func keyPaths() async throws {
        let worker = try await begun()
        let (byName, byNothing) = await worker.with { _, realm in
            let chores = realm.objects(Chore.self)
            return (chores.changes(keyPaths: ["name"]), chores.changes(keyPaths: [String]()))
        }
        var named = byName.makeAsyncIterator()
        var unnamed = byNothing.makeAsyncIterator()
        #expect(await named.next()?.told == .initial(["one"]))
        #expect(await unnamed.next()?.told == .initial(["one"]))
        try await worker.with { _, realm in
            try await realm.asyncWrite { realm.object(ofType: Chore.self, forPrimaryKey: 1)?.priority = 7 }
        }
        let other = try await addClass()
        let told = Told.update(["one", "two"], deletions: [], insertions: [1], modifications: [])
        #expect(await named.next()?.told == told)
        #expect(await unnamed.next()?.told == told)
        await other.close()
    }

    @Test("tell of no property that the key paths of sections do not name")
    func sections() async throws {
        let worker = try await begun()
        let changes = await worker.with { _, realm in
            realm.objects(Chore.self).sectioned(by: \.priority).changes(keyPaths: ["isDone"])
        }
        var iterator = changes.makeAsyncIterator()
        _ = await iterator.next()
        try await worker.rename(1, "uno")
        let other = try await addClass()
        guard case .update(_, let deletions, let insertions, let modifications, _, _)? = await iterator.next() else {
            Issue.record("no update")
            return
        }
        #expect(deletions.isEmpty && insertions.count == 1)
        #expect(modifications.isEmpty)
        await other.close()
    }
}
