import RealmModel

/// A word of the predicate language with its place in the text.
struct PredicateToken: Equatable {
    enum Kind: Equatable {
        /// A name, keyword or the part of a path between dots.
        case word(String)
        /// A name that must not be taken for a keyword: `#name`.
        case escapedWord(String)
        /// `@count` and the like.
        case collectionOperator(String)
        /// `$x`.
        case variable(String)
        case string(String)
        case int(Int64)
        case double(Double)
        /// A whole number beyond 64 bits.
        case decimal(DecimalBytes)
        case placeholder(Placeholder)
        case comparison(ComparisonOperator)
        case and
        case or
        case not
        case openParenthesis
        case closeParenthesis
        case openBrace
        case closeBrace
        case openBracket
        case closeBracket
        case comma
        case dot
        case end
    }

    /// What an argument is put in for.
    enum Placeholder: Equatable {
        /// `%@`
        case any
        /// `%K`
        case keyPath
        /// `%d`, `%i`, `%u`, `%ld` …
        case integer
        /// `%f`, `%g`, `%e` …
        case floatingPoint
    }

    var kind: Kind
    /// The number of UTF-8 bytes before the token.
    var position: Int
}
