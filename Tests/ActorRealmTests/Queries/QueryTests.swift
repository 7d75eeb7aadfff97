import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite struct QueryTests {
    private func filled() throws -> Realm {
        let realm = try memoryRealm()
        try realm.write {
            var puppies: [Puppy] = []
            for number in 0..<40 {
                let puppy = realm.create(Puppy.self, value: ["name": "pup\(number % 9)", "age": number % 13])
                if number % 3 != 0 { puppy.weight = Double(number) / 2 }
                puppies.append(puppy)
            }
            for number in 0..<200 {
                let keeper = realm.create(
                    Keeper.self,
                    value: [
                        "id": number, "name": ["Ann", "bob", "Çelia", "Dan Ann", ""][number % 5], "age": number % 60,
                        "mood": Mood.allCases[number % 3].rawValue,
                    ]
                )
                if number % 4 == 0 { keeper.height = Double(number) / 10 }
                if number % 2 == 0 { keeper.favourite = puppies[number % 40] }
                if number > 0, number % 5 != 0 {
                    keeper.boss = realm.object(ofType: Keeper.self, forPrimaryKey: number / 2)
                }
                for extra in 0..<(number % 5) { keeper.puppies.append(puppies[(number + extra * 7) % 40]) }
                for extra in 0..<(number % 3) { keeper.nicknames.append("n\((number + extra) % 6)") }
                for extra in 0..<(number % 4) { keeper.scores.append(extra == 2 ? nil : number + extra) }
            }
        }
        return realm
    }

    @Test func `typed queries select what plain Swift selects`() throws {
        let realm = try filled()
        let all = realm.objects(Keeper.self)
        func check(
            _ query: (Query<Keeper>) -> Query<Bool>,
            _ condition: (Keeper) -> Bool,
            line: SourceLocation = #_sourceLocation
        ) {
            let found = all.where(query).map(\.id)
            let expected = Array(all).filter(condition).map(\.id)
            #expect(Array(found) == expected, sourceLocation: line)
        }
        check({ $0.age >= 30 }, { $0.age >= 30 })
        check({ $0.age >= 30 && $0.age < 40 }, { $0.age >= 30 && $0.age < 40 })
        check({ $0.age == 5 || $0.name == "bob" }, { $0.age == 5 || $0.name == "bob" })
        check({ !($0.age == 5) }, { $0.age != 5 })
        check({ $0.age.contains(10...20) }, { (10...20).contains($0.age) })
        check({ $0.age.contains(10..<20) }, { (10..<20).contains($0.age) })
        check({ $0.age.in([1, 2, 77]) }, { [1, 2, 77].contains($0.age) })
        check({ $0.height == nil }, { $0.height == nil })
        check({ $0.height != nil }, { $0.height != nil })
        check({ $0.height > 5 }, { ($0.height ?? 0) > 5 })
        check({ $0.mood == .grumpy }, { $0.mood == .grumpy })
        check({ $0.mood.rawValue == "calm" }, { $0.mood == .calm })
        check({ $0.mood.in([.calm, .grumpy]) }, { $0.mood != .cheerful })
        check({ $0.name.starts(with: "A") }, { $0.name.hasPrefix("A") })
        check({ $0.name.ends(with: "n") }, { $0.name.hasSuffix("n") })
        check({ $0.name.contains("ann", options: .caseInsensitive) }, { $0.name.lowercased().contains("ann") })
        check({ $0.name.like("*a*n") }, { ["Dan Ann"].contains($0.name) })
        check({ $0.name == "" }, { $0.name.isEmpty })
        check({ $0.favourite == nil }, { $0.favourite == nil })
        check({ $0.favourite.age > 6 }, { ($0.favourite?.age ?? 0) > 6 })
        check({ $0.favourite.name == "pup3" }, { $0.favourite?.name == "pup3" })
        check({ $0.boss.boss.age == 2 }, { $0.boss?.boss?.age == 2 })
        check({ $0.boss.favourite.weight > 4 }, { ($0.boss?.favourite?.weight ?? 0) > 4 })
        check({ $0.puppies.count == 3 }, { $0.puppies.count == 3 })
        check({ $0.puppies.age > 11 }, { $0.puppies.contains { $0.age > 11 } })
        check({ $0.puppies.age.max >= 12 }, { ($0.puppies.map(\.age).max() ?? -1) >= 12 })
        check({ $0.puppies.age.sum > 20 }, { $0.puppies.map(\.age).reduce(0, +) > 20 })
        check(
            { ($0.puppies.age > 5 && $0.puppies.name == "pup1").count >= 1 },
            {
                $0.puppies.contains { $0.age > 5 && $0.name == "pup1" }
            }
        )
        check({ ($0.puppies.age >= 6).count > 1 }, { $0.puppies.filter { $0.age >= 6 }.count > 1 })
        check({ $0.nicknames.contains("n2") }, { $0.nicknames.contains("n2") })
        check({ $0.nicknames.containsAny(in: ["n1", "n5"]) }, { $0.nicknames.contains { ["n1", "n5"].contains($0) } })
        check({ $0.nicknames.count == 2 }, { $0.nicknames.count == 2 })
        check({ $0.scores.contains(nil) }, { $0.scores.contains(nil) })
        check({ $0.age == $0.id }, { $0.age == $0.id })
        check({ $0.boss.puppies.name == "pup4" }, { $0.boss?.puppies.contains { $0.name == "pup4" } ?? false })
        let puppy = realm.objects(Puppy.self)[8]
        check({ $0.favourite == puppy }, { $0.favourite?.isSameObject(as: puppy) ?? false })
        check({ $0.puppies.contains(puppy) }, { $0.puppies.contains { $0.isSameObject(as: puppy) } })
    }

    @Test func `linking objects are queried from the other side`() throws {
        let realm = try filled()
        let puppies = realm.objects(Puppy.self)
        let found = puppies.where { $0.keepers.age > 50 }.map(\.name)
        let expected = Array(puppies).filter { $0.keepers.contains { $0.age > 50 } }.map(\.name)
        #expect(Array(found) == expected)
        #expect(puppies.where { $0.admirers.count == 0 }.count == Array(puppies).filter { $0.admirers.isEmpty }.count)
    }

    @Test func `string predicates select what plain Swift selects`() throws {
        let realm = try filled()
        let all = realm.objects(Keeper.self)
        #expect(
            all.filter("age > 30 AND name BEGINSWITH[c] %@", "a").map(\.id)
                == Array(all).filter { $0.age > 30 && $0.name.lowercased().hasPrefix("a") }.map(\.id)
        )
        #expect(all.filter("%K == %@", "age", 7).count == Array(all).filter { $0.age == 7 }.count)
        #expect(all.filter("age IN %@", [1, 2]).count == Array(all).filter { [1, 2].contains($0.age) }.count)
        #expect(
            all.filter("ANY puppies.age > 11").count == Array(all).filter { $0.puppies.contains { $0.age > 11 } }.count
        )
        let puppy = realm.objects(Puppy.self)[8]
        #expect(all.filter("favourite == %@", puppy).count == puppy.admirers.count)
        #expect(all.index(matching: "id == 17") == 17)
        #expect(all.index(matching: { $0.id == 1717 }) == nil)
    }

    @Test func `a predicate from outside throws instead of trapping`() throws {
        let realm = try filled()
        #expect(throws: Realm.Error.self) { try RealmPredicate(parsing: "age >") }
        let unknown = try RealmPredicate(parsing: "shoeSize > 3")
        #expect(throws: Realm.Error.self) { try realm.objects(Keeper.self).filter(unknown) }
        let good = try RealmPredicate(parsing: "age > %@", 30)
        #expect(
            try realm.objects(Keeper.self).filter(good).count == realm.objects(Keeper.self).where { $0.age > 30 }.count
        )
    }

    @Test func `a predicate about objects is refused in another file`() throws {
        let (one, other) = (try memoryRealm(), try memoryRealm())
        let puppy = try one.write { one.create(Puppy.self, value: ["name": "Rex"]) }
        try other.write { other.create(Keeper.self, value: ["id": 1, "favourite": ["name": "Bo"]]) }
        for predicate in [
            try RealmPredicate(parsing: "favourite == %@", puppy),
            try RealmPredicate(parsing: "favourite IN %@", [puppy]),
        ] {
            #expect(try one.objects(Keeper.self).filter(predicate).isEmpty)
            do {
                _ = try other.objects(Keeper.self).filter(predicate)
                Issue.record("an object of another file was found")
            } catch let error as Realm.Error {
                #expect(error.code == .invalidInput && error.message.contains("from the Realm being queried"))
            }
        }
        let second = try other.write { other.create(Puppy.self) }
        #expect(throws: Realm.Error.self) { _ = try RealmPredicate(parsing: "SELF IN %@", [puppy, second]) }
    }

    @Test func `an indexed value is found whatever form the query has`() throws {
        let realm = try memoryRealm()
        try realm.write {
            for id in 0..<300 { realm.create(Keeper.self, value: ["id": id, "name": "k\(id % 100)", "age": id]) }
        }
        let keepers = realm.objects(Keeper.self)
        func check(_ results: Results<Keeper>, _ ids: [Int], _ text: String) {
            #expect(results.first?.id == ids.first, "\(text)")
            #expect(results.count == ids.count && results.isEmpty == ids.isEmpty, "\(text)")
            #expect(Array(results.map(\.id)) == ids, "\(text)")
            #expect(Array(results.where { $0.age > 100 }.map(\.id)) == ids.filter { $0 > 100 }, "\(text)")
            #expect(results.sorted(by: \.age, ascending: false).first?.id == ids.last, "\(text)")
            // A frozen one is that of the version before the transaction.
            if realm.isInWriteTransaction { return }
            #expect(results == results.freeze().thaw(), "\(text)")
            #expect(Array(results.freeze().map(\.id)) == ids && results.freeze().first?.id == ids.first, "\(text)")
        }
        for round in 0..<2 {
            check(keepers.where { $0.name == "k7" }, [7, 107, 207], "closure \(round)")
            check(keepers.filter("name == %@", "k7"), [7, 107, 207], "format \(round)")
            check(keepers.filter("name == 'k7'"), [7, 107, 207], "text \(round)")
            check(keepers.filter("%K == 'k7'", "name"), [7, 107, 207], "key path \(round)")
            check(keepers.where { $0.id == 42 }, [42], "key \(round)")
            check(keepers.filter("id == %@", 42), [42], "key as a format \(round)")
            check(keepers.filter("id == %@", 42.0), [42], "another type of number \(round)")
            check(keepers.where { $0.name == "" }, [], "none \(round)")
            check(keepers.where { $0.id == -1 }, [], "no key \(round)")
        }
        try realm.write {
            keepers.where { $0.name == "k7" }.first?.name = "changed"
            check(keepers.where { $0.name == "k7" }, [107, 207], "in a transaction")
            check(keepers.filter("name == %@", "changed"), [7], "in a transaction, as a format")
            realm.delete(keepers.where { $0.id == 107 })
            check(keepers.where { $0.name == "k7" }, [207], "after a deletion")
            check(keepers.where { $0.id == 107 }, [], "the deleted one")
        }
        check(keepers.where { $0.name == "k7" }, [207], "after the commit")
        check(keepers.where { $0.id == 108 }, [108], "behind a hole")
        #expect(keepers.where { $0.name == "k8" && $0.id == 8 }.first?.id == 8)
        #expect(keepers.where { !($0.name == "k8") }.count == 296)
        #expect(keepers.where { $0.id == 5 || $0.id == 6 }.count == 2)
        #expect(keepers.index(matching: { $0.id == 5 }) == 5)
    }
}
