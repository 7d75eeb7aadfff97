package import RealmModel

/// A constant of a predicate.
package enum PredicateValue: Sendable, Hashable {
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
        case .decimal(let value): "decimal(\(value.number.text))"
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
