import ActorRealm
import Foundation
import RealmTestSupport

/// Equality as observers have it: of the same type and the same bits. It is finer than that of `order(_:_:)`.
extension SpecimenValue: Hashable, CustomStringConvertible {
    static func == (left: SpecimenValue, right: SpecimenValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.int(let one), .int(let other)): one == other
        case (.double(let one), .double(let other)), (.date(let one), .date(let other)):
            one.bitPattern == other.bitPattern
        case (.float(let one), .float(let other)): one.bitPattern == other.bitPattern
        case (.decimal(let one), .decimal(let other)), (.oid(let one), .oid(let other)): one == other
        case (.text(let one), .text(let other)): PlainText(one) == PlainText(other)
        case (.data(let one), .data(let other)): one == other
        case (.flag(let one), .flag(let other)): one == other
        case (.uuid(let one), .uuid(let other)): one == other
        default: false
        }
    }

    func hash(into hasher: inout Hasher) { hasher.combine(description) }

    /// The type and the bits, in ASCII.
    var description: String {
        switch self {
        case .null: "null"
        case .int(let value): "\(value)"
        case .double(let value): "double \(value)" + (value.isNaN ? " \(String(value.bitPattern, radix: 16))" : "")
        case .float(let value): "float \(value)" + (value.isNaN ? " \(String(value.bitPattern, radix: 16))" : "")
        case .date(let value): "date \(value)" + (value.isNaN ? " \(String(value.bitPattern, radix: 16))" : "")
        case .decimal(let text): "decimal \(text)"
        case .text(let text): "\(PlainText(text))"
        case .data(let bytes): "data \(bytes)"
        case .flag(let value): "\(value)"
        case .uuid(let value): "\(value)"
        case .oid(let text): "id \(text)"
        }
    }

    /// Whether both have the same place in the order.
    func hasPlace(of other: SpecimenValue) -> Bool { Self.order(self, other) == 0 }

    /// What a value of any kind holds; nil for objects and collections.
    init?(_ value: AnyRealmValue) {
        switch value {
        case .none: self = .null
        case .int(let value): self = .int(value)
        case .bool(let value): self = .flag(value)
        case .float(let value): self = .float(value)
        case .double(let value): self = .double(value)
        case .string(let value): self = .text(value)
        case .data(let value): self = .data(Array(value))
        case .date(let value): self = .date(value.timeIntervalSinceReferenceDate)
        case .objectId(let value): self = .oid(value.stringValue)
        case .decimal128(let value): self = .decimal("\(value)")
        case .uuid(let value): self = .uuid(value)
        case .object, .dictionary, .list: return nil
        }
    }

    private static let notNumbers: [Double] = [
        .nan, -.nan, Double(nan: 1, signaling: false), -Double(nan: 0x7_FFFF_FFFF, signaling: false),
    ]
    /// Longer than what of a text stands in an index, and alike up to there.
    private static let longTexts = ["", "\0", "a", "\u{E9}", "e\u{301}"].map { String(repeating: "x", count: 300) + $0 }

    /// A value at the edges of its kind: what is no number in several forms, both zeros, infinities, neighbours beyond 2^53, texts of
    /// two spellings, with zero bytes, and longer than an index holds.
    static func edge(_ kind: SpecimenKind, _ random: inout SplitMix64) -> SpecimenValue {
        let isOdd = Int.random(in: 0..<4, using: &random) == 0
        switch kind {
        case .double where isOdd: return .double(notNumbers.randomElement(using: &random)!)
        case .float where isOdd: return .float(Float(nan: [0, 1, 77].randomElement(using: &random)!, signaling: false))
        case .date where isOdd: return .date(notNumbers.randomElement(using: &random)!)
        case .text where isOdd: return .text(longTexts.randomElement(using: &random)!)
        case .decimal:
            let text = (decimals + ["1.0", "1.00", "0.0", "-0"]).randomElement(using: &random)!
            return .decimal("\(Decimal128(value: text))")
        case .any:
            let kinds = SpecimenKind.allCases.filter { $0 != .any }
            return edge(kinds.randomElement(using: &random)!, &random)
        default: return .random(kind, isOptional: false, &random)
        }
    }
}
