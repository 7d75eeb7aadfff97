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
}
