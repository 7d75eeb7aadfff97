import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// Numbers are the same when their values are, exactly, whatever their types.
@Suite struct NumberEqualityTests {
    /// The least integer that no double is.
    private static let odd = 1 << 53 + 1

    private func filled(_ values: [AnyRealmValue]) throws -> Realm {
        let realm = try termRealm()
        try realm.write {
            for (index, value) in values.enumerated() { realm.add(Term("\(index)", free: value)) }
        }
        return realm
    }

    private func found(_ realm: Realm, _ format: String, _ arguments: Any...) throws -> [String] {
        let predicate =
            switch arguments.count {
            case 1: try RealmPredicate(parsing: format, arguments[0])
            default: try RealmPredicate(parsing: format, arguments[0], arguments[1])
            }
        return try realm.objects(Term.self).filter(predicate).map(\.id).sorted()
    }

    @Test func `integers and doubles beyond 2^53 compare exactly in values of any kind`() throws {
        let values: [AnyRealmValue] = [
            .int(Self.odd), .double(0x1p53), .int(1 << 53), .int(.max), .double(0x1p63), .int(.max - 1),
            .double(0x1p63.nextDown), .int(0x7FFF_FFFF_FFFF_FC00),
        ]
        let realm = try filled(values)
        #expect(try found(realm, "free == %@", 0x1p53) == ["1", "2"])
        #expect(try found(realm, "free == %@", Self.odd) == ["0"])
        #expect(try found(realm, "free == %@", 0x1p63) == ["4"])
        #expect(try found(realm, "free == %@", 0x1p63.nextDown) == ["6", "7"])
        #expect(try found(realm, "free > %@", 0x1p53) == ["0", "3", "4", "5", "6", "7"])
        #expect(try found(realm, "free >= %@", 0x1p63) == ["4"])
        #expect(try found(realm, "free < %@", Self.odd) == ["1", "2"])
        #expect(try found(realm, "free BETWEEN {%@, %@}", 0x1p53, Self.odd) == ["0", "1", "2"])
        #expect(try found(realm, "free IN %@", [0x1p53, 0x1p63]) == ["1", "2", "4"])
        #expect(try found(realm, "free IN %@", [Int.max, Self.odd]) == ["0", "3"])
        let order = Array(realm.objects(Term.self).sorted(byKeyPath: "free").map(\.id))
        #expect(order == ["1", "2", "0", "6", "7", "5", "3", "4"])
        #expect(realm.objects(Term.self).distinct(by: ["free"]).map(\.id) == ["0", "1", "3", "4", "5", "6"])
        let term = try #require(realm.object(ofType: Term.self, forPrimaryKey: "0"))
        try realm.write {
            for value in values {
                term.anySet.insert(value)
                term.anys.append(value)
            }
        }
        #expect(term.anySet.count == 6)
        #expect(term.anys.distinct(by: ["self"]).count == 6)
        #expect(term.anys.index(of: .double(0x1p63)) == 4)
        #expect(term.anys.index(of: .int(1 << 53)) == 1)
        #expect(term.anySet.contains(.int(Self.odd)) && !term.anySet.contains(.int(Self.odd + 2)))
        try realm.verify()
    }

    @Test func `decimals compare exactly with binary numbers`() throws {
        let realm = try filled([
            .double(0.1), .decimal128("0.1"), .decimal128("0.5"), .double(0.5), .int(2), .decimal128("2.0"),
        ])
        #expect(try found(realm, "free == %@", 0.1) == ["0"])
        #expect(try found(realm, "free > %@", Decimal128("0.1")) == ["0", "2", "3", "4", "5"])
        #expect(try found(realm, "free == %@", 0.5) == ["2", "3"])
        #expect(try found(realm, "free IN %@", [Decimal128("2"), Decimal128("0.5")]) == ["2", "3", "4", "5"])
        let order = Array(realm.objects(Term.self).sorted(byKeyPath: "free").map(\.id))
        #expect(order == ["1", "0", "2", "3", "4", "5"])
        // A constant takes the type of a decimal property.
        try realm.write { realm.objects(Term.self).first?.price = "0.1" }
        #expect(try found(realm, "price == %@", 0.1) == ["0"])
        #expect(try found(realm, "price == %@", Float(0.1)) == ["0"])
        #expect(try found(realm, "price IN %@", [0.1, 7]) == ["0"])
    }

