/// One comparison of a predicate: `age >= 18`, `ANY dogs.name BEGINSWITH[c] 'a'`, `SUBQUERY(…).@count > 1`.
package struct PredicateComparison: Sendable, Equatable {
    package var left: PredicateOperand
    package var operation: ComparisonOperator
    package var right: PredicateOperand
    /// How strings compare.
    package var options: StringComparisonOptions
    /// How a left side with many values is tested; nil when it has one.
    package var quantifier: PredicateQuantifier?
    /// Where the comparison begins in the text that it was parsed from; nil when there was none.
    package var position: TextNote<Int?>

    package init(
        _ left: PredicateOperand,
        _ operation: ComparisonOperator,
        _ right: PredicateOperand,
        options: StringComparisonOptions = .none,
        quantifier: PredicateQuantifier? = nil,
        position: Int? = nil
    ) {
        self.left = left
        self.operation = operation
        self.right = right
        self.options = options
        self.quantifier = quantifier
        self.position = TextNote(position)
    }
}

/// What is remembered of the text that a predicate was parsed from, for messages; it makes no predicates unequal.
package struct TextNote<Value: Sendable>: Sendable, Equatable {
    package var value: Value

    package init(_ value: Value) { self.value = value }

    /// Always true: two predicates that ask the same are equal, wherever they stand.
    package static func == (left: TextNote, right: TextNote) -> Bool { true }
}

/// One side of a comparison.
package enum PredicateOperand: Sendable, Equatable {
    /// A property of the row, or of objects it links to. The empty path is the row itself (`SELF`).
    case path(PropertyPath)
    /// A constant.
    case value(PredicateValue)
    /// The number of a collection's objects for which a predicate holds.
    indirect case subqueryCount(PredicateSubquery)

    /// The property of a dotted path, as in `owner.name`.
    package static func path(_ text: String) -> PredicateOperand { .path(PropertyPath(text)) }
}

/// `SUBQUERY(collection, $x, predicate)`.
package struct PredicateSubquery: Sendable, Equatable {
    /// The collection of objects, starting at the row.
    package var collection: PropertyPath
    /// What each object is tested for; its paths start at that object.
    package var predicate: Predicate

    package init(collection: PropertyPath, predicate: Predicate) {
        self.collection = collection
        self.predicate = predicate
    }
}

/// How two operands are compared.
package enum ComparisonOperator: Sendable, Hashable, CaseIterable {
    case equal
    case notEqual
    case less
    case lessOrEqual
    case greater
    case greaterOrEqual
    /// Between two bounds, both included; the right side is a list of two.
    case between
    /// From the first of two bounds up to the second, without that one; the right side is a list of two.
    ///
    /// Typed queries ask so behind collections, where two comparisons may hold for two elements. The string language has no
    /// word for it.
    case within
    /// Equal to one of a list.
    case `in`
    case beginsWith
    case endsWith
    case contains
    /// A pattern of a whole string: `*` stands for any run of characters, `?` for one.
    case like

    /// The operator's spelling in the string language.
    package var spelling: String {
        switch self {
        case .equal: "=="
        case .notEqual: "!="
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        case .between: "BETWEEN"
        case .within: "IN ..<"
        case .in: "IN"
        case .beginsWith: "BEGINSWITH"
        case .endsWith: "ENDSWITH"
        case .contains: "CONTAINS"
        case .like: "LIKE"
        }
    }

    /// The operator with its sides exchanged, where it has one.
    package var mirrored: ComparisonOperator? {
        switch self {
        case .equal: .equal
        case .notEqual: .notEqual
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        case .between, .within, .in, .beginsWith, .endsWith, .contains, .like: nil
        }
    }
}

/// How a path that has many values is tested.
package enum PredicateQuantifier: Sendable, Hashable {
    /// One value at least (`ANY`, `SOME`).
    case any
    /// Every value; holds when there is none.
    case all
    /// No value.
    case none

    /// The quantifier's spelling in the string language.
    package var spelling: String {
        switch self {
        case .any: "ANY"
        case .all: "ALL"
        case .none: "NONE"
        }
    }
}

/// How strings are compared.
package struct StringComparisonOptions: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Strings compare byte by byte.
    ///
    /// What `[]` stands for, too, which takes a generic call in other modules.
    package static let none: StringComparisonOptions = []
    /// `[c]`: upper and lower case are the same (see `TextFolding`).
    package static let caseInsensitive = StringComparisonOptions(rawValue: 1)
    /// `[d]`: accents make no difference (see `TextFolding`).
    package static let diacriticInsensitive = StringComparisonOptions(rawValue: 2)

    /// The options as they stand behind an operator; empty when there are none.
    package var spelling: String {
        if isEmpty { return "" }
        return "[\(contains(.caseInsensitive) ? "c" : "")\(contains(.diacriticInsensitive) ? "d" : "")]"
    }
}
