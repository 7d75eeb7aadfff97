import RealmModel
import RealmQuery
import Testing

@Suite("Parsing predicates")
struct PredicateParserTests {
    static let accepted: [(String, Predicate)] = [
        ("age == 3", .compare(.path("age"), .equal, .value(.int(3)))),
        ("age = 3", .compare(.path("age"), .equal, .value(.int(3)))),
        ("age <> -3", .compare(.path("age"), .notEqual, .value(.int(-3)))),
        ("age != 3.5", .compare(.path("age"), .notEqual, .value(.double(3.5)))),
        ("age =< 3", .compare(.path("age"), .lessOrEqual, .value(.int(3)))),
        ("age => 3", .compare(.path("age"), .greaterOrEqual, .value(.int(3)))),
        ("age<3", .compare(.path("age"), .less, .value(.int(3)))),
        ("3 > age", .compare(.value(.int(3)), .greater, .path("age"))),
        ("name == 'it\\'s'", .compare(.path("name"), .equal, .value(.string("it's")))),
        ("name == \"\\u00e9\\n\"", .compare(.path("name"), .equal, .value(.string("é\n")))),
        ("name == '\\ud83d\\ude00'", .compare(.path("name"), .equal, .value(.string("😀")))),
        (
            "name beginswith[cd] 'a'",
            .compare(
                .path("name"),
                .beginsWith,
                .value(.string("a")),
                options: [.caseInsensitive, .diacriticInsensitive]
            )
        ),
        ("name ==[c] 'a'", .compare(.path("name"), .equal, .value(.string("a")), options: .caseInsensitive)),
        ("name LIKE '*a?'", .compare(.path("name"), .like, .value(.string("*a?")))),
        ("ANY dogs.age > 3", .compare(.path("dogs.age"), .greater, .value(.int(3)), quantifier: .any)),
        ("SOME dogs.age > 3", .compare(.path("dogs.age"), .greater, .value(.int(3)), quantifier: .any)),
        ("ALL dogs.age > 3", .compare(.path("dogs.age"), .greater, .value(.int(3)), quantifier: .all)),
        (
            "NONE dogs.age > 3",
            .compare(.path("dogs.age"), .greater, .value(.int(3)), quantifier: PredicateQuantifier.none)
        ),
        ("dogs.@count == 0", .compare(.path("dogs.@count"), .equal, .value(.int(0)))),
        ("dogs.@avg.age == 0", .compare(.path("dogs.@avg.age"), .equal, .value(.int(0)))),
        ("age BETWEEN {1, 2}", .compare(.path("age"), .between, .value(.list([.int(1), .int(2)])))),
        ("age IN {}", .compare(.path("age"), .in, .value(.list([])))),
        ("SELF IN {NULL}", .compare(.path(PropertyPath(steps: [])), .in, .value(.list([.null])))),
        ("a == nil", .compare(.path("a"), .equal, .value(.null))),
        ("a == YES", .compare(.path("a"), .equal, .value(.bool(true)))),
        ("#and == 1", .compare(.path("and"), .equal, .value(.int(1)))),
        ("owner.in == 1", .compare(.path("owner.in"), .equal, .value(.int(1)))),
        (
            "map['k'] == 1",
            .compare(.path(PropertyPath(steps: [.property("map"), .key("k")])), .equal, .value(.int(1)))
        ),
        ("café == 0x1F", .compare(.path("café"), .equal, .value(.int(31)))),
        (
            "a == 1 AND b == 2 OR c == 3",
            .or([
                .and([
                    .compare(.path("a"), .equal, .value(.int(1))), .compare(.path("b"), .equal, .value(.int(2))),
                ]), .compare(.path("c"), .equal, .value(.int(3))),
            ])
        ),
        (
            "a == 1 && (b == 2 || c == 3)",
            .and([
                .compare(.path("a"), .equal, .value(.int(1))),
                .or([.compare(.path("b"), .equal, .value(.int(2))), .compare(.path("c"), .equal, .value(.int(3)))]),
            ])
        ),
        (
            "NOT a == 1 AND b == 2",
            .and([
                .not(.compare(.path("a"), .equal, .value(.int(1)))), .compare(.path("b"), .equal, .value(.int(2))),
            ])
        ),
        ("!(a == 1)", .not(.compare(.path("a"), .equal, .value(.int(1))))),
        ("NOT NOT a == 1", .compare(.path("a"), .equal, .value(.int(1)))),
        ("TRUEPREDICATE", .constant(true)),
        ("NOT truepredicate", .constant(false)),
        (
            "SUBQUERY(dogs, $d, $d.age > 3 AND $d.owner == NULL).@count >= 2",
            .compare(
                .subqueryCount(
                    PredicateSubquery(
                        collection: "dogs",
                        predicate: .and([
                            .compare(.path("age"), .greater, .value(.int(3))),
                            .compare(.path("owner"), .equal, .value(.null)),
                        ])
                    )
                ),
                .greaterOrEqual,
                .value(.int(2))
            )
        ),
        (
            "2 < SUBQUERY(dogs, $d, $d.age > 3).@count",
            .compare(
                .value(.int(2)),
                .less,
                .subqueryCount(
                    PredicateSubquery(
                        collection: "dogs",
                        predicate: .compare(.path("age"), .greater, .value(.int(3)))
                    )
                )
            )
        ),
    ]

