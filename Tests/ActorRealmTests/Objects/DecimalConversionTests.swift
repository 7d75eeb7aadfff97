import ActorRealm
import Foundation
import Testing

/// Decimals on their way to Foundation's, and from the numbers of a decoder.
@Suite struct DecimalConversionTests {
    @Test(
        arguments: [
            ("1.00E-127", "1e-127"), ("1.500E-127", "15e-128"), ("-1E+128", "-10e127"), ("1E+128", "10e127"),
            ("9999999999999999999999999999999999E+131", "99999999999999999999999999999999990000e127"),
            ("1E+165", "100000000000000000000000000000000000000e127"),
            ("9999999999999999999999999999999999E-128", "9999999999999999999999999999999999e-128"),
            ("1000000000000000000000000000000000E-161", "1e-128"), ("0E-6176", "0"), ("0E+6111", "0"), ("-0", "0"),
            ("12.50", "12.5"), ("1E+3", "1000"), ("-0.001", "-0.001"),
        ]
    )
    func `what Foundation's decimal has room for has the same value there`(text: String, expected: String) throws {
        let converted = try Decimal128(parsing: text).decimalValue
        let decimal = try #require(Decimal(string: expected))
        #expect("\(converted)" == "\(decimal)" && !decimal.isNaN)
    }

    @Test(
        arguments: [
            "-inf", "inf", "nan", "snan", "1E+166", "1E-129", "1.234E-127", "-1E+6111", "1E-6176",
            "9999999999999999999999999999999999E+132",
        ]
    )
    func `what it has no room for is no number there`(text: String) throws {
        #expect(try Decimal128(parsing: text).decimalValue.isNaN)
    }

    @Test func `what is divided by infinity is zero there`() {
        #expect((Decimal128(1) / Decimal128("inf")).decimalValue == 0)
    }

    @Test func `a decoder's number keeps its digits`() throws {
        let json = """
            [12345678901234567.89, -0.1234567890123456789, 0.1, 2.50, 3, 1e128, 1e30, -1e-200, 1.25e-200,
             123456789012345e140, -98.7654321012345E-300, 18446744073709551615,
             1.23456789012345678901234567890123e-90]
            """
        let decoded = try JSONDecoder().decode([Decimal128].self, from: Data(json.utf8))
        let expected = [
            "12345678901234567.89", "-0.1234567890123456789", "0.1", "2.5", "3", "1E+128", "1E+30", "-1E-200",
            "1.25E-200", "1.23456789012345E+154", "-9.87654321012345E-299", "18446744073709551615",
            "1.23456789012345678901234567890123E-90",
        ]
        #expect(decoded.map(\.stringValue) == expected)
    }

    @Test func `zero is zero whatever its exponent is`() throws {
        let decoded = try JSONDecoder().decode([Decimal128].self, from: Data("[0, 0e-400, 0.0e400]".utf8))
        #expect(decoded == [0, 0, 0])
    }

    @Test(
        arguments: [
            "1.2345678901234567890e-200", "-1.2345678901234567890e170", "1234567890123456789012345e-140", "1e-400",
            "-1e-400", "1e400",
        ]
    )
    func `a number of which a decoder does not have all digits is refused`(number: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([Decimal128].self, from: Data("[\(number)]".utf8))
        }
    }

    @Test(arguments: [true, false])
    func `a whole number of a property list keeps its digits`(isBinary: Bool) throws {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = isBinary ? .binary : .xml
        let wholes = try encoder.encode([UInt64.max, UInt64(Int64.max) + 1, 7, 0])
        let decoded = try PropertyListDecoder().decode([Decimal128].self, from: wholes)
        #expect(decoded.map(\.stringValue) == ["18446744073709551615", "9223372036854775808", "7", "0"])
        // A property list has doubles, of which nothing is lost.
        let doubles = try encoder.encode([1.2345678901234567e-200, 2.5, -3])
        let named = try PropertyListDecoder().decode([Decimal128].self, from: doubles)
        #expect(named.map(\.stringValue) == ["1.2345678901234567E-200", "2.5", "-3"])
    }
}
