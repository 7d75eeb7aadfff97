import ActorRealm
import Foundation
import RealmTestSupport
import Testing

@Suite("Changes of maps and sets", .timeLimit(.minutes(60)))
struct MapChangesTests {
    let directory = TemporaryDirectory()

    private var configuration: Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: directory.url.appendingPathComponent("maps.realm"))
        configuration.objectTypes = crateTypes
        return configuration
    }

    private enum ToldNames: Equatable {
        case initial([String])
        case update([String], deletions: [String], insertions: [String], modifications: [String])

        init?<Value>(_ change: RealmMapChange<Map<String, Value>>) {
            switch change {
            case .initial(let map): self = .initial(map.keys)
            case .update(let map, let deletions, let insertions, let modifications):
                self = .update(map.keys, deletions: deletions, insertions: insertions, modifications: modifications)
            case .error: return nil
            }
        }
    }

    @Test("a map tells which names came, went and changed, and its end")
    func names() async throws {
        let worker = try await Worker(configuration)
        try await worker.with { worker, realm in
            let crate = try await realm.asyncWrite { realm.create(Crate.self, value: ["id": 1, "scores": ["a": 1]]) }
            var told: [ToldNames] = []
            for await change in crate.scores.changes() {
                told.append(try #require(ToldNames(change)))
                switch told.count {
                case 1:
                    try await realm.asyncWrite {
                        crate.scores["b"] = 2
                        crate.scores["a"] = 9
                    }
                case 2: try await realm.asyncWrite { crate.scores["a"] = nil }
                case 3:
                    try await realm.asyncWrite { crate.name = "not the map" }
                    try await realm.asyncWrite { realm.delete(crate) }
                default: break
                }
            }
            #expect(
                told == [
                    .initial(["a"]),
                    .update(["a", "b"], deletions: [], insertions: ["b"], modifications: ["a"]),
                    .update(["b"], deletions: ["a"], insertions: [], modifications: []),
                    told.last,
                ]
            )
        }
    }

    @Test("a map of objects tells of writes to them")
    func objects() async throws {
        let worker = try await Worker(configuration)
        try await worker.with { worker, realm in
            let crate = try await realm.asyncWrite {
                realm.create(Crate.self, value: ["id": 1, "peers": ["x": ["id": 2], "y": ["id": 3]]])
            }
            var all: [ToldNames] = []
            var names: [ToldNames] = []
            var iterator = crate.peers.changes().makeAsyncIterator()
            var byName = crate.peers.changes(keyPaths: ["name"]).makeAsyncIterator()
            all.append(try #require((await iterator.next()).flatMap { ToldNames($0) }))
            names.append(try #require((await byName.next()).flatMap { ToldNames($0) }))
            try await realm.asyncWrite { realm.object(ofType: Crate.self, forPrimaryKey: 3)?.scores["s"] = 1 }
            all.append(try #require((await iterator.next()).flatMap { ToldNames($0) }))
            try await realm.asyncWrite { realm.object(ofType: Crate.self, forPrimaryKey: 2)?.name = "new" }
            names.append(try #require((await byName.next()).flatMap { ToldNames($0) }))
            #expect(all.last == .update(["x", "y"], deletions: [], insertions: [], modifications: ["y"]))
            #expect(names.last == .update(["x", "y"], deletions: [], insertions: [], modifications: ["x"]))
        }
    }

    @Test("a set tells positions as lists do, a list inside a value too")
    func positions() async throws {
        let worker = try await Worker(configuration)
        try await worker.with { worker, realm in
            let crate = try await realm.asyncWrite {
                let crate = realm.create(Crate.self, value: ["id": 1, "tags": ["b", "d"]])
                crate.value = .fromArray([.int(1)])
                return crate
            }
            var tags = crate.tags.changes().makeAsyncIterator()
            let list = try #require(crate.value.listValue)
            var elements = list.changes().makeAsyncIterator()
            _ = await tags.next()
            _ = await elements.next()
            try await realm.asyncWrite {
                crate.tags.insert("c")
                crate.tags.remove("b")
                list.append(.int(2))
            }
            guard case .update(let set, let deletions, let insertions, _)? = await tags.next() else {
                Issue.record("no update of the set")
                return
            }
            #expect(Array(set) == ["c", "d"])
            #expect(deletions == [0])
            #expect(insertions == [0])
            guard case .update(let values, _, let more, _)? = await elements.next() else {
                Issue.record("no update of the list")
                return
            }
            #expect(Array(values) == [.int(1), .int(2)])
            #expect(more == [1])
        }
    }

    @Test("an object that a value of any kind links to is followed like one that a link leads to")
    func anyLinks() async throws {
        let worker = try await Worker(configuration)
        try await worker.with { worker, realm in
            let holder = try await realm.asyncWrite {
                let holder = realm.create(Crate.self, value: ["id": 1, "name": "holder"])
                let target = realm.create(Crate.self, value: ["id": 2, "name": "target"])
                holder.value = .fromDictionary(["link": .object(target)])
                return holder
            }
            var changes = realm.objects(Crate.self).where { $0.name == "holder" }.changes().makeAsyncIterator()
            _ = await changes.next()
            try await realm.asyncWrite { realm.object(ofType: Crate.self, forPrimaryKey: 2)?.price = 3 }
            guard case .update(let crates, [], [], let modifications)? = await changes.next() else {
                Issue.record("no update")
                return
            }
            #expect(crates.first == holder)
            #expect(modifications == [0])
        }
    }

    @Test("Objects in a collection of values of any kind are followed, unless key paths are given")
    func linksInCollections() async throws {
        let worker = try await Worker(configuration)
        try await worker.with { worker, realm in
            let crate = try await realm.asyncWrite {
                let crate = realm.create(Crate.self, value: ["id": 1])
                let target = realm.create(Crate.self, value: ["id": 2])
                crate.values.append(.int(1))
                crate.values.append(.object(target))
                crate.mixed["link"] = .object(target)
                crate.value = .fromArray([.fromDictionary(["inner": .object(target)])])
                return crate
            }
            var list = crate.values.changes().makeAsyncIterator()
            var unfollowed = crate.values.changes(keyPaths: [String]()).makeAsyncIterator()
            var nested = try #require(crate.value.listValue).changes().makeAsyncIterator()
            var map = crate.mixed.changes().makeAsyncIterator()
            _ = await list.next()
            _ = await unfollowed.next()
            _ = await nested.next()
            _ = await map.next()
            try await realm.asyncWrite { realm.object(ofType: Crate.self, forPrimaryKey: 2)?.price = 3 }
            // So that there is something to tell in any case.
            try await realm.asyncWrite {
                crate.values.insert(.int(0), at: 0)
                crate.mixed["z"] = .int(1)
                crate.value.listValue?.append(.int(1))
            }
            guard case .update(_, _, _, let inList)? = await list.next(),
                case .update(_, _, _, let inUnfollowed)? = await unfollowed.next(),
                case .update(_, _, _, let inNested)? = await nested.next(),
                case .update(_, _, _, let inMap)? = await map.next()
            else {
                Issue.record("no update")
                return
            }
            #expect(inList == [1])
            #expect(inUnfollowed == [])
            #expect(inNested == [0])
            #expect(inMap == ["link"])
        }
    }

    @Test("observe gives a map to its actor")
    func observing() async throws {
        let worker = try await Worker(configuration)
        let journal = Journal<Int>()
        let token = try await worker.with { worker, realm in
            let crate = try await realm.asyncWrite { realm.create(Crate.self, value: ["id": 1]) }
            let token = await crate.scores.observe(on: worker) { _, change in
                journal.add(change.collection?.count ?? -1)
            }
            try await realm.asyncWrite { crate.scores["a"] = 1 }
            return token
        }
        // The first delivery may be of the map with its entry already.
        while await journal.wait(for: 1).last != 1, journal.entries.count < 2 { _ = await journal.wait(for: 2) }
        #expect(journal.entries.last == 1)
        #expect(token.invalidate())
    }

    @Test("the last change of what belonged to a deleted object comes with an empty collection, outside actors too")
    func emptyEnds() async throws {
        let worker = try await Worker(configuration)
        let sequences = try await worker.with { _, realm in
            let crate = try await realm.asyncWrite {
                let crate = realm.create(
                    Crate.self,
                    value: ["id": 1, "tags": ["a", "b"], "scores": ["x": 1, "y": 2], "peers": ["z": ["id": 2]]]
                )
                crate.value = .fromArray([.int(1)])
                return crate
            }
            let nested = try #require(crate.value.listValue)
            return (
                crate.tags.changes(), crate.tags.sorted(ascending: false).changes(), crate.scores.changes(),
                crate.peers.changes(), nested.changes()
            )
        }
        var tags = sequences.0.makeAsyncIterator()
        var sorted = sequences.1.makeAsyncIterator()
        var scores = sequences.2.makeAsyncIterator()
        var peers = sequences.3.makeAsyncIterator()
        var nested = sequences.4.makeAsyncIterator()
        #expect(await tags.next()?.collection?.count == 2)
        #expect(await sorted.next()?.collection?.count == 2)
        #expect(await scores.next()?.collection?.count == 2)
        #expect(await peers.next()?.collection?.count == 1)
        #expect(await nested.next()?.collection?.count == 1)
        try await worker.with { _, realm in
            try await realm.asyncWrite { realm.object(ofType: Crate.self, forPrimaryKey: 1).map { realm.delete($0) } }
        }
        func expectEmpty<Collection: RealmCollection>(
            _ change: RealmCollectionChange<Collection>?,
            _ deletions: [Int],
            _ location: SourceLocation = #_sourceLocation
        ) {
            guard case .update(let collection, deletions, [], [])? = change else {
                Issue.record("\(String(describing: change))", sourceLocation: location)
                return
            }
            #expect(collection.isFrozen && collection.isEmpty && Array(collection).isEmpty, sourceLocation: location)
        }
        expectEmpty(await tags.next(), [0, 1])
        expectEmpty(await sorted.next(), [0, 1])
        expectEmpty(await nested.next(), [0])
        guard case .update(let gone, ["x", "y"], [], [])? = await scores.next() else {
            Issue.record("no end of the map")
            return
        }
        #expect(gone.isFrozen && gone.isEmpty && Array(gone).isEmpty && gone["x"] == nil && gone.keys.isEmpty)
        guard case .update(let noPeers, ["z"], [], [])? = await peers.next() else {
            Issue.record("no end of the map of objects")
            return
        }
        #expect(noPeers.isFrozen && noPeers.isEmpty && Array(noPeers).isEmpty && noPeers.keys.isEmpty)
    }
}
