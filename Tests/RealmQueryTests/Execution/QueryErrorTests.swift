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
