import ActorRealm
import Foundation
import RealmTestSupport

extension SpecimenValue {
    private static let long = String(repeating: "x", count: 256)

    static let ints: [Int] = [
        Int.min, .min + 1, .max, .max - 1, 1 << 53 - 1, 1 << 53, 1 << 53 + 1, -(1 << 53) - 1, 1 << 24 + 1, 0, 1, -1, 2,
        3,
    ]
    static let doubles: [Double] = [
        .nan, 0, -0.0, .infinity, -.infinity, 0x1p53, 0x1p53 + 2, 0x1p63, -0x1p63, .leastNonzeroMagnitude,
        .greatestFiniteMagnitude, 0.1, 0.5, 1, -1, 2, 3, Double(Float(0.1)),
    ]
    static let decimals: [String] = [
        "NaN", "Inf", "-Inf", "0", "1", "-1", "0.1", "0.5", "2", "3", "9007199254740993", "9007199254740992.5",
        "9223372036854775807", "9223372036854775808", "1E+400", "-1E+400", "1E-400",
    ]
    static let texts: [String] = [
        "", "\0", "a", "A", "a\0", "a\0b", "ab", "Ab", "b", "\u{E9}", "e\u{301}", "\u{C9}", "E\u{301}", "e", "a\u{E9}b",
        long, long + "\0", long + "\u{E9}", long + "e\u{301}", String(long.dropLast()) + "\u{E9}",
    ]
    static let identifiers = [
        "000000000000000000000000", "0000000000000000000000ff", "ffffffffffffffffffffffff", "5f0000000000000000000001",
    ]
    static let uuids = [
        "00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-0000000000FF",
        "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "7FFFFFFF-0000-0000-8000-000000000000",
    ]
    static let dates: [Double] = [0, -0.0, 1, -1, 0.5, 1e9, -1e9, 1e15]

    /// A text that is short enough for a key.
    static func randomKey(_ random: inout SplitMix64) -> SpecimenValue {
        .text(texts.filter { $0.utf8.count <= 256 }.randomElement(using: &random)!)
    }

    static func random(_ kind: SpecimenKind, isOptional: Bool, _ random: inout SplitMix64) -> SpecimenValue {
        if isOptional, Int.random(in: 0..<5, using: &random) == 0 { return .null }
        switch kind {
        case .int: return .int(ints.randomElement(using: &random)!)
        case .text: return .text(texts.randomElement(using: &random)!)
        case .date: return .date(dates.randomElement(using: &random)!)
        case .flag: return .flag(Bool.random(using: &random))
        case .uuid: return .uuid(UUID(uuidString: uuids.randomElement(using: &random)!)!)
        case .oid: return .oid(identifiers.randomElement(using: &random)!)
        case .double: return .double(doubles.randomElement(using: &random)!)
        case .float: return .float(Float(doubles.randomElement(using: &random)!))
        case .decimal: return .decimal(decimals.randomElement(using: &random)!)
        case .data: return .data(Array(texts.randomElement(using: &random)!.utf8))
        case .any:
            let kinds = SpecimenKind.allCases.filter { $0 != .any }
            return .random(kinds.randomElement(using: &random)!, isOptional: false, &random)
        }
    }

    /// The value as the realm takes it.
    var stored: (any Sendable)? {
        switch self {
        case .null: nil
        case .int(let value): value
        case .double(let value): value
        case .float(let value): value
        case .decimal(let text): Decimal128(value: text)
        case .text(let text): text
        case .data(let bytes): Data(bytes)
        case .date(let value): Date(timeIntervalSinceReferenceDate: value)
        case .flag(let value): value
        case .uuid(let value): value
        case .oid(let text): try! ObjectId(string: text)
        }
    }

    var anyValue: AnyRealmValue {
        switch self {
        case .null: .none
        case .int(let value): .int(value)
        case .double(let value): .double(value)
        case .float(let value): .float(value)
        case .decimal(let text): .decimal128(Decimal128(value: text))
        case .text(let text): .string(text)
        case .data(let bytes): .data(Data(bytes))
        case .date(let value): .date(Date(timeIntervalSinceReferenceDate: value))
        case .flag(let value): .bool(value)
        case .uuid(let value): .uuid(value)
        case .oid(let text): .objectId(try! ObjectId(string: text))
        }
    }

    /// A constant in the type of the property that it is compared with.
    func asConstant(for kind: SpecimenKind) -> SpecimenValue {
        switch (kind, self) {
        case (.float, .double(let value)): .float(Float(value))
        case (.float, .int(let value)): .float(Float(value))
        case (.decimal, .double(let value)): .decimal(Decimal128(value).description)
        case (.decimal, .float(let value)): .decimal(Decimal128(naming: value).description)
        default: self
        }
    }
}

extension Decimal128 {
    /// The decimal that names a float, whose words for what is no number are others.
    fileprivate init(naming float: Float) {
        let words = ["nan": "NaN", "inf": "Inf", "-inf": "-Inf"]
        self.init(value: words["\(float)"] ?? "\(float)")
    }
}
