import ActorRealm
import Foundation
import Testing

/// What `==` says of lists, sets and maps: contents while unmanaged, the same property of the same object when managed.
@Suite("Unmanaged collections are equal by what they hold, managed ones by what they are", .timeLimit(.minutes(60)))
struct CollectionEqualityTests {
    let file = PortingFile()

    private func list(_ elements: [String]) -> List<String> {
        let list = List<String>()
        list.append(objectsIn: elements)
        return list
    }

    private func set(_ elements: [String]) -> MutableSet<String> {
        let set = MutableSet<String>()
        set.insert(objectsIn: elements)
        return set
    }

    private func map(_ elements: [String: Int]) -> Map<String, Int> {
        let map = Map<String, Int>()
        map.merge(elements) { $1 }
        return map
    }

    @Test("unmanaged lists")
    func lists() {
        #expect(list(["a", "b"]) == list(["a", "b"]))
        #expect(list(["a", "b"]) != list(["b", "a"]))
        #expect(list(["a"]) != list(["a", "a"]))
        #expect(List<Int>() == List<Int>())
        let ship = Ship(name: "one")
        let (one, two) = (List<Ship>(), List<Ship>())
        one.append(ship)
        two.append(ship)
        #expect(one == two)
        two[0] = Ship(name: "one")
        #expect(one != two)
    }

    @Test("unmanaged sets")
    func sets() {
        #expect(set(["a", "b"]) == set(["b", "a"]))
        #expect(set(["a"]) != set(["b"]))
        #expect(set(["a"]) != set(["a", "b"]))
        #expect(MutableSet<Int>() == MutableSet<Int>())
    }

    @Test("unmanaged maps")
    func maps() {
        #expect(map(["a": 1, "b": 2]) == map(["b": 2, "a": 1]))
        #expect(map(["a": 1]) != map(["a": 2]))
        #expect(map(["a": 1]) != map(["b": 1]))
        #expect(map(["a": 1]) != map(["a": 1, "b": 2]))
        #expect(Map<String, Int>() == Map<String, Int>())
    }

    @Test("managed ones, and a managed one beside an unmanaged one")
    func managed() throws {
        try onNewThread { [self] in
            let realm = try Realm(configuration: file.configuration)
            try realm.write {
                for id in 1...2 {
                    let harbour = Harbour(id: id)
                    harbour.numbers.append(1)
                    harbour.flags.insert("blue")
                    harbour.berths["north"] = 1
                    realm.add(harbour)
                }
            }
            let (one, two) = (realm.objects(Harbour.self)[0], realm.objects(Harbour.self)[1])
            let again = try #require(realm.object(ofType: Harbour.self, forPrimaryKey: 1))
            #expect(one.numbers == again.numbers && one.flags == again.flags && one.berths == again.berths)
            #expect(one.numbers != two.numbers && one.flags != two.flags && one.berths != two.berths)
            let (numbers, flags, berths) = (List<Int>(), self.set(["blue"]), self.map(["north": 1]))
            numbers.append(1)
            #expect(one.numbers != numbers && numbers != one.numbers)
            #expect(one.flags != flags && flags != one.flags)
            #expect(one.berths != berths && berths != one.berths)
            #expect(one.frozen.value.numbers != one.numbers)
        }
    }

    @Test(
        "an assignment writes what is not the same, though it is equal: another spelling of a text, and a zero of another sign"
    )
    func assignment() {
        let harbour = Harbour(id: 1)
        harbour.flags = set(["\u{E9}"])
        harbour.flags = set(["e\u{301}"])
        #expect(harbour.flags.first.map { Array($0.utf8) } == Array("e\u{301}".utf8))
        let plain = Plain()
        plain.texts = list(["\u{E9}"])
        plain.texts = list(["e\u{301}"])
        #expect(Array(plain.texts[0].utf8) == Array("e\u{301}".utf8))
        plain.numbers.append(0.0)
        let zero = List<Double>()
        zero.append(-0.0)
        plain.numbers = zero
        #expect(plain.numbers[0].sign == .minus)
        plain.texts = plain.texts
        #expect(plain.texts.count == 1)
    }
}

/// Only ever unmanaged.
private final class Plain: Object {
    @Persisted var texts: List<String>
    @Persisted var numbers: List<Double>
}
