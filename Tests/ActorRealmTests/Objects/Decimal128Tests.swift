import Foundation
import Testing

@testable import ActorRealm

@Suite struct Decimal128Tests {
    @Test func `a property keeps every digit`() throws {
        let realm = try memoryRealm(crateTypes)
        let crate = try realm.write { realm.create(Crate.self, value: ["id": 1]) }
        #expect(crate.price == 0)
        #expect(crate.price.stringValue == "0")
        #expect(crate.discount == nil)
        try realm.write {
            crate.price = "1234567890.12345678901234567890"
            crate.discount = "-0.10"
            crate.prices.append(objectsIn: [1, 2.5, "3.50"])
        }
        #expect(crate.price.stringValue == "1234567890.12345678901234567890")
        #expect(crate.discount?.stringValue == "-0.10")
        #expect(crate.discount == Decimal128("-0.1"))
        #expect(crate.prices.map(\.stringValue) == ["1", "2.5", "3.50"])
        #expect(crate.prices.sum() == 7)
        let average: Decimal128? = crate.prices.average()
        #expect(average?.stringValue == "2.333333333333333333333333333333333")
        try realm.write { crate.price += 0.1 }
        #expect(crate.price.stringValue == "1234567890.22345678901234567890")
    }

    @Test func `queries, sorts and sums take decimals by value`() throws {
        let realm = try memoryRealm(crateTypes)
        let prices: [Decimal128] = ["1.10", "-3", "100", "1.1", "0.999999999999999999999", "NaN"]
        try realm.write {
            for (id, price) in prices.enumerated() { realm.create(Crate.self, value: ["id": id, "price": price]) }
        }
        let crates = realm.objects(Crate.self)
        #expect(crates.where { $0.price == "1.1" }.map(\.id) == [0, 3])
        #expect(crates.where { $0.price > 1 }.map(\.id) == [0, 2, 3])
        #expect(crates.where { $0.price.contains(1...100) }.map(\.id) == [0, 2, 3])
        #expect(crates.where { $0.price.in([100, "-3.0"]) }.map(\.id) == [1, 2])
        #expect(crates.filter("price < %@", Decimal128("1")).map(\.id) == [1, 4])
        #expect(crates.filter("discount == NULL").count == 6)
        #expect(crates.sorted(byKeyPath: "price").map(\.id) == [5, 1, 4, 0, 3, 2])
        #expect(crates.sorted(byKeyPath: "price", ascending: false).map(\.id) == [2, 0, 3, 4, 1, 5])
        let numbers = crates.where { $0.price < 1_000 }
        #expect(numbers.max(of: \.price) == 100)
        #expect(numbers.min(of: \.price) == -3)
        let sum: Decimal128 = numbers.sum(of: \.price)
        #expect(sum.stringValue == "100.199999999999999999999")
        #expect(crates.distinct(by: ["price"]).count == 5)
    }

    @Test func `text, numbers and codable forms agree`() throws {
        #expect(Decimal128(value: 3) == 3)
        #expect(Decimal128(value: "2.5") == 2.5)
        #expect((Decimal128.self as any MadeOfText.Type).init(string: "nonsense").isNaN)
        #expect(throws: Realm.Error.self) { try Decimal128(parsing: "nonsense") }
        #expect(Decimal128(0.1).stringValue == "0.1")
        #expect(Decimal128(number: NSNumber(value: 7)) == 7 && Decimal128(number: NSNumber(value: 0.1)) == "0.1")
        #expect(Decimal128(number: NSDecimalNumber(string: "12.340")) == "12.34" && Decimal128(number: 3) == 3)
        #expect(Decimal128("1E+3").decimalValue == 1_000)
        #expect(Decimal128(Decimal(string: "12.75")!).stringValue == "12.75")
        #expect(Decimal128("1e-2").doubleValue == 0.01)
        #expect(Decimal128.max > Decimal128.min)
        #expect(Decimal128.max + Decimal128.max == "inf")
        #expect(-Decimal128(5) == "-5")
        #expect(Decimal128("-5").magnitude == 5)
        let data = try JSONEncoder().encode([Decimal128("1.50")])
        #expect(String(decoding: data, as: UTF8.self) == #"["1.50"]"#)
        let decoded = try JSONDecoder().decode([Decimal128].self, from: Data(#"["7.5", 3, 1.25]"#.utf8))
        #expect(decoded == [7.5, 3, 1.25])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([Decimal128].self, from: Data(#"["x"]"#.utf8))
        }
        #expect(Set<Decimal128>(["1.0", "1.00", "1"]).count == 1)
    }

    @Test func `no order holds for what is no number`() {
        let (nan, one): (Decimal128, Decimal128) = (.nan, 1)
        #expect(!(nan >= one) && !(nan <= one))
        #expect(!(one >= nan) && !(one <= nan))
        #expect(!(nan > one) && !(nan < one) && !(nan >= nan) && !(nan <= nan))
        #expect(!nan.isGreaterThanOrEqual(to: one) && !nan.isLessThanOrEqual(to: one))
        let range: ClosedRange<Decimal128> = 0...10
        #expect(!range.contains(nan) && range.contains(0) && range.contains(one) && range.contains("10.0"))
        #expect(one >= "1.00" && one <= "1.00" && one > 0 && one >= 0 && !(one <= 0))
    }
}

/// Reaches an initializer that is deprecated, and is to go on as it does.
private protocol MadeOfText {
    init(string: String)
    var isNaN: Bool { get }
}

extension Decimal128: MadeOfText {}
