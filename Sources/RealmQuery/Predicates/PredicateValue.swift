package import RealmModel

/// A constant of a predicate.
package enum PredicateValue: Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case float(Float)
    case double(Double)
    case string(String)
    case data([UInt8])
    /// Seconds since 1 January 2001, UTC.
    case date(Double)
    case objectId(ObjectIDBytes)
    case uuid(UUIDBytes)
    case decimal(DecimalBytes)
    /// An object: its class and its row key.
    case object(className: String, key: Int64)
    /// The right side of `IN` and `BETWEEN`.
    case list([PredicateValue])
}

/// Constants are equal when they are of one type and the same down to their bytes and bits, so that what is found out for
/// one predicate may be used for an equal one.
extension PredicateValue: Hashable {
    package static func == (left: PredicateValue, right: PredicateValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let one), .bool(let other)): one == other
        case (.int(let one), .int(let other)): one == other
        case (.float(let one), .float(let other)): one.bitPattern == other.bitPattern
        case (.double(let one), .double(let other)), (.date(let one), .date(let other)):
            one.bitPattern == other.bitPattern
        case (.string(let one), .string(let other)): TextBytes.areEqual(one, other)
        case (.data(let one), .data(let other)): one == other
        case (.objectId(let one), .objectId(let other)): one == other
        case (.uuid(let one), .uuid(let other)): one == other
        case (.decimal(let one), .decimal(let other)): one == other
        case (.object(let className, let key), .object(let otherName, let other)):
            key == other && className == otherName
        case (.list(let one), .list(let other)): one == other
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .int(let value): hasher.combine(value)
        case .float(let value): hasher.combine(value.bitPattern)
        case .double(let value), .date(let value): hasher.combine(value.bitPattern)
        case .string(let value): TextBytes.hash(value, into: &hasher)
        case .data(let value): hasher.combine(value)
        case .objectId(let value): hasher.combine(value)
        case .uuid(let value): hasher.combine(value)
        case .decimal(let value): hasher.combine(value)
        case .object(_, let key): hasher.combine(key)
        case .list(let values): hasher.combine(values)
        }
    }
}

extension PredicateValue: CustomStringConvertible {
    /// The constant in the string language, where it has a literal there.
    package var description: String {
        switch self {
        case .null: "NULL"
        case .bool(let value): value ? "TRUE" : "FALSE"
        case .int(let value): "\(value)"
        case .float(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let value): PredicateValue.quoted(value)
        case .data(let bytes): "<\(bytes.count) bytes>"
        case .date(let seconds): "<date \(seconds)>"
        case .objectId(let value):
            "oid(\(PredicateValue.hexadecimal(value.high, digits: 16))\(PredicateValue.hexadecimal(UInt64(value.low), digits: 8)))"
        case .uuid(let value):
            "uuid(\(PredicateValue.hexadecimal(value.high, digits: 16))\(PredicateValue.hexadecimal(value.low, digits: 16)))"
        case .decimal(let value): value.number.wholeLiteral ?? "decimal(\(value.number.text))"
        case .object(let className, let key): "\(className)#\(key)"
        case .list(let values): "{\(values.map(\.description).joined(separator: ", "))}"
        }
    }

    /// The name of the constant's type in error messages.
    package var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "bool"
        case .int: "int"
        case .float: "float"
        case .double: "double"
        case .string: "string"
        case .data: "data"
        case .date: "date"
        case .objectId: "object id"
        case .uuid: "uuid"
        case .decimal: "decimal128"
        case .object(let className, _): "object of type '\(className)'"
        case .list: "array"
        }
    }

    private static func hexadecimal(_ value: UInt64, digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    private static func quoted(_ text: String) -> String {
        var result = "'"
        for scalar in text.unicodeScalars {
            switch scalar {
            case "'": result += "\\'"
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "'"
    }
}

extension DecimalNumber {
    /// How a whole number beyond 64 bits is written in a predicate; nil for others, which have no literal.
    fileprivate var wholeLiteral: String? {
        let greatest = UInt128(Int64.max) + (isNegative ? 1 : 0)
        guard form == .finite, exponent == 0, coefficient > greatest else { return nil }
        return (isNegative ? "-" : "") + String(coefficient)
    }
}
