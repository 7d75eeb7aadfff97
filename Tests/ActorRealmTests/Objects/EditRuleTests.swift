import ActorRealm
import Foundation
import Testing

class MappedBase: Object {
    @Persisted var title: String
    override class func propertiesMapping() -> [String: String] { ["title": "ttl"] }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class MappedHeir: MappedBase {
    @Persisted var size: Int
    override class func propertiesMapping() -> [String: String] {
        super.propertiesMapping().merging(["size": "sz"]) { _, new in new }
    }
}

/// What may be done with objects, embedded objects and collections, and what ends the process.
@Suite struct EditRuleTests {
    private func check(_ result: ExitTest.Result?, _ sentence: String, line: SourceLocation = #_sourceLocation) {
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains(sentence), "\(text.suffix(400))", sourceLocation: line)
    }

    @Test func `a deleted owner ends its lists, and leaves its results empty`() throws {
        let realm = try memoryRealm()
        let keeper = try realm.write {
            realm.create(
                Keeper.self,
                value: ["id": 1, "puppies": [["name": "Rex"]], "nicknames": ["a"]] as [String: Any]
            )
        }
        let (puppies, sorted, names) = (keeper.puppies, keeper.puppies.sorted(by: \.name), keeper.nicknames)
        #expect(!puppies.isInvalidated && sorted.count == 1)
        try realm.write { realm.delete(keeper) }
        #expect(puppies.isInvalidated && names.isInvalidated)
        #expect(!sorted.isInvalidated && sorted.isEmpty && realm.objects(Puppy.self).count == 1)
    }

    @Test func `deleting everything keeps the schema`() throws {
        let realm = try memoryRealm()
        let keeper = try realm.write { realm.create(Keeper.self, value: ["id": 1, "puppies": [["name": "Rex"]]]) }
        let (puppies, all) = (keeper.puppies, realm.objects(Keeper.self))
        try realm.write { realm.deleteAll() }
        #expect(keeper.isInvalidated && puppies.isInvalidated && !all.isInvalidated && all.isEmpty)
        #expect(realm.schema["Keeper"] != nil && realm.objects(Puppy.self).isEmpty)
        try realm.write { realm.create(Keeper.self, value: ["id": 1]) }
        #expect(all.count == 1)
    }

    @Test func `sequences, lists, results and maps of objects are deleted`() throws {
        let realm = try memoryRealm([Crate.self, Slip.self])
        func make() throws -> Crate {
            try realm.write {
                realm.deleteAll()
                return realm.create(
                    Crate.self,
                    value: ["id": 1, "friends": [["id": 2], ["id": 3]], "peers": ["a": ["id": 4]]] as [String: Any]
                )
            }
        }
        func ids() -> [Int] { realm.objects(Crate.self).map(\.id).sorted() }
        var crate = try make()
        try realm.write { realm.delete(crate.friends) }
        #expect(ids() == [1, 4])
        crate = try make()
        try realm.write { realm.delete(crate.peers) }
        #expect(ids() == [1, 2, 3])
        crate = try make()
        try realm.write { realm.delete(realm.objects(Crate.self).where { $0.id > 2 }) }
        #expect(ids() == [1, 2])
        crate = try make()
        try realm.write { realm.delete([crate]) }
        #expect(ids() == [2, 3, 4])
    }

