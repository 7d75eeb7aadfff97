import ActorRealm
import Foundation
import Testing

/// Whatever is wrong with a predicate from outside, its error says where.
@Suite struct PredicatePositionTests {
    /// Predicates about crates that do not fit, the position that is told, and a part of the sentence.
    static let refused: [(text: String, position: Int, sentence: String)] = [
        ("nothing == 1", 0, "Property 'nothing' not found in object of type 'Crate'"),
        ("id == 1 AND nothing == 2", 12, "Property 'nothing' not found"),
        ("id == 1 OR (NOT name > 3 AND id == 2)", 16, "Cannot compare value '3' of type 'int' to property 'name'"),
        ("3 == nothing", 0, "Property 'nothing' not found"),
        ("TRUEPREDICATE OR id == 'x'", 17, "Cannot compare value"),
        ("id == 1 AND 1 == 1", 12, "must compare a keypath and another keypath or a constant value"),
        ("friends.id == 1", 0, "must use aggregate operations"),
        ("friends.name CONTAINS 'a'", 0, "must use aggregate operations"),
        ("id == 1 || friends.name CONTAINS name", 11, "must use aggregate operations"),
        ("value[#any] CONTAINS 'a'", 0, "must use aggregate operations"),
        ("id == 1 || value IN[c] {'a', 1}", 11, "Cannot compare value '1' of type 'int'"),
        ("ANY friends.nothing == 1", 0, "Property 'nothing' not found"),
        ("id == 1 && ANY friends.id == friends.id", 11, "Comparing two collection columns is not permitted"),
        ("id == 1 || id == name", 11, "Property type mismatch"),
        ("id == 1 || name BETWEEN {1}", 11, "exactly two objects for BETWEEN"),
        ("id == 1 || id IN 3", 11, "IN clause requires an array of items"),
        ("id == 1 || name >[c] 'a'", 11, "Lexicographical comparisons must be case-sensitive"),
        ("id == 1 || name LIKE[d] 'a'", 11, "not supported with diacritic-insensitive modifier"),
        ("id == 1 || id BEGINSWITH 'a'", 11, "Operator 'BEGINSWITH' not supported for type 'int'"),
        ("id == 1 || friends.@foo == 1", 11, "Unsupported collection operation '@foo'"),
        ("id == 1 || friends.@sum.name > 1", 11, "must be followed by a numeric property"),
        ("id == 1 || id.@count > 1", 11, "Invalid keypath 'id.@count'"),
        ("id == 1 || name.x > 1", 11, "is not a link or collection"),
        ("id == 1 || name['a'] == 1", 11, "only dictionaries and realm `Any` support subscript predicates"),
        ("id == 1 || friends['a'].id == 1", 11, "only dictionaries and realm `Any` support subscript predicates"),
        ("id == 1 || scores['a'].x == 1", 11, "can only appear at the end of a keypath"),
        (
            "id == 1 || scores['a'].@max == 1", 11,
            "@max must follow a collection property; the entry of a map is one value"
        ),
        ("id == 1 || scores['a']['b'] == 1", 11, "only dictionaries and realm `Any` support subscript predicates"),
        ("id == 1 || scores.@max['a'] == 1", 11, "Invalid keypath 'scores.@max['a']': at most one collection"),
        ("id == 1 || scores.@allKeys == 3", 11, "Cannot compare value '3'"),
        ("id == 1 || scores.@allKeys.x == 'a'", 11, "Invalid keypath 'scores.@allKeys.x'"),
        ("id == 1 || scores.@allKeys.@count == 1", 11, "Invalid keypath 'scores.@allKeys.@count'"),
        ("id == 1 || tags.@allKeys == 'a'", 11, "@allKeys must follow a dictionary property"),
        ("id == 1 || name.@allValues == 'a'", 11, "Invalid keypath 'name.@allValues'"),
        (
            "SUBQUERY(friends, $f, $f.id > 1 AND $f.nothing == 1).@count > 0", 36,
            "Property 'nothing' not found in object of type 'Crate'"
        ),
        ("id == 1 OR SUBQUERY(tags, $t, $t == 'a').@count > 0", 11, "Subqueries must contain a keypath"),
        ("id == 1 OR SUBQUERY(scores, $t, $t == 1).@count > 0", 11, "'scores' is no collection of objects"),
        ("SUBQUERY(peers['a'], $p, $p.id == 1).@count > 0", 0, "Subqueries do not support map subscripts"),
        ("SUBQUERY(peers.@allKeys, $p, $p.id == 1).@count > 0", 0, "Subqueries do not support the keys of a map"),
        ("SUBQUERY(value[0], $p, $p.id == 1).@count > 0", 0, "Subqueries do not support AnyRealmValue subscripts"),
        ("SUBQUERY(value[#any], $p, $p.id == 1).@count > 0", 0, "Subqueries do not support AnyRealmValue subscripts"),
        ("SUBQUERY(friends, $f, $f.id > 1).@count > 'a'", 0, "can only be compared with a number"),
        ("id == 1 SORT(nothing)", 8, "Property 'nothing' not found"),
        ("id == 1 SORT(id) DISTINCT(friends)", 17, "property is a collection"),
        ("id == 1 SORT(name, peerOf.id DESC)", 8, "property is a collection or lies behind one"),
    ]

