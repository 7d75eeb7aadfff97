import ActorRealm
import Testing

/// What lies beyond the depth in a dictionary.
@Suite("The entries of a detached dictionary")
struct DetachedMapTests {
    @Test("are left out beyond the depth where objects are not optional, and nil where they are")
    func beyondTheDepth() throws {
        let realm = try memoryRealm([Kennel.self, Puppy.self, Keeper.self, Toy.self])
        let kennel = Kennel()
        kennel.puppies["a"] = Puppy(value: ["name": "Rex"])
        kennel.guests["b"] = Puppy(value: ["name": "Bo"])
        try realm.write { realm.add(kennel) }
        let alone = kennel.detached(depth: 0)
        #expect(alone.puppies.isEmpty)
        #expect(alone.guests.keys == ["b"] && alone.guests["b"] == .some(nil))
        let near = kennel.detached(depth: 1)
        #expect(near.puppies["a"]?.name == "Rex" && near.guests["b"]??.name == "Bo")
    }
}
