import ActorRealm
import Foundation
import Synchronization
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

    @Test func `objects of two versions and of two realms have a copy each`() throws {
        let (realm, keeper) = try makeRealm()
        let before = keeper.freeze()
        try realm.write { keeper.name = "new" }
        let (other, stranger) = try makeRealm()
        try other.write { stranger.name = "other" }
        let all = List<Keeper>()
        all.append(objectsIn: [before, keeper, stranger, before])
        let copies = all.detached()
        #expect(copies.map(\.name) == ["Ann", "new", "other", "Ann"])
        #expect(copies[0] !== copies[1] && copies[1] !== copies[2] && copies[0] === copies[3])
        for copy in copies { #expect(copy.boss?.boss === copy && copy.favourite === copy.puppies[0]) }
    }

    @Test func `an unmanaged object is copied too`() {
        let keeper = Keeper(id: 4)
        keeper.boss = keeper
        let copy = keeper.detached()
        #expect(copy !== keeper && copy.boss === copy)
    }

    /// The first element links to the second, and so on.
    private func makeChain() throws -> Realm {
        let realm = try memoryRealm()
        let keepers = (1...4).map { Keeper(id: $0, name: "n\($0)") }
        for (keeper, next) in zip(keepers, keepers.dropFirst()) { keeper.boss = next }
        try realm.write { realm.add(keepers[0]) }
        return realm
    }

    @Test func `each element of a collection is copied with what lies within the depth of it`() throws {
        let realm = try makeChain()
        let copies = realm.objects(Keeper.self).filter("id <= 2").sorted(byKeyPath: "id").detached(depth: 1)
        #expect(copies[0].boss === copies[1])
        #expect(copies[1].boss?.name == "n3")
        #expect(copies[1].boss?.boss == nil)
    }

    @Test func `an object that is reached on several ways is copied with what lies within the depth on the shortest`()
        throws
    {
        let realm = try memoryRealm([Junction.self, Branch.self])
        let start = Junction()
        let shared = Junction()
        shared.first = Junction()
        shared.first?.first = Junction()
        start.first = Junction()
        start.first?.first = shared
        start.branch = Branch()
        start.branch?.target = shared
        try realm.write { realm.add(start) }
        let copy = start.detached(depth: 2)
        #expect(copy.first?.first != nil && copy.first?.first === copy.branch?.target)
        #expect(copy.branch?.target?.first != nil)
        #expect(copy.branch?.target?.first?.first == nil)
    }

    @Test func `each element of a collection is read once`() throws {
        let realm = try memoryRealm([CountedReading.self])
        try realm.write { for number in 0..<50 { realm.create(CountedReading.self, value: ["number": number]) } }
        CountedNumber.made.withLock { $0 = 0 }
        let copies = realm.objects(CountedReading.self).detached()
        let made = CountedNumber.made.withLock { $0 }
        #expect(copies.count == 50 && made <= 100)
    }
}

class Junction: Object {
    @Persisted var first: Junction?
    @Persisted var branch: Branch?
}

class Branch: EmbeddedObject {
    @Persisted var target: Junction?
}

class Kennel: Object {
    @Persisted var puppies: Map<String, Puppy>
    @Persisted var guests: Map<String, Puppy?>
}

class CountedReading: Object {
    @Persisted var number: CountedNumber
}

/// Counts how often a value is made of what is stored.
struct CountedNumber: CustomPersistable {
    typealias PersistedType = Int
    static let made = Mutex(0)
    var number: Int
    init(persistedValue: Int) {
        Self.made.withLock { $0 += 1 }
        number = persistedValue
    }
    var persistableValue: Int { number }
}
