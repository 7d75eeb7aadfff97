import ActorRealm
import Foundation
import Testing

/// The numbers of what `insert` reads have all the digits that their properties have room for.
@Suite struct InputNumberTests {
    class Weighed: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var price: Decimal128
        @Persisted var prices: List<Decimal128?>
        @Persisted var named: Map<String, Decimal128>
        @Persisted var whole: Int
        @Persisted var single: Float
        @Persisted var double: Double
        @Persisted var text: String
        @Persisted var free: AnyRealmValue
        @Persisted var next: Weighed?
    }

    private func inserted(_ json: String, in realm: Realm) throws -> Weighed {
        try realm.write { try realm.insert(Weighed.self, json: Data(json.utf8)) }
    }

    /// The same by a decoder of the program's own.
    private func decoded(_ json: String, in realm: Realm) throws -> Weighed {
        var weighed: Weighed?
        let decoder = JSONDecoder()
        decoder.userInfo[DecoderUse.key] = DecoderUse { decoder in
            weighed = try realm.write { try realm.insert(Weighed.self, from: decoder) }
        }
        _ = try decoder.decode(DecoderUse.Place.self, from: Data(json.utf8))
        return try #require(weighed)
    }

    @Test func `a decimal of any size keeps its digits`() throws {
        let realm = try memoryRealm([Weighed.self])
        let json = """
            {"price": 1.234567890123456789012345678901e-130,
             "prices": [1e400, -12345678901234567890.5E-200, 1e128, null, "1e-300", 12345678901234567.89,0.1],
             "named": {"a": 1.50e-300, "\\u0061e": -1e+6000}, "free": "1e-300", "next": {"price": 1e-400}}
            """
        let weighed = try inserted(json, in: realm)
        #expect(weighed.price.stringValue == "1.234567890123456789012345678901E-130")
        let expected = [
            "1E+400", "-1.23456789012345678905E-181", "1E+128", nil, "1E-300", "12345678901234567.89", "0.1",
        ]
        #expect(weighed.prices.map { $0?.stringValue } == expected)
        #expect(weighed.named["a"]?.stringValue == "1.50E-300" && weighed.named["ae"]?.stringValue == "-1E+6000")
        #expect(weighed.next?.price.stringValue == "1E-400" && weighed.free == .string("1e-300"))
        let long = String(repeating: "12345", count: 20)
        #expect(try inserted("{\"price\": 0.\(long)}", in: realm).price == Decimal128(parsing: "0." + long))
    }

    @Test func `such a number is for other types what it was`() throws {
        let realm = try memoryRealm([Weighed.self])
        let one = "1.\(String(repeating: "0", count: 60))"
        let json = """
            {"double": 1e-200, "single": \(one), "whole": \(one), "free": [1e300, \(one), {"=#": "1e400", "a": 2e300}]}
            """
        let weighed = try inserted(json, in: realm)
        #expect(weighed.double == 1e-200 && weighed.single == 1 && weighed.whole == 1)
        let list = try #require(weighed.free.listValue)
        #expect(list[0] == .double(1e300) && list[1] == .int(1))
        #expect(list[2].dictionaryValue?["=#"] == .string("1e400") && list[2].dictionaryValue?["a"] == .double(2e300))
        #expect(try inserted(#"{"free": {"=#": "1e400"}}"#, in: realm).free.dictionaryValue?.count == 1)
    }

    @Test func `a number that does not fit is refused where it stands`() throws {
        let realm = try memoryRealm([Weighed.self])
        func refusal(_ json: String) -> String {
            let error = #expect(throws: Realm.Error.self, "\(json)") { try inserted(json, in: realm) }
            #expect(error?.code == .invalidInput, "\(json)")
            return error?.message ?? ""
        }
        for name in ["whole", "single", "double", "text", "free", "next", "named", "prices"] {
            #expect(refusal("{\"\(name)\": 1e400}").contains("- \(name): "), "\(name)")
        }
        for json in ["{\"whole\": 1e-200}", "{\"text\": 1e-200}", "{\"next\": 1e-200}"] {
            #expect(refusal(json).contains("1e-200"), "\(json)")
        }
        #expect(refusal("{\"prices\": [1, 1e9999]}").contains("prices[1]"))
        #expect(refusal("{\"free\": {\"a\": [1e400]}}").contains("free.a[0]"))
        for number in [
            "1e400x", "01e400", "1e+", "+1e400", ".5e400", "1.e400", "1e400.5", "-e400", "1e400 2", "true1e400",
        ] {
            _ = refusal("{\"price\": \(number)}")
            _ = refusal("{\"free\": [\(number)]}")
        }
        for json in ["1e400", "[1e400]", "{1e400: 1}", "{\"price\" 1e400}", "{\"price\": 1e400"] { _ = refusal(json) }
        #expect(realm.isEmpty)
    }

    @Test(
        arguments: [
            "9007199254740993.5", "4503599627370496.7", "12345678901234567.89", "12345678901234567.123456789012",
            "0.99999999999999999999", "-0.99999999999999999", "1.0000000000000001", "99999999999999999999e-20",
            "-9223372036854775808.3", "100000000000000.0000000000000001", "0.00000000000000099999999999999999e15",
        ]
    )
    func `a number with digits behind its point is no integer, and the nearest double`(number: String) throws {
        let realm = try memoryRealm([Weighed.self])
        for insert in [inserted, decoded] {
            let error = #expect(throws: Realm.Error.self) { _ = try insert("{\"whole\": \(number)}", realm) }
            #expect(error?.code == .invalidInput && error?.message.contains("- whole: ") == true)
            #expect(realm.isEmpty)
            let double = try #require(Double(number))
            let weighed = try insert("{\"free\": \(number), \"double\": \(number)}", realm)
            #expect(weighed.free == .double(double) && weighed.double == double)
            try realm.write { realm.deleteAll() }
        }
    }

    @Test func `digits far behind the point count, too`() throws {
        let realm = try memoryRealm([Weighed.self])
        let zeros = String(repeating: "0", count: 60)
        for number in ["1.\(zeros)1", "-1\(zeros).1e-60", "1e-400"] {
            #expect(throws: Realm.Error.self, "\(number)") { try inserted("{\"whole\": \(number)}", in: realm) }
        }
        #expect(throws: Realm.Error.self) { try inserted("{\"free\": 1e-400}", in: realm) }
        #expect(try inserted("{\"free\": 1.\(zeros)1}", in: realm).free == .double(1))
        for name in ["whole", "free", "price"] {
            #expect(throws: Realm.Error.self, "\(name)") { try decoded("{\"\(name)\": 1e-400}", in: realm) }
        }
    }

    @Test(
        arguments: [
            ("9007199254740993.0", 9_007_199_254_740_993), ("123456789012345678.000000000000", 123_456_789_012_345_678),
            ("-9223372036854775808.0", .min), ("9223372036854775807", .max), ("1e18", 1_000_000_000_000_000_000),
            ("1000000000000000000000e-3", 1_000_000_000_000_000_000), ("12.5e1", 125), ("-4.0", -4), ("-0.0", 0),
            ("0.0000000000000000000e3", 0), ("1.0000000000000000000", 1), ("0e-400", 0),
        ] as [(String, Int)]
    )
    func `a whole number is an integer however it is written`(number: String, expected: Int) throws {
        let realm = try memoryRealm([Weighed.self])
        #expect(try inserted("{\"whole\": \(number)}", in: realm).whole == expected)
        #expect(try decoded("{\"whole\": \(number)}", in: realm).whole == expected)
    }

    @Test func `a decimal that is too large or too close to zero is refused, as a number and as a text`() throws {
        let realm = try memoryRealm([Weighed.self])
        for number in ["1e-7000", "1e7000", "-1e7000", "-0.5e-6200", "0.00012E-99999999999999999999"] {
            for json in ["{\"price\": \(number)}", "{\"prices\": [1, \(number)]}", "{\"named\": {\"a\": \(number)}}"] {
                let error = #expect(throws: Realm.Error.self, "\(json)") { try inserted(json, in: realm) }
                #expect(error?.code == .invalidInput)
            }
            for insert in [inserted, decoded] {
                #expect(throws: Realm.Error.self, "\(number)") { _ = try insert("{\"price\": \"\(number)\"}", realm) }
            }
        }
        #expect(throws: Realm.Error.self) { try decoded(#"{"price": 1.2345678901234567890e-200}"#, in: realm) }
        #expect(realm.isEmpty)
        let json = #"{"price": 1e-6176, "prices": [0e-7000, 0.00E+7000, "0e9999", "Infinity", "-inf", "nan"]}"#
        let weighed = try inserted(json, in: realm)
        #expect(weighed.price.stringValue == "1E-6176")
        #expect(weighed.prices.prefix(3).allSatisfy { $0 == 0 })
        #expect(weighed.prices.dropFirst(3).map { $0?.stringValue } == ["Inf", "-Inf", "NaN"])
    }
}
