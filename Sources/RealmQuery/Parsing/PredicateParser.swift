/// Parses the predicate language.
///
/// Nesting lives on an explicit stack of frames, never on the call stack, so that no text can exhaust the stack of a
/// pool thread.
struct PredicateParser {
    /// A finished predicate with the depth of its tree.
    struct Node {
        var predicate: Predicate
        var depth: Int
    }

    /// A `SUBQUERY` whose predicate is being read.
    struct OpenSubquery {
        var collection: PropertyPath
        var variable: String
        /// The left side and operator when the subquery stands on the right side of a comparison.
        var left: (operand: PredicateOperand, operation: ComparisonOperator, options: StringComparisonOptions)?
    }

    /// What is open: the whole text, a pair of parentheses or a `SUBQUERY`.
    struct Frame {
        var position: Int
        var subquery: OpenSubquery?
        /// The finished parts between `OR`.
        var alternatives: [Node] = []
        /// The finished parts between `AND` since the last `OR`.
        var conjuncts: [Node] = []
        /// Whether an odd number of `NOT` precedes the part to come.
        var isNegated = false
    }

    /// What reading a comparison came to.
    enum ComparisonResult {
        case finished(Node)
        /// A `SUBQUERY` began; its predicate comes next.
        case opened(OpenSubquery)
    }

    let format: String
    let arguments: [PredicateValue]
    var nextArgument = 0
    var token = PredicateToken(kind: .end, position: 0)
    private var lexer: PredicateLexer
    private var frames: [Frame] = []
    private var subqueryCount = 0

    init(format: String, arguments: [PredicateValue]) {
        self.format = format
        self.arguments = arguments
        lexer = PredicateLexer(Array(format.utf8))
    }

    /// Reads the whole text, which must not have more than a predicate.
    mutating func parse() throws(PredicateParseError) -> Predicate {
        let predicate = try parsePredicate()
        if token.kind != .end { throw failure("\(keyword ?? foundToken) is only possible in a query of its own") }
        return predicate
    }

    /// Reads the whole text, with what follows the predicate: `SORT(…)`, `DISTINCT(…)` and `LIMIT(…)`.
    mutating func parseQuery() throws(PredicateParseError) -> ParsedQuery {
        var query = ParsedQuery(predicate: try parsePredicate())
        while token.kind != .end {
            guard query.clauses.count < PredicateLimits.clauseCount else {
                throw failure("there are more than \(PredicateLimits.clauseCount) clauses")
            }
            query.clausePositions.value.append(token.position)
            query.clauses.append(try clause())
        }
        guard nextArgument == arguments.count else {
            throw failure("\(arguments.count) arguments were given, but \(nextArgument) are used", at: 0)
        }
        return query
    }

    private mutating func parsePredicate() throws(PredicateParseError) -> Predicate {
        guard format.utf8.count <= PredicateLimits.textByteCount else {
            throw failure("it is longer than \(PredicateLimits.textByteCount) bytes", at: 0)
        }
        try advance()
        if token.kind == .end { throw failure("it is empty; use TRUEPREDICATE to match everything") }
        frames = [Frame(position: 0)]
        while true {
            guard let node = try operand() else { continue }
            if let finished = try fold(node) {
                guard token.kind != .end || nextArgument == arguments.count else {
                    throw failure("\(arguments.count) arguments were given, but \(nextArgument) are used", at: 0)
                }
                return finished.predicate
            }
        }
    }

    /// The variable of the innermost open `SUBQUERY`.
    var innermostVariable: String? {
        frames.last { $0.subquery != nil }?.subquery?.variable
    }

    mutating func advance() throws(PredicateParseError) {
        do {
            token = try lexer.next()
        } catch {
            throw failure(error.message, at: error.position)
        }
    }

    func failure(_ message: String, at position: Int? = nil) -> PredicateParseError {
        PredicateParseError(message, position: position ?? token.position, text: format)
    }

    mutating func expect(_ kind: PredicateToken.Kind, _ what: String) throws(PredicateParseError) {
        guard token.kind == kind else { throw failure("expected \(what) but found \(foundToken)") }
        try advance()
    }

    /// The current token in the words of an error message.
    var foundToken: String {
        switch token.kind {
        case .end: return "the end of the text"
        case .word(let name), .variable(let name), .collectionOperator(let name): return "'\(name)'"
        case .escapedWord(let name): return "'#\(name)'"
        case .string: return "a string"
        case .int, .double, .decimal: return "a number"
        case .placeholder: return "a placeholder"
        case .comparison(let operation): return "'\(operation.spelling)'"
        case .and: return "'&&'"
        case .or: return "'||'"
        case .not: return "'!'"
        case .openParenthesis: return "'('"
        case .closeParenthesis: return "')'"
        case .openBrace: return "'{'"
        case .closeBrace: return "'}'"
        case .openBracket: return "'['"
        case .closeBracket: return "']'"
        case .comma: return "','"
        case .dot: return "'.'"
        }
    }

    /// The current token as a keyword, in upper case.
    var keyword: String? {
        guard case .word(let name) = token.kind, name.utf8.count <= 16 else { return nil }
        return name.uppercased()
    }

    /// Reads up to the next finished comparison or constant; nil when it opened a frame or took a `NOT`.
    private mutating func operand() throws(PredicateParseError) -> Node? {
        switch token.kind {
        case .openParenthesis:
            try push(Frame(position: token.position))
            try advance()
            return nil
        case .not:
            frames[frames.count - 1].isNegated.toggle()
            try advance()
            return nil
        default: break
        }
        switch keyword {
        case "NOT":
            frames[frames.count - 1].isNegated.toggle()
            try advance()
            return nil
        case "TRUEPREDICATE", "FALSEPREDICATE":
            let value = keyword == "TRUEPREDICATE"
            try advance()
            return Node(predicate: .constant(value), depth: 1)
        default: break
        }
        let position = token.position
        switch try comparison() {
        case .finished(let node): return node
        case .opened(let subquery):
            subqueryCount = frames.count { $0.subquery != nil }
            guard subqueryCount < PredicateLimits.subqueryDepth else {
                throw failure("SUBQUERY nests more than \(PredicateLimits.subqueryDepth) deep", at: position)
            }
            try push(Frame(position: position, subquery: subquery))
            return nil
        }
    }

