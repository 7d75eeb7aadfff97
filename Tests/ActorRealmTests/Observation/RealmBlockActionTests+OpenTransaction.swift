import RealmTestSupport
import Testing

@testable import ActorRealm

extension RealmBlockActionTests {
    @Test("a block may begin a transaction and leave it open: the blocks behind it are told when that has ended")
    func leavingTransactionOpen() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.with { worker, realm in
            let log = BlockLog()
            log.observe(realm, "a") { realm in if log.isTime() { realm.beginWrite() } }
            log.observe(realm, "b")
            try realm.write { BlockLog.add(realm, 1) }
            #expect(realm.isInWriteTransaction)
            #expect(log.take() == ["a didChange 1"])
            await realm.passTurns()
            #expect(log.take() == [])
            BlockLog.add(realm, 2)
            try realm.commitWrite()
            #expect(log.take() == ["a didChange 2", "b didChange 2"])
            // The same, where the transaction is cancelled.
            log.tokens.removeAll()
            log.times = 1
            log.observe(realm, "c") { realm in if log.isTime() { realm.beginWrite() } }
            log.observe(realm, "d")
            try realm.write { BlockLog.add(realm, 3) }
            #expect(log.take() == ["c didChange 3"])
            realm.cancelWrite()
            let isTold = await eventually { log.entries == ["d didChange 3"] }
            #expect(isTold)
        }
    }
}
