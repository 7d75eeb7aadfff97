import ActorRealm
import Dispatch
import Foundation
import RealmTestSupport
import Synchronization
import Testing

/// What blocks of a realm were told, by their names; used in the realm's isolation.
final class BlockLog {
    var entries: [String] = []
    var tokens: [NotificationToken] = []
    /// How often a block is to do something.
    var times = 1

    func isTime() -> Bool {
        times -= 1
        return times >= 0
    }

    /// Takes what was told since the last time.
    func take() -> [String] {
        defer { entries = [] }
        return entries
    }

    /// Observes under a name, with what else the block is to do.
    func observe(_ realm: Realm, _ name: String, _ action: @escaping (Realm) -> Void = { _ in }) {
        tokens.append(
            realm.observe { [weak self] notification, realm in
                #expect(!realm.isInWriteTransaction)
                self?.entries.append("\(name) \(notification) \(realm.objects(Chore.self).count)")
                action(realm)
            }
        )
    }

    static func add(_ realm: Realm, _ id: Int) {
        realm.create(Chore.self, value: ["id": id, "name": "\(id)"])
    }
}

/// Blocks that observe a whole realm hear of its own synchronous commits before those return.
@Suite("Blocks of whole realms", .timeLimit(.minutes(60)))
struct RealmBlockTests {
    let file = ObservedFile()

