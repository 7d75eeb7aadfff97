/// A decimal floating-point number of IEEE 754-2008's format decimal128: 34 digits, exponents from -6176 to 6111.
///
/// A finite number is `(-1)^sign * coefficient * 10^exponent`. Numbers of equal value may differ in their exponents
/// (1.0 and 1.00): they are equal, and the exponent is kept for printing.
package struct DecimalNumber: Sendable {
    /// What a number is.
    package enum Form: UInt8, Sendable {
        case finite
        case infinity
        case quietNaN
        case signalingNaN
    }

    package var form: Form
    package var isNegative: Bool
    /// Below 10^34.
    package var coefficient: UInt128
    package var exponent: Int

    /// The digits of precision.
    package static let precision = 34
    package static let minimumExponent = -6176
    package static let maximumExponent = 6111
    static let coefficientLimit: UInt128 = 10_000_000_000_000_000_000_000_000_000_000_000

    package init(form: Form = .finite, isNegative: Bool = false, coefficient: UInt128 = 0, exponent: Int = 0) {
        self.form = form
        self.isNegative = isNegative
        self.coefficient = coefficient
        self.exponent = exponent
    }

    /// A whole number, exactly.
    package init(_ value: Int64) {
        self.init(isNegative: value < 0, coefficient: UInt128(value.magnitude), exponent: 0)
    }

    /// The whole number towards zero; nil where it has more than 64 bits, and for what is not finite.
    package var truncated: Int64? {
        guard form == .finite else { return nil }
        var whole = coefficient
        var rest = exponent
        while rest < 0, whole != 0 {
            whole /= 10
            rest += 1
        }
        while rest > 0, whole != 0 {
            let (product, isTooLarge) = whole.multipliedReportingOverflow(by: 10)
            if isTooLarge { return nil }
            whole = product
            rest -= 1
        }
        guard let magnitude = Int128(exactly: whole) else { return nil }
        return Int64(exactly: isNegative ? -magnitude : magnitude)
    }

    /// A binary number: the shortest decimal that names it, which need not be its exact value.
    package init(_ value: Double) { self.init(naming: value) }

    /// A binary number: the shortest decimal that names it, which need not be its exact value.
    package init(_ value: Float) { self.init(naming: value) }

    private init(naming value: some BinaryFloatingPoint & CustomStringConvertible) {
        if value.isNaN {
            self = .notANumber
        } else if value.isInfinite {
            self.init(form: .infinity, isNegative: value < 0)
        } else {
            self = DecimalNumber(parsing: value.description)?.withoutTrailingZeros(above: 0) ?? .notANumber
        }
    }

    package static let notANumber = DecimalNumber(form: .quietNaN)
    package static let zero = DecimalNumber()
    /// The largest finite number.
    package static let greatestFinite = DecimalNumber(coefficient: coefficientLimit - 1, exponent: maximumExponent)
    /// The smallest finite number.
    package static let leastFinite = DecimalNumber(
        isNegative: true,
        coefficient: coefficientLimit - 1,
        exponent: maximumExponent
    )

    package var isNaN: Bool { form == .quietNaN || form == .signalingNaN }
    package var isZero: Bool { form == .finite && coefficient == 0 }

    /// The same value with a non-negative sign.
    package var magnitude: DecimalNumber {
        var result = self
        result.isNegative = false
        return result
    }

    package static prefix func - (value: DecimalNumber) -> DecimalNumber {
        var result = value
        result.isNegative.toggle()
        return result
    }

    /// The nearest number of double precision.
    package var double: Double { binary() }

    /// The nearest number of single precision, which the one next to ``double`` need not be.
    package var float: Float { binary() }

    private func binary<Number: BinaryFloatingPoint & LosslessStringConvertible>() -> Number {
        switch form {
        case .infinity: isNegative ? -.infinity : .infinity
        case .quietNaN, .signalingNaN: .nan
        case .finite: Number("\(isNegative ? "-" : "")\(coefficient)e\(exponent)") ?? .nan
        }
    }

    /// The whole part; nil beyond 64 bits.
    package var integer: Int64? {
        guard form == .finite else { return nil }
        var magnitude = coefficient
        if exponent < 0 {
            magnitude = exponent < -DecimalNumber.precision ? 0 : magnitude / DecimalPowers.ten(-exponent)
        } else if exponent > 0, magnitude != 0 {
            guard exponent <= 19 else { return nil }
            let (product, overflow) = magnitude.multipliedReportingOverflow(by: DecimalPowers.ten(exponent))
            guard !overflow else { return nil }
            magnitude = product
        }
        guard magnitude <= UInt128(Int64.max) + (isNegative ? 1 : 0) else { return nil }
        return isNegative ? Int64(truncatingIfNeeded: 0 &- magnitude) : Int64(magnitude)
    }

    /// Whether the number has no fraction.
    package var isWhole: Bool {
        guard form == .finite else { return false }
        if exponent >= 0 || coefficient == 0 { return true }
        return -exponent <= DecimalNumber.precision && coefficient % DecimalPowers.ten(-exponent) == 0
    }

    /// The same value with zeros at the end of the coefficient moved to the exponent, up to a greatest exponent.
    func withoutTrailingZeros(above greatest: Int = .max) -> DecimalNumber {
        guard form == .finite else { return self }
        var result = self
        if coefficient == 0 {
            result.exponent = greatest == .max ? 0 : Swift.min(Swift.max(exponent, greatest), Self.maximumExponent)
            return result
        }
        while result.exponent < Swift.min(greatest, Self.maximumExponent) {
            let (quotient, remainder) = result.coefficient.quotientAndRemainder(dividingBy: 10)
            guard remainder == 0 else { break }
            result.coefficient = quotient
            result.exponent += 1
        }
        return result
    }
}

