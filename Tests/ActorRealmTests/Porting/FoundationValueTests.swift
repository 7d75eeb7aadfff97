import ActorRealm
import Foundation
import Testing

/// What bridging gives: the objects that `JSONSerialization` makes, and what was passed `as NSDate` and so on.
@Suite("Foundation's objects are taken for the values that they hold", .timeLimit(.minutes(60)))
struct FoundationValueTests {
    let file = PortingFile()

    @Test(
        "in a value of any type, a number stays what it was made of",
        arguments: [
            ("1", "int(1)"), ("0", "int(0)"), ("true", "bool(true)"), ("false", "bool(false)"), ("7", "int(7)"),
            ("1.5", "double(1.5)"), ("-2", "int(-2)"), ("\"text\"", "string(\"text\")"), ("null", "none"),
        ]
    )
    func json(_ text: String, _ expected: String) throws {
        let json = try JSONSerialization.jsonObject(with: Data("{\"id\": 1, \"anything\": \(text)}".utf8))
        #expect("\(Measured(value: json).anything)" == expected)
        nonisolated(unsafe) let sent = json
        try file.inWrite { realm in #expect("\(realm.create(Measured.self, value: sent).anything)" == expected) }
    }

    @Test("an integer of eight bits is a number, and no Boolean")
    func smallIntegers() {
        func taken(_ number: NSNumber) -> String {
            "\(Measured(value: ["id": 1, "anything": number] as [String: Any]).anything)"
        }
        #expect(taken(NSNumber(value: Int8(100))) == "int(100)" && taken(NSNumber(value: Int8(1))) == "int(1)")
        #expect(taken(NSNumber(value: true)) == "bool(true)" && taken(NSNumber(value: false)) == "bool(false)")
    }

    @Test("nested values of a JSON text, too")
    func nestedJSON() throws {
        let json = try JSONSerialization.jsonObject(
            with: Data(#"{"id": 1, "anything": {"list": [1, true, 2.5], "name": "x"}}"#.utf8)
        )
        nonisolated(unsafe) let sent = json
        try file.inWrite { realm in
            let anything = realm.create(Measured.self, value: sent).anything
            let list = try #require(anything.dictionaryValue?["list"]?.listValue)
            #expect(Array(list) == [.int(1), .bool(true), .double(2.5)])
            #expect(anything.dictionaryValue?["name"] == .string("x"))
        }
    }

    @Test("arguments of predicates")
    func arguments() throws {
        let (date, uuid) = (Date(timeIntervalSinceReferenceDate: 12.5), UUID())
        try file.inWrite { realm in
            let log = Log()
            (log.date, log.uuid, log.data, log.price, log.anything) = (date, uuid, Data([1, 2]), "1.1", .bool(true))
            realm.add(log)
            let logs = realm.objects(Log.self)
            #expect(logs.filter("date == %@", NSDate(timeIntervalSinceReferenceDate: 12.5)).count == 1)
            #expect(logs.filter("date < %@", NSDate(timeIntervalSinceReferenceDate: 12)).isEmpty)
            #expect(logs.filter("uuid == %@", NSUUID(uuidString: uuid.uuidString)!).count == 1)
            #expect(logs.filter("data == %@", NSData(data: Data([1, 2]))).count == 1)
            #expect(logs.filter("price == %@", NSDecimalNumber(string: "1.1")).count == 1)
            #expect(logs.filter("text == %@", NSString(string: "a")).count == 1)
            #expect(logs.filter("number == %@", NSNumber(value: 3)).count == 1)
            #expect(logs.filter("number == %@", NSNumber(value: Int8(3))).count == 1)
            #expect(logs.filter("number IN %@", NSArray(array: [1, 3])).count == 1)
            #expect(logs.filter("number IN %@", NSSet(array: [1, 3])).count == 1)
            #expect(logs.filter("anything == %@", NSNumber(value: true)).count == 1)
            #expect(logs.filter("anything == %@", NSNumber(value: 1)).isEmpty)
            #expect(logs.filter("anything == %@", NSNumber(value: Int8(1))).isEmpty)
            #expect(logs.filter("date IN %@", [NSDate(timeIntervalSinceReferenceDate: 12.5)]).count == 1)
            #expect(logs.filter("missing == %@", NSNull()).count == 1)
        }
    }

    @Test("decimals are compared with numbers of every type")
    func decimals() throws {
        try file.inWrite { realm in
            let log = Log()
            (log.price, log.weight, log.ratio, log.anything) = ("1.1", 1.1, 1.1, .double(1.5))
            realm.add(log)
            let logs = realm.objects(Log.self)
            func check(_ expected: [(String, Int)], _ argument: Any) throws {
                for (format, count) in expected {
                    let found = try logs.filter(RealmPredicate(parsing: format, argument)).count
                    #expect(found == count, "\(format) with \(argument), a \(type(of: argument))")
                }
            }
            let fraction = try #require(Decimal(string: "1.1"))
            let below = try #require(Decimal(string: "-1.5"))
            let above = try #require(Decimal(string: "-0.5"))
            let lower = try #require(Decimal(string: "2.9"))
            let whole = Decimal(3)
            for argument in [fraction, NSDecimalNumber(decimal: fraction)] as [Any] {
                try check(
                    [
                        ("price == %@", 1), ("weight == %@", 1), ("weight > %@", 0), ("weight <= %@", 1),
                        ("ratio == %@", 1), ("ratio != %@", 0), ("anything > %@", 1), ("number == %@", 0),
                        ("number != %@", 1), ("number > %@", 1), ("number >= %@", 1), ("number < %@", 0),
                        ("number <= %@", 0),
                    ],
                    argument
                )
                try check([("price IN %@", 1), ("weight IN %@", 1), ("ratio IN %@", 1)], [argument])
                try check([("number IN %@", 0)], [argument])
            }
            for argument in [whole, NSDecimalNumber(decimal: whole)] as [Any] {
                try check(
                    [
                        ("number == %@", 1), ("number != %@", 0), ("number > %@", 0), ("number >= %@", 1),
                        ("weight < %@", 1), ("ratio > %@", 0),
                    ],
                    argument
                )
                try check([("number IN %@", 1)], [argument])
            }
            try check([("number BETWEEN %@", 1), ("weight BETWEEN %@", 0)], [lower, Decimal(4)])
            log.number = -1
            try check([("number > %@", 1), ("number <= %@", 0), ("number < %@", 0)], below)
            try check([("number < %@", 1), ("number == %@", 0)], above)
            try check([("number < %@", 0), ("number != %@", 1), ("weight == %@", 0)], Decimal.nan)
        }
    }

    @Test("decimals are stored where a number with a fraction or any value is")
    func storedDecimals() throws {
        try file.inWrite { realm in
            let fraction = try #require(Decimal(string: "1.1"))
            let log = try realm.insert(
                Log.self,
                value: ["weight": fraction, "ratio": fraction, "anything": fraction] as [String: Any]
            )
            #expect(log.weight == 1.1 && log.ratio == 1.1 && log.anything == .decimal128("1.1"))
        }
    }
}

class Log: Object {
    @Persisted var date: Date
    @Persisted var uuid: UUID
    @Persisted var data: Data
    @Persisted var price: Decimal128
    @Persisted var text = "a"
    @Persisted var number = 3
    @Persisted var missing: Int?
    @Persisted var anything: AnyRealmValue
    @Persisted var weight: Double
    @Persisted var ratio: Float
}
