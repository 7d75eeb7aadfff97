public import FoundationEssentials
import RealmModel

/// A decimal floating-point number of 34 digits: IEEE 754-2008's decimal128.
///
/// Arithmetic rounds to the nearest number, ties to even, and never traps: what is out of range is infinite, what makes
/// no sense is NaN. Numbers keep their number of digits for printing (`1.0` and `1.00` are equal, but print as they are).
///
/// ```swift
/// class Account: Object {
///     @Persisted var balance: Decimal128
/// }
/// account.balance += "19.99"
/// ```
public struct Decimal128: Sendable {
    var number: DecimalNumber

    init(_ number: DecimalNumber) { self.number = number }

    /// Zero.
    public init() { number = .zero }

    /// A number given as text, such as `-12.50` or `1E-3`; NaN for any other text.
    @available(*, deprecated, message: "Text that is no number becomes NaN. Use `Decimal128(parsing:)`, which throws.")
    public init(string: String) { number = DecimalNumber(parsing: string) ?? .notANumber }

    /// A number given as text.
    ///
    /// - Throws: `Realm.Error` with the code `.invalidInput` when the text is not a number.
    public init(parsing text: String) throws {
        guard let number = DecimalNumber(parsing: text) else {
            throw Realm.Error(.invalidInput, "'\(text.prefix(100))' is not a decimal number.")
        }
        self.number = number
    }

    /// A number given as an integer, a floating-point number, text, or a decimal; NaN for `NSNull()` and nil.
    ///
    /// - Precondition: The value is one of these. For text from outside ``init(parsing:)`` throws.
    public init(value: Any) {
        guard ValueReader.unwrap(value) != nil else {
            number = .notANumber
            return
        }
        guard let decimal = Self._unboxed(value) else {
            misuse("Cannot convert value '\(value)' of type '\(type(of: value))' to decimal128.")
        }
        self = decimal
    }

    /// An integer.
    public init<Integer: BinaryInteger>(number: Integer) { self.init(number) }
    /// The nearest decimal that names a binary number.
    public init(number: Double) { self.init(number) }
    /// A decimal of Foundation.
    public init(number: Decimal) { self.init(number) }

    /// A decimal of Foundation.
    public init(_ value: Decimal) { number = DecimalNumber(parsing: "\(value)") ?? .notANumber }

    /// The nearest decimal that names a binary number.
    public init(_ value: Double) { number = DecimalNumber(value) }

    /// An integer.
    public init<Integer: BinaryInteger>(_ value: Integer) {
        number = Int64(exactly: value).map { DecimalNumber($0) } ?? DecimalNumber(parsing: "\(value)") ?? .notANumber
    }

    /// The largest finite number.
    public static var max: Decimal128 { Decimal128(.greatestFinite) }
    /// The smallest finite number, far below zero.
    public static var min: Decimal128 { Decimal128(.leastFinite) }
    /// What is no number.
    public static var nan: Decimal128 { Decimal128(.notANumber) }

    /// Whether this is no number.
    public var isNaN: Bool { number.isNaN }
    /// Whether this is a signalling NaN.
    public var isSignaling: Bool { number.form == .signalingNaN }
    /// Whether this is a signalling NaN.
    public var isSignalingNaN: Bool { isSignaling }
    /// Whether this is a finite number.
    public var isFinite: Bool { number.form == .finite }

    /// The nearest binary number.
    public var doubleValue: Double { number.double }
    /// The number as a decimal of Foundation; NaN where that cannot hold it.
    public var decimalValue: Decimal {
        guard isFinite else { return .nan }
        var coefficient = number.coefficient
        var exponent = number.exponent
        if coefficient == 0 { return 0 }
        // Zeros are taken off or put on until the exponent is one that it has.
        while exponent < -128, coefficient.isMultiple(of: 10) {
            coefficient /= 10
            exponent += 1
        }
        while exponent > 127 {
            let (product, isTooLarge) = coefficient.multipliedReportingOverflow(by: 10)
            if isTooLarge { return .nan }
            coefficient = product
            exponent -= 1
        }
        guard exponent >= -128 else { return .nan }
        return Decimal(string: "\(number.isNegative ? "-" : "")\(coefficient)e\(exponent)") ?? .nan
    }
    /// The number as text.
    public var stringValue: String { number.text }

