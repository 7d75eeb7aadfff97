import ActorRealm
import Foundation
import RealmTestSupport

/// A value of a property in plain Swift, with the equality and the order that `Docs/Queries.md` promises.
enum SpecimenValue {
    case null
    case int(Int)
    case double(Double)
    case float(Float)
    case decimal(String)
    case text(String)
    case data([UInt8])
    case date(Double)
    case flag(Bool)
    case uuid(UUID)
    case oid(String)

    var isNull: Bool { if case .null = self { true } else { false } }

    /// The digits of a number, written out; nil for what is no finite number.
    private var digits: (text: String, isNegative: Bool)? {
        switch self {
        case .int(let value): ("\(value)", value < 0)
        case .float(let value): value.isFinite ? (String(format: "%.160f", Double(value)), value < 0) : nil
        case .double(let value): value.isFinite ? (String(format: "%.1074f", value), value < 0) : nil
        case .decimal(let text): Self.written(text).map { ($0, text.hasPrefix("-")) }
        default: nil
        }
    }

    /// A decimal without its exponent.
    private static func written(_ text: String) -> String? {
        let parts = text.drop { $0 == "-" }.split(separator: "E")
        guard let first = parts.first, first.first?.isNumber == true else { return nil }
        let exponent = parts.count > 1 ? Int(parts[1])! : 0
        let halves = first.split(separator: ".", omittingEmptySubsequences: false)
        let fraction = halves.count > 1 ? String(halves[1]) : ""
        var all = String(halves[0]) + fraction
        let point = halves[0].count + exponent
        if point <= 0 { return "0." + String(repeating: "0", count: -point) + all }
        if point > all.count { all += String(repeating: "0", count: point - all.count) }
        return String(all.prefix(point)) + "." + all.dropFirst(point)
    }

    private var infinity: Int {
        switch self {
        case .float(let value): value.isInfinite ? (value < 0 ? -1 : 1) : 0
        case .double(let value): value.isInfinite ? (value < 0 ? -1 : 1) : 0
        case .decimal(let text): text == "Inf" ? 1 : text == "-Inf" ? -1 : 0
        default: 0
        }
    }

    var isNaN: Bool {
        switch self {
        case .float(let value): value.isNaN
        case .double(let value), .date(let value): value.isNaN
        case .decimal(let text): text == "NaN"
        default: false
        }
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .flag: 1
        case .int, .double, .float, .decimal: 2
        case .text: 3
        case .data: 4
        case .date: 5
        case .oid: 6
        case .uuid: 7
        }
    }

    /// Below 0 when the left value comes first in an order.
    static func order(_ left: SpecimenValue, _ right: SpecimenValue) -> Int {
        if left.rank != right.rank { return left.rank < right.rank ? -1 : 1 }
        if left.isNaN || right.isNaN { return left.isNaN ? (right.isNaN ? 0 : -1) : 1 }
        switch (left, right) {
        case (.null, .null): return 0
        case (.flag(let one), .flag(let other)): return one == other ? 0 : one ? 1 : -1
        case (.text(let one), .text(let other)): return bytes(Array(one.utf8), Array(other.utf8))
        case (.data(let one), .data(let other)): return bytes(one, other)
        case (.date(let one), .date(let other)): return one == other ? 0 : one < other ? -1 : 1
        case (.oid(let one), .oid(let other)): return bytes(Array(one.utf8), Array(other.utf8))
        case (.uuid(let one), .uuid(let other)):
            return bytes(Array(one.uuidString.utf8), Array(other.uuidString.utf8))
        case (.int(let one), .int(let other)): return one == other ? 0 : one < other ? -1 : 1
        case (.double(let one), .double(let other)): return one == other ? 0 : one < other ? -1 : 1
        case (.float(let one), .float(let other)): return one == other ? 0 : one < other ? -1 : 1
        default: return numbers(left, right)
        }
    }

    private static func numbers(_ left: SpecimenValue, _ right: SpecimenValue) -> Int {
        if left.infinity != 0 || right.infinity != 0 { return (left.infinity - right.infinity).signum() }
        func parts(_ value: SpecimenValue) -> (whole: [UInt8], fraction: [UInt8], isNegative: Bool) {
            let (text, isNegative) = value.digits!
            let halves = text.drop { $0 == "-" }.split(separator: ".", omittingEmptySubsequences: false)
            var fraction = halves.count > 1 ? Array(halves[1].utf8) : []
            while fraction.last == 48 { fraction.removeLast() }
            return (Array(halves[0].utf8.drop { $0 == 48 }), fraction, isNegative)
        }
        let (one, other) = (parts(left), parts(right))
        let isZero = (one.whole.isEmpty && one.fraction.isEmpty, other.whole.isEmpty && other.fraction.isEmpty)
        if isZero.0 || isZero.1 {
            if isZero.0 && isZero.1 { return 0 }
            return isZero.0 ? (other.isNegative ? 1 : -1) : (one.isNegative ? -1 : 1)
        }
        if one.isNegative != other.isNegative { return one.isNegative ? -1 : 1 }
        var order = (one.whole.count - other.whole.count).signum()
        if order == 0 { order = bytes(one.whole, other.whole) }
        if order == 0 { order = bytes(one.fraction, other.fraction) }
        return one.isNegative ? -order : order
    }

    private static func bytes(_ left: [UInt8], _ right: [UInt8]) -> Int {
        if left == right { return 0 }
        return left.lexicographicallyPrecedes(right) ? -1 : 1
    }

    /// Whether a comparison of a predicate holds.
    static func holds(_ left: SpecimenValue, _ operation: String, _ right: SpecimenValue) -> Bool {
        if left.isNull || right.isNull {
            if operation == "==" { return left.isNull && right.isNull }
            return operation == "!=" && left.isNull != right.isNull
        }
        guard left.rank == right.rank, !left.isNaN, !right.isNaN else { return operation == "!=" }
        let order = order(left, right)
        return switch operation {
        case "==": order == 0
        case "!=": order != 0
        case "<": order < 0
        case "<=": order <= 0
        case ">": order > 0
        default: order >= 0
        }
    }
}
