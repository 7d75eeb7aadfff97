import Testing

@testable import ActorRealm

extension ObservingTests {
    @Test("nothing is delivered while a write transaction is open, and everything after it")
    func openTransaction() async throws {
        let worker = try await Worker(file.configuration)
        let journal = Journal<Told>()
        let token = await worker.with { _, realm in
            realm.objects(Chore.self)
                .observe { change in
                    #expect(change.collection?.realm?.isInWriteTransaction == false)
                    journal.add(change.told)
                }
        }
        _ = await journal.wait(for: 1)
        let configuration = file.configuration
        let count = try await worker.with { _, realm in
            // Committed in the same turn, so that it is on its way when the transaction begins.
            try withNewRealm(configuration) { other in
                try other.write { _ = other.create(Chore.self, value: ["id": 1, "name": "one"]) }
            }
            realm.beginWrite()
            realm.create(Chore.self, value: ["id": 2, "name": "two"])
            await realm.passTurns()
            #expect(journal.entries.count == 1)
            try realm.commitWrite()
            await realm.asyncRefresh()
            let count = journal.entries.count
            #expect(count > 1)
            let transaction = try await realm.beginAsyncWrite()
            realm.create(Chore.self, value: ["id": 3, "name": "three"])
            await realm.passTurns()
            #expect(journal.entries.count == count)
            try await transaction.commit()
            return count
        }
        #expect(await journal.wait(for: count + 1).count == count + 1)
        token.invalidate()
    }
}