    /// The sum.
    public func decimalNumberByAdding(_ other: Decimal128) -> Decimal128 { self + other }
    /// The difference.
    public func decimalNumberBySubtracting(_ other: Decimal128) -> Decimal128 { self - other }
    /// The product.
    public func decimalNumberByMultiplying(by other: Decimal128) -> Decimal128 { self * other }
    /// The quotient.
    public func decimalNumberByDividing(by other: Decimal128) -> Decimal128 { self / other }

    /// Whether the number is greater than another one.
    public func isGreaterThan(_ other: Decimal128) -> Bool { self > other }
    /// Whether the number is another one or greater.
    public func isGreaterThanOrEqual(to other: Decimal128) -> Bool { self >= other }
    /// Whether the number is less than another one.
    public func isLessThan(_ other: Decimal128) -> Bool { self < other }
    /// Whether the number is another one or less.
    public func isLessThanOrEqual(to other: Decimal128) -> Bool { self <= other }
}

extension Decimal128: SignedNumeric, Comparable, Hashable, Strideable {
    /// The integer; nil where it has more digits than are kept.
    public init?<Integer: BinaryInteger>(exactly source: Integer) {
        self.init(source)
        if Int64(exactly: source) != nil { return }
        let digits = "\(source.magnitude)".reversed().drop { $0 == "0" }
        guard isFinite, digits.count <= DecimalNumber.precision else { return nil }
    }
    /// The number without its sign.
    public var magnitude: Decimal128 { Decimal128(number.magnitude) }
    /// How far another number is from this one: what `advanced(by:)` takes to get there.
    public func distance(to other: Decimal128) -> Decimal128 { other - self }
    /// The number that lies so far beyond this one.
    public func advanced(by distance: Decimal128) -> Decimal128 { self + distance }
    /// Changes the sign.
    public mutating func negate() { number = -number }
    /// The sum.
    public static func + (left: Decimal128, right: Decimal128) -> Decimal128 {
        Decimal128(left.number + right.number)
    }
    /// The difference.
    public static func - (left: Decimal128, right: Decimal128) -> Decimal128 {
        Decimal128(left.number - right.number)
    }
    /// The product.
    public static func * (left: Decimal128, right: Decimal128) -> Decimal128 {
        Decimal128(left.number * right.number)
    }
    /// The quotient; infinite for a division by zero.
    public static func / (left: Decimal128, right: Decimal128) -> Decimal128 {
        Decimal128(left.number / right.number)
    }
    /// Adds.
    public static func += (left: inout Decimal128, right: Decimal128) { left = left + right }
    /// Subtracts.
    public static func -= (left: inout Decimal128, right: Decimal128) { left = left - right }
    /// Multiplies.
    public static func *= (left: inout Decimal128, right: Decimal128) { left = left * right }
    /// Divides.
    public static func /= (left: inout Decimal128, right: Decimal128) { left = left / right }
    /// Whether one number is less than another; false for NaN.
    public static func < (left: Decimal128, right: Decimal128) -> Bool { left.number < right.number }
    /// Whether one number is greater than another; false for NaN.
    public static func > (left: Decimal128, right: Decimal128) -> Bool { left.number > right.number }
    /// Whether one number is another one or less; false for NaN.
    public static func <= (left: Decimal128, right: Decimal128) -> Bool { left.number <= right.number }
    /// Whether one number is another one or greater; false for NaN.
    public static func >= (left: Decimal128, right: Decimal128) -> Bool { left.number >= right.number }
    /// Whether two numbers have one value; false for NaN.
    public static func == (left: Decimal128, right: Decimal128) -> Bool { left.number == right.number }
    /// Hashes the value: equal numbers of different digits hash alike.
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

extension Decimal128: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    CustomStringConvertible, Codable
{
    /// An integer.
    public init(integerLiteral value: Int64) { number = DecimalNumber(value) }
    /// The shortest decimal that names the literal's binary number.
    public init(floatLiteral value: Double) { number = DecimalNumber(value) }
    /// A number given as text; NaN for any other text.
    public init(stringLiteral value: String) { number = DecimalNumber(parsing: value) ?? .notANumber }
    /// The number as text.
    public var description: String { stringValue }