    @Test @MainActor func `observed sections by lists are told apart by what the lists hold`() async throws {
        let file = TestFile()
        var configuration = file.fast
        configuration.objectTypes = [Term.self]
        let realm = try await Realm(configuration: configuration)
        try realm.write {
            for id in ["0", "1"] { realm.add(Term(id, free: .fromArray([.int(1)]))) }
            realm.add(Term("2", free: .fromArray([.string(composed)])))
            realm.add(Term("3", free: .fromArray([.string(decomposed)])))
        }
        func text(_ sections: SectionedResults<AnyRealmValue, Term>) -> [String] {
            sections.map { section in
                guard case .list(let list) = section.key else { return "?" }
                let key = list.map { $0.intValue.map { "\($0)" } ?? "text" }.joined(separator: " ")
                return key + ": " + section.map(\.id).joined(separator: " ")
            }
            .sorted()
        }
        func fresh() -> [String] { text(realm.objects(Term.self).sectioned(by: \.free)) }
        #expect(fresh() == ["1: 0 1", "text: 2", "text: 3"])
        var told: [[String]] = []
        let token = realm.objects(Term.self).sectioned(by: \.free)
            .observe { change in
                switch change {
                case .initial(let sections), .update(let sections, _, _, _, _, _): told.append(text(sections))
                }
            }
        await realm.asyncRefresh()
        let steps: [(id: String, values: [AnyRealmValue])] = [("0", [.int(2)]), ("1", [.int(2)]), ("0", [.int(1)])]
        for step in steps {
            try realm.write {
                realm.object(ofType: Term.self, forPrimaryKey: step.id)?.free = .fromArray(step.values)
            }
            await realm.asyncRefresh()
            #expect(told.last == fresh(), "\(step)")
        }
        #expect(told.last == ["1: 0", "2: 1", "text: 2", "text: 3"])
        token.invalidate()
    }

    @Test func `values that are no number are one section, and one distinct value`() throws {
        let realm = try termRealm()
        try realm.write {
            for (index, weight) in [.nan, 1.0, .nan, -0.0, 0.0, .nan].enumerated() {
                let term = Term("\(index)", weight: weight)
                term.maybe = index == 1 ? nil : weight
                realm.add(term)
            }
        }
        let terms = realm.objects(Term.self)
        let sections = terms.sectioned(by: \.weight)
        #expect(sections.map(\.count) == [3, 2, 1])
        #expect(sections[0].key.isNaN)
        #expect(sections.flatMap { $0.map(\.id) } == ["0", "2", "5", "3", "4", "1"])
        #expect(terms.sectioned(by: \.maybe).map(\.count) == [1, 3, 2])
        #expect(terms.distinct(by: ["weight"]).map(\.id) == ["0", "1", "3"])
        let byDate = terms.sectioned(
            by: { Date(timeIntervalSinceReferenceDate: $0.weight) },
            sortDescriptors: [SortDescriptor(keyPath: "weight")]
        )
        #expect(byDate.map(\.count) == [3, 2, 1])
        let byAny = terms.sectioned(
            by: { $0.weight == 1 ? AnyRealmValue.int(0) : .double($0.weight) },
            sortDescriptors: [SortDescriptor(keyPath: "weight")]
        )
        #expect(byAny.map(\.count) == [3, 3])
        let term = try #require(terms.first)
        try realm.write { term.weights.append(objectsIn: [1, .nan, 0, .nan, -0.0]) }
        #expect(term.weights.distinct(by: ["self"]).count == 3)
        #expect(term.weights.index(of: .nan) == 1)
        #expect(term.weights.sorted().index(of: .nan) == 0)
    }

    @Test func `NaN equals nothing in a query, and nothing is less than it, a date's too`() throws {
        let realm = try filled([.double(.nan), .date(Date(timeIntervalSinceReferenceDate: .nan)), .int(1)])
        #expect(try found(realm, "free == %@", Double.nan) == [])
        #expect(try found(realm, "free != %@", Double.nan) == ["0", "1", "2"])
        #expect(try found(realm, "free == %@", Date(timeIntervalSinceReferenceDate: .nan)) == [])
        #expect(try found(realm, "free IN %@", [Date(timeIntervalSinceReferenceDate: .nan)]) == [])
        #expect(try found(realm, "free < %@", Date()) == [])
        #expect(try found(realm, "free < %@", 5) == ["2"])
    }

