import ActorRealm
import Foundation
import Testing

/// Programmer's errors end the process with a sentence that names the remedy.
@Suite struct TrapTests {
    private func check(_ result: ExitTest.Result?, _ sentence: String, line: SourceLocation = #_sourceLocation) {
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains(sentence), "\(text.suffix(400))", sourceLocation: line)
    }

    @Test func `using a deleted object traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            let puppy = try realm.write { realm.create(Puppy.self) }
            try realm.write { realm.delete(puppy) }
            _ = puppy.age
        }
        check(result, "Object has been deleted or invalidated")
    }

    @Test func `changing an object outside a write traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            let puppy = try realm.write { realm.create(Puppy.self) }
            puppy.age = 3
        }
        check(result, "Attempting to modify object outside of a write transaction")
    }

    @Test func `adding a second object with a primary key traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            try realm.write {
                realm.add(Keeper(id: 1))
                realm.add(Keeper(id: 1))
            }
        }
        check(result, "Attempting to create an object of type 'Keeper' with an existing primary key value")
    }

    @Test func `a predicate about an unknown property traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().objects(Puppy.self).filter("shoeSize > 3")
        }
        check(result, "not found in object of type 'Puppy'")
    }

    @Test func `an index out of bounds traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().objects(Puppy.self)[3]
        }
        check(result, "Index 3 is out of bounds (must be less than 0)")
    }

    @Test func `removing more than there is traps`() async {
        let last = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let list = List<Int>()
            list.append(objectsIn: [1, 2, 3])
            list.removeLast(5)
        }
        check(last, "It is not possible to remove more objects (5) from a list than it already contains (3).")
        let first = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            try realm.write { realm.create(Keeper.self).puppies.removeFirst() }
        }
        check(first, "It is not possible to remove more objects (1) from a list than it already contains (0).")
    }
}
