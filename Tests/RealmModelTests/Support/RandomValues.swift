import RealmModel
import RealmTestSupport

extension SplitMix64 {
    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    /// A value of a kind, with boundaries more often than chance would have them; equal ones come again.
    mutating func value(of kind: PropertyKind, isOptional: Bool) -> StoredValue {
        if isOptional && chance(20) { return .null }
        switch kind {
        case .int: return .int(chance(20) ? [Int64.min, -1, 0, 1, .max, 255, 256, 65_536][below(8)] : Int64(below(40)))
        case .bool: return .bool(chance(50))
        case .string: return .string(string())
        case .data: return .data(Array(string().utf8))
        case .date: return .date(number())
        case .double: return .double(number())
        case .float: return .float(Float(below(1_000)) / 8)
        case .objectId: return .objectId(ObjectIDBytes(high: UInt64(below(8)) << 60, low: UInt32(below(3))))
        case .uuid: return .uuid(UUIDBytes(high: UInt64(below(8)) << 61, low: UInt64(below(3))))
        default: return .null
        }
    }

    mutating func number() -> Double {
        if chance(25) {
            return [0, -0.0, 1, -1, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude][below(8)]
        }
        return Double(below(2_000) - 1_000) / 4
    }

    mutating func string() -> String {
        switch below(10) {
        case 0: return ""
        case 1: return String(repeating: "x", count: 255 + below(4))
        case 2: return String(repeating: "y", count: 300) + "\(below(4))"
        case 3: return "a\0\(below(3))"
        case 4: return String(repeating: "long ", count: below(600))
        default: return "name \(below(60))"
        }
    }
}