    @Test func `NaN entries of a list and of a map are no modifications`() async throws {
        let realm = try termRealm()
        let term = try realm.write {
            let term = realm.create(Term.self, value: ["id": "1"])
            term.weights.append(objectsIn: [.nan, 1, .nan, 2])
            term.anys.append(objectsIn: [.int(1), .double(.nan), .double(0)])
            term.scores["a"] = .nan
            term.scores["b"] = 1
            return term
        }
        var weights = term.weights.changes().makeAsyncIterator()
        var anys = term.anys.changes().makeAsyncIterator()
        var scores = term.scores.changes().makeAsyncIterator()
        _ = await (weights.next(), anys.next(), scores.next())
        try realm.write {
            term.weights[3] = 3
            // What reads differently was modified, although the values are equal.
            term.anys[0] = .double(1)
            term.anys[2] = .double(-0.0)
            term.scores["b"] = 2
        }
        if case .update(_, let deletions, let insertions, let modifications)? = await weights.next() {
            #expect(deletions == [] && insertions == [] && modifications == [3])
        } else {
            Issue.record("the list changed")
        }
        if case .update(_, let deletions, let insertions, let modifications)? = await anys.next() {
            #expect(deletions == [] && insertions == [] && modifications == [0, 2])
        } else {
            Issue.record("the list of values changed")
        }
        if case .update(_, let deletions, let insertions, let modifications)? = await scores.next() {
            #expect(deletions == [] && insertions == [] && modifications == ["b"])
        } else {
            Issue.record("the map changed")
        }
    }

    @Test func `the least and the greatest of a list leave NaN out, as those of objects do`() throws {
        let realm = try termRealm()
        let term = try realm.write {
            let term = realm.create(Term.self, value: ["id": "1", "weight": Double.nan])
            term.weights.append(objectsIn: [.nan, 1, .nan, 2])
            term.anys.append(objectsIn: [.double(.nan), .int(Self.odd), .double(0x1p53)])
            realm.add(Term("2", weight: 3))
            return term
        }
        #expect(realm.objects(Term.self).min(of: \.weight) == 3)
        #expect(term.weights.min() == 1 && term.weights.max() == 2)
        #expect(realm.objects(Term.self).filter("weights.@min == 1 AND weights.@max == 2").count == 1)
        #expect(term.anys.min() == .double(0x1p53) && term.anys.max() == .int(Self.odd))
    }

    @Test func `integers beyond those of a realm are equal to none, and not to the greatest`() throws {
        let realm = try memoryRealm([Counted.self])
        try realm.write {
            for number in [Int.min, 0, Int.max] {
                realm.create(
                    Counted.self,
                    value: [
                        "id": number, "indexed": number, "plain": number, "weight": 0x1p64,
                        "free": AnyRealmValue.int(number),
                    ]
                )
            }
            realm.create(
                Counted.self,
                value: ["id": 1, "weight": 0x1p64.nextDown, "free": AnyRealmValue.decimal128("18446744073709551615")]
            )
        }
        let counted = realm.objects(Counted.self)
        for name in ["id", "indexed", "plain"] {
            for number in [UInt.max, 1 << 63] {
                #expect(counted.filter("\(name) == %@", number).count == 0)
                #expect(counted.filter("\(name) != %@", number).count == 4)
                #expect(counted.filter("\(name) < %@", number).count == 4)
                #expect(counted.filter("\(name) >= %@", number).count == 0)
                #expect(counted.filter("\(name) IN %@", [number, 0]).count == (name == "id" ? 1 : 2))
                #expect(counted.filter("\(name) BETWEEN {%@, %@}", 0, number).count == 3)
            }
            #expect(counted.filter("\(name) == %@", UInt(Int.max)).count == 1)
        }
        #expect(counted.filter("weight == %@", UInt.max).count == 0)
        #expect(counted.filter("weight > %@", UInt.max).count == 3)
        #expect(counted.filter("weight < %@", UInt.max).count == 1)
        #expect(counted.filter("free == %@", UInt.max).map(\.id) == [1])
        #expect(counted.filter("free < %@", UInt.max).count == 3)
        // As an object of Foundation's it is the same.
        let boxed = NSNumber(value: UInt64.max)
        #expect(counted.filter("weight == %@", boxed).count == 0)
        #expect(counted.filter("free == %@", boxed).map(\.id) == [1])
        #expect(counted.filter("free IN %@", [boxed]).map(\.id) == [1])
        // And as a part of the text.
        #expect(counted.filter("free == 18446744073709551615").map(\.id) == [1])
        #expect(counted.filter("weight == 18446744073709551615").count == 0)
        #expect(counted.filter("weight == 18446744073709551616").count == 3)
        #expect(counted.filter("id == 9223372036854775808").count == 0)
        #expect(counted.filter("id > -9223372036854775809").count == 4)
        #expect(counted.filter("id IN {1, 9223372036854775808}").map(\.id) == [1])
    }

