import ActorRealm
import Foundation

extension Names {
    /// Section 2.4: lists and sets.
    mutating func lists() {
        var dogs: List<Dog> { value() }
        var lucky: List<Int> { value() }
        var tags: MutableSet<String> { value() }
        var pack: MutableSet<Dog> { value() }
        var dog: Dog { value() }
        group(
            "List.init()",
            "append(_:)",
            "append(objectsIn:)",
            "insert(_:at:)",
            "insert(contentsOf:at:)",
            "remove(at:)",
            "removeAll()",
            "removeFirst()",
            "removeFirst(_:)",
            "removeLast()",
            "removeLast(_:)",
            "removeSubrange(_:)",
            "remove(atOffsets:)",
            "replace(index:object:)",
            "replaceSubrange(_:with:)",
            "move(from:to:)",
            "move(fromOffsets:toOffset:)",
            "swapAt(_:_:)",
            "List.subscript(Int)",
            "List.subscript(Range)"
        ) {
            let list = List<Int>()
            list.append(1)
            list.append(objectsIn: [2, 3])
            list.append(objectsIn: lucky)
            list.insert(0, at: 0)
            list.insert(contentsOf: [4, 5], at: 1)
            list.remove(at: 0)
            list.removeFirst()
            list.removeFirst(2)
            list.removeLast()
            list.removeLast(1)
            list.removeSubrange(0..<1)
            list.removeSubrange(0...1)
            list.remove(atOffsets: IndexSet(integer: 0))
            list.replace(index: 0, object: 7)
            list.replaceSubrange(0..<1, with: [8, 9])
            list.move(from: 0, to: 1)
            list.move(fromOffsets: IndexSet(integer: 0), toOffset: 2)
            list.swapAt(0, 1)
            list[0] = list[1]
            _ = list[0..<1]
            list.removeAll()
            dogs.append(dog)
            dogs[0] = dog
        }
        group(
            "MutableSet.init()",
            "MutableSet.insert(_:)",
            "insert(objectsIn:)",
            "remove(_:)",
            "MutableSet.removeAll()",
            "contains(_:)",
            "isSubset(of:)",
            "intersects(_:)",
            "formIntersection(_:)",
            "formUnion(_:)",
            "subtract(_:)"
        ) {
            let set = MutableSet<String>()
            set.insert("a")
            set.insert(objectsIn: ["b"])
            set.insert(objectsIn: tags)
            set.remove("a")
            expect([Bool].self, [set.contains("b"), set.isSubset(of: tags), set.intersects(tags), pack.contains(dog)])
            set.formIntersection(tags)
            set.formUnion(tags)
            set.subtract(tags)
            set.removeAll()
        }
        group(
            "MutableCollection",
            "RandomAccessCollection",
            "LazyCollectionProtocol",
            "List: Codable",
            "MutableSet: Codable"
        ) {
            func collection<C: MutableCollection & RandomAccessCollection>(_: C) where C.Index == Int {}
            collection(lucky)
            func lazy<C: LazyCollectionProtocol>(_: C) {}
            lazy(lucky)
            _ = try JSONDecoder().decode(List<Int>.self, from: JSONEncoder().encode(lucky))
            _ = try JSONDecoder().decode(MutableSet<String>.self, from: JSONEncoder().encode(tags))
            expect([Int].self, Array(lucky))
            expect([Int].self, lucky.map { $0 + 1 })
            expect([Dog].self, dogs.filter { $0.age > 1 })
            expect(Dog?.self, dogs.first { $0.age > 1 })
        }
    }

    /// Section 2.4: maps.
    mutating func maps() {
        var scores: Map<String, Int> { value() }
        var named: Map<String, Dog?> { value() }
        var dog: Dog { value() }
        group(
            "Map.init()",
            "Map.subscript(_:)",
            "updateValue(_:forKey:)",
            "merge(_:uniquingKeysWith:)",
            "removeObject(for:)",
            "Map.removeAll()",
            "Map.keys",
            "Map.values",
            "contains(where:)",
            "Map.count",
            "asKeyValueSequence()",
            "object(forKey:)",
            "Map.value(forKey:)",
            "Map.value(forKeyPath:)",
            "Map.setValue(_:forKey:)",
            "Map: Codable"
        ) {
            let map = Map<String, Int>()
            map["a"] = 1
            map["a"] = nil
            expect(Int?.self, map["a"])
            expect(Dog??.self, named["a"])
            expect(String?.self, named["a"]??.name)
            named["a"] = dog
            map.updateValue(2, forKey: "b")
            map.merge(["c": 3], uniquingKeysWith: { $0 + $1 })
            map.merge(scores) { old, _ in old }
            map.merge([("d", 4)].map { (key: $0.0, value: $0.1) }) { _, new in new }
            map.removeObject(for: "a")
            expect([String].self, map.keys)
            expect([Int].self, map.values)
            expect(Bool.self, map.contains { key, value in key == "a" && value == 1 })
            expect(Bool.self, map.contains(where: { $0 == "a" && $1 == 1 }))
            expect(Int.self, map.count)
            for (key, value) in map.asKeyValueSequence() { print(key as String, value as Int) }
            for entry in map { print(entry.key as String, entry.value as Int) }
            print(map.object(forKey: "a") as Any, map.value(forKey: "a") as Any)
            expect(Any?.self, map.value(forKeyPath: "@sum.self"))
            map.setValue(5, forKey: "e")
            map.removeAll()
            _ = try JSONDecoder().decode(Map<String, Int>.self, from: JSONEncoder().encode(scores))
        }
        group(
            "Map.filter(_:)",
            "Map.where(_:)",
            "Map.sorted(ascending:)",
            "Map.sorted(byKeyPath:ascending:)",
            "Map.sorted(by:)",
            "Map.sorted(by: KeyPath, ascending:)",
            "Map.min(of:)",
            "Map.max(of:)",
            "Map.sum(of:)",
            "Map.average(of:)",
            "Map.min()",
            "Map.max()",
            "Map.sum()",
            "Map.average()",
            "Map.min(ofProperty:)",
            "Map.max(ofProperty:)",
            "Map.sum(ofProperty:)",
            "Map.average(ofProperty:)",
            "Map.distinct()",
            "RealmKeyedCollection",
            "_MapKey"
        ) {
            expect(Results<Dog?>.self, named.where { $0.age > 1 })
            expect(Results<Dog?>.self, named.filter("age > %@", 1))
            expect(Results<Int>.self, scores.sorted())
            expect(Results<Int>.self, scores.sorted(ascending: false))
            _ = named.sorted(byKeyPath: "age", ascending: true)
            _ = named.sorted(by: [SortDescriptor(keyPath: "age")])
            expect([Int?].self, [scores.min(), scores.max(), scores.sum()])
            expect(Double?.self, scores.average())
            expect(
                [Int?].self,
                [named.min(ofProperty: "age"), named.max(ofProperty: "age"), named.sum(ofProperty: "age")]
            )
            expect(Double?.self, named.average(ofProperty: "age"))
            expect(Results<Dog?>.self, named.sorted(by: \.age, ascending: true))
            expect([Int?].self, [named.min(of: \.age), named.max(of: \.age), named.sum(of: \.age)])
            expect(Double?.self, named.average(of: \.age))
            func largest<M: RealmKeyedCollection>(_ map: M) -> [M.Value] { map.values }
            _ = largest(scores)
            _ = scores.distinct()
            func keyed<M: RealmKeyedCollection>(_ map: M) where M.Key: _MapKey {}
            keyed(scores)
        }
    }

