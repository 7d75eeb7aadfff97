import FoundationEssentials
import RealmModel

/// A number as the decimals of a decoder have it: what tells that its integers and doubles have lost something.
///
/// Foundation's decoder of JSON gives integers of numbers with digits behind the point where the nearest double is whole, and zero of those
/// that are too close to zero for one. It has 38 digits of a decimal, and exponents from -128 to 127.
enum DecodedDecimal {
    case exact(Decimal)
    /// The decoder has decimals, and no room in them for this number.
    case far
    /// The decoder has no decimals, or there is no finite number.
    case unknown

    init(in container: any SingleValueDecodingContainer) {
        do {
            let decimal = try container.decode(Decimal.self)
            self = decimal.isNaN ? .unknown : .exact(decimal)
        } catch is DecodingError {
            // A decoder has this error where something else stands, and where it does not know the type.
            self = .unknown
        } catch {
            self = .far
        }
    }

    /// Whether an integer that the decoder gives is the number itself; one of a decoder without decimals is taken as it is.
    func isExactly(_ integer: Int64, in container: any SingleValueDecodingContainer) -> Bool {
        switch self {
        case .exact(let decimal): decimal == Decimal(integer)
        // Only a double tells zero from what is too close to it.
        case .far: integer != 0 || (try? container.decode(Double.self)) != nil
        case .unknown: true
        }
    }

    /// Whether a double that the decoder gives may have fewer digits than the number.
    ///
    /// A number of 15 digits is told by its double; of one with more, some may be lost. Foundation's decimals have room for all numbers
    /// between these bounds, so that another decoder's error says nothing about them.
    func mayHaveLost(_ nearest: Double) -> Bool {
        guard case .far = self, !(1e-85..<1e127).contains(nearest.magnitude) else { return false }
        return "\(DecimalNumber(nearest).coefficient)".utf8.count > 15
    }
}
