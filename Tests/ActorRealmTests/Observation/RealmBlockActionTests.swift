import ActorRealm
import Dispatch
import Foundation
import RealmTestSupport
import Synchronization
import Testing

/// What a block that observes a whole realm may do, in the middle of a commit.
@Suite("Blocks of whole realms that do something", .timeLimit(.minutes(60)))
struct RealmBlockActionTests {
    let file = ObservedFile()

    @Test("a block that writes is told of its own write in a later turn, the blocks behind it once")
    func writing() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.with { worker, realm in
            let log = BlockLog()
            log.observe(realm, "a")
            log.observe(realm, "b") { realm in
                let count = realm.objects(Chore.self).count
                if count < 4 { try! realm.write { BlockLog.add(realm, count + 1) } }
            }
            log.observe(realm, "c")
            try realm.write { BlockLog.add(realm, 1) }
            #expect(log.take() == ["a didChange 1", "b didChange 1", "c didChange 2"])
            // Not within the macro, whose closure is not the worker's.
            let isTold = await eventually { log.entries.count >= 8 }
            #expect(isTold)
            await realm.asyncRefresh()
            // Each hears of each version at most once, and of the last.
            for name in ["a", "b", "c"] {
                let own = log.entries.filter { $0.hasPrefix(name) }
                #expect(Set(own).count == own.count)
                #expect(own.last == "\(name) didChange 4")
            }
            #expect(log.take().filter { $0.hasPrefix("b") } == (2...4).map { "b didChange \($0)" })
        }
    }

    @Test("a block that always writes does not keep its writer")
    func writingAlways() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.with { worker, realm in
            let log = BlockLog()
            log.observe(realm, "a") { realm in
                if log.entries.count < 2_000 { try! realm.write { realm.objects(Chore.self).first!.priority += 1 } }
            }
            try realm.write { BlockLog.add(realm, 1) }
            #expect(log.entries.count == 1)
            let chore = realm.objects(Chore.self).first!
            #expect(chore.priority == 1)
            log.tokens[0].invalidate()
            await realm.asyncRefresh()
            #expect(log.entries.count == 1)
        }
    }

    @Test("a block may end its own token, and those of others before they are called")
    func cancelling() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.with { worker, realm in
            let log = BlockLog()
            log.observe(realm, "a") { _ in #expect(log.tokens[0].invalidate() == (log.entries.count == 1)) }
            log.observe(realm, "b") { _ in log.tokens[2].invalidate() }
            log.observe(realm, "c")
            log.observe(realm, "d")
            try realm.write { BlockLog.add(realm, 1) }
            #expect(log.take() == ["a didChange 1", "b didChange 1", "d didChange 1"])
            try realm.write { BlockLog.add(realm, 2) }
            #expect(log.take() == ["b didChange 2", "d didChange 2"])
            log.tokens.removeAll()
            try realm.write { BlockLog.add(realm, 3) }
            await realm.asyncRefresh()
            #expect(log.take() == [])
        }
    }

    @Test("a block may observe anew: the new block hears of what is committed from then on")
    func observingAnew() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.with { worker, realm in
            let log = BlockLog()
            log.observe(realm, "a") { realm in
                if log.tokens.count == 2 { log.observe(realm, "c") }
            }
            log.observe(realm, "b")
            try realm.write { BlockLog.add(realm, 1) }
            #expect(log.take() == ["a didChange 1", "b didChange 1"])
            await realm.asyncRefresh()
            #expect(log.take() == [])
            try realm.write { BlockLog.add(realm, 2) }
            #expect(log.take() == ["a didChange 2", "b didChange 2", "c didChange 2"])
        }
    }

    @Test("a block may close the realm: that ends the others, and the commit returns")
    func closing() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.with { worker, realm in
            let log = BlockLog()
            log.observe(realm, "a") { $0.close() }
            log.observe(realm, "b")
            try realm.write { BlockLog.add(realm, 1) }
            #expect(log.take() == ["a didChange 1"])
            worker.realm = try await Realm(configuration: file.configuration, actor: worker)
            #expect(worker.realm.objects(Chore.self).count == 1)
            #expect(!log.tokens[1].invalidate())
        }
    }

    @Test(
        "a block may invalidate the realm: the others are told with the realm that reads anew, and so are all afterwards"
    )
    func invalidating() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.with { worker, realm in
            let log = BlockLog()
            log.observe(realm, "a") { $0.invalidate() }
            log.observe(realm, "b")
            for count in 1...3 {
                try realm.write { BlockLog.add(realm, count) }
                #expect(log.take() == ["a didChange \(count)", "b didChange \(count)"])
            }
            // Nor does a block that invalidates and writes go round in circles.
            log.observe(realm, "c") { realm in
                if log.entries.count > 50 { return }
                realm.invalidate()
                try! realm.write { BlockLog.add(realm, realm.objects(Chore.self).count + 1) }
            }
            try realm.write { BlockLog.add(realm, 4) }
            #expect(log.take() == ["a didChange 4", "b didChange 4", "c didChange 4"])
            log.tokens.removeAll()
        }
    }

    @Test("a block may throw away the last reference to the realm")
    func throwingAway() async throws {
        let worker = try await Worker(file.configuration)
        let configuration = file.configuration
        let journal = Journal<Int>()
        let tokens = await worker.with { worker, realm in
            (0..<2)
                .map { _ in
                    realm.observe { [weak worker] _, realm in
                        worker?.assumeIsolated { $0.realm = nil }
                        journal.add(realm.objects(Chore.self).count)
                    }
                }
        }
        try await worker.commitAndForget()
        #expect(journal.entries == [1, 1])
        let next = try await Worker(configuration)
        try await next.add(2, "two")
        // The tokens keep observing.
        _ = await journal.wait(for: 4)
        try await next.add(3, "three")
        #expect(await journal.wait(for: 6) == [1, 1, 2, 2, 3, 3])
        for token in tokens { #expect(token.invalidate()) }
    }
}

extension Worker {
    /// Commits with the only reference to the realm, which a block takes away.
    fileprivate func commitAndForget() throws {
        realm.beginWrite()
        realm.create(Chore.self, value: ["id": 1, "name": "one"])
        try realm.commitWrite()
        #expect(realm == nil)
    }
}
