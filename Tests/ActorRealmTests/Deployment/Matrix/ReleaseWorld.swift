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
    case map([String: Int])
    case texts([String: String])
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
        case .map(let values): "\(values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" })"
        case .texts(let values): "\(values.sorted { $0.key < $1.key }.map { "\($0.key): '\($0.value)'" })"
        case .link(let number): "->\(number)"
        }
    }

    /// What a property of a kind has in objects that were there before it, where its release declares nothing.
    static func initial(_ kind: ReleaseShape.Kind) -> ReleaseValue {
        switch kind {
        case .int: .int(0)
        case .string: .string("")
        case .double: .double(0)
        case .bool: .bool(false)
        case .optionalInt, .optionalString, .optionalDouble, .any, .link: .null
        case .ints, .intSet: .ints([])
        case .strings, .textSet: .strings([])
        case .intMap: .map([:])
        case .textMap: .texts([:])
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
        case .optionalDouble: return isNull ? .null : .double(Double(number) / 4)
        // Those of sets in the order in which sets give them.
        case .ints, .intSet: return .ints([number, number + 1])
        case .strings, .textSet: return .strings(["\(number)", "one more"])
        case .intMap: return .map(["key \(number)": number, "one more": number + 1])
        case .textMap: return .texts(["key \(number)": "text \(number)", "one more": ""])
        case .any: return ofAnyKind(number)
        case .link: return .null
        }
    }

    /// A default for a release to declare: any other value than the one without it.
    static func declaredDefault(_ kind: ReleaseShape.Kind, using random: inout SplitMix64) -> ReleaseValue {
        while true {
            let value = self.random(kind, using: &random)
            if value != initial(kind) { return value }
        }
    }

    /// What a program declares as a default; nil for what it does not.
    var scalar: (any Sendable)? {
        switch self {
        case .int(let value): value
        case .string(let value): value
        case .double(let value): value
        case .bool(let value): value
        case .null, .ints, .strings, .map, .texts, .link: nil
        }
    }

    private static func ofAnyKind(_ number: Int) -> ReleaseValue {
        switch number % 5 {
        case 0: .null
        case 1: .int(number)
        case 2: .double(Double(number) / 4)
        case 3: .ints([number, number + 1])
        default: .string("any \(number)")
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
        addKeepers()
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

    /// What a later release finds: values of properties that are the same or were renamed, and otherwise what it declares as their
    /// default, or else initial values.
    ///
    /// That is so in objects that were there before it, and in those that the release before has created since, which does not know of
    /// the property.
    func seen(by next: ReleaseShape, after before: ReleaseShape) -> ReleaseWorld {
        var result = ReleaseWorld()
        for name in Self.keeperClasses { result.classes[name] = classes[name] }
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
                        let name = property.formerName ?? property.name
                        let stored = row[name] ?? initial
                        switch old[name]?.kind {
                        case property.kind: found[property.name] = stored
                        case .some(let kind) where kind.counterpart == property.kind:
                            found[property.name] = stored == .null ? initial : stored
                        default: found[property.name] = property.declaredDefault ?? initial
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
