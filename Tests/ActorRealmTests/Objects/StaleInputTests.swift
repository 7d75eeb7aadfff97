import ActorRealm
import Foundation
import Testing

/// Values that were good when they were made.
@Suite("What throws refuses collections that are not there any more", .timeLimit(.minutes(60)))
struct StaleInputTests {
    /// A part of an array, lazily mapped.
    private typealias Piece = LazyMapSequence<ArraySlice<String>, String>

    private static func code(_ body: () throws -> Void) -> Realm.Error.Code? {
        do { try body() } catch { return (error as? Realm.Error)?.code }
        return nil
    }

    @Test("A list or dictionary in a value of an unmanaged object is refused when its owner or its realm has ended")
    func valuesOfObjects() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm(crateTypes)
            let (kept, gone) = try realm.write {
                let value: [String: Any] = ["a": 1, "b": [2]]
                return (
                    realm.create(Crate.self, value: ["id": 1, "value": [7]] as [String: Any]),
                    realm.create(Crate.self, value: ["id": 2, "value": value] as [String: Any])
                )
            }
            func refused(_ id: Int, _ value: AnyRealmValue, on managed: Crate?) -> [Realm.Error.Code?] {
                let crate = Crate(id: id)
                crate.value = .fromArray([value])
                let held = AnyRealmValue.object(crate)
                var codes = [
                    StaleInputTests.code { try realm.insert(crate) },
                    StaleInputTests.code {
                        try realm.insert(Crate.self, value: ["id": id + 1, "value": held] as [String: Any])
                    },
                ]
                #expect(crate.realm == nil)
                if let managed { codes.append(StaleInputTests.code { try managed.setValues(["value": held]) }) }
                return codes
            }
            let (list, dictionary) = (kept.value, gone.value)
            try realm.write {
                realm.delete(gone)
                let codes = refused(10, dictionary, on: nil)
                #expect(codes == [.invalidInput, .invalidInput])
            }
            // Of an update that was refused half way nothing is committed.
            _ = StaleInputTests.code {
                try realm.write {
                    let codes = refused(20, dictionary, on: kept)
                    #expect(codes == [.invalidInput, .invalidInput, .invalidInput])
                }
            }
            realm.invalidate()
            try realm.write {
                let codes = refused(30, list, on: nil)
                #expect(codes == [.invalidInput, .invalidInput])
            }
            let count = realm.objects(Crate.self).count
            #expect(count == 1)
            try realm.verify()
        }
    }

    @Test("A slice, and what is lazily made of a collection, is refused when its positions or its owner are gone")
    func slices() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm()
            let (keeper, other) = try realm.write {
                let puppies: [[String: Any]] = [["name": "Rex"], ["name": "Bo"]]
                return (
                    realm.create(Keeper.self, value: ["id": 1, "puppies": puppies] as [String: Any]),
                    realm.create(Keeper.self, value: ["id": 2])
                )
            }
            let slice: Slice<List<Puppy>> = keeper.puppies[0..<2]
            let page: Slice<Results<Puppy>> = realm.objects(Puppy.self)[0..<2]
            let reversed: Slice<ReversedCollection<List<Puppy>>> = keeper.puppies.reversed().prefix(1)
            let filtered: LazyFilterSequence<List<Puppy>> = keeper.puppies.lazy.filter { $0.age == 0 }
            func inserted(_ value: Any) -> Realm.Error.Code? {
                StaleInputTests.code {
                    try realm.insert(Keeper.self, value: ["id": 3, "puppies": value] as [String: Any])
                }
            }
            try realm.write {
                let views: [Any] = [slice, page, reversed, filtered]
                let fitting = StaleInputTests.code {
                    for (id, value) in views.enumerated() {
                        try realm.insert(Keeper.self, value: ["id": 10 + id, "puppies": value] as [String: Any])
                    }
                }
                #expect(fitting == nil)
            }
            let counts: [Int] = realm.objects(Keeper.self).where { $0.id >= 10 }.map { $0.puppies.count }
            #expect(counts == [2, 2, 1, 2])
            try realm.write {
                keeper.puppies.removeLast()
                let codes = [inserted(slice), inserted(reversed)]
                #expect(codes == [.invalidInput, .invalidInput])
                let removed = StaleInputTests.code { try realm.remove(slice) }
                #expect(removed == .invalidInput)
                let set = StaleInputTests.code { try other.setValues(["puppies": slice]) }
                #expect(set == .invalidInput)
                let parsed = StaleInputTests.code { _ = try RealmPredicate(parsing: "ANY puppies IN %@", slice) }
                #expect(parsed == .invalidInput)
                realm.delete(realm.objects(Puppy.self).where { $0.name == "Bo" })
                let paged = [inserted(page), StaleInputTests.code { try realm.remove(page) }]
                #expect(paged == [.invalidInput, .invalidInput])
                realm.delete(keeper)
                let orphans = [inserted(slice), inserted(filtered)]
                #expect(orphans == [.invalidInput, .invalidInput])
                let gone = StaleInputTests.code { try realm.remove(filtered) }
                #expect(gone == .invalidatedObject)
            }
            try realm.verify()
        }
    }

    @Test("A slice of what a closure chooses is refused when its positions are not chosen any more")
    func chosenSlices() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm()
            let (keeper, other) = try realm.write {
                let puppies: [[String: Any]] = [["name": "Rex", "age": 1], ["name": "Bo", "age": 1]]
                let values: [String: Any] = ["id": 1, "nicknames": ["a", "b"], "puppies": puppies]
                return (realm.create(Keeper.self, value: values), realm.create(Keeper.self, value: ["id": 2]))
            }
            let begun: LazyPrefixWhileSequence<List<String>> = keeper.nicknames.lazy.prefix(while: { $0 != "z" })
            let rest: Slice<LazyPrefixWhileSequence<List<String>>> = begun.dropFirst()
            let grown: LazyFilterSequence<List<Puppy>> = keeper.puppies.lazy.filter { $0.age > 0 }
            let turned: ReversedCollection<LazyFilterSequence<List<Puppy>>> = grown.reversed()
            let first: Slice<ReversedCollection<LazyFilterSequence<List<Puppy>>>> = turned.prefix(1)
            let second: Slice<ReversedCollection<LazyFilterSequence<List<Puppy>>>> = turned.dropFirst()
            try realm.write {
                try other.setValues(["nicknames": rest])
                let taken = Array(other.nicknames)
                #expect(taken == ["b"])
                keeper.nicknames.removeLast()
                var set = StaleInputTests.code { try other.setValues(["nicknames": rest]) }
                #expect(set == .invalidInput)
                keeper.nicknames.removeAll()
                set = StaleInputTests.code { try other.setValues(["nicknames": rest]) }
                #expect(set == .invalidInput)
                set = StaleInputTests.code { try other.setValues(["nicknames": begun.dropFirst()]) }
                #expect(set == nil)
                keeper.puppies[1].age = 0
                let removed = StaleInputTests.code { try realm.remove(first) }
                #expect(removed == .invalidInput)
                keeper.puppies[0].age = 0
                let codes = [
                    StaleInputTests.code { try realm.remove(first) },
                    StaleInputTests.code { try realm.remove(second) },
                ]
                #expect(codes == [.invalidInput, .invalidInput])
            }
            let count = realm.objects(Puppy.self).count
            #expect(count == 2)
        }
    }

    @Test("A slice of an unmanaged list is refused when its positions are gone")
    func unmanagedSlices() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm()
            let draft = Keeper()
            draft.nicknames.append(objectsIn: ["a", "b"])
            let slice: Slice<List<String>> = draft.nicknames[0..<2]
            func inserted(_ id: Int) -> Realm.Error.Code? {
                StaleInputTests.code {
                    try realm.insert(Keeper.self, value: ["id": id, "nicknames": slice] as [String: Any])
                }
            }
            try realm.write {
                let fitting = inserted(1)
                #expect(fitting == nil)
                draft.nicknames.removeLast()
                let code = inserted(2)
                #expect(code == .invalidInput)
            }
        }
    }

    /// What goes over a list through types of Swift that cannot be asked how far they go.
    private static func iterations(of names: List<String>) -> [(type: String, value: Any)] {
        let slice: Slice<List<String>> = names[0..<2]
        let turned: ReversedCollection<Slice<List<String>>> = slice.reversed()
        let mapped: LazyMapSequence<Slice<List<String>>, String> = slice.lazy.map { $0 }
        let filtered: LazyFilterSequence<Slice<List<String>>> = slice.lazy.filter { _ in true }
        let begun: LazyPrefixWhileSequence<Slice<List<String>>> = slice.lazy.prefix(while: { _ in true })
        let ended: LazyDropWhileSequence<Slice<List<String>>> = slice.lazy.drop(while: { _ in false })
        let iterator: IndexingIterator<Slice<List<String>>> = slice.makeIterator()
        let first: PrefixSequence<IndexingIterator<Slice<List<String>>>> = iterator.prefix(2)
        let rest: DropFirstSequence<IndexingIterator<Slice<List<String>>>> = iterator.dropFirst(1)
        let kept: DropWhileSequence<IndexingIterator<Slice<List<String>>>> = iterator.drop(while: { _ in false })
        let flat: FlattenSequence<[Slice<List<String>>]> = [slice, slice].joined()
        let joined: JoinedSequence<[Slice<List<String>>]> = [slice, slice].joined(separator: ["-"])
        let tail: Slice<FlattenSequence<[List<String>]>> = [names].joined().dropFirst()
        let lazily: LazySequence<IndexingIterator<Slice<List<String>>>> = iterator.lazy
        let picked: DiscontiguousSlice<List<String>> = names[RangeSet(0..<2)]
        var found: [(type: String, value: Any)] = []
        func add(_ value: some Sequence) { found.append(("\(type(of: value))", value)) }
        add(iterator)
        add(IteratorSequence(names.makeIterator()))
        add(AnyIterator(slice.makeIterator()))
        add(AnyIterator(AnyIterator(names.makeIterator())))
        add(slice.enumerated())
        add(slice.enumerated().makeIterator())
        add(zip(slice, [1, 2]))
        add(zip([1, 2], slice))
        add(IteratorSequence(zip(slice, slice).makeIterator()))
        add(turned.makeIterator())
        add(mapped.makeIterator())
        add(filtered.makeIterator())
        add(begun.makeIterator())
        add(IteratorSequence(ended.makeIterator()))
        add(first)
        add(IteratorSequence(first.makeIterator()))
        add(rest)
        add(kept)
        add(IteratorSequence(kept.makeIterator()))
        add(flat)
        add(flat.makeIterator())
        add(joined)
        add(IteratorSequence(joined.makeIterator()))
        add(lazily)
        add(tail)
        add(CollectionOfOne(slice).joined())
        add(IteratorSequence(CollectionOfOne(slice).joined().makeIterator()))
        add(repeatElement(slice, count: 2).joined())
        add((0..<2).lazy.flatMap { _ in slice })
        add(stride(from: 0, to: 2, by: 1).lazy.flatMap { _ in slice })
        add(zip([0, 1], [0, 1]).lazy.flatMap { _ in slice })
        add(zip(IteratorSequence([0].makeIterator()), [0]).lazy.flatMap { _ in names })
        add((0...).lazy.flatMap { _ in slice })
        add(zip(0..., 1...).lazy.flatMap { _ in slice })
        add(IteratorSequence(["a": slice].values.makeIterator()).joined())
        add(zip(slice, [1, 2]).lazy.map { $0.0 })
        add(slice.enumerated().lazy.map { $0.element })
        add(picked)
        add(picked.makeIterator())
        add(filtered.indices)
        add(AnySequence(iterator))
        add(AnySequence(zip(slice, slice)))
        return found
    }

    @Test("What goes over a list that has got shorter, or in a way that cannot be looked into, is refused")
    func blindIterations() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm()
            let (keeper, other) = try realm.write {
                (
                    realm.create(Keeper.self, value: ["id": 1, "nicknames": ["a", "b"]] as [String: Any]),
                    realm.create(Keeper.self, value: ["id": 2, "nicknames": ["kept"]] as [String: Any])
                )
            }
            let iterations = StaleInputTests.iterations(of: keeper.nicknames)
            try realm.write {
                keeper.nicknames.removeLast()
                for (type, value) in iterations {
                    let inserted = #expect(throws: Realm.Error.self) {
                        try realm.insert(Keeper.self, value: ["id": 3, "nicknames": value] as [String: Any])
                    }
                    #expect(inserted?.code == .invalidInput, "\(type)")
                    #expect(inserted?.message.contains("give an array of the elements") == true, "\(type)")
                    let set = StaleInputTests.code { try other.setValues(["nicknames": value]) }
                    #expect(set == .invalidInput, "\(type)")
                    let parsed = StaleInputTests.code { _ = try RealmPredicate(parsing: "name IN %@", value) }
                    #expect(parsed == .invalidInput, "\(type)")
                }
            }
            let names = Array(other.nicknames)
            #expect(names == ["kept"])
            let set = #expect(throws: Realm.Error.self) {
                try realm.write { try other.setValues(["nicknames": iterations[0].value]) }
            }
            #expect(set?.message.contains("IndexingIterator<Slice<List<String>>>") == true)
            #expect(set?.message.contains("`Array(list)`") == true)
        }
    }

    @Test("What joins, pairs and numbers the elements of collections is taken while they are there")
    func joinedCollections() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm()
            let (keeper, other, third) = try realm.write {
                (
                    realm.create(Keeper.self, value: ["id": 1, "nicknames": ["a", "b"]] as [String: Any]),
                    realm.create(Keeper.self, value: ["id": 2, "nicknames": ["c"]] as [String: Any]),
                    realm.create(Keeper.self, value: ["id": 3])
                )
            }
            let (names, others) = (keeper.nicknames, other.nicknames)
            let keepers = realm.objects(Keeper.self).where { $0.id < 3 }.sorted(byKeyPath: "id")
            let lazily: LazySequence<FlattenSequence<LazyMapSequence<Results<Keeper>, List<String>>>> =
                keepers.flatMap { $0.nicknames }
            let flat: FlattenSequence<[List<String>]> = [names, others].joined()
            let separated: JoinedSequence<[List<String>]> = [names, others].joined(separator: ["-"])
            let slice: Slice<List<String>> = names[0..<1]
            let mapped: LazyMapSequence<[String], String> = ["c"].lazy.map { $0 }
            let letters = ["a", "b", "c", "d"]
            let turned: ReversedCollection<[String]> = ["b", "a"].reversed()
            let tail: Slice<FlattenSequence<[ReversedCollection<[String]>]>> = [turned, turned].joined().dropFirst()
            let steps = stride(from: 0, to: 4, by: 2)
            let pieces: LazySequence<FlattenSequence<LazyMapSequence<StrideTo<Int>, StaleInputTests.Piece>>> =
                steps.lazy.flatMap { start in letters[start..<start + 2].lazy.map { $0 } }
            let stepped: LazySequence<FlattenSequence<LazyMapSequence<StrideTo<Int>, List<String>>>> =
                steps.lazy.flatMap { keepers[$0 / 2].nicknames }
            let entries = Map<String, Int>()
            entries["x"] = 1
            entries["y"] = 2
            let mappedEntries: LazySequence<FlattenSequence<LazyMapSequence<Map<String, Int>, List<String>>>> =
                entries.lazy.flatMap { _ in others }
            let draft = Keeper()
            draft.nicknames.append(objectsIn: ["d"])
            let drafted: FlattenSequence<[List<String>]> = [draft.nicknames, names].joined()
            func take(_ value: any Sequence, as expected: [String]) throws {
                try realm.write {
                    try third.setValues(["nicknames": ["old"]])
                    try third.setValues(["nicknames": value])
                }
                let taken = Array(third.nicknames)
                #expect(taken == expected, "\(type(of: value))")
                _ = try RealmPredicate(parsing: "name IN %@", value)
            }
            try take(lazily, as: ["a", "b", "c"])
            try take(AnySequence(lazily), as: ["a", "b", "c"])
            try take(flat, as: ["a", "b", "c"])
            try take(separated, as: ["a", "b", "-", "c"])
            try take(drafted, as: ["d", "a", "b"])
            try take(CollectionOfOne(names).joined(), as: ["a", "b"])
            try take(repeatElement(slice, count: 2).joined(), as: ["a", "a"])
            try take([mapped].joined(), as: ["c"])
            try take(zip(names, others).lazy.map { $0.0 + $0.1 }, as: ["ac"])
            try take(names.enumerated().lazy.map { "\($0.offset)\($0.element)" }, as: ["0a", "1b"])
            // Over arrays alone.
            try take(tail, as: ["b", "a", "b"])
            try take(pieces, as: letters)
            try take(IteratorSequence([mapped].joined().makeIterator()), as: ["c"])
            // Over what begins anew, and is no collection.
            try take(zip([1, 2], keepers).lazy.flatMap { $0.1.nicknames }, as: ["a", "b", "c"])
            try take(zip(1..., keepers).lazy.flatMap { $0.1.nicknames }, as: ["a", "b", "c"])
            try take(stride(from: 0.0, to: 1.0, by: 0.5).lazy.flatMap { _ in others }, as: ["c", "c"])
            try take(keepers.enumerated().lazy.flatMap { $0.element.nicknames }, as: ["a", "b", "c"])
            try take(stepped, as: ["a", "b", "c"])
            try take(mappedEntries, as: ["c", "c"])
            try realm.write {
                try realm.insert(Keeper.self, value: ["id": 4, "nicknames": flat] as [String: Any])
                realm.delete(keeper)
                let codes = [
                    StaleInputTests.code { try third.setValues(["nicknames": flat]) },
                    StaleInputTests.code { try third.setValues(["nicknames": separated]) },
                ]
                #expect(codes == [.invalidInput, .invalidInput])
                try third.setValues(["nicknames": lazily])
            }
            let inserted = realm.object(ofType: Keeper.self, forPrimaryKey: 4).map { Array($0.nicknames) }
            #expect(inserted == ["a", "b", "c"])
            let left = Array(third.nicknames)
            #expect(left == ["c"])
            try realm.verify()
        }
    }

    @Test("What joins lists without end is refused as an argument when it has given more than is allowed")
    func endlessArguments() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm()
            let (keeper, other) = try realm.write {
                let names = (0..<1_000).map { "\($0)" }
                return (
                    realm.create(Keeper.self, value: ["id": 1, "nicknames": names] as [String: Any]),
                    realm.create(Keeper.self, value: ["id": 2, "nicknames": ["kept"]] as [String: Any])
                )
            }
            let names = keeper.nicknames
            let endless: LazySequence<FlattenSequence<LazyMapSequence<Range<Int>, List<String>>>> =
                (0..<Int.max).lazy.flatMap { _ in names }
            let joined: FlattenSequence<Repeated<List<String>>> = repeatElement(names, count: .max).joined()
            let arguments: [Any] = [endless, joined, AnySequence(endless)]
            for argument in arguments {
                #expect(throws: (any Error).self) { _ = try RealmPredicate(parsing: "name IN %@", argument) }
            }
            // Of what a filter leaves out there may be any number before: all is looked at.
            let lists: [List<String>] = Array(repeating: names, count: 101) + [other.nicknames]
            let filtered: LazyFilterSequence<FlattenSequence<[List<String>]>> = lists.joined().lazy.filter { $0 == "7" }
            try realm.write { realm.delete(other) }
            let code = StaleInputTests.code { _ = try RealmPredicate(parsing: "name IN %@", filtered) }
            #expect(code != nil)
        }
    }

    @Test("A list whose slices are joined is read once, and not for each of them")
    func joinedSlices() throws {
        let realm = try memoryRealm()
        let texts = (0..<50_000).map { "\($0)" }
        let keeper = try realm.write {
            realm.create(Keeper.self, value: ["id": 1, "nicknames": texts] as [String: Any])
        }
        let names = keeper.nicknames
        let slices: [Slice<List<String>>] = (0..<10_000).map { names[$0..<$0 + 1] }
        let joined: FlattenSequence<[Slice<List<String>>]> = slices.joined()
        let clock = ContinuousClock()
        let once = try clock.measure { _ = try RealmPredicate(parsing: "name IN %@", names) }
        let whole = try clock.measure { _ = try RealmPredicate(parsing: "name IN %@", joined) }
        // Ten thousand times as much was read.
        #expect(whole < once * 20 + .seconds(2))
    }

    @Test("Objects are not removed by what goes over a list in a way that cannot be looked into")
    func removingByIterations() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm()
            let keeper = try realm.write {
                let puppies: [[String: Any]] = [["name": "Rex"], ["name": "Bo"]]
                return realm.create(Keeper.self, value: ["id": 1, "puppies": puppies] as [String: Any])
            }
            let slice: Slice<List<Puppy>> = keeper.puppies[0..<2]
            try realm.write {
                keeper.puppies.removeLast()
                let codes = [
                    StaleInputTests.code { try realm.remove(slice.makeIterator()) },
                    StaleInputTests.code { try realm.remove(AnyIterator(slice.makeIterator())) },
                    StaleInputTests.code { try realm.remove(IteratorSequence(slice.makeIterator())) },
                    StaleInputTests.code { try realm.remove(slice.makeIterator().prefix(2)) },
                    StaleInputTests.code { try realm.remove([slice, slice].joined()) },
                ]
                #expect(codes == [.invalidInput, .invalidInput, .invalidInput, .invalidInput, .invalidInput])
                try realm.remove(Array(keeper.puppies).makeIterator())
            }
            let count = realm.objects(Puppy.self).count
            #expect(count == 1)
        }
    }

    @Test("Objects are removed by what joins lists of them")
    func removingJoined() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm()
            let (first, second) = try realm.write {
                let puppies: [[String: Any]] = [["name": "Rex"], ["name": "Bo"]]
                return (
                    realm.create(Keeper.self, value: ["id": 1, "puppies": puppies] as [String: Any]),
                    realm.create(Keeper.self, value: ["id": 2, "puppies": puppies] as [String: Any])
                )
            }
            let slice: Slice<List<Puppy>> = first.puppies[0..<2]
            let (one, another): (Slice<List<Puppy>>, Slice<List<Puppy>>) = (first.puppies[0..<1], second.puppies[1..<2])
            let keepers = realm.objects(Keeper.self)
            try realm.write {
                try realm.remove([one, another].joined())
                let codes = [
                    StaleInputTests.code { try realm.remove(CollectionOfOne(slice).joined()) },
                    StaleInputTests.code { try realm.remove((0..<1).lazy.flatMap { _ in slice }) },
                ]
                #expect(codes == [.invalidInput, .invalidInput])
            }
            var names: [String] = realm.objects(Puppy.self).sorted(byKeyPath: "name").map { $0.name }
            #expect(names == ["Bo", "Rex"])
            try realm.write { try realm.remove(keepers.flatMap { $0.puppies }) }
            names = realm.objects(Puppy.self).map { $0.name }
            #expect(names == [])
            try realm.write {
                first.puppies.append(Puppy())
                second.puppies.append(Puppy())
                try realm.remove([first.puppies, second.puppies].joined())
            }
            let count = realm.objects(Puppy.self).count
            #expect(count == 0)
            try realm.verify()
        }
    }

    @Test("The same types over Swift's own collections are taken")
    func plainIterations() throws {
        let realm = try memoryRealm()
        let keeper = try realm.write { realm.create(Keeper.self, value: ["id": 1]) }
        let names = ["a", "b"]
        let turned: ReversedCollection<[String]> = ["b", "a"].reversed()
        let mapped: LazyMapSequence<[String], String> = names.lazy.map { $0 }
        let flat: FlattenSequence<[[String]]> = [["a"], ["b"]].joined()
        let separated: JoinedSequence<[[String]]> = [["a"], []].joined(separator: ["b"])
        func take(_ value: some Sequence) throws {
            try realm.write {
                try keeper.setValues(["nicknames": ["old"]])
                try keeper.setValues(["nicknames": value])
            }
            #expect(Array(keeper.nicknames) == names, "\(type(of: value))")
            _ = try RealmPredicate(parsing: "name IN %@", value)
        }
        try take(names)
        try take(ArraySlice(names))
        try take(ContiguousArray(names))
        try take(names.makeIterator())
        try take(IteratorSequence(names.makeIterator()))
        try take(names.makeIterator().prefix(2))
        try take(turned)
        try take(turned.makeIterator())
        try take(mapped)
        try take(mapped.makeIterator())
        try take(names[RangeSet(0..<2)])
        try take(flat)
        try take(flat.makeIterator())
        try take(separated)
        try take(AnySequence(names))
        try realm.write {
            try keeper.setValues(["nicknames": Set(["a"])])
            try keeper.setValues(["scores": 1...3])
        }
        #expect(Array(keeper.nicknames) == ["a"])
        #expect(Array(keeper.scores) == [1, 2, 3])
    }

    @Test("A collection of an invalidated realm is refused as an argument of a predicate from outside")
    func invalidatedArguments() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm()
            let keeper = try realm.write {
                let values: [String: Any] = ["id": 1, "nicknames": ["a"], "puppies": [["name": "Rex"]]]
                return realm.create(Keeper.self, value: values)
            }
            let puppies = realm.objects(Puppy.self)
            let joined: FlattenSequence<[Results<Puppy>]> = [puppies, puppies].joined()
            let paired: Zip2Sequence<Results<Puppy>, Results<Puppy>> = zip(puppies, puppies)
            let numbered: EnumeratedSequence<Results<Puppy>> = puppies.enumerated()
            let mapped: LazyMapSequence<EnumeratedSequence<Results<Puppy>>, Puppy> = numbered.lazy.map { $0.element }
            let arguments: [Any] = [
                keeper.nicknames, puppies, keeper.puppies.projectTo.name, joined, paired, numbered, mapped,
                AnySequence(joined),
            ]
            func parsed(_ argument: Any) -> Realm.Error.Code? {
                StaleInputTests.code { _ = try RealmPredicate(parsing: "name IN %@", argument) }
            }
            realm.invalidate()
            let codes = arguments.map { parsed($0) }
            let expected: [Realm.Error.Code?] = arguments.map { _ in .invalidatedObject }
            #expect(codes == expected)
        }
    }

    @Test("Values of any kind and maps of an invalidated realm are refused as arguments of a predicate from outside")
    func invalidatedValues() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm(crateTypes)
            let crate = try realm.write {
                let values: [String: Any] = [
                    "id": 1, "value": [7], "scores": ["a": 1], "mixed": ["m": ["x": 1]],
                ]
                return realm.create(Crate.self, value: values)
            }
            let arguments: [Any] = [crate.value, crate.mixed["m"]!, crate.scores]
            func parsed(_ argument: Any) -> Realm.Error.Code? {
                StaleInputTests.code { _ = try RealmPredicate(parsing: "value == %@", argument) }
            }
            realm.invalidate()
            let codes = arguments.map { parsed($0) }
            #expect(codes == [.invalidatedObject, .invalidatedObject, .invalidatedObject])
        }
    }

    @Test("A list or dictionary in a value of any kind is refused as an argument of a predicate in another isolation")
    func valuesElsewhere() async {
        await #expect(processExitsWith: .success) {
            let worker = try await Worker(
                Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: crateTypes)
            )
            let carried = try await worker.with { _, realm in
                let crate = try await realm.asyncWrite {
                    let values: [String: Any] = ["id": 1, "value": [7], "mixed": ["m": ["x": 1]]]
                    return realm.create(Crate.self, value: values)
                }
                return CarriedValues(values: [crate.value, crate.mixed["m"]!])
            }
            let codes = carried.values.map { value in
                StaleInputTests.code { _ = try RealmPredicate(parsing: "value == %@", value) }
            }
            #expect(codes == [.invalidInput, .invalidInput])
            await worker.close()
        }
    }

    @Test("A collection of another isolation is refused also where it does not fit")
    func misfitsElsewhere() async {
        await #expect(processExitsWith: .success) {
            let worker = try await Worker(
                Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: crateTypes)
            )
            let carried = try await worker.with { _, realm in
                let crate = try await realm.asyncWrite {
                    let values: [String: Any] = ["id": 1, "tags": ["a"], "scores": ["a": 1]]
                    return realm.create(Crate.self, value: values)
                }
                return CarriedCollections(values: [crate.prices, crate.tags, crate.scores, crate.friendOf])
            }
            let own = Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: crateTypes)
            let codes = try withNewRealm(own) { realm in
                try realm.write {
                    carried.values.map { value in
                        StaleInputTests.code { try realm.insert(Crate.self, value: ["id": value] as [String: Any]) }
                    }
                }
            }
            #expect(codes == [.invalidInput, .invalidInput, .invalidInput, .invalidInput])
            await worker.close()
        }
    }

    @Test("A type-erased collection is refused when its positions or its owner are gone")
    func erasedCollections() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm()
            let (keeper, other) = try realm.write {
                let values: [String: Any] = ["id": 1, "nicknames": ["a", "b"]]
                return (
                    realm.create(Keeper.self, value: values),
                    realm.create(Keeper.self, value: ["id": 2, "nicknames": ["kept"]] as [String: Any])
                )
            }
            let slice: Slice<List<String>> = keeper.nicknames[0..<2]
            let slices: [Any] = [
                AnySequence(slice), AnyCollection(slice), AnyBidirectionalCollection(slice),
                AnyRandomAccessCollection(slice),
            ]
            let names: [Any] = [AnySequence(keeper.nicknames), AnyCollection(keeper.nicknames)]
            func given(_ value: Any) -> Realm.Error.Code? {
                StaleInputTests.code { try other.setValues(["nicknames": value]) }
            }
            try realm.write {
                let fitting = (slices + names).map { given($0) }
                #expect(fitting == [nil, nil, nil, nil, nil, nil])
                keeper.nicknames.removeLast()
                let codes = slices.map { given($0) }
                #expect(codes == [.invalidInput, .invalidInput, .invalidInput, .invalidInput])
                realm.delete(keeper)
                let orphans = names.map { given($0) }
                #expect(orphans == [.invalidInput, .invalidInput])
            }
            #expect(Array(other.nicknames) == ["a", "b"])
        }
    }
}

/// Takes collections where the compiler would not let them go.
private struct CarriedCollections: @unchecked Sendable {
    let values: [Any]
}

/// Takes values where the compiler would not let them go.
private struct CarriedValues: @unchecked Sendable {
    let values: [AnyRealmValue]
}
