import Foundation
import Testing

@testable import ActorRealm

/// `Decimal128` as programs use it that were written for RealmSwift.
@Suite("Decimal128 of RealmSwift") struct PortedDecimalTests {
    @Test("A number of any binary type has no zeros at the end that nobody wrote")
    func textOfNumbers() {
        let one: [Any] = [
            -1, Int8(-1), Int64(-1), Float(-1), Double(-1), NSNumber(value: -1), NSNumber(value: -1.0), Decimal(-1),
            NSNumber(value: Float(-1)), NSDecimalNumber(string: "-1.0"), "-1", Decimal128(-1),
        ]
        for value in one { #expect(Decimal128(value: value).stringValue == "-1", "\(type(of: value))") }
        #expect(Decimal128(floatLiteral: -1).stringValue == "-1" && (-1.0 as Decimal128).description == "-1")
        #expect(Decimal128(value: Float(0.5)).stringValue == "0.5")
        #expect(Decimal128(value: Float(0.1)).stringValue == "0.1")
        #expect(Decimal128(value: Float(1e20)) == "1E+20")
        #expect(Decimal128(value: Float.infinity) == Decimal128(value: "inf"))
        // Digits that were written stay.
        #expect(Decimal128(value: "1.50").stringValue == "1.50")
    }

    @Test("An integer is taken exactly or not at all where that is asked for")
    func exactIntegers() {
        let most: UInt128 = 9_999_999_999_999_999_999_999_999_999_999_999
        #expect(Decimal128(exactly: most)?.stringValue == "\(most)")
        #expect(Decimal128(exactly: most + 1)?.stringValue == "1.000000000000000000000000000000000E+34")
        #expect(Decimal128(exactly: most + 2) == nil && Decimal128(exactly: Int128.min) == nil)
        #expect(Decimal128(exactly: -Int128(most))?.stringValue == "-\(most)")
        #expect(Decimal128(exactly: Int.min)?.stringValue == "\(Int.min)")
        #expect(Decimal128(exactly: UInt64.max)?.stringValue == "\(UInt64.max)" && Decimal128(exactly: 0) == 0)
    }

    @Test("Null and nil are no number")
    func null() {
        #expect(Decimal128(value: NSNull()).isNaN)
        #expect(Decimal128(value: Optional<Int>.none as Any).isNaN)
        #expect(Decimal128(value: Double.nan).isNaN && Decimal128(value: Float.nan).isNaN)
        #expect(Decimal128(value: "NaN").isNaN && !Decimal128(value: "NaN").isSignaling)
        #expect(Decimal128(value: "sNaN").isSignaling)
        #expect(Decimal128(value: NSNull()) != Decimal128(value: NSNull()))
    }

    @Test("Numbers are negated, and moved by distances")
    func strides() {
        var number: Decimal128 = 3.5
        number.negate()
        #expect(number == -3.5 && number.magnitude == 3.5)
        #expect(number.advanced(by: 5) == 1.5 && number.distance(to: 1.5) == 5)
        let steps = stride(from: Decimal128(1), through: 2, by: "0.25").map(\.stringValue)
        #expect(steps == ["1", "1.25", "1.50", "1.75", "2.00"])
        #expect(Decimal128.zero == 0 && Decimal128.min < Decimal128.max)
    }
}
