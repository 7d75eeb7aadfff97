/// A number of a JSON text by its digits.
struct JSONNumber {
    private let isNegative: Bool
    /// The digits before the point, and those behind it.
    private let whole: ArraySlice<UInt8>
    private let fraction: ArraySlice<UInt8>
    /// The exponent, 0 where it has none; one further away than ``farthest`` is that.
    let exponent: Int

    /// An exponent that no number of digits in memory undoes, and to which their number can be added.
    private static let farthest = Int.max / 2
    private static let zero = UInt8(ascii: "0")
    private static let nine = UInt8(ascii: "9")

    /// A number as JSON has it; nil for any other text.
    init?(_ text: ArraySlice<UInt8>) {
        var rest = text
        /// Takes the digits that follow.
        func digits() -> ArraySlice<UInt8> {
            let digits = rest.prefix(while: { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
            rest = rest.dropFirst(digits.count)
            return digits
        }
        let minus = UInt8(ascii: "-")
        isNegative = text.first == minus
        if rest.first == minus { rest = rest.dropFirst() }
        let whole = digits()
        guard let first = whole.first, whole.count == 1 || first != UInt8(ascii: "0") else { return nil }
        var fraction = rest.prefix(0)
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            fraction = digits()
            if fraction.isEmpty { return nil }
        }
        var exponent = 0
        if let mark = rest.first {
            guard mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") else { return nil }
            rest = rest.dropFirst()
            let sign = rest.first
            if sign == minus || sign == UInt8(ascii: "+") { rest = rest.dropFirst() }
            let power = digits()
            guard !power.isEmpty, rest.isEmpty else { return nil }
            let size = min(Int(String(decoding: power, as: UTF8.self)) ?? .max, Self.farthest)
            exponent = sign == minus ? -size : size
        }
        self.whole = whole
        self.fraction = fraction
        self.exponent = exponent
    }

    /// A number as JSON has it; nil for any other text.
    init?(_ text: String) { self.init(Array(text.utf8)[...]) }

    /// How many digits stand there, those of the exponent left out.
    var digitCount: Int { whole.count + fraction.count }

    /// How many digits lie before the point where the exponent has moved it.
    private var point: Int { whole.count + exponent }

    private func digit(at place: Int) -> UInt8 {
        place < whole.count
            ? whole[whole.startIndex + place] : fraction[fraction.startIndex + place - whole.count]
    }

    /// Whether a decoder may take it for a whole number that it is not: where the nearest double is whole.
    ///
    /// Of a number below 10^n that double is less than 1.2 * 10^(n - 16) away. A fraction that begins with r times the digit 0, or r times
    /// the digit 9, and goes on with another one, is at least 10^-(r + 1) away from a whole number, which is more where n + r is below
    /// 15; and the fraction of a number of 15 digits is at least 10^(n - 15) away.
    var mayBeRounded: Bool {
        guard digitCount > 15, !fraction.isEmpty || exponent != 0, point >= 0 else { return false }
        guard point <= 15 else { return true }
        var end = point
        let first = digit(at: point)
        if first == Self.zero || first == Self.nine {
            while end < digitCount, digit(at: end) == first { end += 1 }
        }
        return end >= 15
    }

    /// The whole number that it is; nil where it has a fraction, or no room in an `Int64`.
    var integer: Int64? {
        let digits = Array(whole + fraction)
        guard let first = digits.firstIndex(where: { $0 != Self.zero }),
            let last = digits.lastIndex(where: { $0 != Self.zero })
        else { return 0 }
        // An `Int64` has 19 digits at most.
        guard point > last, point - first <= 19 else { return nil }
        let text = String(decoding: digits[first...last], as: UTF8.self)
        return Int64((isNegative ? "-" : "") + text + String(repeating: "0", count: point - last - 1))
    }
}