    @Test(arguments: refused) func `a predicate that does not fit says where`(
        text: String,
        position: Int,
        sentence: String
    ) throws {
        let crates = try memoryRealm([Crate.self, Slip.self]).objects(Crate.self)
        let predicate = try RealmPredicate(parsing: text)
        do {
            _ = try crates.filter(predicate)
            Issue.record("'\(text)' was taken")
        } catch let error as Realm.Error {
            #expect(error.code == .invalidInput)
            #expect(error.message.contains(sentence), "\(text): \(error.message)")
            #expect(error.message.hasSuffix("(at position \(position))"), "\(text): \(error.message)")
        }
    }

    @Test func `an argument that no query takes is told by its number`() throws {
        do {
            _ = try RealmPredicate(parsing: "id == %@ AND name == %@", 1, URL(fileURLWithPath: "/"))
            Issue.record("a URL was taken")
        } catch let error as Realm.Error {
            #expect(error.code == .invalidInput && error.message.hasSuffix("It is argument 2."), "\(error.message)")
        }
        #expect(throws: Realm.Error.self) { try RealmPredicate(parsing: "self == %@", Crate(id: 1)) }
    }

    @Test func `predicates that ask the same are the same, wherever they stand`() throws {
        let realm = try memoryRealm([Crate.self, Slip.self])
        try realm.write { for id in 0..<4 { realm.create(Crate.self, value: ["id": id]) } }
        let crates = realm.objects(Crate.self)
        #expect(crates.filter("id > 1") == crates.filter("   (id > 1)"))
    }

    @Test func `the values of a map are what is computed over, with their name and without`() throws {
        let realm = try memoryRealm([Crate.self, Slip.self])
        try realm.write {
            realm.create(
                Crate.self,
                value: ["id": 1, "scores": ["a": 1, "b": 5], "peers": ["p": ["id": 3], "q": ["id": 4]]] as [String: Any]
            )
            realm.create(Crate.self, value: ["id": 2, "scores": ["c": 3], "peers": ["p": ["id": 5]]] as [String: Any])
        }
        let crates = realm.objects(Crate.self)
        func ids(_ query: (Query<Crate>) -> Query<Bool>) -> [Int] { crates.where(query).map(\.id).sorted() }
        #expect(ids { $0.scores.max == 5 } == [1] && ids { $0.scores.values.max == 5 } == [1])
        #expect(ids { $0.scores.values.sum == 3 } == [2] && ids { $0.scores.values.avg == 3 } == [1, 2])
        #expect(ids { $0.peers.values.id.max == 5 } == [2])
        #expect(ids { ($0.peers.values.id > 3).count >= 1 } == [1, 2])
        #expect(ids { ($0.peers.values.id > 2 && $0.peers.values.id < 5).count == 2 } == [1])
        #expect(crates.filter("SUBQUERY(peers, $p, $p.id > 2 AND $p.id < 5).@count == 2").map(\.id) == [1])
        #expect(crates.filter("SUBQUERY(peers.@allValues, $p, $p.id == 5).@count == 1").map(\.id) == [2])
    }

    private func check(_ result: ExitTest.Result?, _ sentence: String, line: SourceLocation = #_sourceLocation) {
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains(sentence), "\(text.suffix(400))", sourceLocation: line)
    }

    @Test func `subscripts and aggregates of maps where none can be trap with a remedy`() async {
        let alone = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm([Crate.self, Slip.self]).objects(Crate.self).where { $0.scores["a"].max > 3 }
        }
        check(alone, "Invalid keypath 'scores['a']': @max is computed over a collection, and none is on the way")
        let computed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm([Crate.self, Slip.self]).objects(Crate.self).where { $0.values.max["k"] == .int(3) }
        }
        check(computed, "Cannot add subscript to 'values.@max'")
        let keys = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm([Crate.self, Slip.self]).objects(Crate.self)
                .where { ($0.peers.keys == "a").count > 1 }
        }
        check(keys, "Subqueries do not support the keys of a map")
        let plain = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().objects(Keeper.self).where { $0.age.sum > 3 }
        }
        check(plain, "Invalid keypath 'age': @sum is computed over a collection")
        let located = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().objects(Keeper.self).filter("age > 3 AND shoeSize > 3")
        }
        check(located, "Property 'shoeSize' not found in object of type 'Keeper' (at position 12)")
    }
}
