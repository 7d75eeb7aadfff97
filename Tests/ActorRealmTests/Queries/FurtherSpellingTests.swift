import ActorRealm
import Foundation
import Testing

/// What the less usual declarations of collections, objects and queries do.
@Suite struct FurtherSpellingTests {
    private func realm() throws -> Realm { try memoryRealm([Crate.self, Slip.self]) }

    @Test func `aggregates of optional values leave nil out`() throws {
        let realm = try realm()
        let crate = try realm.write { realm.create(Crate.self, value: ["maybe": [3, nil, 5] as [Int?]]) }
        for set in [crate.maybe, crate.freeze().maybe] {
            #expect(set.min() == 3 && set.max() == 5 && set.sum() == 8)
            #expect(set.average() as Double? == 4)
        }
        let list = List<Double?>()
        #expect(list.min() == nil && list.max() == nil && list.sum() == 0 && list.average() as Double? == nil)
        list.append(objectsIn: [nil, 1.5, 2.5])
        #expect(list.min() == 1.5 && list.max() == 2.5 && list.sum() == 4 && list.average() as Double? == 2)
    }

    @Test func `maps of objects are sorted and added up by key paths`() throws {
        let realm = try realm()
        let crate = try realm.write {
            realm.create(
                Crate.self,
                value: [
                    "id": 1,
                    "peers": [
                        "a": ["id": 5, "name": "x", "price": 2], "b": ["id": 3, "name": "y", "price": 1],
                        "c": ["id": 4, "name": "x", "discount": 3],
                    ],
                ] as [String: Any]
            )
        }
        let peers = crate.peers
        #expect(peers.sorted(by: \.id).map { $0?.id } == [3, 4, 5])
        #expect(peers.sorted(by: \.id, ascending: false).map { $0?.id } == [5, 4, 3])
        #expect(peers.distinct(by: [\.name]).count == 2 && peers.distinct(by: ["name"]).count == 2)
        #expect(peers.min(of: \.id) == 3 && peers.max(of: \.id) == 5 && peers.sum(of: \.id) == 12)
        #expect(peers.average(of: \.id) as Double? == 4)
        #expect(peers.sum(of: \.price) == 3 && peers.max(of: \.discount) == 3 && peers.sum(of: \.discount) == 3)
        #expect(peers.min(of: \.discount) == 3 && peers.average(of: \.discount) as Decimal128? == 3)
    }

    @Test func `maps are read and written by dynamically typed values`() throws {
        let realm = try realm()
        let crate = try realm.write { realm.create(Crate.self, value: ["id": 1]) }
        for scores in [crate.scores, Map<String, Int>()] {
            try realm.write {
                scores.setValue(3, forKey: "a")
                scores.setValue(4, forKey: "b")
                scores.setValue(nil, forKey: "b")
            }
            #expect(scores.value(forKey: "a") as? Int == 3 && scores.value(forKey: "b") == nil && scores.count == 1)
        }
        try realm.write {
            crate.peers.setValue(crate, forKey: "me")
            crate.setValue("x", forKeyPath: "name")
        }
        #expect((crate.peers.value(forKey: "me") as? Crate)?.id == 1)
        #expect(crate.value(forKeyPath: "name") as? String == "x")
    }

    @Test func `values behind links are read and written by a path`() throws {
        let realm = try memoryRealm()
        let keeper = try realm.write {
            realm.create(
                Keeper.self,
                value: ["id": 1, "favourite": ["name": "Rex"], "boss": ["id": 2]] as [String: Any]
            )
        }
        #expect(keeper.value(forKeyPath: "favourite.name") as? String == "Rex")
        #expect(keeper.value(forKeyPath: "boss.favourite.name") == nil)
        try realm.write {
            keeper.setValue("Bo", forKeyPath: "favourite.name")
            keeper.setValue("nobody is there", forKeyPath: "boss.favourite.name")
        }
        #expect(keeper.favourite?.name == "Bo" && realm.objects(Puppy.self).count == 1)
    }

    @Test func `enums are searched for by ranges, and in collections by their raw values`() throws {
        let realm = try memoryRealm([EnumHolder.self])
        try realm.write {
            realm.create(EnumHolder.self, value: ["size": 1, "sizes": [1, nil], "named": ["a": 3]] as [String: Any])
            realm.create(EnumHolder.self, value: ["size": 2, "sizes": [2], "named": ["a": 2]] as [String: Any])
            realm.create(EnumHolder.self, value: ["size": 3, "maybe": 3] as [String: Any])
        }
        func sizes(_ condition: (Query<EnumHolder>) -> Query<Bool>) -> [Int] {
            realm.objects(EnumHolder.self).where(condition).map(\.size.rawValue)
        }
        #expect(sizes { $0.size.contains(.small ... .middle) } == [1, 2])
        #expect(sizes { $0.size.contains(Size.small..<Size.middle) } == [1])
        #expect(sizes { $0.maybe.contains(.middle ... .large) } == [3])
        #expect(sizes { $0.sizes.rawValue == 2 } == [2] && sizes { $0.sizes.rawValue == nil } == [1])
        #expect(sizes { $0.named.rawValue > 2 } == [1])
        #expect(Decimal128(2).isGreaterThan(1) && Decimal128(2).isLessThanOrEqual(to: 2))
        #expect(!Decimal128(2).isLessThan(1) && Decimal128(2).isGreaterThanOrEqual(to: 2))
    }
}

enum Size: Int, PersistableEnum {
    case small = 1
    case middle
    case large
}

class EnumHolder: Object {
    @Persisted var size: Size
    @Persisted var maybe: Size?
    @Persisted var sizes: List<Size?>
    @Persisted var named: Map<String, Size>
}