    @Test func `integers beyond those of a realm fit each placeholder and the counts of subqueries`() throws {
        let realm = try memoryRealm([Counted.self, Owner.self])
        try realm.write {
            let counted = realm.create(Counted.self, value: ["id": 1, "weight": 0x1p64])
            realm.create(Owner.self, value: ["counted": [counted]])
        }
        let counted = realm.objects(Counted.self)
        for argument in [UInt64.max as Any, NSNumber(value: UInt64.max), UInt(1) << 63] {
            for placeholder in ["%@", "%d", "%u", "%lu", "%llu", "%f"] {
                #expect(counted.filter("id < \(placeholder)", argument).count == 1, "\(placeholder)")
                #expect(counted.filter("weight < \(placeholder)", argument).count == 0, "\(placeholder)")
            }
        }
        // `%f` makes it a double, as it does a smaller one.
        #expect(counted.filter("weight == %f", UInt64.max).count == 1)
        #expect(counted.filter("weight == %d", UInt64.max).count == 0)
        #expect(counted.filter("weight > %f", Decimal128("1.5")).count == 1)
        #expect(throws: Realm.Error.self) { try RealmPredicate(parsing: "id < %d", Decimal128("1.5")) }
        // A decimal with nothing behind its point is an integer.
        for whole in [Decimal(1) as Any, Decimal128("1.0"), NSDecimalNumber(value: 1)] {
            let predicate = try RealmPredicate(parsing: "id == %d", whole)
            #expect(try counted.filter(predicate).count == 1)
        }
        let owners = realm.objects(Owner.self)
        let count = "SUBQUERY(counted, $one, $one.id == 1).@count"
        for number in ["9223372036854775808", "18446744073709551616", "1e30"] {
            #expect(owners.filter("\(count) < \(number)").count == 1, "\(number)")
            #expect(owners.filter("\(number) > \(count)").count == 1, "\(number)")
            #expect(owners.filter("\(count) == -\(number)").count == 0, "\(number)")
            #expect(owners.filter("\(count) IN {1, \(number)}").count == 1, "\(number)")
            #expect(owners.filter("counted.@count < \(number)").count == 1, "\(number)")
        }
        #expect(owners.filter("\(count) < %@", UInt64.max).count == 1)
    }

    @Test func `zeros before a number change nothing`() throws {
        let realm = try memoryRealm([Counted.self])
        try realm.write {
            let values: [String: Any] = ["id": 1, "free": AnyRealmValue.decimal128("18446744073709551615")]
            realm.create(Counted.self, value: values)
        }
        let zeros = String(repeating: "0", count: 30)
        let counted = realm.objects(Counted.self)
        #expect(counted.filter("id == \(zeros)1").count == 1)
        #expect(counted.filter("free == \(zeros)18446744073709551615").count == 1)
        #expect(counted.filter("free == +\(zeros)18446744073709551615").count == 1)
        #expect(counted.filter("free == -\(zeros)18446744073709551615").count == 0)
    }

    @Test func `the float next to an integer beyond those of a realm is found`() throws {
        let realm = try memoryRealm([Counted.self])
        // The double next to it lies in the middle between two floats, of which the other one is even.
        let number: UInt64 = 1 << 63 + 1 << 39 + 1
        try realm.write {
            realm.create(Counted.self, value: ["id": 1, "narrow": Float(number)])
            realm.create(Counted.self, value: ["id": 2, "narrow": Float(number).nextDown])
        }
        #expect(Float(number) != Float(Double(number)))
        #expect(realm.objects(Counted.self).filter("narrow == %@", number).map(\.id) == [1])
    }
}

class Owner: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted var counted: List<Counted>
}

class Counted: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: true) var indexed: Int
    @Persisted var plain: Int
    @Persisted var weight: Double
    @Persisted var narrow: Float
    @Persisted var free: AnyRealmValue
}
