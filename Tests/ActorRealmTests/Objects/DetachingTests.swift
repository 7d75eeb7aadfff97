import ActorRealm
import Foundation
import Testing

@Suite struct DetachingTests {
    private func makeRealm() throws -> (Realm, Keeper) {
        let realm = try memoryRealm()
        let keeper = Keeper(id: 1, name: "Ann")
        let rex = Puppy(value: ["name": "Rex", "age": 3])
        keeper.favourite = rex
        keeper.puppies.append(objectsIn: [rex, Puppy(value: ["name": "Bo"])])
        keeper.toy = Toy(value: ["name": "ball", "parts": [["name": "skin"]]] as [String: Any])
        keeper.scores.append(objectsIn: [1, nil])
        let boss = Keeper(id: 2, name: "Boss")
        keeper.boss = boss
        boss.boss = keeper
        try realm.write { realm.add(keeper) }
        return (realm, keeper)
    }

    @Test func `a detached copy has everything and belongs to nobody`() throws {
        let (realm, keeper) = try makeRealm()
        let copy = keeper.detached()
        #expect(copy.realm == nil && copy !== keeper && copy.name == "Ann" && copy.id == 1)
        #expect(copy.favourite === copy.puppies[0] && copy.puppies.map(\.name) == ["Rex", "Bo"])
        #expect(copy.toy?.parts.first?.name == "skin" && Array(copy.scores) == [1, nil])
        #expect(copy.boss?.boss === copy && copy.boss?.realm == nil)
        copy.name = "changed"
        copy.puppies.removeAll()
        #expect(keeper.name == "Ann" && keeper.puppies.count == 2)
        let other = try memoryRealm()
        try other.write { other.add(copy) }
        #expect(other.objects(Keeper.self).count == 2 && realm.objects(Keeper.self).count == 2)
    }

    @Test func `depth limits what is copied, embedded objects come along`() throws {
        let (_, keeper) = try makeRealm()
        let alone = keeper.detached(depth: 0)
        #expect(alone.boss == nil && alone.favourite == nil && alone.puppies.isEmpty)
        #expect(alone.toy?.parts.first?.name == "skin" && alone.age == 30)
        let near = keeper.detached(depth: 1)
        #expect(near.boss?.name == "Boss" && near.puppies.count == 2)
        #expect(keeper.freeze().detached(depth: 2).boss?.boss?.name == "Ann")
    }

    @Test func `collections are copied as a whole`() throws {
        let (realm, _) = try makeRealm()
        let copies = realm.objects(Keeper.self).sorted(byKeyPath: "id").detached()
        #expect(copies.map(\.name) == ["Ann", "Boss"] && copies[0].boss === copies[1])
    }

    @Test func `an unmanaged object is copied too`() {
        let keeper = Keeper(id: 4)
        keeper.boss = keeper
        let copy = keeper.detached()
        #expect(copy !== keeper && copy.boss === copy)
    }
}
