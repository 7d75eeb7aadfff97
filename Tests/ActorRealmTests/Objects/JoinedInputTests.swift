import ActorRealm
import Foundation
import Synchronization
import Testing

/// Sequences that go over other ones: what joins, pairs and numbers elements, and iterators.
@Suite(
    "What joins, pairs or goes over collections is looked at before it is taken",
    .serialized,
    .timeLimit(.minutes(60))
)
struct JoinedInputTests {
    /// A part of an array, lazily mapped.
    private typealias Piece = LazyMapSequence<ArraySlice<String>, String>

    private static func code(_ body: () throws -> Void) -> Realm.Error.Code? {
        do { try body() } catch { return (error as? Realm.Error)?.code }
        return nil
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
            let iterations = JoinedInputTests.iterations(of: keeper.nicknames)
            try realm.write {
                keeper.nicknames.removeLast()
                for (type, value) in iterations {
                    let inserted = #expect(throws: Realm.Error.self) {
                        try realm.insert(Keeper.self, value: ["id": 3, "nicknames": value] as [String: Any])
                    }
                    #expect(inserted?.code == .invalidInput, "\(type)")
                    #expect(inserted?.message.contains("give an array of the elements") == true, "\(type)")
                    let set = JoinedInputTests.code { try other.setValues(["nicknames": value]) }
                    #expect(set == .invalidInput, "\(type)")
                    let parsed = JoinedInputTests.code { _ = try RealmPredicate(parsing: "name IN %@", value) }
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
            let pieces: LazySequence<FlattenSequence<LazyMapSequence<StrideTo<Int>, JoinedInputTests.Piece>>> =
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
            // What would not end alone.
            try take(zip(keepers, repeatElement(others, count: .max).joined()).lazy.map { $0.1 }, as: ["c", "c"])
            try take(zip((0..<Int.max).lazy.flatMap { _ in names }, keepers).lazy.map { $0.0 }, as: ["a", "b"])
            try take(zip(repeatElement(others, count: .max).joined(), Set([1])).lazy.map { $0.0 }, as: ["c"])
            let cycle = repeatElement(others, count: .max).joined()
            try take(zip(keepers.enumerated(), cycle).lazy.map { $0.1 }, as: ["c", "c"])
            // More of them than a number says.
            try take(zip(0...Int.max, keepers).lazy.flatMap { $0.1.nicknames }, as: ["a", "b", "c"])
            try take(zip(UInt64(0)..<UInt64.max, keepers).lazy.flatMap { $0.1.nicknames }, as: ["a", "b", "c"])
            // What ends behind a number of elements.
            let most = AnySequence(repeatElement(others, count: .max).joined()).prefix(2)
            try take(most, as: ["c", "c"])
            try take(zip(0..., repeatElement(others, count: .max)).lazy.flatMap { $0.1 }.prefix(2), as: ["c", "c"])
            try realm.write {
                try realm.insert(Keeper.self, value: ["id": 4, "nicknames": flat] as [String: Any])
                realm.delete(keeper)
                let codes = [
                    JoinedInputTests.code { try third.setValues(["nicknames": flat]) },
                    JoinedInputTests.code { try third.setValues(["nicknames": separated]) },
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
            let sliced: LazySequence<FlattenSequence<LazyMapSequence<Range<Int>, Slice<List<String>>>>> =
                (0..<Int.max).lazy.flatMap { _ in names[0..<500] }
            let arguments: [Any] = [endless, joined, AnySequence(endless), AnyCollection(joined), sliced]
            for argument in arguments {
                #expect(throws: (any Error).self) { _ = try RealmPredicate(parsing: "name IN %@", argument) }
            }
            // Of what a filter leaves out there may be any number before: all is looked at.
            let lists: [List<String>] = Array(repeating: names, count: 101) + [other.nicknames]
            let filtered: LazyFilterSequence<FlattenSequence<[List<String>]>> = lists.joined().lazy.filter { $0 == "7" }
            try realm.write { realm.delete(other) }
            let code = JoinedInputTests.code { _ = try RealmPredicate(parsing: "name IN %@", filtered) }
            #expect(code != nil)
        }
    }

    /// A text that counts how many are made of what is stored, which is once whenever an element is read.
    struct CountedText: CustomPersistable {
        typealias PersistedType = String
        /// Two tests read such texts, which do not run beside each other.
        static let readCount = Atomic<Int>(0)
        let text: String

        init(_ text: String) { self.text = text }

        init(persistedValue: String) {
            CountedText.readCount.add(1, ordering: .relaxed)
            text = persistedValue
        }

        var persistableValue: String { text }
    }

    final class CountedTexts: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var texts: List<CountedText>
    }

    @Test("A list whose slices are joined is read once, and not for each of them")
    func joinedSlices() throws {
        let realm = try memoryRealm([CountedTexts.self])
        let object = try realm.write {
            let object = realm.create(CountedTexts.self)
            object.texts.append(objectsIn: (0..<1_000).map { CountedText("\($0)") })
            return object
        }
        let texts = object.texts
        let slices: [Slice<List<CountedText>>] = (0..<500).map { texts[$0..<$0 + 1] }
        let joined: FlattenSequence<[Slice<List<CountedText>>]> = slices.joined()
        func reads(of argument: Any) throws -> Int {
            let before = CountedText.readCount.load(ordering: .relaxed)
            _ = try RealmPredicate(parsing: "name IN %@", argument)
            return CountedText.readCount.load(ordering: .relaxed) - before
        }
        let once = try reads(of: texts)
        let whole = try reads(of: joined)
        // It is looked at, and then taken.
        #expect(once >= 1_000)
        // Each slice would be a thousand reads.
        #expect(whole >= 1_000 && whole <= once + slices.count)
    }

    @Test("A list whose sections are joined is read once, and not for each of them")
    func joinedSections() throws {
        let realm = try memoryRealm([CountedTexts.self])
        let object = try realm.write {
            let object = realm.create(CountedTexts.self)
            object.texts.append(objectsIn: (0..<1_000).map { CountedText("\($0)") })
            return object
        }
        let texts = object.texts
        let sections = texts.sectioned(by: { (text: CountedText) -> Int in (Int(text.text) ?? 0) / 2 }, ascending: true)
        let sectionCount = sections.count
        #expect(sectionCount == 500)
        let before = CountedText.readCount.load(ordering: .relaxed)
        _ = try RealmPredicate(parsing: "name IN %@", sections.joined())
        let count = CountedText.readCount.load(ordering: .relaxed) - before
        // Each section would be a thousand reads.
        #expect(count >= 1_000 && count < 20_000)
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
                    JoinedInputTests.code { try realm.remove(slice.makeIterator()) },
                    JoinedInputTests.code { try realm.remove(AnyIterator(slice.makeIterator())) },
                    JoinedInputTests.code { try realm.remove(IteratorSequence(slice.makeIterator())) },
                    JoinedInputTests.code { try realm.remove(slice.makeIterator().prefix(2)) },
                    JoinedInputTests.code { try realm.remove([slice, slice].joined()) },
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
                    JoinedInputTests.code { try realm.remove(CollectionOfOne(slice).joined()) },
                    JoinedInputTests.code { try realm.remove((0..<1).lazy.flatMap { _ in slice }) },
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

    @Test("A range or a repetition of more elements than a list may have here is refused, and costs no memory before")
    func longSequences() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm(crateTypes + [Keeper.self, Puppy.self])
            let (keeper, crate) = try realm.write {
                (realm.create(Keeper.self, value: ["id": 1]), realm.create(Crate.self, value: ["id": 1]))
            }
            let values: [any Sequence] = [
                0...Int.max, 0..<Int.max, 1..., repeatElement(1, count: .max), stride(from: 0, to: Int.max, by: 1),
                (0..<1_000_001).lazy.map { $0 }, AnySequence(0...Int.max), [0...Int.max].joined(),
                zip(0..., 0...).lazy.map { $0.0 }, IndexSet(integersIn: 0..<Int.max),
            ]
            for value in values {
                try realm.write {
                    let scores = JoinedInputTests.code { try keeper.setValues(["scores": value]) }
                    #expect(scores == .invalidInput, "\(type(of: value))")
                    let any = JoinedInputTests.code { try crate.setValues(["value": value]) }
                    #expect(any == .invalidInput, "\(type(of: value))")
                    let inserted = JoinedInputTests.code {
                        try realm.insert(Keeper.self, value: ["id": 2, "scores": value] as [String: Any])
                    }
                    #expect(inserted == .invalidInput, "\(type(of: value))")
                }
            }
            let set = #expect(throws: Realm.Error.self) {
                try realm.write { try keeper.setValues(["scores": 0...Int.max]) }
            }
            #expect(set?.message.contains("no array of at most 1000000 elements") == true, "\(set?.message ?? "")")
            let numbered: LazyMapSequence<EnumeratedSequence<ClosedRange<Int>>, String> =
                (0...Int.max).enumerated().lazy.map { "\($0.offset)" }
            #expect(throws: (any Error).self) {
                _ = try RealmPredicate(parsing: "name IN %@", [AnySequence(numbered)].joined())
            }
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
}
