import ActorRealm
import Foundation
import Testing

/// What queries take beyond what most programs ask of them.
@Suite struct WiderQueryTests {
    @Test func `values are looked for in lists of any length`() throws {
        let realm = try memoryRealm()
        try realm.write { for age in [3, 40_000, 70_000] { realm.create(Puppy.self, value: ["age": age]) } }
        let puppies = realm.objects(Puppy.self)
        let ages = Array(0..<50_000)
        #expect(puppies.where { $0.age.in(ages) }.map(\.age) == [3, 40_000])
        #expect(puppies.filter("age IN %@", ages).map(\.age) == [3, 40_000])
        #expect(puppies.filter("NOT age IN %@", ages).map(\.age) == [70_000])
        let names = ages.map { "\($0)" }
        #expect(try puppies.filter(RealmPredicate(parsing: "name IN %@", names)).isEmpty)
        // Text from outside keeps its bound.
        let text = "age IN {\(ages.map(String.init).joined(separator: ","))}"
        #expect(throws: Realm.Error.self) { try RealmPredicate(parsing: text) }
    }

    @Test func `names and values of a map are compared with ANY and without`() throws {
        let realm = try memoryRealm([Crate.self, Slip.self])
        try realm.write {
            realm.create(Crate.self, value: ["id": 1, "scores": ["a": 1, "b": 5]] as [String: Any])
            realm.create(Crate.self, value: ["id": 2, "scores": ["c": 3]] as [String: Any])
            realm.create(Crate.self, value: ["id": 3])
        }
        func ids(_ format: String) -> [Int] { realm.objects(Crate.self).filter(format).map(\.id) }
        for any in ["", "ANY "] {
            #expect(ids("\(any)scores.@allKeys == 'b'") == [1])
            #expect(ids("\(any)scores.@allKeys BEGINSWITH[c] 'C'") == [2])
            #expect(ids("\(any)scores.@allKeys IN {'a', 'c'}") == [1, 2])
            #expect(ids("\(any)scores.@allValues > 2") == [1, 2])
            #expect(ids("NOT \(any)scores.@allValues > 2") == [3])
        }
        #expect(ids("NONE scores.@allKeys == 'b'") == [2, 3] && ids("ALL scores.@allValues > 2") == [2, 3])
    }

    @Test func `a name or value of a map contains a text with ANY and without`() throws {
        let realm = try memoryRealm([Crate.self, Slip.self])
        try realm.write {
            realm.create(
                Crate.self,
                value: ["id": 1, "name": "b", "scores": ["a": 1, "b": 5], "notes": ["n": "alpha"]] as [String: Any]
            )
            realm.create(
                Crate.self,
                value: ["id": 2, "name": "bc", "scores": ["abc": 3], "mixed": ["m": "Alpha"]] as [String: Any]
            )
            realm.create(Crate.self, value: ["id": 3])
        }
        func ids(_ format: String) throws -> [Int] {
            try realm.objects(Crate.self).filter(RealmPredicate(parsing: format)).map(\.id)
        }
        for any in ["", "ANY "] {
            #expect(try ids("\(any)scores.@allKeys CONTAINS 'b'") == [1, 2])
            #expect(try ids("\(any)scores.@allKeys CONTAINS[c] 'BC'") == [2])
            #expect(try ids("\(any)scores.@allKeys CONTAINS name") == [1, 2])
            #expect(try ids("\(any)scores.@allKeys == name") == [1])
            #expect(try ids("\(any)scores.@allValues == id") == [1])
            #expect(try ids("\(any)notes.@allValues CONTAINS 'lph'") == [1])
            #expect(try ids("\(any)mixed.@allValues CONTAINS 'lph'") == [2])
        }
        // The collection itself is asked whether the whole value is in it.
        #expect(try ids("scores CONTAINS 3") == [2] && ids("scores CONTAINS id") == [1])
        #expect(try ids("notes CONTAINS 'alpha'") == [1] && ids("notes CONTAINS 'lph'").isEmpty)
    }

    @Test func `a collection behind the values of a map is asked for its elements`() throws {
        let realm = try memoryRealm([Crate.self, Slip.self])
        try realm.write {
            let other = realm.create(Crate.self, value: ["id": 2, "tags": ["alpha"], "numbers": [3]] as [String: Any])
            realm.create(Crate.self, value: ["id": 1, "peers": ["a": other], "scores": ["x": 3]] as [String: Any])
        }
        func ids(_ format: String) throws -> [Int] {
            try realm.objects(Crate.self).filter(RealmPredicate(parsing: format)).map(\.id)
        }
        #expect(try ids("peers.@allValues.tags CONTAINS 'lph'").isEmpty)
        #expect(try ids("peers.@allValues.tags CONTAINS 'alpha'") == [1])
        #expect(try ids("peers.@allValues.tags CONTAINS[c] 'LPH'").isEmpty)
        #expect(try ids("peers.@allValues.tags CONTAINS[c] 'ALPHA'") == [1])
        #expect(try ids("peers.@allValues.numbers CONTAINS 3") == [1])
        #expect(try ids("scores.@allValues CONTAINS 3") == [1] && ids("scores.@allValues CONTAINS 1").isEmpty)
    }

    @Test func `the values of a map that may be nil are all in a range`() throws {
        let realm = try memoryRealm([Ranges.self])
        try realm.write {
            realm.create(Ranges.self, value: ["id": 1, "marks": ["a": 1, "b": nil, "c": 3] as [String: Int?]])
            realm.create(Ranges.self, value: ["id": 2, "marks": ["a": 4] as [String: Int?]])
            realm.create(Ranges.self, value: ["id": 3, "marks": ["a": nil] as [String: Int?]])
        }
        let all = realm.objects(Ranges.self)
        #expect(all.where { $0.marks.contains(1...3) }.map(\.id) == [1])
        #expect(all.where { $0.marks.contains(1..<3) }.isEmpty)
        #expect(all.where { $0.marks.contains(0..<10) }.map(\.id) == [1, 2])
    }
}

class Ranges: Object {
    @Persisted var id = 0
    @Persisted var marks: Map<String, Int?>
}
