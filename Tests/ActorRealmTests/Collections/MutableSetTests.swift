import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite struct MutableSetTests {
    @Test(arguments: [true, false]) func `a set changes like one of Swift's`(managed: Bool) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        let realm = try memoryRealm(crateTypes)
        let crate = Crate(id: 1)
        if managed { try realm.write { realm.add(crate) } }
        let set = crate.numbers
        var model: Set<Int> = []
        if managed { realm.beginWrite() }
        // Large enough to leave the row for a tree, and small enough to come back.
        for step in 0..<3_000 {
            let value = Int.random(in: -300...300, using: &random)
            let grows = step % 1_000 < 700
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6 where grows:
                set.insert(value)
                model.insert(value)
            case 6 where step % 50 == 0:
                set.removeAll()
                model.removeAll()
            default:
                set.remove(value)
                model.remove(value)
            }
            if managed, step % 171 == 0 {
                try realm.commitWrite()
                #expect(Array(set) == model.sorted(), "seed \(seed)")
                realm.beginWrite()
            }
            #expect(set.contains(value) == model.contains(value), "seed \(seed)")
            #expect(set.count == model.count, "seed \(seed)")
        }
        if managed { try realm.commitWrite() }
        #expect(Set(set) == model, "seed \(seed)")
        #expect(set.min() == model.min())
        #expect(set.sum() == model.reduce(0, +))
    }

    @Test func `what is no collection cannot be assigned to a set by name`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm(crateTypes)
            try realm.write { realm.dynamicCreate("Crate", value: ["id": 1])["tags"] = 5 }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Invalid value '5' of type 'Int' for"), "\(text)")
        #expect(text.contains("property 'Crate.tags'"), "\(text)")
    }

    @Test func `values of every kind are held once`() throws {
        let realm = try memoryRealm(crateTypes)
        let crate = Crate(id: 1)
        crate.tags.insert(objectsIn: ["b", "a", "b", ""])
        crate.maybe.insert(objectsIn: [nil, 3, nil, 3, -1])
        crate.decimals.insert(objectsIn: ["1.0", "1.00", "-2", "1"])
        crate.anything.insert(objectsIn: [.int(1), .string("x"), .none, .int(1), .bool(true)])
        #expect(crate.tags.count == 3)
        try realm.write { realm.add(crate) }
        #expect(Array(crate.tags) == ["", "a", "b"])
        #expect(crate.tags.index(of: "b") == 2 && crate.tags.index(of: "c") == nil)
        #expect(Array(crate.maybe) == [nil, -1, 3])
        #expect(crate.decimals.count == 2)
        #expect(crate.decimals.contains("1.000"))
        #expect(crate.anything.count == 4)
        #expect(crate.anything.contains(.bool(true)))
        #expect(!crate.anything.contains(.bool(false)))
        #expect(Array(crate.tags.sorted(ascending: false)) == ["b", "a", ""])
    }

    @Test func `objects are held by identity, and go when they are deleted`() throws {
        let realm = try memoryRealm(crateTypes)
        let (one, two) = try realm.write {
            let one = Crate(id: 1)
            let two = Crate(id: 2)
            one.friends.insert(two)
            one.friends.insert(two)
            realm.add(one)
            one.friends.insert(one)
            return (one, two)
        }
        #expect(one.friends.count == 2)
        #expect(one.friends.contains(two))
        #expect(Array(two.friendOf).map(\.id) == [1])
        #expect(one.friends.where { $0.id == 2 }.count == 1)
        #expect(realm.objects(Crate.self).where { $0.friends.id == 2 }.map(\.id) == [1])
        #expect(realm.objects(Crate.self).where { $0.friends.contains(two) }.count == 1)
        try realm.write { realm.delete(two) }
        #expect(one.friends.map(\.id) == [1])
        try realm.write { one.friends.remove(one) }
        #expect(one.friends.isEmpty)
        #expect(one.friendOf.isEmpty)
    }

    @Test func `sets are joined, intersected and subtracted`() throws {
        let realm = try memoryRealm(crateTypes)
        let left = Crate(id: 1)
        let right = Crate(id: 2)
        left.numbers.insert(objectsIn: 1...6)
        right.numbers.insert(objectsIn: 4...9)
        try realm.write { realm.add([left, right]) }
        #expect(left.numbers.intersects(right.numbers))
        #expect(!left.numbers.isSubset(of: right.numbers))
        try realm.write { left.numbers.formIntersection(right.numbers) }
        #expect(Array(left.numbers) == [4, 5, 6])
        #expect(left.numbers.isSubset(of: right.numbers))
        try realm.write { right.numbers.subtract(left.numbers) }
        #expect(Array(right.numbers) == [7, 8, 9])
        try realm.write { left.numbers.formUnion(right.numbers) }
        #expect(Array(left.numbers) == Array(4...9))
        try realm.write { left.numbers = right.numbers }
        #expect(Array(left.numbers) == [7, 8, 9])
        try realm.write { left.numbers = left.numbers }
        #expect(left.numbers.count == 3)
    }

    @Test func `sets come from arrays, dictionaries and other sets`() throws {
        let realm = try memoryRealm(crateTypes)
        try realm.write {
            let crate = realm.create(Crate.self, value: ["id": 1, "tags": ["x", "y", "x"], "numbers": [3, 1]])
            #expect(Array(crate.tags) == ["x", "y"])
            realm.create(Crate.self, value: ["id": 1, "tags": [String]()], update: .modified)
            #expect(crate.tags.isEmpty)
            #expect(Array(crate.numbers) == [1, 3])
            let copy = Crate(value: ["id": 7, "tags": Set(["p"])] as [String: Any])
            #expect(Array(copy.tags) == ["p"])
        }
    }

    @Test func `frozen, sent and thawed sets are the same set`() throws {
        let realm = try memoryRealm(crateTypes)
        let crate = try realm.write { realm.create(Crate.self, value: ["id": 1, "tags": ["x"]]) }
        let frozen = crate.tags.freeze()
        let reference = ThreadSafeReference(to: crate.tags)
        try realm.write { crate.tags.insert("y") }
        #expect(Array(frozen) == ["x"])
        #expect(frozen.isFrozen)
        #expect(realm.resolve(reference).map { Array($0) } == ["x", "y"])
        #expect(frozen.thaw().map { Array($0) } == ["x", "y"])
        try realm.write { realm.delete(crate) }
        #expect(crate.isInvalidated)
    }

    @Test func `sets, maps and values of any kind that are whole pass verification`() throws {
        let realm = try memoryRealm(crateTypes)
        try realm.write {
            for id in 0..<200 {
                let crate = realm.create(Crate.self, value: ["id": id])
                crate.tags.insert(objectsIn: (0..<id).map { "tag \($0)" })
                crate.peers["next"] = realm.object(ofType: Crate.self, forPrimaryKey: id - 1)
                crate.value = .object(crate)
            }
        }
        try realm.verify()
        let crates = realm.objects(Crate.self)
        let tagCount = crates.reduce(0) { $0 + $1.tags.count }
        #expect(tagCount == 19_900)
        // The first one's entry is there, and null.
        let chained = crates.filter { ($0.peers["next"] ?? nil) != nil }
        #expect(chained.count == 199)
    }
}
