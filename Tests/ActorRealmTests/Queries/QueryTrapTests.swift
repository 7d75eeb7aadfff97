import ActorRealm
import Foundation
import Testing

/// Mistakes in queries, sections and stored types of one's own end the process with a sentence.
@Suite struct QueryTrapTests {
    private func check(_ result: ExitTest.Result?, _ sentence: String, line: SourceLocation = #_sourceLocation) {
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains(sentence), "\(text.suffix(400))", sourceLocation: line)
    }

    @Test func `searching for an object of another file traps`() async {
        let typed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let other = try memoryRealm()
            let puppy = try other.write { other.create(Puppy.self) }
            _ = try memoryRealm().objects(Keeper.self).where { $0.favourite == puppy }
        }
        check(typed, "Object must be from the Realm being queried")
        let text = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let other = try memoryRealm()
            let puppy = try other.write { other.create(Puppy.self) }
            _ = try memoryRealm().objects(Keeper.self).filter("favourite == %@", puppy)
        }
        check(text, "Object must be from the Realm being queried")
        let among = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let other = try memoryRealm()
            let puppy = try other.write { other.create(Puppy.self) }
            _ = try memoryRealm().objects(Keeper.self).where { $0.favourite.in([nil, puppy]) }
        }
        check(among, "Object must be from the Realm being queried")
        let inValue = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let other = try memoryRealm([Crate.self, Slip.self])
            let thing = try other.write { other.create(Crate.self) }
            _ = try memoryRealm([Crate.self, Slip.self]).objects(Crate.self).where { $0.value == .object(thing) }
        }
        check(inValue, "Object must be from the Realm being queried")
    }

    @Test func `two collections in one comparison trap`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().objects(Keeper.self).where { $0.puppies.age == $0.boss.puppies.age }
        }
        check(result, "Comparing two collection columns is not permitted")
    }

    @Test func `a count without a collection traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().objects(Keeper.self).where { ($0.age > 3).count > 1 }
        }
        check(result, "Subqueries must contain a keypath starting with a collection.")
        let map = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let crates = try memoryRealm([Crate.self, Slip.self]).objects(Crate.self)
            _ = crates.where { ($0.peers["a"].id > 3).count > 1 }
        }
        check(map, "Subqueries do not support map subscripts.")
        let inside = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let crates = try memoryRealm([Crate.self, Slip.self]).objects(Crate.self)
            _ = crates.where { ($0.value[0] == .int(3)).count > 1 }
        }
        check(inside, "Subqueries do not support AnyRealmValue subscripts.")
    }

    @Test func `two collections in one subquery trap`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().objects(Keeper.self).where { ($0.puppies.age > 3 && $0.toys.price > 3).count > 1 }
        }
        check(result, "A subquery must be about one collection, not two.")
    }

    @Test func `sections without an order, or with another one, trap`() async {
        let none = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().objects(Puppy.self).sectioned(by: { $0.age }, sortDescriptors: [])
        }
        check(none, "Can not section Results with empty sortDescriptor parameter.")
        let other = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().objects(Puppy.self)
                .sectioned(by: \.age, sortDescriptors: [SortDescriptor(keyPath: "name")])
        }
        check(other, "The section key path must match the primary sort descriptor")
        let link = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().objects(Keeper.self).sectioned(by: \.boss)
        }
        check(link, "Links are not supported as section keys.")
    }

    @Test func `a stored value that cannot be converted traps where nil is no answer`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = OddOnly().number
        }
        check(result, "Failed to convert persisted value '0' to type 'Odd' in a non-optional context.")
    }

    @Test func `a negative limit traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().objects(Puppy.self).limit(-1)
        }
        check(result, "A limit and its offset cannot be negative")
    }

    @Test func `a typed query that nests too deep names the limit and the place`() async {
        let deep = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().objects(Keeper.self)
                .where { keeper in
                    (0..<110)
                        .reduce(keeper.name == "needle") { query, level in
                            level % 2 == 0 ? query || keeper.age == level : query && keeper.age != level
                        }
                }
        }
        check(
            deep,
            "The predicate nests 111 deep, more than the 100 that are allowed: AND (part 1 of 2) > OR (part 1 of 2)"
        )
        check(deep, "(104 more) leads to 'name == 'needle''")
    }
}

/// Only odd numbers, so that the default of an integer is none.
struct Odd: FailableCustomPersistable {
    typealias PersistedType = Int
    let number: Int
    init?(persistedValue: Int) {
        guard !persistedValue.isMultiple(of: 2) else { return nil }
        number = persistedValue
    }
    var persistableValue: Int { number }
}

class OddOnly: Object {
    @Persisted var number: Odd
}
