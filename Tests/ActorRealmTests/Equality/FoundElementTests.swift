import ActorRealm
import Foundation
import Testing

/// Functions of the standard library that a realm's collections have by the realm's own equality.
@Suite("Elements are found by the equality of the realm, whatever function looks for them")
struct FoundElementTests {
    @Test("Strings by their bytes, in lists, results and projected collections")
    func strings() throws {
        let realm = try termRealm()
        let term = try realm.write {
            realm.create(Term.self, value: ["id": "a", "name": composed, "names": ["x", composed, "y", composed]])
        }
        #expect(term.names.contains(composed) && !term.names.contains(decomposed))
        #expect(term.names.firstIndex(of: composed) == 1 && term.names.firstIndex(of: decomposed) == nil)
        #expect(term.names.lastIndex(of: composed) == 3 && term.names.lastIndex(of: decomposed) == nil)
        let sorted = term.names.sorted()
        #expect(sorted.contains(composed) && !sorted.contains(decomposed) && sorted.lastIndex(of: decomposed) == nil)
        let any = AnyRealmCollection(term.names)
        #expect(any.contains(composed) && !any.contains(decomposed))
        let frozen = term.names.freeze()
        #expect(frozen.contains(composed) && !frozen.contains(decomposed))
    }

    @Test("Numbers by their values, NaN like itself")
    func numbers() throws {
        let realm = try termRealm()
        let term = try realm.write {
            realm.create(Term.self, value: ["id": "a", "weights": [0.0, .nan], "anys": [AnyRealmValue.int(1)]])
        }
        #expect(term.weights.contains(.nan) && term.weights.firstIndex(of: .nan) == 1)
        #expect(term.weights.lastIndex(of: -0.0) == 0)
        #expect(term.anys.contains(.double(1)) && term.anys.lastIndex(of: .double(1)) == 0)
    }

    @Test("Objects by their rows")
    func objects() throws {
        let realm = try memoryRealm()
        let keeper = try realm.write {
            let keeper = realm.create(Keeper.self, value: ["id": 1, "puppies": [["name": "a"], ["name": "b"]]])
            keeper.puppies.append(keeper.puppies[0])
            return keeper
        }
        let first = keeper.puppies[0]
        let second = realm.objects(Puppy.self).where { $0.name == "b" }.first!
        #expect(keeper.puppies.contains(second) && keeper.puppies.firstIndex(of: second) == 1)
        #expect(keeper.puppies.firstIndex(of: first) == 0 && keeper.puppies.lastIndex(of: first) == 2)
        #expect(realm.objects(Puppy.self).contains(second) && !keeper.puppies.contains(Puppy()))
    }
}
