extension PredicateParser {
    /// The words that may follow a predicate.
    static let clauseWords: Set<String> = ["SORT", "DISTINCT", "LIMIT"]

    /// One clause: `SORT(age DESC, name)`, `DISTINCT(name)` or `LIMIT(10)`.
    mutating func clause() throws(PredicateParseError) -> ParsedQuery.Clause {
        let word = keyword ?? ""
        guard Self.clauseWords.contains(word) else {
            throw failure("expected SORT, DISTINCT, LIMIT or the end of the text but found \(foundToken)")
        }
        try advance()
        try expect(.openParenthesis, "'('")
        let clause: ParsedQuery.Clause
        switch word {
        case "LIMIT":
            let position = token.position
            guard case .value(.int(let count)) = try simpleOperand(), count >= 0 else {
                throw failure("LIMIT takes a number that is not negative", at: position)
            }
            clause = .limit(Int(count))
        case "DISTINCT":
            clause = .distinct(try clauseKeys(allowsDirection: false).map(\.path))
        default:
            clause = .sort(try clauseKeys(allowsDirection: true))
        }
        try expect(.closeParenthesis, "')'")
        return clause
    }

    /// The properties of a clause, with their directions where it has any.
    private mutating func clauseKeys(allowsDirection: Bool) throws(PredicateParseError) -> [SortOrder.Key] {
        var keys: [SortOrder.Key] = []
        repeat {
            if !keys.isEmpty { try advance() }
            let position = token.position
            guard case .path(let path) = try simpleOperand() else {
                throw failure("expected a property", at: position)
            }
            var key = SortOrder.Key(path)
            if allowsDirection {
                switch keyword {
                case "ASC", "ASCENDING": try advance()
                case "DESC", "DESCENDING":
                    key.ascending = false
                    try advance()
                default: break
                }
            }
            keys.append(key)
            guard keys.count <= PredicateLimits.pathStepCount else {
                throw failure("there are more than \(PredicateLimits.pathStepCount) properties", at: position)
            }
        } while token.kind == .comma
        return keys
    }
}
