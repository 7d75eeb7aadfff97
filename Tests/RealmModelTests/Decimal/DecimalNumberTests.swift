import Foundation
import RealmTestSupport
import Testing

@testable import RealmModel

@Suite struct DecimalNumberTests {
    @Test func `arithmetic agrees with the reference model, digit for digit`() throws {
        let url = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "DecimalVectors.txt")
        let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
        #expect(lines.count >= 1_000)
        for line in lines {
            let words = line.split(separator: " ")
            let left = try #require(DecimalNumber(parsing: words[1]))
            let right = try #require(DecimalNumber(parsing: words[2]))
            let result: String =
                switch words[0] {
                case "add": (left + right).text
                case "subtract": (left - right).text
                case "multiply": (left * right).text
                case "divide": (left / right).text
                case "compare": DecimalNumber.compare(left, right).map { "\($0)" } ?? "NaN"
                default: left.text
                }
            #expect(result == words[3], "\(line)")
        }
    }

    @Test func `bytes in a file give the number back`() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        for _ in 0..<2_000 {
            let number = DecimalNumber(
                isNegative: Bool.random(using: &random),
                coefficient: UInt128.random(in: 0..<DecimalNumber.coefficientLimit, using: &random)
                    >> UInt128.random(in: 0..<113, using: &random),
                exponent: Int.random(
                    in: DecimalNumber.minimumExponent...DecimalNumber.maximumExponent,
                    using: &random
                )
            )
            let back = DecimalBytes(number).number
            #expect(back.text == number.text, "seed \(seed)")
        }
        for text in ["Inf", "-Inf", "NaN", "sNaN", "0", "-0", "0E+3"] {
            let number = try #require(DecimalNumber(parsing: text))
            #expect(DecimalBytes(number).number.text == text)
        }
    }

    @Test func `bytes that are no number do no harm`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        for _ in 0..<10_000 {
            let number = DecimalBytes(high: random.next(), low: random.next()).number
            _ = (number + number).text + (number * number).text + (number / number).text
            _ = StoredValue.decimal(DecimalBytes(number)).sortKey
            // What it is read as is a number that can be written, and is the same one then.
            let again = DecimalBytes(number).number
            #expect(again == number || again.isNaN && number.isNaN, "seed \(seed): \(number.text)")
        }
    }

    @Test func `sort keys order as the values do`() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        func value() -> StoredValue {
            switch Int.random(in: 0..<9, using: &random) {
            case 0: .int(Int64.random(in: -20...20, using: &random))
            case 1: .double(Double(Int.random(in: -40...40, using: &random)) / 4)
            case 2: .float(Float(Int.random(in: -40...40, using: &random)) / 4)
            case 3:
                .decimal(
                    DecimalBytes(
                        DecimalNumber(
                            isNegative: Bool.random(using: &random),
                            coefficient: UInt128(Int.random(in: 0...300, using: &random)),
                            exponent: Int.random(in: -3...2, using: &random)
                        )
                    )
                )
            case 4: .string(String(Int.random(in: 0...50, using: &random)))
            case 5: .bool(Bool.random(using: &random))
            case 6: .date(Double(Int.random(in: -5...5, using: &random)))
            case 7: .null
            default: .data([UInt8.random(in: 0...3, using: &random), 7])
            }
        }
        for _ in 0..<5_000 {
            let left = value()
            let right = value()
            let order = StoredValue.order(left, right)
            let keys = (left.sortKey, right.sortKey)
            let keyOrder = keys.0 == keys.1 ? 0 : keys.0.lexicographicallyPrecedes(keys.1) ? -1 : 1
            #expect(order == keyOrder, "\(left) \(right), seed \(seed)")
            #expect(StoredValue.order(right, left) == -order)
        }
    }

    @Test(arguments: ["", ".", "-", "1e", "1e+", "abc", "1.2.3", "0x1", "1 ", "١", "--1", "1E1.5"])
    func `text that is no number is refused`(text: String) {
        #expect(DecimalNumber(parsing: text) == nil)
    }

    @Test func `long texts and far exponents are rounded, not believed`() throws {
        let long = String(repeating: "9", count: 100_000)
        #expect(try #require(DecimalNumber(parsing: long)).text == "Inf")
        #expect(try #require(DecimalNumber(parsing: "1E-999999999999999999999")).text == "0E-6176")
        #expect(try #require(DecimalNumber(parsing: "-1E999999999999999999999")).text == "-Inf")
        #expect(try #require(DecimalNumber(parsing: "0." + String(repeating: "0", count: 5_000) + "1")).isZero == false)
        // An exponent may undo any number of digits.
        let zeros = String(repeating: "0", count: 150_000)
        #expect(try #require(DecimalNumber(parsing: "1\(zeros)e-150000")) == DecimalNumber(Int64(1)))
        #expect(try #require(DecimalNumber(parsing: "-0.\(zeros)7E+150001")).text == "-7")
        #expect(try #require(DecimalNumber(parsing: "0.\(zeros)1e-9223372036854775808")).text == "0E-6176")
        #expect(try #require(DecimalNumber(parsing: "1\(zeros)e9223372036854775807")).text == "Inf")
    }
}
