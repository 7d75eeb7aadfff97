import ActorRealm
import Foundation
import Testing

/// Values that were good when they were made.
@Suite("What throws refuses collections that are not there any more", .timeLimit(.minutes(60)))
struct StaleInputTests {
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

    @Test("A slice of what a closure chooses is refused, and what it chooses is taken")
    func chosenSlices() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm()
            let (keeper, other) = try realm.write {
                let puppies: [[String: Any]] = [["name": "Rex", "age": 1], ["name": "Bo", "age": 1]]
                let values: [String: Any] = ["id": 1, "nicknames": ["a", "b", "c"], "puppies": puppies]
                return (realm.create(Keeper.self, value: values), realm.create(Keeper.self, value: ["id": 2]))
            }
            let begun: LazyPrefixWhileSequence<List<String>> = keeper.nicknames.lazy.prefix(while: { $0 != "z" })
            let rest: Slice<LazyPrefixWhileSequence<List<String>>> = begun.dropFirst()
            let ended: LazyDropWhileSequence<List<String>> = keeper.nicknames.lazy.drop(while: { $0 == "z" })
            let grown: LazyFilterSequence<List<Puppy>> = keeper.puppies.lazy.filter { $0.age > 0 }
            let turned: ReversedCollection<LazyFilterSequence<List<Puppy>>> = grown.reversed()
            let names: [any Sequence] = [rest, rest.reversed(), ended.dropLast().reversed(), begun.dropLast(3)]
            let puppies: [any Sequence] = [turned.prefix(1), turned.dropFirst(), turned.dropFirst().reversed()]
            try realm.write {
                try other.setValues(["nicknames": begun])
                try other.setValues(["nicknames": begun.reversed(), "puppies": turned])
                let taken = Array(other.nicknames)
                #expect(taken == ["c", "b", "a"])
                let count = other.puppies.count
                #expect(count == 2)
                func refuse() {
                    for value in names {
                        let set = StaleInputTests.code { try other.setValues(["nicknames": value]) }
                        #expect(set == .invalidInput, "\(type(of: value))")
                    }
                    for value in puppies {
                        let set = StaleInputTests.code { try other.setValues(["puppies": value]) }
                        #expect(set == .invalidInput, "\(type(of: value))")
                    }
                    let removed = StaleInputTests.code { try realm.remove(turned.prefix(1)) }
                    #expect(removed == .invalidInput)
                }
                refuse()
                keeper.nicknames[1] = "z"
                keeper.puppies[1].age = 0
                refuse()
                keeper.nicknames[0] = "z"
                keeper.nicknames.removeLast()
                refuse()
            }
            let count = realm.objects(Puppy.self).count
            #expect(count == 2)
        }
    }

    @Test("What goes by positions over a type-erased collection is refused, whatever has changed")
    func erasedPositions() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm()
            let (keeper, other) = try realm.write {
                let puppies: [[String: Any]] = [["name": "Rex", "age": 1], ["name": "Bo", "age": 1]]
                let values: [String: Any] = ["id": 1, "nicknames": ["a", "b", "c"], "puppies": puppies]
                return (realm.create(Keeper.self, value: values), realm.create(Keeper.self, value: ["id": 2]))
            }
            let names = keeper.nicknames
            let keepers = realm.objects(Keeper.self).where { $0.id == 1 }
            let erased = AnyBidirectionalCollection(names)
            let begun: LazyPrefixWhileSequence<AnyCollection<String>> =
                AnyCollection(names).lazy.prefix(while: { $0 != "z" })
            let flat: LazySequence<FlattenSequence<LazyMapSequence<AnyBidirectionalCollection<Keeper>, List<String>>>> =
                AnyBidirectionalCollection(keepers).lazy.flatMap { $0.nicknames }
            let numbered: ReversedCollection<EnumeratedSequence<AnyRandomAccessCollection<String>>> =
                AnyRandomAccessCollection(names).enumerated().reversed()
            let joined: FlattenSequence<[AnyBidirectionalCollection<String>]> = [erased].joined()
            let chosen: LazyFilterSequence<List<Puppy>> = keeper.puppies.lazy.filter { $0.age > 0 }
            let values: [any Sequence] = [
                erased.reversed(),
                AnyBidirectionalCollection(names.reversed()).reversed(),
                numbered.lazy.map { $0.element },
                flat.reversed(),
                joined.reversed(),
                erased.lazy.prefix(while: { $0 != "z" }).reversed(),
                begun.dropFirst(),
                begun.prefix(1),
            ]
            let puppies: ReversedCollection<AnyBidirectionalCollection<Puppy>> =
                AnyBidirectionalCollection(chosen).reversed()
            try realm.write {
                try other.setValues(["nicknames": erased, "puppies": AnyBidirectionalCollection(chosen)])
                try other.setValues(["nicknames": begun])
                try other.setValues(["nicknames": joined])
                func refuse() {
                    for value in values {
                        let set = StaleInputTests.code { try other.setValues(["nicknames": value]) }
                        #expect(set == .invalidInput, "\(type(of: value))")
                        let parsed = StaleInputTests.code { _ = try RealmPredicate(parsing: "name IN %@", value) }
                        #expect(parsed == .invalidInput, "\(type(of: value))")
                    }
                    let removed = StaleInputTests.code { try realm.remove(puppies) }
                    #expect(removed == .invalidInput)
                }
                refuse()
                names.removeLast()
                keeper.puppies[0].age = 0
                refuse()
                // Over an array.
                let array: AnyBidirectionalCollection<String> = AnyBidirectionalCollection(["x", "y"].reversed())
                try other.setValues(["nicknames": array.reversed()])
            }
            let taken = Array(other.nicknames)
            #expect(taken == ["x", "y"])
            try realm.verify()
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
