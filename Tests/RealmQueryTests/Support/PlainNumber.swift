import Foundation
import RealmModel

/// Numbers compared by the digits that they have when they are written out in full: slow, and independent of the library.
enum PlainNumber {
    /// A finite number, written out.
    private struct Digits {
        var isNegative: Bool
        /// Without zeros at its beginning.
        var whole: Substring
        /// Without zeros at its end.
        var fraction: Substring

        init(_ text: String) {
            isNegative = text.hasPrefix("-")
            let parts = text.drop { $0 == "-" }.split(separator: ".", omittingEmptySubsequences: false)
            whole = parts[0].drop { $0 == "0" }
            fraction = parts.count > 1 ? parts[1] : ""
            while fraction.last == "0" { fraction.removeLast() }
        }

        var isZero: Bool { whole.isEmpty && fraction.isEmpty }
    }

    /// Whether the value is a number, or a date, that is none.
    static func isNaN(_ value: StoredValue) -> Bool {
        switch value {
        case .float(let value): value.isNaN
        case .double(let value), .date(let value): value.isNaN
        case .decimal(let value): value.number.text.hasSuffix("NaN")
        default: false
        }
    }

    static func isNumber(_ value: StoredValue) -> Bool {
        switch value {
        case .int, .float, .double, .decimal: true
        default: false
        }
    }

    /// Below 0 when the left number is less, 0 when both have the same value; both are numbers, and none is NaN.
    static func compare(_ left: StoredValue, _ right: StoredValue) -> Int {
        switch (left, right) {
        case (.int(let one), .int(let other)): return one == other ? 0 : one < other ? -1 : 1
        case (.double(let one), .double(let other)): return one == other ? 0 : one < other ? -1 : 1
        case (.float(let one), .float(let other)): return one == other ? 0 : one < other ? -1 : 1
        default: break
        }
        let (one, other) = (infinity(left), infinity(right))
        if one != 0 || other != 0 { return one == other ? 0 : one < other ? -1 : 1 }
        return compare(digits(left), digits(right))
    }

    private static func infinity(_ value: StoredValue) -> Int {
        switch value {
        case .float(let value): value.isInfinite ? value < 0 ? -1 : 1 : 0
        case .double(let value): value.isInfinite ? value < 0 ? -1 : 1 : 0
        case .decimal(let value): ["Inf": 1, "-Inf": -1][value.number.text] ?? 0
        default: 0
        }
    }

    private static func digits(_ value: StoredValue) -> Digits {
        switch value {
        case .int(let value): return Digits("\(value)")
        // The C library writes all digits that a binary number has.
        case .float(let value): return Digits(String(format: "%.150f", Double(value)))
        case .double(let value): return Digits(String(format: "%.1074f", value))
        case .decimal(let value): return Digits(written(value.number))
        default: return Digits("0")
        }
    }

    private static func written(_ number: DecimalNumber) -> String {
        let digits = "\(number.coefficient)"
        let sign = number.isNegative ? "-" : ""
        if number.exponent >= 0 { return sign + digits + String(repeating: "0", count: number.exponent) }
        let zeros = String(repeating: "0", count: max(0, 1 - number.exponent - digits.count))
        let padded = zeros + digits
        return sign + padded.dropLast(-number.exponent) + "." + padded.suffix(-number.exponent)
    }

    private static func compare(_ left: Digits, _ right: Digits) -> Int {
        if left.isZero || right.isZero {
            if left.isZero && right.isZero { return 0 }
            return left.isZero ? (right.isNegative ? 1 : -1) : (left.isNegative ? -1 : 1)
        }
        if left.isNegative != right.isNegative { return left.isNegative ? -1 : 1 }
        var order = left.whole.utf8.count - right.whole.utf8.count
        if order == 0 { order = lexicographic(left.whole, right.whole) }
        if order == 0 { order = lexicographic(left.fraction, right.fraction) }
        return left.isNegative ? -order.signum() : order.signum()
    }

    private static func lexicographic(_ left: Substring, _ right: Substring) -> Int {
        if left.utf8.elementsEqual(right.utf8) { return 0 }
        return left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1
    }
}
