import RealmTestSupport

/// A value as a test knows it.
enum ReleaseValue: Sendable, Hashable, CustomStringConvertible {
    case int(Int)
    case string(String)
    case double(Double)
    case bool(Bool)
    case null
    case ints([Int])
    case strings([String])
    /// The number of the object that is linked to.
    case link(Int)

    var description: String {
        switch self {
        case .int(let value): "\(value)"
        case .string(let value): "'\(value)'"
        case .double(let value): "\(value)d"
        case .bool(let value): "\(value)"
        case .null: "null"
        case .ints(let values): "\(values)"
        case .strings(let values): "\(values)"
        case .link(let number): "->\(number)"
        }
    }

    /// What a property of a kind has in objects that were there before it.
    static func initial(_ kind: ReleaseShape.Kind) -> ReleaseValue {
        switch kind {
        case .int: .int(0)
        case .string: .string("")
        case .double: .double(0)
        case .bool: .bool(false)
        case .optionalInt, .optionalString, .link: .null
        case .ints: .ints([])
        case .strings: .strings([])
        }
    }

    static func random(_ kind: ReleaseShape.Kind, using random: inout SplitMix64) -> ReleaseValue {
        let number = Int.random(in: 1...1_000, using: &random)
        let isNull = Int.random(in: 0..<4, using: &random) == 0
        switch kind {
        case .int: return .int(number)
        case .string: return .string("text \(number)")
        case .double: return .double(Double(number) / 4)
        case .bool: return .bool(true)
        case .optionalInt: return isNull ? .null : .int(number)
        case .optionalString: return isNull ? .null : .string("maybe \(number)")
        case .ints: return .ints([number, number + 1])
        case .strings: return .strings(["\(number)", "one more"])
        case .link: return .null
        }
    }
}

/// What a file holds, as dictionaries: by class, by the number of an object, by property.
struct ReleaseWorld: Sendable, Equatable {
    typealias Row = [String: ReleaseValue]
    var classes: [String: [Int: Row]] = [:]

    init() {}

    /// Fills the classes of a release.
    init(_ shape: ReleaseShape, using random: inout SplitMix64) {
        for declared in shape.classes {
            classes[declared.name] = [:]
            for number in 1...Int.random(in: 3...9, using: &random) where declared.name != "Part" {
                let row = row(declared, number, using: &random)
                classes[declared.name]?[number] = row
            }
        }
        // Each part belongs to one item, and each item has one: parts may become embedded, and be so no more.
        for number in (classes["Item"] ?? [:]).keys.sorted() {
            classes["Part"]?[number] = ["n": .int(number), "a": .string("part \(number)")]
            classes["Item"]?[number]?["part"] = .link(number)
            if let target = classes["Target"]?.keys.sorted().randomElement(using: &random) {
                classes["Item"]?[number]?["link"] = .link(target)
            }
        }
    }

    /// Values for a new object.
    func row(_ declared: ReleaseShape.Class, _ number: Int, using random: inout SplitMix64) -> Row {
        var row: Row = [:]
        for property in declared.properties {
            switch property.name {
            case "n": row["n"] = .int(number)
            case "m": row["m"] = .int(number + 1_000)
            default: row[property.name] = .random(property.kind, using: &random)
            }
        }
        return row
    }

    /// What a later release finds: values of properties that are the same, and initial values otherwise.
    func seen(by next: ReleaseShape, after before: ReleaseShape) -> ReleaseWorld {
        var result = ReleaseWorld()
        for declared in next.classes {
            guard let old = before[declared.name] else {
                result.classes[declared.name] = [:]
                continue
            }
            result.classes[declared.name] = (classes[declared.name] ?? [:])
                .mapValues { row in
                    var found: Row = [:]
                    for property in declared.properties {
                        let initial = ReleaseValue.initial(property.kind)
                        let stored = row[property.name] ?? initial
                        switch old[property.name]?.kind {
                        case property.kind: found[property.name] = stored
                        case .some(let kind) where kind.counterpart == property.kind:
                            found[property.name] = stored == .null ? initial : stored
                        default: found[property.name] = initial
                        }
                    }
                    return found
                }
        }
        return result
    }

    /// The lines that tell the contents, for comparing.
    var lines: [String] {
        classes.sorted { $0.key < $1.key }
            .flatMap { name, rows in
                ["\(name): \(rows.count)"]
                    + rows.sorted { $0.key < $1.key }
                    .map { number, row in
                        "\(name) \(number) "
                            + row.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
                    }
            }
    }
}