/// Powers of ten that fit into 128 bits.
enum DecimalPowers {
    private static let table: [UInt128] = {
        var powers: [UInt128] = [1]
        for _ in 1...38 { powers.append(powers[powers.count - 1] * 10) }
        return powers
    }()

    /// 10^n for n from 0 to 38.
    static func ten(_ exponent: Int) -> UInt128 { table[exponent] }

    /// The number of decimal digits; 0 for 0.
    static func digitCount(_ value: UInt128) -> Int {
        var low = 0
        var high = 39
        while low < high {
            let middle = (low + high) / 2
            if value >= table[middle] { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// A number of 256 bits, for exact intermediate results.
struct WideNumber {
    var high: UInt128
    var low: UInt128

    var isZero: Bool { high == 0 && low == 0 }

    static func product(_ left: UInt128, _ right: UInt128) -> WideNumber {
        let full = left.multipliedFullWidth(by: right)
        return WideNumber(high: full.high, low: full.low)
    }

    /// The sum, which must fit.
    static func + (left: WideNumber, right: WideNumber) -> WideNumber {
        let (low, carry) = left.low.addingReportingOverflow(right.low)
        return WideNumber(high: left.high + right.high + (carry ? 1 : 0), low: low)
    }

    /// The difference, which must not be negative.
    static func - (left: WideNumber, right: WideNumber) -> WideNumber {
        let (low, borrow) = left.low.subtractingReportingOverflow(right.low)
        return WideNumber(high: left.high - right.high - (borrow ? 1 : 0), low: low)
    }

    static func < (left: WideNumber, right: WideNumber) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }

    func dividedBy(_ divisor: UInt128) -> (quotient: WideNumber, remainder: UInt128) {
        let (highQuotient, highRemainder) = high.quotientAndRemainder(dividingBy: divisor)
        let (lowQuotient, remainder) = divisor.dividingFullWidth((highRemainder, low))
        return (WideNumber(high: highQuotient, low: lowQuotient), remainder)
    }
}
