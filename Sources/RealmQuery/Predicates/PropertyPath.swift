import RealmModel

/// The way from a row to a value: properties, links and collections, and at most one collection operator.
package struct PropertyPath: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// One step of a path.
    package enum Step: Sendable {
        /// A property by its name.
        case property(String)
        /// The value of a dictionary under a key: `map['key']`.
        case key(String)
        /// The element at a position of the list in a value of any kind: `mixed[0]`.
        case index(Int)
        /// Each element of the list or dictionary in a value of any kind: `mixed[#any]`.
        case anyElement
        /// `@count` of the collection before it.
        case count
        /// `@min`, `@max`, `@sum` and `@avg` of the values after it, or of the collection itself.
        case minimum
        case maximum
        case sum
        case average
        /// `@allKeys` and `@allValues` of the dictionary before it.
        case allKeys
        case allValues
        /// An operator this library does not know; reported when the query is compiled.
        case unknownOperator(String)
    }

    /// The steps, in order; none means the row itself (`SELF`).
    package var steps: [Step]

    package init(steps: [Step]) {
        self.steps = steps
    }

    /// A path of names, where names that start with `@` are operators.
    package init(_ names: [String]) {
        steps = names.map(Step.init(name:))
    }

    /// A dotted path, as in `dogs.@max.age`; empty or `SELF` for the row itself.
    package init(_ text: String) {
        if text.isEmpty || text == "SELF" {
            steps = []
        } else {
            steps = text.split(separator: ".", omittingEmptySubsequences: false).map { Step(name: String($0)) }
        }
    }

    package init(stringLiteral text: String) {
        self.init(text)
    }

    /// The names joined by dots, as key paths are written outside of predicates.
    package var name: String { steps.map(\.name).joined(separator: ".") }

    /// The path in the string language.
    package var description: String {
        if steps.isEmpty { return "SELF" }
        var text = ""
        for step in steps {
            switch step {
            case .key, .index, .anyElement:
                if text.isEmpty { text = "SELF" }
                if case .key(let key) = step { text += "[\(PredicateValue.string(key))]" } else { text += step.name }
            default:
                if !text.isEmpty { text += "." }
                if text.isEmpty, case .property(let name) = step, PredicateParser.isReserved(name) { text += "#" }
                text += step.name
            }
        }
        return text
    }
}

/// Keys of dictionaries are told apart by their bytes, as dictionaries do.
extension PropertyPath.Step: Hashable {
    package static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.property(let one), .property(let other)), (.key(let one), .key(let other)),
            (.unknownOperator(let one), .unknownOperator(let other)):
            TextBytes.areEqual(one, other)
        case (.index(let one), .index(let other)): one == other
        default: left.number == right.number && !left.hasContent
        }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(number)
        switch self {
        case .property(let name), .key(let name), .unknownOperator(let name): TextBytes.hash(name, into: &hasher)
        case .index(let index): hasher.combine(index)
        default: break
        }
    }

    private var hasContent: Bool {
        switch self {
        case .property, .key, .unknownOperator, .index: true
        default: false
        }
    }

    private var number: Int {
        switch self {
        case .property: 0
        case .key: 1
        case .index: 2
        case .anyElement: 3
        case .count: 4
        case .minimum: 5
        case .maximum: 6
        case .sum: 7
        case .average: 8
        case .allKeys: 9
        case .allValues: 10
        case .unknownOperator: 11
        }
    }
}

extension PropertyPath.Step {
    /// The step that a name stands for in a dotted path.
    package init(name: String) {
        guard name.hasPrefix("@") else {
            self = .property(name)
            return
        }
        switch name {
        case "@count", "@size": self = .count
        case "@min": self = .minimum
        case "@max": self = .maximum
        case "@sum": self = .sum
        case "@avg": self = .average
        case "@allKeys", "@keys": self = .allKeys
        case "@allValues", "@values": self = .allValues
        default: self = .unknownOperator(name)
        }
    }

    /// The step's name in a dotted path.
    package var name: String {
        switch self {
        case .property(let name): name
        case .key(let key): key
        case .index(let index): "[\(index)]"
        case .anyElement: "[#any]"
        case .count: "@count"
        case .minimum: "@min"
        case .maximum: "@max"
        case .sum: "@sum"
        case .average: "@avg"
        case .allKeys: "@allKeys"
        case .allValues: "@allValues"
        case .unknownOperator(let name): name
        }
    }
}
