import ActorRealm
import Foundation
import Testing

/// What RealmSwift's reference says of collections, and no other test shows.
@Suite("Collections do what RealmSwift's reference says of them", .timeLimit(.minutes(60)))
struct CollectionSemanticsTests {
    let file = PortingFile()

    private static func fleet() -> List<Ship> {
        let ships = List<Ship>()
        ships.append(objectsIn: [Ship(name: "c", tonnage: 3), Ship(name: "a", tonnage: 1), Ship(name: "b", tonnage: 2)])
        return ships
    }

    @Test("aggregates over a property of unmanaged objects")
    func unmanagedAggregates() {
        let ships = Self.fleet()
        #expect(ships.sum(of: \.tonnage) == 6)
        #expect(ships.max(of: \.tonnage) == 3)
        #expect(ships.min(ofProperty: "tonnage") as Int? == 1)
        #expect(ships.average(ofProperty: "tonnage") as Double? == 2)
        #expect(List<Ship>().sum(of: \.tonnage) == 0)
        #expect(List<Ship>().min(of: \.tonnage) == nil)
        let map = Map<String, Ship?>()
        map["one"] = Ship(name: "one", tonnage: 4)
        map["none"] = .some(nil)
        #expect(map.sum(of: \.tonnage) == 4)
    }

    @Test("values by name of unmanaged and managed objects")
    func valuesByName() throws {
        let ships = Self.fleet()
        #expect(ships.value(forKey: "name") as? [String] == ["c", "a", "b"])
        ships.setValue("x", forKey: "name")
        #expect(ships.allSatisfy { $0.name == "x" })
        try file.inWrite { realm in
            realm.add(Self.fleet())
            let all = realm.objects(Ship.self)
            #expect(all.value(forKey: "tonnage") as? [Int] == [3, 1, 2])
            all.setValue(7, forKey: "tonnage")
            #expect(all.value(forKeyPath: "@sum.tonnage") as? Double == 21)
            #expect(all.value(forKeyPath: "@count") as? Int == 3)
            #expect(all.objects(at: [0, 2]).map(\.name) == ["c", "b"])
        }
    }

    @Test("a loop over a managed collection goes over what it held when it began")
    func loops() throws {
        try file.inWrite { realm in
            let harbour = Harbour(id: 1)
            harbour.ships = Self.fleet()
            harbour.numbers.append(objectsIn: 0..<4)
            realm.add(harbour)
            var seen: [String] = []
            for ship in harbour.ships {
                seen.append(ship.name)
                realm.delete(ship)
            }
            #expect(seen == ["c", "a", "b"] && harbour.ships.isEmpty)
            for number in harbour.numbers { harbour.numbers.append(number + 10) }
            #expect(Array(harbour.numbers) == [0, 1, 2, 3, 10, 11, 12, 13])
            for ship in realm.objects(Ship.self) { ship.name = "" }
        }
    }

    @Test("assigning a collection copies what it holds, and assigning it to itself keeps it")
    func assignment() throws {
        try file.inWrite { realm in
            let (one, two) = (Harbour(id: 1), Harbour(id: 2))
            one.numbers.append(objectsIn: [1, 2])
            one.flags.insert("blue")
            one.berths["a"] = 1
            realm.add([one, two])
            two.numbers = one.numbers
            two.flags = one.flags
            two.berths = one.berths
            one.numbers = one.numbers
            one.flags = one.flags
            one.berths = one.berths
            one.numbers.append(3)
            #expect(Array(one.numbers) == [1, 2, 3] && Array(two.numbers) == [1, 2])
            #expect(Array(one.flags) == ["blue"] && Array(two.flags) == ["blue"])
            #expect(one.berths["a"] == 1 && two.berths["a"] == 1)
        }
    }

    @Test("maps of objects hold null where an object was deleted or null was set, and lose a name that is set to nil")
    func maps() throws {
        try file.inWrite { realm in
            let harbour = Harbour(id: 1)
            harbour.marks["a"] = Position(1, 1)
            harbour.marks["b"] = .some(nil)
            realm.add(harbour)
            #expect(harbour.marks.keys == ["a", "b"])
            #expect(harbour.marks["b"] == .some(nil))
            harbour.marks["b"] = nil
            #expect(harbour.marks.keys == ["a"])
            #expect(harbour.marks["a"]??.latitude == 1)
            harbour.berths.merge(["x": 1, "y": 2]) { $0 + $1 }
            harbour.berths.merge(["y": 5]) { $0 + $1 }
            #expect(harbour.berths["y"] == 7)
            #expect(harbour.berths.contains { $0 == "x" && $1 == 1 })
            #expect(harbour.berths.sum() == 8 && harbour.berths.max() == 7)
            #expect(harbour.berths.map { $0.key } == ["x", "y"])
            for (name, value) in harbour.berths.asKeyValueSequence() { #expect(harbour.berths[name] == value) }
            harbour.berths[""] = 4
            #expect(harbour.berths[""] == 4)
            harbour.berths.removeObject(for: "")
            harbour.berths.removeAll()
            #expect(harbour.berths.isEmpty)
        }
    }

    @Test("sets")
    func sets() throws {
        try file.inWrite { realm in
            let (one, two) = (Harbour(id: 1), Harbour(id: 2))
            realm.add([one, two])
            one.flags.insert(objectsIn: ["a", "b", "c"])
            two.flags.insert(objectsIn: ["b", "c", "d"])
            #expect(one.flags.intersects(two.flags) && !one.flags.isSubset(of: two.flags))
            one.flags.formIntersection(two.flags)
            #expect(Set(one.flags) == ["b", "c"] && one.flags.isSubset(of: two.flags))
            one.flags.formUnion(two.flags)
            one.flags.subtract(one.flags)
            #expect(one.flags.isEmpty)
            one.flags.formUnion(one.flags)
            two.flags.formIntersection(two.flags)
            #expect(two.flags.count == 3)
        }
    }

    @Test("the collections of an object that was deleted are invalidated, results are empty")
    func deletedOwners() throws {
        try file.inWrite { realm in
            let harbour = Harbour(id: 1)
            harbour.ships = Self.fleet()
            realm.add(harbour)
            let (ships, flags, berths) = (harbour.ships, harbour.flags, harbour.berths)
            let found = harbour.ships.where { $0.tonnage > 1 }
            let all = realm.objects(Harbour.self)
            realm.delete(harbour)
            #expect(harbour.isInvalidated && ships.isInvalidated && flags.isInvalidated && berths.isInvalidated)
            #expect(!all.isInvalidated && all.isEmpty)
            #expect(found.isEmpty && ships.count == 0 && berths.count == 0)
            #expect(realm.objects(Ship.self).count == 3)
            realm.delete(realm.objects(Ship.self))
            #expect(realm.objects(Ship.self).isEmpty && realm.isEmpty)
        }
    }

    @Test("AnyRealmCollection of sets and lists, managed or not, is what it wraps")
    func anyCollections() throws {
        let numbers = MutableSet<Int>()
        numbers.insert(objectsIn: [1, 2])
        #expect(AnyRealmCollection(numbers) == AnyRealmCollection(numbers))
        let list = List<Int>()
        list.append(1)
        #expect(AnyRealmCollection(list) == AnyRealmCollection(list))
        #expect(AnyRealmCollection(list) != AnyRealmCollection(numbers))
    }
}
