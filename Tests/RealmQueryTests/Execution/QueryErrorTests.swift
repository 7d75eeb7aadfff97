import RealmModel
import RealmQuery
import Testing

@Suite("Predicates that do not fit the schema")
struct QueryErrorTests {
    static let sentences: [(String, String)] = [
        ("nothing == 1", "Property 'nothing' not found in object of type 'Item'"),
        ("box.nothing == 1", "Property 'nothing' not found in object of type 'Box'"),
        ("i == 'x'", "Cannot compare value ''x'' of type 'string' to property 'i' of type 'int'"),
        ("s == 1", "Cannot compare value '1' of type 'int' to property 's' of type 'string'"),
        ("b == 2", "Cannot compare value '2' of type 'int' to property 'b' of type 'bool'"),
        ("b > TRUE", "Operator '>' not supported for type 'bool'"),
        ("i BEGINSWITH '1'", "Operator 'BEGINSWITH' not supported for type 'int'"),
        ("i ==[c] 1", "Operator '==[c]' not supported for type 'int'"),
        ("s LIKE[d] 'a'", "Operator 'LIKE' not supported with diacritic-insensitive modifier."),
        ("s >[c] 'a'", "Lexicographical comparisons must be case-sensitive"),
        ("i IN 3", "IN clause requires an array of items"),
        ("i BETWEEN {1}", "The array must contain exactly two objects for BETWEEN operations, not 1"),
        ("1 == 1", "Predicate expressions must compare a keypath and another keypath or a constant value"),
        (
            "i.x == 1",
            "Invalid keypath 'i.x': Property 'Item.i' is not a link or collection and can only appear at the end of a "
                + "keypath"
        ),
        ("children.@count.i == 1", "Invalid keypath 'children.@count.i': @count must appear at the end"),
        ("children.@sum.s == 1", "Invalid keypath 'children.@sum.s': @sum must be followed by a numeric property"),
        ("children.@foo == 1", "Invalid keypath 'children.@foo': Unsupported collection operation '@foo'"),
        ("children.@avg.date == 1", "Cannot sum or average date properties"),
        ("ANY nums == ANY", "expected"), ("SUBQUERY(box, $x, $x.size == 1).@count > 0", "Subqueries must contain"),
        ("ANY nums == children.i", "Comparing two collection columns is not permitted"),
        ("s == i", "Property type mismatch between 's' of type 'string' and 'i' of type 'int'"),
        ("children.i == 1", "Key paths that include a collection property must use aggregate operations"),
        ("children.s CONTAINS 'a'", "Key paths that include a collection property must use aggregate operations"),
        ("children.s CONTAINS s", "Key paths that include a collection property must use aggregate operations"),
        ("children.next CONTAINS SELF", "Key paths that include a collection property must use aggregate operations"),
    ]

    @Test("Each mistake is named in a sentence", arguments: sentences)
    func names(text: String, sentence: String) throws {
        let world = try QueryWorld(seed: 1, itemCount: 3)
        let table = try world.table("Item")
        var message = ""
        do {
            let predicate = try Predicate.parse(text)
            _ = try CompiledQuery(predicate, table: table)
        } catch {
            message = "\(error)"
        }
        #expect(message.contains(sentence), "\(text): \(message)")
    }

    @Test("A predicate built too deep is refused, not run")
    func depth() throws {
        let world = try QueryWorld(seed: 1, itemCount: 3)
        let table = try world.table("Item")
        var predicate = try Predicate.parse("i == 1")
        for level in 0..<200 { predicate = level % 2 == 0 ? .not(predicate) : .and([predicate, .constant(true)]) }
        let deep = predicate
        #expect(throws: QueryError.self) { try CompiledQuery(deep, table: table) }
    }

    /// What is said of a predicate that nests too deep.
    private func refusal(_ predicate: Predicate) throws -> String {
        let world = try QueryWorld(seed: 1, itemCount: 3)
        let table = try world.table("Item")
        do {
            _ = try CompiledQuery(predicate, table: table)
            // The table does not keep what it is part of.
            return withExtendedLifetime(world) { "" }
        } catch let error as QueryError {
            return error.message
        }
    }

    @Test("Of a predicate built too deep the limit, the depth, the way down and the part there are told")
    func deepPlace() throws {
        let flat = try Predicate.parse("i == 1")
        func nested(_ levels: Int, around inner: Predicate) -> Predicate {
            var predicate = inner
            for level in 0..<levels {
                predicate = level % 2 == 0 ? .or([predicate, flat]) : .and([predicate, flat, flat])
            }
            return predicate
        }
        let place = try Predicate.parse("s CONTAINS 'needle'")
        // As deep as may be.
        #expect(try refusal(nested(99, around: place)) == "")
        #expect(
            try refusal(nested(100, around: place))
                == "The predicate nests 101 deep, more than the 100 that are allowed: AND (part 1 of 3) > OR (part 1 of 2) > "
                + "AND (part 1 of 3) > OR (part 1 of 2) > AND (part 1 of 3) > OR (part 1 of 2) > … (94 more) leads to "
                + "'s CONTAINS 'needle''. Parts that are joined by one and the same operator do not nest."
        )
        // The deepest part of all is named, wherever the limit was passed before.
        let both = Predicate.or([
            nested(120, around: flat), .not(nested(150, around: place)), nested(130, around: flat),
        ])
        let told = try refusal(both)
        #expect(told.contains("nests 153 deep, more than the 100"), "\(told)")
        #expect(told.contains("allowed: OR (part 2 of 3) > NOT > AND (part 1 of 3)"), "\(told)")
        #expect(told.contains("leads to 's CONTAINS 'needle''"), "\(told)")
        // Subqueries count, by what they search.
        let subquery = PredicateSubquery(collection: "children", predicate: nested(99, around: place))
        let counted = Predicate.compare(.subqueryCount(subquery), .greater, .value(.int(0)))
        #expect(try refusal(counted).contains("nests 101 deep"))
        #expect(try refusal(counted).contains("allowed: SUBQUERY(children) > OR (part 1 of 2) > "))
        // A long part is cut.
        let long = try Predicate.parse("s CONTAINS '\(String(repeating: "x", count: 500))'")
        #expect(try refusal(nested(100, around: long)).contains("leads to 's CONTAINS 'xxx"))
        #expect(try refusal(nested(100, around: long)).utf8.count < 500)
    }

    @Test("Sorting and aggregates refuse collections, links and text")
    func sortsAndAggregates() throws {
        let world = try QueryWorld(seed: 1, itemCount: 3)
        let table = try world.table("Item")
        for path in ["children", "children.i", "box", "nums", "nothing", "i.x"] {
            #expect(throws: QueryError.self, "\(path)") { try CompiledSort(SortOrder([(path, true)]), table: table) }
        }
        for path in ["s", "box", "children.i", "nums", "date", "nothing"] {
            #expect(throws: QueryError.self, "\(path)") {
                try Aggregation(.sum, of: PropertyPath(path), table: table)
            }
        }
    }
}
