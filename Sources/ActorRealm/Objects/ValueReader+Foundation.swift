import Foundation

extension ValueReader {
    /// The Swift value that an object of Foundation's stands for; nil for all other values.
    ///
    /// A plain cast would take a number for a `Bool`, an `Int` or a `Float` wherever its value is one of these, whatever it was
    /// made of: the 1 of a JSON text would become `true`.
    ///
    /// An integer beyond an `Int` is a `Double`, next to it, unless it is to stay exact.
    static func foundationValue(_ value: Any, isExact: Bool = false) -> Any? {
        // Looked at first, for a cast makes a Foundation object of a Swift value.
        let type = type(of: value)
        guard type is AnyClass, !(type is ObjectBase.Type) else { return nil }
        switch value {
        case let number as NSDecimalNumber: return Decimal128(number: number)
        case let number as NSNumber:
            switch UInt8(bitPattern: number.objCType.pointee) {
            case UInt8(ascii: "c"), UInt8(ascii: "B"):
                if isBoolean(number) { return number.boolValue }
                return number.intValue
            case UInt8(ascii: "f"): return number.floatValue
            case UInt8(ascii: "d"): return number.doubleValue
            case UInt8(ascii: "Q"):
                if let fitting = Int(exactly: number.uint64Value) { return fitting }
                return isExact ? number.uint64Value : number.doubleValue
            default: return number.intValue
            }
        case let text as NSString: return text as String
        case let date as NSDate: return date as Date
        case let data as NSData: return data as Data
        case let identifier as NSUUID: return identifier as UUID
        default: return nil
        }
    }

    /// Whether a number was made of a `Bool`: those have a class of their own, and otherwise the type of an `Int8`.
    private static func isBoolean(_ number: NSNumber) -> Bool { type(of: number) == type(of: NSNumber(value: true)) }
}
