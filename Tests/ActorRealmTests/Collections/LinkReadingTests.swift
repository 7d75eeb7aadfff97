import ActorRealm
import Testing

/// Links read one after the other, forwards and backwards: what is remembered of the last look-up must not be stale.
@Suite struct LinkReadingTests {
    private func filled(_ keeperCount: Int = 1_500) throws -> Realm {
        let realm = try memoryRealm()
        try realm.write {
            let keepers = (0..<keeperCount).map { Keeper(id: $0, name: "k\($0)", age: $0) }
            realm.add(keepers)
            for number in 0..<(3 * keeperCount) {
                let puppy = Puppy(value: ["name": "p\(number)", "age": number])
                realm.add(puppy)
                keepers[number % keeperCount].puppies.append(puppy)
                if number % 2 == 0 { keepers[number % keeperCount].favourite = puppy }
            }
        }
        return realm
    }

    @Test func `every object finds those that link to it, in order and out of order`() throws {
        let realm = try filled()
        let puppies = realm.objects(Puppy.self)
        for puppy in puppies { #expect(puppy.keepers.map(\.id) == [puppy.age % 1_500]) }
        for age in [4_000, 3, 2_999, 3, 0, 4_499] {
            let puppy = try #require(puppies.where { $0.age == age }.first)
            #expect(puppy.keepers.first?.id == age % 1_500 && puppy.keepers.count == 1)
            for keeper in puppy.keepers { #expect(keeper.age == age % 1_500 && keeper.puppies.index(of: puppy) != nil) }
        }
        var favourites = 0
        for keeper in realm.objects(Keeper.self) {
            if let favourite = keeper.favourite {
                favourites += 1
                #expect(favourite.age % 1_500 == keeper.id && favourite.admirers.map(\.id) == [keeper.id])
            }
        }
        #expect(favourites == 750)
    }

    @Test func `what was remembered is forgotten when a transaction writes, and afterwards`() throws {
        let realm = try filled(40)
        let keepers = realm.objects(Keeper.self)
        func check(_ when: String) {
            for keeper in keepers {
                for puppy in keeper.puppies {
                    #expect(puppy.keepers.map(\.id).contains(keeper.id), "\(when)")
                    #expect(puppy.name == "p\(puppy.age)", "\(when)")
                }
                if let favourite = keeper.favourite { #expect(favourite.admirers.count == 1, "\(when)") }
                #expect(realm.object(ofType: Keeper.self, forPrimaryKey: keeper.id)?.age == keeper.id, "\(when)")
            }
        }
        check("at first")
        for round in 0..<6 {
            try realm.write {
                // Other keepers in each round.
                let first = keepers[4 + 2 * round]
                let gone = try #require(first.puppies.first)
                #expect(gone.keepers.count == 1)
                realm.delete(gone)
                check("after deleting a puppy in round \(round)")
                let (one, other) = (keepers[20 + round], keepers[30 + round])
                let moved = try #require(one.puppies.last)
                other.puppies.append(moved)
                #expect(Set(moved.keepers.map(\.id)).isSuperset(of: [one.id, other.id]))
                realm.delete(keepers[3])
                realm.add(Keeper(id: 1_000 + round, age: 1_000 + round))
                check("in round \(round)")
                if round == 0 { realm.delete(first.puppies) }
            }
            check("after round \(round)")
        }
        try realm.verify()
    }

    @Test func `an object that is kept does not become another one`() throws {
        let realm = try filled(30)
        var kept: [(Keeper, Int)] = []
        var puppies: [(Puppy, Int)] = []
        for keeper in realm.objects(Keeper.self) {
            for puppy in keeper.puppies where puppy.age % 7 == 0 { puppies.append((puppy, puppy.age)) }
            for puppy in keeper.puppies {
                if let owner = puppy.keepers.first, owner.id % 5 == 0 { kept.append((owner, owner.id)) }
            }
        }
        weak var weakly: Puppy?
        for puppy in realm.objects(Puppy.self) where puppy.age == 11 { weakly = puppy }
        #expect(weakly == nil)
        #expect(kept.allSatisfy { $0.id == $1 } && puppies.allSatisfy { $0.age == $1 && $0.realm === realm })
        #expect(puppies.count == 13 && kept.count == 18)
    }

    @Test func `a frozen realm reads the same`() throws {
        let realm = try filled(200).freeze()
        for keeper in realm.objects(Keeper.self) {
            #expect(keeper.puppies.map { $0.age % 200 } == [keeper.id, keeper.id, keeper.id])
            for puppy in keeper.puppies { #expect(puppy.keepers.map(\.id) == [keeper.id]) }
        }
    }

    @Test func `what a mirror shows of objects and collections ends before the engine`() throws {
        let realm = try filled(3)
        for keeper in realm.objects(Keeper.self) { for puppy in keeper.puppies { _ = puppy.keepers.first } }
        for value in [realm, realm.objects(Puppy.self), realm.objects(Puppy.self).first as Any] as [Any] {
            var pending: [Any] = [value]
            var seen = 0
            while let next = pending.popLast() {
                seen += 1
                pending += Mirror(reflecting: next).children.map(\.value)
                try #require(seen < 1_000)
            }
        }
    }
}
