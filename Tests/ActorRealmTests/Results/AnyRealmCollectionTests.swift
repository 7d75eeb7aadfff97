import ActorRealm
import Foundation
import Testing

@Suite struct AnyRealmCollectionTests {
    @Test func `collections of every kind are one type`() throws {
        let realm = try memoryRealm()
        let keeper = try realm.write {
            realm.create(
                Keeper.self,
                value: ["id": 1, "puppies": [["name": "a", "age": 3], ["name": "b", "age": 5]]]
            )
        }
        let plain = List<Puppy>()
        plain.append(Puppy(value: ["name": "c"]))
        let all = [
            AnyRealmCollection(keeper.puppies), AnyRealmCollection(realm.objects(Puppy.self)),
            AnyRealmCollection(plain),
        ]
        #expect(all.map(\.count) == [2, 2, 1] && all[2].map(\.name) == ["c"] && all[0].first?.name == "a")
        #expect(all[0].where { $0.age > 3 }.count == 1 && all[1].sorted(by: \.age, ascending: false)[0].name == "b")
        #expect(all[0] == AnyRealmCollection(keeper.puppies) && all[0] != all[1] && all[2] == AnyRealmCollection(plain))
        let frozen = all[0].freeze()
        let reference = ThreadSafeReference(to: all[0])
        try realm.write { keeper.puppies.removeAll() }
        #expect(all[0].isEmpty && frozen.count == 2 && frozen.thaw()?.isEmpty == true && all[1].count == 2)
        #expect(realm.resolve(reference)?.isEmpty == true)
    }

    @Test("A list that was sent as a collection of any kind knows that its owner is gone")
    func sentAndInvalidated() throws {
        let realm = try memoryRealm()
        let keeper = try realm.write {
            realm.create(Keeper.self, value: ["id": 1, "puppies": [["name": "a", "age": 3]]])
        }
        let all = AnyRealmCollection(keeper.puppies)
        let found = AnyRealmCollection(keeper.puppies.sorted(byKeyPath: "age"))
        let sent = try #require(realm.resolve(ThreadSafeReference(to: all)))
        #expect(!all.isInvalidated && !found.isInvalidated && !sent.isInvalidated)
        try realm.write { realm.delete(keeper) }
        #expect(all.isInvalidated)
        #expect(sent.isInvalidated)
        #expect(!found.isInvalidated, "results are empty then")
    }

    @Test func `values are read and set by name`() throws {
        let realm = try memoryRealm()
        try realm.write {
            for number in 0..<4 {
                let puppy = realm.create(Puppy.self, value: ["name": "p\(number)", "age": number])
                realm.create(Keeper.self, value: ["id": number, "favourite": puppy])
            }
        }
        let puppies = realm.objects(Puppy.self)
        #expect(puppies.value(forKey: "name") as? [String] == ["p0", "p1", "p2", "p3"])
        #expect(realm.objects(Keeper.self).value(forKeyPath: "favourite.age") as? [Int] == [0, 1, 2, 3])
        #expect(
            puppies.value(forKeyPath: "@sum.age") as? Double == 6 && puppies.value(forKeyPath: "@count") as? Int == 4
        )
        #expect(puppies.objects(at: IndexSet([1, 3])).map(\.age) == [1, 3])
        try realm.write { puppies.where { $0.age > 1 }.setValue(-1, forKey: "age") }
        #expect(puppies.map(\.age) == [0, 1, -1, -1])
    }
}