    /// Section 2.4: what all collections have.
    mutating func collections() {
        var realm: Realm { value() }
        var owner: Owner { value() }
        var dog: Dog { value() }
        group(
            "count",
            "isEmpty",
            "first",
            "last",
            "index(of:)",
            "index(matching: NSPredicate form)",
            "index(matching: Query)",
            "objects(at:)",
            "value(forKey:) of collections",
            "value(forKeyPath:) of collections",
            "setValue(_:forKey:) of collections",
            "RealmCollection.realm",
            "RealmCollection.isInvalidated",
            "RealmCollection.description",
            "subscript(position)",
            "startIndex",
            "endIndex",
            "index(after:)",
            "index(before:)",
            "makeIterator()"
        ) {
            func all<C: RealmCollection>(_ collection: C) where C.Element == Dog {
                expect(Int.self, collection.count)
                expect(Bool.self, collection.isEmpty)
                expect(Dog?.self, collection.first)
                expect(Dog?.self, collection.last)
                expect(Int?.self, collection.index(of: dog))
                expect(Int?.self, collection.index(matching: "name == %@", "Rex"))
                expect(Int?.self, collection.index(matching: { $0.name == "Rex" }))
                expect([Dog].self, collection.objects(at: IndexSet(integer: 0)))
                expect(Any?.self, collection.value(forKey: "name"))
                expect(Any?.self, collection.value(forKeyPath: "name"))
                collection.setValue("Rex", forKey: "name")
                expect(Realm?.self, collection.realm)
                expect(Bool.self, collection.isInvalidated)
                expect(String.self, collection.description)
                expect(Dog.self, collection[collection.startIndex])
                _ = collection.index(before: collection.endIndex)
                for dog in collection { print(dog.name) }
                var iterator = collection.makeIterator()
                expect(Dog?.self, iterator.next())
            }
            all(realm.objects(Dog.self))
            all(owner.dogs)
            all(AnyRealmCollection(owner.dogs))
            _ = owner.dogs.index(after: 0)
            _ = dog.owners.count + owner.pack.count
            func any<C: RealmCollection>(_ collection: C) -> [Any?] where C.Element: ObjectBase {
                [
                    collection.first, collection.last, collection.index(of: collection[0]),
                    collection.index(matching: "name == %@", "Rex"), collection.objects(at: IndexSet(integer: 0)),
                    collection.value(forKey: "name"), collection.value(forKeyPath: "@count"),
                ]
            }
            print(any(dog.owners), any(owner.pack), any(owner.dogs), any(AnyRealmCollection(dog.owners)))
        }
        group(
            "AnyRealmCollection.init(_:)",
            "RealmCollectionBase",
            "KeypathSortable",
            "Results: Encodable",
            "LinkingObjects: Encodable",
            "AnyRealmCollection: Encodable",
            "RealmCollectionValue"
        ) {
            let any: AnyRealmCollection<Dog> = AnyRealmCollection(realm.objects(Dog.self))
            func value<V: RealmCollectionValue>(_: V.Type) {}
            value(Dog.self)
            value(Int?.self)
            func base<C: RealmCollectionBase>(_: C) where C.Element: KeypathSortable {}
            base(any)
            let people: Results<Person> = realm.objects(Person.self)
            _ = try JSONEncoder().encode(people)
            func encoded<Person: Encodable>(_ people: LinkingObjects<Person>) throws -> Data {
                try JSONEncoder().encode(people)
            }
            _ = try JSONEncoder().encode(AnyRealmCollection(owner.weights))
            expect(((LinkingObjects<Person>) throws -> Data).self, encoded)
            print(any)
        }
    }
}