    /// Decodes a number from text, an integer or a floating-point number.
    ///
    /// A text keeps its digits. Of a number those are there that the decoder has: Foundation's decoder of JSON has 38 of them, and
    /// exponents from -128 to 127 of the last one. Of a number with a further exponent it has no more than a `Double`; it is taken where
    /// that has 15 digits at most. `insert(_:json:)` reads the text of a number, and has no such bounds.
    ///
    /// - Throws: `DecodingError` where there is no number, or one of which digits may be lost.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            guard let number = DecimalNumber(parsing: text) else {
                throw DecodingError.dataCorruptedError(
                    in: container,
                    debugDescription: "Cannot convert string '\(text)' to Decimal128"
                )
            }
            self.number = number
            return
        }
        let decoded = DecodedDecimal(in: container)
        if let integer = try? container.decode(Int64.self), decoded.isExactly(integer, in: container) {
            number = DecimalNumber(integer)
        } else if case .exact(let exact) = decoded {
            let known = Decimal128(exact).number
            let nearest = DecimalNumber(try container.decode(Double.self))
            number = known == nearest ? nearest : known
        } else if let integer = try? container.decode(UInt64.self), integer > 0 {
            // Of what is too close to zero a decoder may give zero.
            number = Decimal128(integer).number
        } else {
            let nearest = try container.decode(Double.self)
            if decoded.mayHaveLost(nearest) {
                throw DecodingError.dataCorruptedError(
                    in: container,
                    debugDescription: "Digits of a number with this exponent may be lost: the decoder has \(nearest). "
                        + "Encode it as a text."
                )
            }
            number = DecimalNumber(nearest)
        }
    }

    /// Encodes the number as text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(stringValue)
    }
}

extension Decimal128: _Scalar, _QueryNumeric, AddableType, MinMaxType, _RealmCollectionValueInsideOptional {
    /// What the type looks like in the schema.
    public static var _shape: _PropertyShape { _PropertyShape(.decimal128) }
    /// The value that a property without a default of its own starts with.
    public static func _defaultValue() -> Decimal128 { Decimal128() }
    /// What nothing adds up to.
    public static func _zero() -> Decimal128 { Decimal128() }
    /// Reads an optional property of a managed object.
    public static func _getOptional(_ object: ObjectBase, _ key: UInt32) -> Decimal128? {
        object.readDecimal(key).map { Decimal128($0.number) }
    }
    /// Writes a value into a row.
    public static func _store(_ value: Decimal128, _ writer: _RowWriter) {
        writer.setDecimal(DecimalBytes(value.number))
    }
    /// The stored form of a value.
    public static func _stored(_ value: Decimal128) -> _Stored { _Stored(.decimal(DecimalBytes(value.number))) }
    /// Converts from the stored form; nil when it is null or no value of the type.
    public static func _fromStored(_ stored: _Stored) -> Decimal128? {
        stored.value.decimal.map { Decimal128($0) }
    }
    /// Converts a dynamically typed value; nil when it does not fit.
    public static func _unboxed(_ value: Any?) -> Decimal128? {
        guard let value = ValueReader.unwrap(value) else { return nil }
        switch value {
        case let value as Decimal128: return value
        case let value as Decimal: return Decimal128(value)
        case let value as String: return DecimalNumber(parsing: value).map { Decimal128($0) }
        case let value as Float: return Decimal128(DecimalNumber(value))
        case is Bool: return nil
        default: break
        }
        if let integer = ValueReader.integer(value) { return Decimal128(integer) }
        return ValueReader.double(value).map { Decimal128($0) }
    }
}