    private mutating func push(_ frame: Frame) throws(PredicateParseError) {
        guard frames.count < PredicateLimits.depth else {
            throw failure("it nests more than \(PredicateLimits.depth) deep")
        }
        frames.append(frame)
    }

    /// Takes a finished part into the innermost frame, closes the frames that end here, and returns the whole predicate
    /// at the end of the text; nil when another part follows.
    private mutating func fold(_ part: Node) throws(PredicateParseError) -> Node? {
        var node = part
        while true {
            let top = frames.count - 1
            if frames[top].isNegated {
                frames[top].isNegated = false
                let negated = node.predicate.negated
                if case .not = negated { node.depth += 1 }
                node.predicate = negated
                try checkDepth(node)
            }
            frames[top].conjuncts.append(node)
            if token.kind == .and || keyword == "AND" {
                try advance()
                return nil
            }
            let conjunction = try join(frames[top].conjuncts, Predicate.and)
            frames[top].conjuncts = []
            frames[top].alternatives.append(conjunction)
            if token.kind == .or || keyword == "OR" {
                try advance()
                return nil
            }
            let frame = frames.removeLast()
            let whole = try join(frame.alternatives, Predicate.or)
            if frames.isEmpty {
                guard token.kind == .end || Self.clauseWords.contains(keyword ?? "") else {
                    throw failure("expected AND, OR or the end of the text but found \(foundToken)")
                }
                return whole
            }
            guard token.kind == .closeParenthesis else {
                throw failure("expected AND, OR or ')' but found \(foundToken)")
            }
            try advance()
            if let subquery = frame.subquery {
                node = try close(subquery, whole, at: frame.position)
            } else {
                node = whole
            }
        }
    }

    private func join(
        _ nodes: [Node],
        _ make: ([Predicate]) -> Predicate
    ) throws(PredicateParseError) -> Node {
        if nodes.count == 1 { return nodes[0] }
        let node = Node(
            predicate: make(nodes.map(\.predicate)),
            depth: 1 + (nodes.lazy.map(\.depth).max() ?? 0)
        )
        try checkDepth(node)
        return node
    }

    private func checkDepth(_ node: Node) throws(PredicateParseError) {
        if node.depth > PredicateLimits.depth { throw failure("it nests more than \(PredicateLimits.depth) deep") }
    }

    /// `.@count > 3` after the closing parenthesis of a `SUBQUERY`, or only `.@count` on a right side.
    private mutating func close(
        _ open: OpenSubquery,
        _ predicate: Node,
        at position: Int
    ) throws(PredicateParseError) -> Node {
        guard token.kind == .dot else { throw failure("SUBQUERY must be followed by .@count") }
        try advance()
        guard token.kind == .collectionOperator("@count") || token.kind == .collectionOperator("@size") else {
            throw failure("SUBQUERY must be followed by .@count")
        }
        try advance()
        let count = PredicateOperand.subqueryCount(
            PredicateSubquery(collection: open.collection, predicate: predicate.predicate)
        )
        let comparison: PredicateComparison
        if let left = open.left {
            comparison = PredicateComparison(
                left.operand,
                left.operation,
                count,
                options: left.options,
                position: position
            )
        } else {
            let (operation, options) = try comparisonOperator()
            if keyword == "SUBQUERY" {
                throw failure("the count of a SUBQUERY can only be compared with a number")
            }
            let right = try simpleOperand()
            comparison = PredicateComparison(count, operation, right, options: options, position: position)
        }
        let node = Node(predicate: .comparison(comparison), depth: predicate.depth + 1)
        try checkDepth(node)
        return node
    }
}

extension Predicate {
    /// Reads a predicate in the string language.
    ///
    /// Values from outside belong into `arguments` (`%@`), never into the text. Text from outside is safe to parse: its
    /// length, depth and lists are limited.
    /// - Throws: `PredicateParseError` that says what is wrong and where.
    package static func parse(
        _ format: String,
        arguments: [PredicateValue] = []
    ) throws(PredicateParseError) -> Predicate {
        var parser = PredicateParser(format: format, arguments: arguments)
        return try parser.parse()
    }
}

/// A predicate with what is to happen to the rows that match.
package struct ParsedQuery: Sendable, Equatable {
    /// What follows the predicate, in order.
    package enum Clause: Sendable, Equatable {
        /// `SORT(age DESC, name ASC)`
        case sort([SortOrder.Key])
        /// `DISTINCT(name)`
        case distinct([PropertyPath])
        /// `LIMIT(10)`
        case limit(Int)
    }

    package var predicate: Predicate
    package var clauses: [Clause] = []

    /// What nothing matches.
    package static var nothing: ParsedQuery { ParsedQuery(predicate: .constant(false)) }
    /// Where each of the clauses begins in the text.
    package var clausePositions = TextNote<[Int]>([])

    /// Reads a predicate and its clauses in the string language.
    ///
    /// - Throws: `PredicateParseError` that says what is wrong and where.
    package static func parse(
        _ format: String,
        arguments: [PredicateValue] = []
    ) throws(PredicateParseError) -> ParsedQuery {
        var parser = PredicateParser(format: format, arguments: arguments)
        return try parser.parseQuery()
    }
}
