import RealmTestSupport

/// The classes of a release, as plain data: what a test knows of them without asking the library.
struct ReleaseShape: Sendable, Equatable {
    /// The kinds of values that properties have.
    enum Kind: Sendable, Hashable {
        case int, string, double, bool, optionalInt, optionalString, optionalDouble, ints, strings
        case intMap, textMap, intSet, textSet
        /// A value of any kind.
        case any
        /// A link to an object of a class.
        case link(String)

        /// The kinds that link to nothing.
        static let plain: [Kind] = scalars + lists + maps + sets + [.any]
        /// Those of which a release may declare a default that others follow.
        static let scalars: [Kind] = [.int, .string, .double, .bool, .optionalInt, .optionalString, .optionalDouble]
        static let lists: [Kind] = [.ints, .strings]
        static let maps: [Kind] = [.intMap, .textMap]
        static let sets: [Kind] = [.intSet, .textSet]

        /// The kind that differs in whether nil is allowed.
        var counterpart: Kind? {
            switch self {
            case .int: .optionalInt
            case .string: .optionalString
            case .optionalInt: .int
            case .optionalString: .string
            case .double: .optionalDouble
            case .optionalDouble: .double
            default: nil
            }
        }
    }

    struct Property: Sendable, Equatable {
        var name: String
        var kind: Kind
        /// The name that the release before has for it, where that is another one.
        var formerName: String?
        /// What objects have that are created without a value; nil where nothing is declared.
        var declaredDefault: ReleaseValue?
    }

    /// What becomes of the objects that a deleted one links to; the later ones delete less of two that are declared.
    enum Rule: Sendable, Comparable, CaseIterable { case nullify, cascade, deny }

    struct Class: Sendable, Equatable {
        var name: String
        /// In the order in which they are declared.
        var properties: [Property]
        var key: String?
        var indexed: Set<String> = []
        var compound: (isUnique: Bool, properties: [String])?
        var isEmbedded = false

        subscript(name: String) -> Property? { properties.first { $0.name == name } }

        static func == (left: Self, right: Self) -> Bool {
            left.name == right.name && left.properties == right.properties && left.key == right.key
                && left.indexed == right.indexed && left.compound?.properties == right.compound?.properties
                && left.compound?.isUnique == right.compound?.isUnique && left.isEmbedded == right.isEmbedded
        }
    }

    /// Those that others link to come first.
    var classes: [Class]
    /// Whether dogs know their owners.
    var hasInverse: Bool
    /// The delete rule of keepers.
    var rule: Rule

    subscript(name: String) -> Class? {
        get { classes.first { $0.name == name } }
        set {
            guard let place = classes.firstIndex(where: { $0.name == name }) else { return }
            if let newValue { classes[place] = newValue } else { classes.remove(at: place) }
        }
    }

    /// Every object has a number `n` by which a test knows it, and another one `m`; the rest is random.
    init(using random: inout SplitMix64) {
        func make(_ name: String, key: String?, links: [Property] = []) -> Class {
            var properties = [Property(name: "n", kind: .int), Property(name: "m", kind: .int)] + links
            for letter in ["a", "b", "c"].prefix(Int.random(in: 2...3, using: &random)) {
                properties.append(Property(name: letter, kind: Kind.plain.randomElement(using: &random)!))
            }
            properties.shuffle(using: &random)
            return Class(name: name, properties: properties, key: key)
        }
        var item = make(
            "Item",
            key: Bool.random(using: &random) ? "n" : nil,
            links: [Property(name: "link", kind: .link("Target")), Property(name: "part", kind: .link("Part"))]
        )
        if Bool.random(using: &random) { item.indexed.insert("m") }
        if Bool.random(using: &random) { item.compound = (Bool.random(using: &random), ["n", "m"]) }
        classes = [
            make("Target", key: Bool.random(using: &random) ? "n" : nil), make("Other", key: nil),
            Class(name: "Part", properties: [Property(name: "n", kind: .int), Property(name: "a", kind: .string)]),
            make("Extra", key: nil), item,
        ]
        classes[2].isEmbedded = Bool.random(using: &random)
        hasInverse = Bool.random(using: &random)
        rule = Rule.allCases.randomElement(using: &random)!
    }
}