    @Test("a block is called before write() and commitWrite() return, in the order of registration")
    func beforeReturning() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.with { worker, realm in
            let log = BlockLog()
            for name in ["a", "b", "c", "d"] { log.observe(realm, name) }
            try realm.write { BlockLog.add(realm, 1) }
            #expect(log.take() == ["a", "b", "c", "d"].map { "\($0) didChange 1" })
            realm.beginWrite()
            BlockLog.add(realm, 2)
            #expect(log.entries.isEmpty)
            try realm.commitWrite()
            #expect(log.take() == ["a", "b", "c", "d"].map { "\($0) didChange 2" })
            // An observer that came later is called later, also when one before it has ended.
            log.tokens[1].invalidate()
            log.observe(realm, "e")
            try realm.write { BlockLog.add(realm, 3) }
            #expect(log.take() == ["a", "c", "d", "e"].map { "\($0) didChange 3" })
            try realm.write(timeout: .seconds(1_800)) { BlockLog.add(realm, 4) }
            #expect(log.take().count == 4)
            // What changes nothing, or was cancelled or failed, is told to nobody.
            try realm.write {}
            realm.beginWrite()
            BlockLog.add(realm, 5)
            realm.cancelWrite()
            #expect(throws: CancellationError.self) {
                try realm.write {
                    BlockLog.add(realm, 5)
                    throw CancellationError()
                }
            }
            // Whatever is under way has been told when this returns.
            await realm.asyncRefresh()
            #expect(log.take() == [])
        }
    }

    @Test("of many commits, each is told once and before it returns, whatever the observers' thread does meanwhile")
    func manyCommits() async throws {
        var configuration = file.configuration
        configuration.durability = .unflushed
        let worker = try await Worker(configuration)
        try await worker.with { worker, realm in
            var told: [Int] = []
            let tokens = (0..<3)
                .map { index in
                    realm.observe { _, realm in if index == 1 { told.append(realm.objects(Chore.self).count) } }
                }
            // Each commit adds an object, so that their number says which one it is.
            var versions: [Int] = []
            for id in 0..<600 {
                try realm.write { BlockLog.add(realm, id) }
                versions.append(realm.objects(Chore.self).count)
                #expect(told.last == realm.objects(Chore.self).count)
                if id % 50 == 0 { await Task.yield() }
            }
            // Whatever is under way has been told when this returns.
            await realm.asyncRefresh()
            #expect(told == versions)
            for token in tokens { token.invalidate() }
        }
    }

    @Test("others' commits that come in between are told once, with the own one, or later and once")
    func besideOthers() async throws {
        var configuration = file.configuration
        configuration.durability = .unflushed
        let worker = try await Worker(configuration)
        let other = try await Worker(configuration)
        let told = Mutex<[Int]>([])
        let tokens = await worker.with { _, realm in
            [
                realm.observe { _, realm in told.withLock { $0.append(realm.objects(Chore.self).count) } },
                realm.observe { _, _ in },
            ]
        }
        async let others: Void = {
            for id in 1_000..<1_300 { try await other.add(id, "other") }
        }()
        for id in 0..<300 {
            try await worker.with { _, realm in
                try realm.write { BlockLog.add(realm, id) }
                #expect(told.withLock { $0.last } == realm.objects(Chore.self).count)
            }
        }
        try await others
        let newest = await worker.with { _, realm in
            await realm.asyncRefresh()
            return realm.objects(Chore.self).count
        }
        let versions = told.withLock { $0 }
        #expect(versions.last == newest)
        #expect(zip(versions, versions.dropFirst()).allSatisfy { $0 < $1 }, "a version was told twice")
        for token in tokens { token.invalidate() }
    }

    @Test("refresh() calls the blocks before it returns, and does nothing in a block")
    func refreshing() async throws {
        let worker = try await Worker(file.configuration)
        let other = try await Worker(file.configuration)
        let journal = Journal<String>()
        let tokens = await worker.with { worker, realm in
            realm.autorefresh = false
            return [
                realm.observe { notification, realm in
                    guard notification == .didChange else { return }
                    let version = realm.objects(Chore.self).count
                    #expect(!realm.refresh())
                    #expect(realm.objects(Chore.self).count == version)
                    journal.add("a \(realm.objects(Chore.self).count)")
                },
                realm.observe { notification, realm in
                    if notification == .didChange { journal.add("b \(realm.objects(Chore.self).count)") }
                },
            ]
        }
        try await other.add(1, "one")
        await worker.with { _, realm in
            #expect(realm.refresh())
            #expect(journal.entries == ["a 1", "b 1"])
            #expect(!realm.refresh())
        }
        try await other.add(2, "two")
        try await worker.with { _, realm in
            // With autorefresh off, too, an own commit moves the realm, and is told with what came before it.
            try realm.write { BlockLog.add(realm, 3) }
            #expect(journal.entries == ["a 1", "b 1", "a 3", "b 3"])
        }
        #expect(await journal.settled(worker) == ["a 1", "b 1", "a 3", "b 3"])
        for token in tokens { token.invalidate() }
    }

    @Test("a write that leaves a block out calls the others, and the next one calls it once")
    func withoutNotifying() async throws {
        let worker = try await Worker(file.configuration)
        let other = try await Worker(file.configuration)
        try await worker.with { worker, realm in
            let log = BlockLog()
            for name in ["a", "b"] { log.observe(realm, name) }
            for count in 1...20 {
                try realm.write(withoutNotifying: [log.tokens[0]]) { BlockLog.add(realm, count) }
                #expect(log.take() == ["b didChange \(count)"])
            }
            // Whatever is under way has been told when this returns.
            await realm.asyncRefresh()
            #expect(log.take() == [])
            try realm.write { BlockLog.add(realm, 21) }
            #expect(log.take() == ["a didChange 21", "b didChange 21"])
            // What others committed before is told nevertheless.
            realm.autorefresh = false
            try await other.add(22, "other")
            log.entries = []
            try realm.write(withoutNotifying: [log.tokens[0]]) { BlockLog.add(realm, 23) }
            #expect(log.take() == ["a didChange 23", "b didChange 23"])
        }
    }

    @Test("in a block that observes anything, refresh() leaves the realm where it is, however much newer the file is")
    func refreshingInBlock() async throws {
        let worker = try await Worker(file.configuration)
        let configuration = file.configuration
        let queue = DispatchQueue(label: "other writer")
        // Commits while a block is being called.
        @Sendable func commit(_ id: Int) {
            queue.sync {
                let other = try! Realm(configuration: configuration, queue: queue)
                try! other.write { BlockLog.add(other, id) }
            }
        }
        let journal = Journal<String>()
        try await worker.with { worker, realm in
            let log = BlockLog()
            log.observe(realm, "a") { realm in
                if !log.isTime() { return }
                let count = realm.objects(Chore.self).count
                commit(100)
                #expect(!realm.refresh())
                #expect(realm.objects(Chore.self).count == count)
            }
            realm.autorefresh = false
            try realm.write { BlockLog.add(realm, 1) }
            #expect(log.take() == ["a didChange 1"])
            #expect(realm.refresh())
            #expect(log.take() == ["a didChange 2"])
            realm.autorefresh = true
            log.tokens.removeAll()
            log.tokens.append(
                realm.objects(Chore.self)
                    .observe { change in
                        let chores = change.collection!
                        let count = chores.count
                        if case .initial = change {
                            commit(101)
                            #expect(chores.realm?.refresh() == false)
                            #expect(chores.count == count)
                        }
                        journal.add("\(count)")
                    }
            )
            #expect(await eventually { journal.entries == ["2", "3"] })
        }
    }

    @Test("commits that do not block are told in a later turn, in the order of registration, as are those of others")
    func later() async throws {
        let worker = try await Worker(file.configuration)
        let other = try await Worker(file.configuration)
        let names = ["a", "b", "c", "d", "e"]
        let journal = Journal<String>()
        let tokens = await worker.with { worker, realm in
            names.map { name in
                realm.observe { _, realm in journal.add("\(name) \(realm.objects(Chore.self).count)") }
            }
        }
        for count in 1...10 {
            try await (count % 2 == 0 ? worker : other).add(count, "\(count)")
            let told = await journal.wait(for: count * names.count)
            #expect(told.suffix(names.count) == names.map { "\($0) \(count)" })
        }
        for token in tokens { token.invalidate() }
    }

    @Test("a write in a collection's block calls the realm's blocks before it returns, and the collection's own later")
    func collectionBlock() async throws {
        let worker = try await Worker(file.configuration)
        let journal = Journal<String>()
        let tokens = await worker.with { worker, realm in
            [
                realm.objects(Chore.self)
                    .observe { change in
                        journal.add("collection \(change.collection!.count)")
                        if case .initial(let chores) = change {
                            try! chores.realm!.write { BlockLog.add(chores.realm!, 1) }
                            journal.add("written")
                        }
                    },
                realm.observe { _, realm in journal.add("realm \(realm.objects(Chore.self).count)") },
            ]
        }
        #expect(await journal.wait(for: 4) == ["collection 0", "realm 1", "written", "collection 1"])
        for token in tokens { token.invalidate() }
    }

    @Test("a realm of a queue calls its blocks in its synchronous writes, too")
    func queueBound() throws {
        let queue = DispatchQueue(label: "blocks")
        try queue.sync {
            let realm = try Realm(configuration: file.configuration, queue: queue)
            let log = BlockLog()
            for name in ["a", "b"] { log.observe(realm, name) }
            try realm.write { BlockLog.add(realm, 1) }
            #expect(log.take() == ["a didChange 1", "b didChange 1"])
        }
    }
}