    @Test("Every form of the language gives the tree it stands for", arguments: accepted)
    func accepts(text: String, expected: Predicate) throws {
        #expect(try Predicate.parse(text) == expected)
    }

    @Test("Placeholders take the arguments in order")
    func placeholders() throws {
        let parsed = try Predicate.parse(
            "%K == %@ AND age IN %@ AND score > %f AND n == %ld AND %K.@count > 0 AND map[%@] == 1",
            arguments: [
                .string("owner.name"), .string("x"), .list([.int(1)]), .double(0.5), .int(4), .string("dogs"),
                .string("k"),
            ]
        )
        #expect(
            parsed
                == .and([
                    .compare(.path("owner.name"), .equal, .value(.string("x"))),
                    .compare(.path("age"), .in, .value(.list([.int(1)]))),
                    .compare(.path("score"), .greater, .value(.double(0.5))),
                    .compare(.path("n"), .equal, .value(.int(4))),
                    .compare(.path("dogs.@count"), .greater, .value(.int(0))),
                    .compare(.path(PropertyPath(steps: [.property("map"), .key("k")])), .equal, .value(.int(1))),
                ])
        )
    }

    static let behindDots: [(text: String, arguments: [String], meaning: String)] = [
        (
            "SUBQUERY(%K, $d, $d.%K == %@).@count > 0", ["dogs", "owner.name", "x"],
            "SUBQUERY(dogs, $d, $d.owner.name == 'x').@count > 0"
        ),
        ("ANY dogs.%K == %@", ["age", "x"], "ANY dogs.age == 'x'"),
        ("%K.%K == %@", ["owner", "name", "x"], "owner.name == 'x'"),
        ("SELF.%K == 1", ["age"], "age == 1"),
        ("dogs.%K.@count > 0 SORT(owner.%K)", ["tags", "name"], "dogs.tags.@count > 0 SORT(owner.name)"),
        ("map[%@].%K == 1", ["k", "age"], "map['k'].age == 1"),
    ]

    @Test("A key path that is an argument stands behind a dot, too", arguments: behindDots.indices)
    func keyPathsBehindDots(_ index: Int) throws {
        let (text, arguments, meaning) = Self.behindDots[index]
        let parsed = try ParsedQuery.parse(text, arguments: arguments.map { .string($0) })
        let plain = try ParsedQuery.parse(meaning)
        #expect(parsed.predicate == plain.predicate && parsed.clauses == plain.clauses, "\(text)")
    }

    @Test("A key path behind a dot is a text with names in it", arguments: [PredicateValue.int(1), .string("")])
    func noKeyPaths(_ argument: PredicateValue) {
        #expect(throws: PredicateParseError.self) {
            try Predicate.parse("owner.%K == 1", arguments: [argument])
        }
    }

    @Test("A key path behind dots counts as the steps that it has")
    func longKeyPaths() throws {
        let half = Array(repeating: "next", count: PredicateLimits.pathStepCount / 2).joined(separator: ".")
        _ = try Predicate.parse("%K.%K == 1", arguments: [.string(half), .string(half)])
        #expect(throws: PredicateParseError.self) {
            try Predicate.parse("%K.%K.%K == 1", arguments: [.string(half), .string(half), .string("next.next")])
        }
    }

    @Test("The place in a list is an argument, too", arguments: ["%d", "%@"])
    func indices(_ placeholder: String) throws {
        let parsed = try Predicate.parse("mixed[\(placeholder)] == 1", arguments: [.int(2)])
        let plain = try Predicate.parse("mixed[2] == 1")
        #expect(parsed == plain)
        #expect(throws: PredicateParseError.self) {
            try Predicate.parse("mixed[\(placeholder)] == 1", arguments: [.int(-1)])
        }
    }

    static let refused: [(String, Int)] = [
        ("", 0), ("   ", 3), ("age", 3), ("age ==", 6), ("age == 3 AND", 12), ("(age == 3", 9), ("age == 3)", 8),
        ("age == 'x", 7), ("age MATCHES 'x'", 4), ("age == 3 b", 9), ("age ==[x] 3", 7), ("age ? 3", 4), ("== 3", 0),
        ("age == 1 + 2", 9), ("age * 2 == 4", 4), ("age == %q", 7), ("age == %@", 7), ("$x.age == 3", 0),
        ("age IN {1", 9), ("age IN {1 2}", 10), ("SUBQUERY(dogs, $d, age > 3).@count > 1", 19),
        ("SUBQUERY(dogs, $d, $e.age > 3).@count > 1", 19), ("SUBQUERY(dogs, $d, $d.age > 3)", 30),
        ("SUBQUERY(dogs, d, $d.age > 3).@count > 1", 15), ("owner. == 1", 7), ("age == 3a", 8), ("and == 1", 0),
        ("age == '\\ud800'", 8), ("NOT", 3), ("age & 3", 4), ("age == $", 8), ("map[-3] == 1", 4), ("\u{1}", 0),
        ("age == 0xFFFFFFFFFFFFFFFFF", 7), ("CAST(1, 'x') == 1", 0),
    ]

    @Test("A wrong text is refused with the position of what is wrong", arguments: refused)
    func refuses(text: String, position: Int) {
        let error = #expect(throws: PredicateParseError.self) { try Predicate.parse(text) }
        #expect(error?.position == position, "\(error?.message ?? "")")
    }

    @Test("Arguments that do not fit their placeholders are refused")
    func wrongArguments() {
        #expect(throws: PredicateParseError.self) { try Predicate.parse("a == %d", arguments: [.string("x")]) }
        #expect(throws: PredicateParseError.self) { try Predicate.parse("a == %f", arguments: [.string("x")]) }
        #expect(throws: PredicateParseError.self) { try Predicate.parse("%K == 1", arguments: [.int(1)]) }
        #expect(throws: PredicateParseError.self) { try Predicate.parse("a == 1", arguments: [.int(1)]) }
    }

    @Test("Depth, length, lists, paths, numbers and subqueries have limits")
    func limits() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "(", count: depth) + "a == 1" + String(repeating: ")", count: depth)
        }
        _ = try Predicate.parse(nested(99))
        #expect(throws: PredicateParseError.self) { try Predicate.parse(nested(100)) }
        #expect(throws: PredicateParseError.self) { try Predicate.parse(nested(40_000)) }
        let deep = String(repeating: "a == 1 AND (b == 1 OR NOT (", count: 60)
        #expect(throws: PredicateParseError.self) {
            try Predicate.parse(deep + "a == 1" + String(repeating: "))", count: 60))
        }
        #expect(throws: PredicateParseError.self) { try Predicate.parse(String(repeating: "a", count: 100_001)) }
        let values = (0..<10_000).map(String.init).joined(separator: ",")
        _ = try Predicate.parse("a IN {\(values)}")
        #expect(throws: PredicateParseError.self) { try Predicate.parse("a IN {\(values),1}") }
        _ = try Predicate.parse("a IN %@", arguments: [.list(Array(repeating: .int(1), count: 10_001))])
        #expect(throws: PredicateParseError.self) {
            try Predicate.parse(String(repeating: "a.", count: 32) + "a == 1")
        }
        func subqueries(_ depth: Int) -> String {
            let head = (0..<depth).map { "SUBQUERY(\($0 == 0 ? "" : "$x\($0 - 1).")dogs, $x\($0), " }.joined()
            return head + "$x\(depth - 1).a == 1" + String(repeating: ").@count > 0", count: depth)
        }
        let long = "0." + String(repeating: "1", count: 398)
        _ = try Predicate.parse("a == \(long)")
        #expect(throws: PredicateParseError.self) { try Predicate.parse("a == \(long)1") }
        _ = try Predicate.parse(subqueries(4))
        #expect(throws: PredicateParseError.self) { try Predicate.parse(subqueries(5)) }
        _ = try Predicate.parse(String(repeating: "!", count: 90_001) + "a == 1")
    }

    @Test("Constants are equal when they are of one type and the same, and in no other case")
    func constants() {
        func values() -> [PredicateValue] {
            let times: [PredicateValue] = [.double(0), .double(-0.0), .double(1), .date(0), .date(1)]
            let bytes: [PredicateValue] = [
                .string("a"), .string("b"), .data([1]), .data([2]), .objectId(ObjectIDBytes(high: 1, low: 2)),
                .objectId(ObjectIDBytes(high: 1, low: 3)), .uuid(UUIDBytes(high: 1, low: 2)),
                .uuid(UUIDBytes(high: 2, low: 2)), .decimal(DecimalBytes(high: 1, low: 2)),
                .decimal(DecimalBytes(high: 1, low: 3)),
            ]
            let others: [PredicateValue] = [
                .null, .bool(true), .bool(false), .int(0), .int(1), .float(0), .float(1),
                .object(className: "A", key: 1), .object(className: "B", key: 1), .object(className: "A", key: 2),
                .list([]), .list([.int(1)]), .list([.int(2)]),
            ]
            return times + bytes + others
        }
        for (place, value) in values().enumerated() {
            for (otherPlace, other) in values().enumerated() {
                #expect((value == other) == (place == otherPlace), "\(value) and \(other)")
            }
            #expect(value.hashValue == values()[place].hashValue)
        }
    }

    @Test("A predicate written as text and read back is the same predicate")
    func roundTrip() throws {
        for (text, expected) in Self.accepted {
            #expect(try Predicate.parse(expected.description) == expected, "\(text) → \(expected)")
        }
    }
}