    @Test func `a subclass carries the names of its superclass on`() throws {
        let realm = try memoryRealm([MappedBase.self, MappedHeir.self])
        try realm.write { realm.create(MappedHeir.self, value: ["title": "t", "size": 3] as [String: Any]) }
        let schema = try #require(realm.schema["MappedHeir"])
        #expect(
            schema.properties.map(\.name) == ["title", "size"] && schema.properties.map(\.columnName) == ["ttl", "sz"]
        )
        // Each class has a table of its own.
        #expect(
            realm.objects(MappedBase.self).isEmpty && realm.objects(MappedHeir.self).filter("ttl == 't'").count == 1
        )
        #expect(realm.objects(MappedHeir.self).where { $0.title == "t" && $0.size == 3 }.count == 1)
    }

    @Test func `an unmanaged set and list are those of Swift`() {
        let list = List<Int>()
        list.append(objectsIn: 0..<6)
        list.removeSubrange(1..<3)
        list.insert(contentsOf: [8, 9], at: 1)
        list.replace(index: 0, object: 7)
        #expect(Array(list) == [7, 8, 9, 3, 4, 5] && Array(list[1..<3]) == [8, 9])
        list.removeFirst(2)
        list.removeLast(2)
        #expect(Array(list) == [9, 3] && list.lazy.filter { $0 > 5 }.count == 1)
    }

    @Test func `embedded objects cannot be shared, and sets refuse them`() async {
        let shared = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            try realm.write {
                let one = realm.create(Keeper.self, value: ["id": 1, "toy": ["name": "ball"]] as [String: Any])
                realm.create(Keeper.self, value: ["id": 2]).toy = one.toy
            }
        }
        check(shared, "Can't set link to existing managed embedded object")
        let listed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            try realm.write {
                let one = realm.create(Keeper.self, value: ["id": 1, "toy": ["name": "ball"]] as [String: Any])
                if let toy = one.toy { one.toys.append(toy) }
            }
        }
        check(listed, "existing managed embedded object")
        let created = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            try realm.write { _ = realm.dynamicCreate("Toy") }
        }
        check(created, "Embedded objects cannot be created directly")
    }

    @Test func `an object belongs to one realm, and to transactions`() async {
        let other = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (one, two) = (try memoryRealm(), try memoryRealm())
            let puppy = try one.write { one.create(Puppy.self) }
            try two.write { two.add(puppy) }
        }
        check(other, "Object is already managed by another Realm")
        let outside = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try memoryRealm().add(Puppy())
        }
        check(outside, "in a write transaction")
        let created = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().create(Puppy.self)
        }
        check(created, "in a write transaction")
        let deleted = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            let puppy = try realm.write { realm.create(Puppy.self) }
            realm.delete(puppy)
        }
        check(deleted, "in a write transaction")
        let key = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            try realm.write { realm.create(Keeper.self, value: ["id": 1]).id = 2 }
        }
        check(key, "Primary key can't be changed after an object is inserted")
    }

    @Test func `collections change in transactions only`() async {
        let list = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            try realm.write { realm.create(Keeper.self, value: ["id": 1]) }.nicknames.append("a")
        }
        check(list, "outside of a write transaction")
        let map = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm([Crate.self, Slip.self])
            try realm.write { realm.create(Crate.self, value: ["id": 1]) }.scores["a"] = 1
        }
        check(map, "outside of a write transaction")
        let plain = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = List<Int>()[2]
        }
        check(plain, "Index 2 is out of bounds (must be less than 0)")
    }

    @Test func `what a deleted object held is not copied as nothing`() async {
        let list = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (realm, gone, kept) = try EditRuleTests.crates()
            let slips = gone.values
            try realm.write { realm.delete(gone) }
            try realm.write { kept.values = slips }
        }
        check(list, "List is no longer valid")
        let set = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (realm, gone, kept) = try EditRuleTests.crates()
            let tags = gone.tags
            try realm.write { realm.delete(gone) }
            try realm.write { kept.tags = tags }
        }
        check(set, "is no longer valid")
        let map = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (realm, gone, kept) = try EditRuleTests.crates()
            let scores = gone.scores
            try realm.write { realm.delete(gone) }
            try realm.write { kept.scores = scores }
        }
        check(map, "is no longer valid")
        let value = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (realm, gone, kept) = try EditRuleTests.crates()
            let value = gone.value
            try realm.write { realm.delete(gone) }
            try realm.write { kept.value = value }
        }
        check(value, "is no longer valid")
        let updated = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (realm, gone, _) = try EditRuleTests.crates()
            let tags = gone.tags
            try realm.write { realm.delete(gone) }
            try realm.write {
                realm.create(Crate.self, value: ["id": 2, "tags": tags] as [String: Any], update: .modified)
            }
        }
        check(updated, "is no longer valid")
    }

    @Test func `what a deleted object held is not put as nothing into a value of any kind`() async {
        let updated = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (realm, gone, _) = try EditRuleTests.crates()
            let slips = gone.values
            try realm.write { realm.delete(gone) }
            try realm.write {
                realm.create(Crate.self, value: ["id": 2, "value": slips] as [String: Any], update: .modified)
            }
        }
        check(updated, "is no longer valid")
        let created = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (realm, gone, _) = try EditRuleTests.crates()
            let tags = gone.tags
            try realm.write { realm.delete(gone) }
            try realm.write {
                realm.create(Crate.self, value: ["id": 3, "value": tags] as [String: Any])
            }
        }
        check(created, "is no longer valid")
        let named = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (realm, gone, kept) = try EditRuleTests.crates()
            let scores = gone.scores
            try realm.write { realm.delete(gone) }
            try realm.write { kept.setValue(scores, forKey: "value") }
        }
        check(named, "is no longer valid")
    }

    @Test func `what a deleted object held is not copied as nothing by the name of a property of another type`() async {
        let list = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (realm, gone, kept) = try EditRuleTests.crates()
            let tags = gone.tags
            try realm.write { realm.delete(gone) }
            try realm.write { kept.setValue(tags, forKey: "values") }
        }
        check(list, "is no longer valid")
        let set = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (realm, gone, kept) = try EditRuleTests.crates()
            let tags = AnyRealmCollection(gone.tags)
            try realm.write { realm.delete(gone) }
            try realm.write { kept["tags"] = tags }
        }
        check(set, "is no longer valid")
        let map = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (realm, gone, kept) = try EditRuleTests.crates()
            try realm.write { kept.mixed["a"] = 1 }
            let scores = gone.scores
            try realm.write { realm.delete(gone) }
            try realm.write { kept.setValue(scores, forKey: "mixed") }
        }
        check(map, "is no longer valid")
    }

    @Test func `projected values and links of a deleted object are not copied as nothing`() async {
        let projected = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            let gone = try realm.write {
                realm.create(Keeper.self, value: ["id": 2, "nicknames": ["kept"]] as [String: Any])
                return realm.create(Keeper.self, value: ["id": 1, "puppies": [["name": "Rex"]]] as [String: Any])
            }
            let names = gone.puppies.projectTo.name
            try realm.write { realm.delete(gone) }
            try realm.write {
                realm.create(Keeper.self, value: ["id": 2, "nicknames": names] as [String: Any], update: .modified)
            }
        }
        check(projected, "is no longer valid")
        let links = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (realm, gone, kept) = try EditRuleTests.crates()
            let links = gone.friendOf
            try realm.write {
                kept.friends.insert(kept)
                realm.delete(gone)
            }
            try realm.write { kept.setValue(links, forKey: "friends") }
        }
        check(links, "is no longer valid")
    }

    @Test func `what joins and numbers lists of a deleted object is not copied as nothing`() async {
        let joined = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            let gone = try realm.write {
                realm.create(Keeper.self, value: ["id": 2, "nicknames": ["kept"]] as [String: Any])
                return realm.create(Keeper.self, value: ["id": 1, "nicknames": ["a"]] as [String: Any])
            }
            let names: FlattenSequence<[List<String>]> = [gone.nicknames].joined()
            try realm.write { realm.delete(gone) }
            try realm.write {
                realm.create(Keeper.self, value: ["id": 2, "nicknames": names] as [String: Any], update: .modified)
            }
        }
        check(joined, "is no longer valid")
        let numbered = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            let gone = try realm.write {
                realm.create(Keeper.self, value: ["id": 2, "nicknames": ["kept"]] as [String: Any])
                return realm.create(Keeper.self, value: ["id": 1, "nicknames": ["a"]] as [String: Any])
            }
            let names: LazyMapSequence<EnumeratedSequence<List<String>>, String> =
                gone.nicknames.enumerated().lazy.map { $0.element }
            try realm.write { realm.delete(gone) }
            try realm.write {
                realm.create(Keeper.self, value: ["id": 2, "nicknames": names] as [String: Any], update: .modified)
            }
        }
        check(numbered, "is no longer valid")
        // Views above it that end where it does.
        let filtered = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            let gone = try realm.write {
                realm.create(Keeper.self, value: ["id": 2, "nicknames": ["kept"]] as [String: Any])
                return realm.create(Keeper.self, value: ["id": 1, "nicknames": ["a"]] as [String: Any])
            }
            let names: FlattenSequence<[List<String>]> = [gone.nicknames].joined()
            let views: [Any] = [names.lazy.filter { $0 != "z" }.enumerated().lazy.map { $0.element }]
            try realm.write { realm.delete(gone) }
            try realm.write {
                realm.create(Keeper.self, value: ["id": 2, "nicknames": views[0]] as [String: Any], update: .modified)
            }
        }
        check(filtered, "is no longer valid")
        let turned = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            let gone = try realm.write {
                realm.create(Keeper.self, value: ["id": 2, "nicknames": ["kept"]] as [String: Any])
                return realm.create(Keeper.self, value: ["id": 1, "nicknames": ["a"]] as [String: Any])
            }
            let names: FlattenSequence<[List<String>]> = [gone.nicknames].joined()
            let views: [Any] = [AnyCollection(names.reversed())]
            try realm.write { realm.delete(gone) }
            try realm.write {
                realm.create(Keeper.self, value: ["id": 2, "nicknames": views[0]] as [String: Any], update: .modified)
            }
        }
        check(turned, "is no longer valid")
    }

    @Test func `what a query selects from a deleted object is copied as nothing`() throws {
        let (realm, gone, kept) = try Self.crates()
        let tags = gone.tags.sorted(ascending: true)
        try realm.write { realm.delete(gone) }
        try realm.write { kept.setValue(tags, forKey: "tags") }
        #expect(kept.tags.isEmpty && Array(kept.values) == [2])
    }

    @Test func `a value that belonged to a deleted object is not detached as nothing`() async {
        let list = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (realm, gone, _) = try EditRuleTests.crates()
            let crate = Crate(id: 3)
            crate.value = gone.value
            try realm.write { realm.delete(gone) }
            _ = crate.detached()
        }
        check(list, "is no longer valid")
        let dictionary = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (realm, gone, _) = try EditRuleTests.crates()
            try realm.write { gone.setValue(["a": 1], forKey: "value") }
            let crate = Crate(id: 3)
            crate.values.append(gone.value)
            try realm.write { realm.delete(gone) }
            _ = crate.detached()
        }
        check(dictionary, "is no longer valid")
    }

    /// Two objects that hold something in each collection.
    private static func crates() throws -> (realm: Realm, gone: Crate, kept: Crate) {
        let realm = try memoryRealm(crateTypes)
        func make(_ id: Int) -> Crate {
            let values: [String: Any] = [
                "id": id, "values": [id], "tags": ["\(id)"], "scores": ["a": id],
                "value": AnyRealmValue.fromArray([.int(id)]),
            ]
            return realm.create(Crate.self, value: values)
        }
        let (gone, kept) = try realm.write { (make(1), make(2)) }
        return (realm, gone, kept)
    }

    @Test func `a primary key that is looked for has the key's type, and a property its name`() async {
        let type = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().object(ofType: Keeper.self, forPrimaryKey: "one")
        }
        check(type, "Invalid value 'one' of type 'String' for 'int' property 'Keeper.id'")
        let name = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Keeper()["shoeSize"]
        }
        check(name, "property 'shoeSize' not found in object of type 'Keeper'")
        let frozen = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Keeper(id: 1).freeze()
        }
        check(frozen, "cannot be frozen")
    }
}
