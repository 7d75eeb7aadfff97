import Foundation
import RealmModel

/// Numbers, of which none is taken for another one.
extension InputReader {
    /// A value that stands as a number.
    func value(of property: ModelProperty, from number: String) -> Any? {
        let decoder = JSONDecoder()
        let json = Data(number.utf8)
        let value: Any? =
            switch property.shape.kind {
            case .int, .bool: whole(number)
            case .float: try? decoder.decode(Float.self, from: json)
            case .double: try? decoder.decode(Double.self, from: json)
            case .decimal128: decimal(number)
            default: nil
            }
        return value ?? plain(number)
    }

    /// A text as a decimal; nil where it is none, and where it is a number with an exponent so far from zero that it would be infinite, or
    /// zero, which it is not.
    private func decimal(_ text: String) -> Decimal128? {
        guard let decimal = try? Decimal128(parsing: text) else { return nil }
        if decimal.isFinite, decimal != 0 { return decimal }
        let digits = text.utf8.prefix { $0 != UInt8(ascii: "e") && $0 != UInt8(ascii: "E") }
        return digits.contains { (UInt8(ascii: "1")...UInt8(ascii: "9")).contains($0) } ? nil : decimal
    }

    /// A number as it comes.
    func plain(_ number: String) -> Any? {
        if let value = JSONNumber(number)?.integer { return Int(exactly: value) }
        if let value = try? JSONDecoder().decode(Double.self, from: Data(number.utf8)) { return value }
        return unreadable()
    }

    /// A number for a property of whole numbers: a decimal where it is none and the nearest double is one, which is then refused.
    private func whole(_ number: String) -> Any? {
        let value = plain(number)
        guard let double = value as? Double, Int64(exactly: double) != nil else { return value }
        if let decimal = decimal(number) { return decimal }
        return unreadable()
    }

    /// A whole number as a decoder has it; a decimal where it is none and the decoder would round it to one, and nil for anything else.
    func whole(in container: any SingleValueDecodingContainer) -> Any? {
        if let integer = try? container.decode(Int.self), isExact(integer, in: container) { return integer }
        guard !isSpelled, let double = try? container.decode(Double.self), Int64(exactly: double) != nil,
            case .exact(let exact) = DecodedDecimal(in: container)
        else { return nil }
        if let integer = Int("\(exact)") { return integer }
        return Decimal128(exact)
    }

    /// Whether an integer that a decoder gives is the number that stands there, without any digits behind its point.
    func isExact(_ integer: Int, in container: any SingleValueDecodingContainer) -> Bool {
        isSpelled || DecodedDecimal(in: container).isExactly(Int64(integer), in: container)
    }

    /// A decimal number, which is a text or a number; nil where it is none.
    func decimal(in container: any SingleValueDecodingContainer) -> Any? {
        if let text = try? container.decode(String.self) {
            if let decimal = decimal(text) { return decimal }
            return (try? Decimal128(parsing: text)) == nil ? nil : unreadable()
        }
        if let decimal = try? container.decode(Decimal.self) { return Decimal128(decimal) }
        if isSpelled { return nil }
        if let decimal = try? container.decode(Decimal128.self) { return decimal }
        // What a double has of a number that is refused is not to be taken for it.
        return (try? container.decode(Double.self)) == nil ? nil : unreadable()
    }
}
