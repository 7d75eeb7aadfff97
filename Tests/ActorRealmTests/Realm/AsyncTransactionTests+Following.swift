import Testing

@testable import ActorRealm

/// Where a realm moves to while a task has a transaction in two steps open.
extension AsyncTransactionTests {
    /// An actor with an open transaction that builds on a newer version than its realm reads outside of it.
    actor Latecomer {
        private var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
            realm.autorefresh = false
        }

        private func count(in reference: ThreadSafeReference<Realm>) throws -> Int {
            try reference.resolve().objects(Tally.self).count
        }

        private func count() -> Int { realm.objects(Tally.self).count }

        /// What another job finds in the realm of a reference to what was written elsewhere.
        func resolved(_ reference: ThreadSafeReference<Realm>) async throws -> Int {
            let transaction = try await realm.beginAsyncWrite()
            let count = try await Task.detached { try await self.count(in: reference) }.value
            transaction.cancel()
            return count
        }

        /// What another job reads behind a refresh that comes while the transaction is open.
        func followed() async throws -> Int {
            let transaction = try await realm.beginAsyncWrite()
            // Has it follow the file, in a later turn; nobody reads in between.
            realm.autorefresh = true
            await realm.passTurns()
            let count = await Task.detached { await self.count() }.value
            transaction.cancel()
            return count
        }
    }

    /// Writes one object from elsewhere.
    private func addElsewhere() throws -> ThreadSafeReference<Realm> {
        try withNewRealm(file.fast) { other in
            try other.write { other.add(Tally(name: "new")) }
            return ThreadSafeReference(to: other)
        }
    }

    @Test("The realm of a reference has the version of that at least, also beside another task's transaction")
    func referenceWithinForeignTransaction() async throws {
        let latecomer = try await Latecomer(file.fast)
        let reference = try addElsewhere()
        let count = try await latecomer.resolved(reference)
        #expect(count == 1)
    }

    @Test("A realm follows the file also while a task's transaction is open, for the other jobs")
    func followsBesideTransaction() async throws {
        let latecomer = try await Latecomer(file.fast)
        _ = try addElsewhere()
        let count = try await latecomer.followed()
        #expect(count == 1)
    }
}
