import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite struct ResultsTests {
    private func filled(_ count: Int) throws -> Realm {
        let realm = try memoryRealm()
        try realm.write {
            for number in 0..<count {
                realm.create(
                    Puppy.self,
                    value: ["name": "p\(number % 7)", "age": number % 50, "weight": Double(number)]
                )
            }
        }
        return realm
    }

    @Test func `results come in the order of insertion`() throws {
        let realm = try filled(3000)
        let results = realm.objects(Puppy.self)
        #expect(results.count == 3000)
        #expect(results.map { $0.age } == (0..<3000).map { $0 % 50 })
        #expect(results[2999].weight == 2999 && results.first?.weight == 0 && results.last?.weight == 2999)
        #expect(results.index(of: results[1234]) == 1234)
        #expect(Array(results[10..<13]).map(\.weight) == [10, 11, 12])
    }

    @Test func `an accessor that somebody kept is not pointed elsewhere by the loop`() throws {
        let realm = try filled(100)
        var kept: [Puppy] = []
        weak var weakly: Puppy?
        var strongly: Puppy?
        for puppy in realm.objects(Puppy.self) {
            if puppy.weight == 30 {
                weakly = puppy
                strongly = puppy
            }
            if puppy.age % 10 == 0 { kept.append(puppy) }
        }
        #expect(kept.map(\.weight) == stride(from: 0.0, to: 100, by: 10).map { $0 })
        #expect(weakly?.weight == 30 && strongly?.weight == 30)
        var names: Set<ObjectIdentifier> = []
        for puppy in realm.objects(Puppy.self) { names.insert(ObjectIdentifier(puppy)) }
        #expect(names.count == 1, "the loop reuses the accessor that nobody keeps")
    }

    @Test func `the accessor that a loop reuses stands for the object that it shows`() throws {
        let all = try filled(100).objects(Puppy.self)
        var positions: [Int?] = []
        for puppy in all { positions.append(all.index(of: puppy)) }
        #expect(positions == Array(0..<100))
    }

    @Test func `results are live, in a write and after it`() throws {
        let realm = try filled(10)
        let all = realm.objects(Puppy.self)
        let old = all.where { $0.age >= 5 }
        #expect(old.count == 5)
        try realm.write {
            all[0].age = 8
            #expect(old.count == 6)
            realm.create(Puppy.self, value: ["age": 9])
            #expect(old.count == 7 && all.count == 11)
            realm.delete(old)
            #expect(old.isEmpty && all.count == 4)
        }
        #expect(old.isEmpty && all.map(\.age) == [1, 2, 3, 4])
    }

    @Test func `a loop survives the writes it makes`() throws {
        let realm = try filled(2500)
        try realm.write {
            var seen = 0
            for puppy in realm.objects(Puppy.self) {
                seen += 1
                if puppy.age % 2 == 0 { realm.delete(puppy) } else { realm.create(Puppy.self, value: ["age": 99]) }
            }
            #expect(seen == 2500)
        }
        #expect(realm.objects(Puppy.self).count == 2500)
        var count = 0
        for puppy in realm.objects(Puppy.self).where({ $0.age == 99 }) {
            count += 1
            try realm.write { puppy.age = 1 }
        }
        #expect(count == 1250 && realm.objects(Puppy.self).where { $0.age == 99 }.isEmpty)
    }

    @Test func `an iteration that began over nothing ends, whatever is added meanwhile`() throws {
        let realm = try memoryRealm([Tally.self])
        try realm.write { for count in 0..<5 { realm.create(Tally.self, value: ["name": "\(count)"]) } }
        // Rows are not numbered from zero again.
        try realm.write { realm.deleteAll() }
        var iterator = realm.objects(Tally.self).makeIterator()
        try realm.write { for count in 0..<3 { realm.create(Tally.self, value: ["name": "n \(count)"]) } }
        #expect(iterator.next() == nil && iterator.next() == nil)
        #expect(realm.objects(Tally.self).map(\.name) == ["n 0", "n 1", "n 2"])
    }

    @Test func `sorting and distinct agree with plain Swift`() throws {
        let realm = try filled(500)
        let plain = realm.objects(Puppy.self).map { ($0.name, $0.age, $0.weight!) }
        let sorted = realm.objects(Puppy.self)
            .sorted(by: [
                SortDescriptor(keyPath: "name", ascending: false), SortDescriptor(keyPath: \Puppy.age),
            ])
        let expected = Array(plain).enumerated()
            .sorted {
                if $0.element.0 != $1.element.0 { return $0.element.0 > $1.element.0 }
                if $0.element.1 != $1.element.1 { return $0.element.1 < $1.element.1 }
                return $0.offset < $1.offset
            }
            .map(\.element.2)
        #expect(sorted.map { $0.weight! } == expected)
        #expect(realm.objects(Puppy.self).distinct(by: ["name"]).map(\.name) == (0..<7).map { "p\($0)" })
        #expect(realm.objects(Puppy.self).distinct(by: [\Puppy.age]).count == 50)
        #expect(sorted.where { $0.age < 3 }.count == 30)
    }

    @Test func `the first element that matches is looked for among the distinct ones`() throws {
        let realm = try memoryRealm()
        try realm.write {
            for (name, age) in [("A", 1), ("A", 2), ("B", 2)] {
                realm.create(Puppy.self, value: ["name": name, "age": age])
            }
        }
        let puppies = realm.objects(Puppy.self)
        let distinct = puppies.distinct(by: ["name"])
        #expect(distinct.index(matching: "age == 2") == 1)
        #expect(distinct.index(matching: { $0.age == 2 }) == 1)
        #expect(distinct.index(matching: "age == %@", 1) == 0 && distinct.index(matching: "age == 3") == nil)
        #expect(distinct.limit(1).index(matching: "age == 2") == nil)
        let oldest = puppies.sorted(byKeyPath: "age", ascending: false).distinct(by: ["name"])
        #expect(oldest.index(matching: "name == 'B'") == 1 && oldest.index(matching: { $0.age == 1 }) == nil)
    }

    @Test func `no property to sort or to tell apart by leaves a collection as it is`() throws {
        let realm = try filled(20)
        let all = realm.objects(Puppy.self)
        let nothing: [String] = []
        let order = nothing.map { SortDescriptor(keyPath: $0, ascending: true) }
        #expect(all.distinct(by: nothing).count == 20 && all.sorted(by: order).map(\.age) == Array(0..<20))
        let keeper = try realm.write { realm.create(Keeper.self, value: ["id": 1, "nicknames": ["b", "a", "b"]]) }
        #expect(Array(keeper.nicknames.sorted(by: order)) == ["b", "a", "b"])
        #expect(Array(keeper.nicknames.distinct(by: nothing)) == ["b", "a", "b"])
    }

    @Test func `texts that would join to the same bytes are distinct`() throws {
        let realm = try memoryRealm()
        try realm.write {
            for (string, other) in [("a\u{1}b", nil), ("a", "b\u{0}"), ("a", "b\u{0}")] as [(String, String?)] {
                let object = AllTypes()
                object.string = string
                object.optString = other
                realm.add(object)
            }
        }
        let distinct = realm.objects(AllTypes.self).distinct(by: ["string", "optString"])
        #expect(distinct.map(\.string) == ["a\u{1}b", "a"])
    }

    @Test func `aggregates agree with plain Swift`() throws {
        let realm = try filled(333)
        let all = realm.objects(Puppy.self)
        let ages = (0..<333).map { $0 % 50 }
        #expect(all.sum(of: \.age) == ages.reduce(0, +))
        #expect(all.min(of: \.age) == 0 && all.max(of: \.age) == 49)
        let mean: Double? = all.average(ofProperty: "age")
        #expect(mean == Double(ages.reduce(0, +)) / 333)
        #expect(all.max(of: \.weight) == 332)
        #expect(
            all.where { $0.age > 40 }.sum(of: \.weight)
                == (0..<333).filter { $0 % 50 > 40 }.map(Double.init).reduce(0, +)
        )
        let none = all.where { $0.age > 1000 }
        #expect(none.sum(of: \.age) == 0 && none.min(of: \.age) == nil)
    }
}
