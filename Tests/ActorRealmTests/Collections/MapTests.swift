import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm
@testable import RealmModel

@Suite struct MapTests {
    @Test(arguments: [true, false]) func `a map changes like a dictionary`(managed: Bool) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        let realm = try memoryRealm(crateTypes)
        let crate = Crate(id: 1)
        if managed { try realm.write { realm.add(crate) } }
        let map = crate.scores
        var model: [String: Int] = [:]
        if managed { realm.beginWrite() }
        for step in 0..<2_000 {
            let key = "key \(Int.random(in: 0...200, using: &random))"
            let value = Int.random(in: -9...9, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6 where step % 900 < 600:
                map[key] = value
                model[key] = value
            case 6 where step % 40 == 0:
                map.removeAll()
                model.removeAll()
            default:
                map[key] = nil
                model[key] = nil
            }
            if managed, step % 133 == 0 {
                try realm.commitWrite()
                #expect(map.keys == model.keys.sorted(), "seed \(seed)")
                realm.beginWrite()
            }
            #expect(map[key] == model[key], "seed \(seed)")
            #expect(map.count == model.count, "seed \(seed)")
        }
        if managed { try realm.commitWrite() }
        #expect(Dictionary(map.map { ($0.key, $0.value) }) { $1 } == model, "seed \(seed)")
        #expect(map.max() == model.values.max())
        #expect(map.sum() == model.values.reduce(0, +))
    }

    @Test func `a map takes its own lists as they were`() throws {
        let realm = try memoryRealm(crateTypes)
        let crate = try realm.write { realm.create(Crate.self, value: ["id": 1]) }
        try realm.write {
            crate.mixed["a"] = .fromArray([1])
            crate.mixed["b"] = .fromArray([2])
            crate.mixed.merge(["a": crate.mixed["b"]!, "b": crate.mixed["a"]!]) { $1 }
        }
        #expect(crate.mixed["a"] == .fromArray([2]) && crate.mixed["b"] == .fromArray([1]))
    }

    @Test func `nil is a value of optional maps, and removes from others`() throws {
        let realm = try memoryRealm(crateTypes)
        let crate = try realm.write { realm.create(Crate.self, value: ["id": 1]) }
        try realm.write {
            crate.notes["a"] = "text"
            crate.notes["b"] = .some(nil)
            crate.notes["c"] = "gone"
            crate.notes.removeObject(for: "c")
        }
        #expect(crate.notes.keys == ["a", "b"])
        #expect(crate.notes["b"] == .some(nil))
        #expect(crate.notes["zzz"] == nil)
        #expect(crate.notes.values == ["text", nil])
    }

    @Test func `a deleted object leaves its name with nil`() throws {
        let realm = try memoryRealm(crateTypes)
        let (one, two) = try realm.write {
            let one = Crate(id: 1)
            one.peers["two"] = Crate(id: 2)
            one.peers["self"] = one
            realm.add(one)
            return (one, try #require(one.peers["two"] ?? nil))
        }
        #expect(two.peerOf.map(\.id) == [1])
        #expect(one.peers["two"]??.id == 2)
        #expect(realm.objects(Crate.self).where { $0.peers["two"].id == 2 }.count == 1)
        #expect(realm.objects(Crate.self).filter("ANY peers.@allValues.id == 2").count == 1)
        try realm.write { realm.delete(two) }
        #expect(one.peers.keys == ["self", "two"])
        #expect(one.peers["two"] == .some(nil))
        #expect(one.peerOf.count == 1)
        try realm.verify()
    }

    /// A map whose objects are not optional.
    final class RequiredShelf: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var crates: Map<String, Crate>
    }

    @Test func `a deleted object takes its name out of a map whose objects are not optional`() throws {
        let realm = try memoryRealm(crateTypes + [RequiredShelf.self])
        let shelf = try realm.write {
            let shelf = RequiredShelf()
            for id in 0..<3 { shelf.crates["\(id)"] = Crate(id: id) }
            realm.add(shelf)
            return shelf
        }
        try realm.write { realm.delete(try #require(shelf.crates["1"])) }
        #expect(shelf.crates.keys == ["0", "2"])
        #expect(shelf.crates.values.map(\.id) == [0, 2])
        #expect(shelf.crates["1"] == nil)
        try realm.verify()
    }

    @Test func `nil that an earlier release left in a map whose objects are not optional is no entry`() throws {
        let realm = try memoryRealm(crateTypes + [RequiredShelf.self])
        let shelf = try realm.write {
            let shelf = RequiredShelf()
            for id in 0..<3 { shelf.crates["\(id)"] = Crate(id: id) }
            realm.add(shelf)
            let table = try #require(try realm.core.model.table(named: shelf.objectSchema.className))
            // As it deleted the object of the second entry.
            let bytes = try MapFormat.encode("1", .null, table.slots[0])
            try table.removeBacklink(0, target: shelf.crates["1"]?.rowKey ?? -1, origin: shelf.rowKey)
            try bytes.withUnsafeBytes { try table.rawSplice(0, key: shelf.rowKey, 1..<2, with: .bytes($0)) }
            return shelf
        }
        #expect(shelf.crates.count == 2)
        #expect(shelf.crates.keys == ["0", "2"])
        #expect(shelf.crates.map { "\($0.key) \($0.value.id)" } == ["0 0", "2 2"])
        #expect(shelf.crates["1"] == nil)
        #expect(shelf.detached().crates.count == 2)
        #expect(shelf.description.contains("crates"))
        try realm.verify()
        try realm.write {
            shelf.crates["1"] = Crate(id: 4)
            shelf.crates["2"] = nil
        }
        #expect(shelf.crates.map { "\($0.key) \($0.value.id)" } == ["0 0", "1 4"])
        try realm.verify()
    }

    @Test func `what observes a map whose objects are not optional is told of the name that goes`() async throws {
        let directory = TemporaryDirectory()
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: directory.path("shelf.realm")))
        configuration.objectTypes = crateTypes + [RequiredShelf.self]
        let shelves = try await Shelves(configuration)
        #expect(try await shelves.deletionsOfOne() == ["1"])
    }

    private actor Shelves {
        private var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        /// The names that are told as deleted when one of three objects goes.
        func deletionsOfOne() async throws -> [String] {
            let shelf = try await realm.asyncWrite {
                let shelf = RequiredShelf()
                for id in 0..<3 { shelf.crates["\(id)"] = Crate(id: id) }
                realm.add(shelf)
                return shelf
            }
            var changes = shelf.crates.changes().makeAsyncIterator()
            _ = await changes.next()
            try await realm.asyncWrite { realm.delete(realm.objects(Crate.self).where { $0.id == 1 }) }
            guard case .update(let map, let deletions, let insertions, let modifications) = await changes.next() else {
                return []
            }
            #expect(map.count == 2 && insertions.isEmpty && modifications.isEmpty)
            return deletions
        }
    }

    @Test func `embedded objects belong to their entry`() throws {
        let realm = try memoryRealm(crateTypes)
        let crate = Crate(id: 1)
        let slip = Slip()
        slip.text = "first"
        crate.slips["a"] = slip
        try realm.write { realm.add(crate) }
        #expect(crate.slips["a"]??.text == "first")
        let old = try #require(crate.slips["a"] ?? nil)
        try realm.write { crate.slips["a"] = Slip(value: ["text": "second"]) }
        #expect(old.isInvalidated)
        #expect(crate.slips["a"]??.text == "second")
        let second = try #require(crate.slips["a"] ?? nil)
        try realm.write { crate.slips["a"] = nil }
        #expect(second.isInvalidated)
        try realm.write { crate.slips["b"] = Slip() }
        let third = try #require(crate.slips["b"] ?? nil)
        try realm.write { realm.delete(crate) }
        #expect(third.isInvalidated)
        try realm.verify()
    }

    @Test func `maps come from dictionaries, and merge`() throws {
        let realm = try memoryRealm(crateTypes)
        try realm.write {
            let crate = realm.create(
                Crate.self,
                value: ["id": 1, "scores": ["x": 1, "y": 2], "peers": ["p": ["id": 2, "name": "made"]]]
            )
            #expect(crate.scores.keys == ["x", "y"])
            #expect(crate.peers["p"]??.name == "made")
            crate.scores.merge(["y": 10, "z": 3]) { $0 + $1 }
            #expect(crate.scores.values == [1, 12, 3])
            let other = Crate(value: ["id": 3, "scores": crate.scores] as [String: Any])
            #expect(other.scores["y"] == 12)
            crate.scores = other.scores
            crate.scores = crate.scores
            #expect(crate.scores.count == 3)
            #expect(crate.scores.contains { key, value in key == "z" && value == 3 })
        }
    }

    @Test func `queries look at names, values and single entries`() throws {
        let realm = try memoryRealm(crateTypes)
        try realm.write {
            realm.create(Crate.self, value: ["id": 1, "scores": ["a": 1, "b": 5]])
            realm.create(Crate.self, value: ["id": 2, "scores": ["b": 7]])
            realm.create(Crate.self, value: ["id": 3])
        }
        let crates = realm.objects(Crate.self)
        #expect(crates.where { $0.scores["b"] > 5 }.map(\.id) == [2])
        #expect(crates.where { $0.scores.keys == "a" }.map(\.id) == [1])
        #expect(crates.where { $0.scores.values > 4 }.map(\.id) == [1, 2])
        #expect(crates.where { $0.scores.count == 0 }.map(\.id) == [3])
        #expect(crates.where { $0.scores.contains(7) }.map(\.id) == [2])
        #expect(crates.where { $0.scores.containsAny(in: [1, 7]) }.map(\.id) == [1, 2])
        #expect(crates.where { $0.scores.max == 5 }.map(\.id) == [1])
        #expect(crates.where { $0.scores.sum == 6 }.map(\.id) == [1])
        #expect(crates.filter("scores['b'] == 7").map(\.id) == [2])
        #expect(crates.filter("ANY scores.@allKeys BEGINSWITH 'a'").map(\.id) == [1])
        #expect(crates.filter("ANY scores.@allValues == 5").map(\.id) == [1])
        #expect(crates.filter("scores.@count == 2").map(\.id) == [1])
        #expect(crates.filter("scores.@avg == 3").map(\.id) == [1])
        let first = try #require(crates.first)
        #expect(Array(first.scores.sorted(ascending: false)) == [5, 1])
    }

    @Test func `names that no path can spell are refused`() async {
        await #expect(processExitsWith: .failure) {
            let map = Map<String, Int>()
            map["a.b"] = 1
        }
        await #expect(processExitsWith: .failure) {
            let map = Map<String, Int>()
            map["$a"] = 1
        }
    }

    @Test func `frozen, sent and thawed maps are the same map`() throws {
        let realm = try memoryRealm(crateTypes)
        let crate = try realm.write { realm.create(Crate.self, value: ["id": 1, "scores": ["x": 1]]) }
        let frozen = crate.scores.freeze()
        let reference = ThreadSafeReference(to: crate.scores)
        try realm.write { crate.scores["x"] = 2 }
        #expect(frozen["x"] == 1)
        #expect(realm.resolve(reference)?["x"] == 2)
        #expect(frozen.thaw()?["x"] == 2)
    }

    @Test func `a codable map is a dictionary`() throws {
        let map = Map<String, Int>()
        map["one"] = 1
        let data = try JSONEncoder().encode(map)
        #expect(String(decoding: data, as: UTF8.self) == #"{"one":1}"#)
        #expect(try JSONDecoder().decode(Map<String, Int>.self, from: data)["one"] == 1)
    }
}
